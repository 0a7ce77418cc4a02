const agents = ['codemie', 'incremental-subagents'] as const;
const cli = 'entireio-cli';
const git = 'entireio-git-sync';

/** The transcripts among the files of other agents. */
export const claudeFiles: readonly (readonly string[])[] = [
  ['codemie', '-tmp-private', '4c2ddfdc-b619-4525-8d03-1950fb1b0257.jsonl'],
  ['codemie', '-tmp-private', 'agent-50243ee8.jsonl'],
  [...agents, 'turn-1.jsonl'],
  [...agents, 'turn-2.jsonl'],
  [...agents, 'turn-1', 'subagents', 'agent-a485154.jsonl'],
  [...agents, 'turn-2', 'subagents', 'agent-a485154.jsonl'],
  [cli, '2.0.74-queue-operation-first.jsonl'],
  [cli, '2.1.12-fork-child.first-part.jsonl'],
  [cli, '2.1.12-fork-parent-35-lines-2MB.jsonl'],
  [cli, '2.1.12-mcp-linear.jsonl'],
  [cli, '2.1.12-two-session-ids.jsonl'],
  [cli, '2.1.14-microcompact.jsonl'],
  [cli, '2.1.17-api-error-synthetic.jsonl'],
  [cli, '2.1.31-plan-content.jsonl'],
  [cli, '2.1.7+2.1.12-concatenated-line.jsonl'],
  [git, '2.1.119-plan-mode-agent-name.jsonl'],
  [git, '2.1.159-bridge-session.jsonl'],
  [git, '2.1.159-mode-prlink-apierror.jsonl'],
  [git, '2.1.159-workflow-tool.jsonl'],
  [git, '2.1.199-queued-command-goal.jsonl'],
  [git, '2026-07-opus-4-8-checkpoint-ref.jsonl'],
];
