/** Agents whose usual places are known. */
export const importAgents = ['claude', 'codex', 'vtcode'] as const;
export type ImportAgent = (typeof importAgents)[number];

/** Formats of files that can be imported. */
export const importKinds = [
  'claude-code',
  'codex-rollout',
  'vtcode',
  'vtcode-archive',
  'vtcode-history',
  'vtcode-memory',
  'vtcode-trajectory',
  'codex-exec',
  'claude-stream',
] as const;
export type ImportKind = (typeof importKinds)[number];

/** The formats that an agent writes. */
export const kindsOfAgent: Readonly<Record<ImportAgent, readonly ImportKind[]>> = {
  claude: ['claude-code', 'claude-stream'],
  codex: ['codex-rollout', 'codex-exec'],
  vtcode: ['vtcode', 'vtcode-archive', 'vtcode-history', 'vtcode-memory', 'vtcode-trajectory'],
};
