import { type ClaudeCounts, countsOf, recordCount } from './claude-counts.js';
import { corpusBytes, hasCorpus, sayWithoutCorpus } from './stream-lines.js';
import { eventsOf, importOne, makeThreadDesk, member } from './thread-files.js';

sayWithoutCorpus('claude-code');

const nothing: ClaudeCounts = {
  turns: 0,
  prompts: 0,
  calls: '0/0',
  text: 0,
  think: 0,
  ans: 0,
  usage: 'none',
  failed: 0,
  open: 0,
  interrupted: 0,
  implicit: 0,
  slash: 0,
  queued: 0,
  subPrompts: 0,
  interrupts: 0,
  summaries: 0,
  notifications: 0,
  injected: 0,
  compact: 0,
  errors: 0,
};

interface Also extends Partial<ClaudeCounts> {
  /** Calls without a result; records that came twice; lines, where two objects share one. */
  readonly unanswered?: number;
  readonly repeats?: number;
  readonly lines?: number;
  /** Session of a sub-agent whose records are among these, and its calls. */
  readonly child?: readonly [agentId: string, calls: string];
  readonly microcompact?: number;
}

type Row = readonly [
  name: string,
  path: readonly string[],
  objects: number,
  turns: number,
  prompts: number,
  calls: string,
  says: readonly [text: number, think: number, ans: number],
  usage: string,
  also: Also,
];

const codemie = ['codemie', '-tmp-private'] as const;
const agents = ['codemie', 'incremental-subagents'] as const;
const cli = 'entireio-cli';
const git = 'entireio-git-sync';
const agentUsage = '212744/91980/115531/1845';

const rows: readonly Row[] = [
  [
    'G-1 C 4c2ddfdc',
    [...codemie, '4c2ddfdc-b619-4525-8d03-1950fb1b0257.jsonl'],
    25,
    3,
    3,
    '6/6',
    [4, 0, 7],
    '251832/214627/37172/806',
    {},
  ],
  [
    'G-1 C agent-50243ee8',
    [...codemie, 'agent-50243ee8.jsonl'],
    2,
    1,
    0,
    '0/0',
    [1, 0, 1],
    '16878/0/0/237',
    { subPrompts: 1 },
  ],
  [
    'G-1 C turn-1',
    [...agents, 'turn-1.jsonl'],
    25,
    1,
    1,
    '7/6',
    [2, 7, 7],
    '215783/154285/61416/1244',
    { unanswered: 1 },
  ],
  [
    'G-1 C turn-2',
    [...agents, 'turn-2.jsonl'],
    50,
    1,
    1,
    '14/14',
    [5, 11, 11],
    '381842/223343/157962/10099',
    {},
  ],
  [
    'G-1 C turn-1 agent',
    [...agents, 'turn-1', 'subagents', 'agent-a485154.jsonl'],
    44,
    1,
    0,
    '20/20(1)',
    [3, 0, 6],
    agentUsage,
    { subPrompts: 1 },
  ],
  [
    'G-1 C turn-2 agent',
    [...agents, 'turn-2', 'subagents', 'agent-a485154.jsonl'],
    45,
    1,
    0,
    '20/20(1)',
    [3, 0, 6],
    agentUsage,
    { subPrompts: 1 },
  ],
  [
    'G-1 E 2.0.74-queue',
    [cli, '2.0.74-queue-operation-first.jsonl'],
    9,
    1,
    1,
    '1/1',
    [1, 2, 2],
    '69836/34788/35030/16',
    { injected: 1 },
  ],
  [
    'G-1 E 2.1.12-fork-child',
    [cli, '2.1.12-fork-child.first-part.jsonl'],
    52,
    2,
    2,
    '4/3(1)',
    [3, 4, 4],
    '172966/121481/51449/8',
    { failed: 1, interrupts: 1, unanswered: 1, child: ['a4cae29', '13/13'] },
  ],
  [
    'G-1 E 2.1.12-fork-parent',
    [cli, '2.1.12-fork-parent-35-lines-2MB.jsonl'],
    35,
    1,
    1,
    '1/0',
    [1, 1, 1],
    '41867/0/41857/5',
    { unanswered: 1, child: ['a4cae29', '13/13'] },
  ],
  [
    'G-1 E 2.1.12-mcp-linear',
    [cli, '2.1.12-mcp-linear.jsonl'],
    67,
    3,
    3,
    '7/7',
    [7, 10, 10],
    '496679/425666/70925/22',
    {},
  ],
  [
    'G-1 E 2.1.12-two-session-ids',
    [cli, '2.1.12-two-session-ids.jsonl'],
    221,
    3,
    3,
    '58/58(2)',
    [12, 56, 56],
    '3987075/3812944/173677/157',
    { failed: 1, interrupts: 1 },
  ],
  [
    'G-1 E 2.1.14-microcompact',
    [cli, '2.1.14-microcompact.jsonl'],
    236,
    9,
    9,
    '60/60',
    [18, 49, 49],
    '5274354/4590193/679802/111',
    { summaries: 1, compact: 1, microcompact: 1 },
  ],
  [
    'G-1 E 2.1.17-api-error',
    [cli, '2.1.17-api-error-synthetic.jsonl'],
    288,
    7,
    7,
    '71/71(5)',
    [12, 56, 56],
    '3241279/2961895/277038/146',
    { failed: 1, errors: 1 },
  ],
  [
    'G-1 E 2.1.31-plan-content',
    [cli, '2.1.31-plan-content.jsonl'],
    70,
    1,
    1,
    '14/14(1)',
    [9, 0, 13],
    '483340/457789/25549/1132',
    {},
  ],
  [
    'G-1 E 2.1.7-concatenated',
    [cli, '2.1.7+2.1.12-concatenated-line.jsonl'],
    171,
    5,
    5,
    '41/41(2)',
    [20, 42, 42],
    '2787575/2618979/168250/7047',
    { failed: 1, interrupts: 1, repeats: 1, lines: 170 },
  ],
  [
    'G-1 G 2.1.119-plan-mode',
    [git, '2.1.119-plan-mode-agent-name.jsonl'],
    116,
    2,
    2,
    '23/23',
    [10, 8, 25],
    '2000245/1890353/109848/14184',
    { injected: 1 },
  ],
  [
    'G-1 G 2.1.159-bridge-session',
    [git, '2.1.159-bridge-session.jsonl'],
    339,
    5,
    5,
    '62/62(2)',
    [43, 31, 66],
    '4829290/4675892/143951/56070',
    { failed: 1, interrupts: 1 },
  ],
  [
    'G-1 G 2.1.159-prlink',
    [git, '2.1.159-mode-prlink-apierror.jsonl'],
    56,
    2,
    2,
    '9/9',
    [8, 3, 10],
    '298886/263155/31281/1787',
    { errors: 1 },
  ],
  [
    'G-1 G 2.1.159-workflow-tool',
    [git, '2.1.159-workflow-tool.jsonl'],
    527,
    8,
    8,
    '92/92',
    [66, 68, 79],
    '11396754/11142622/241878/97442',
    { failed: 1, slash: 1, injected: 2, notifications: 4, errors: 1 },
  ],
  [
    'G-1 G 2.1.199-queued',
    [git, '2.1.199-queued-command-goal.jsonl'],
    185,
    2,
    2,
    '42/41(1)',
    [5, 28, 26],
    '2475279/2267388/166935/27922',
    { slash: 2, injected: 4, notifications: 5, unanswered: 1 },
  ],
  [
    'G-1 G 2026-07-opus-4-8',
    [git, '2026-07-opus-4-8-checkpoint-ref.jsonl'],
    49,
    2,
    2,
    '7/7',
    [6, 4, 9],
    '308161/245007/54839/2389',
    {},
  ],
];

if (hasCorpus) {
  test.each(rows)('%s', async (_name, path, objects, turns, prompts, calls, says, usage, also) => {
    const [text, think, ans] = says;
    const { unanswered = 0, repeats = 0, lines, child, microcompact = 0, ...more } = also;
    const bytes = corpusBytes('claude', ...path);
    const desk = makeThreadDesk();
    const report = await importOne(desk, bytes);
    const sessionId = String(report.sessionId);
    expect(countsOf(desk, sessionId)).toEqual({
      ...nothing,
      ...{ turns, prompts, calls, text, think, ans, usage },
      ...more,
    });
    expect(report).toMatchObject({ outcome: 'new', format: 'claude-code', unansweredCount: unanswered });
    expect(report).toMatchObject({ pendingBytes: 0, refused: [] });
    expect(report.ledger).toMatchObject({ bytes: bytes.length, refused: 0 });
    expect(report.ledger.mapped + report.ledger.kept).toBe(bytes.length);
    expect(recordCount(desk, sessionId)).toBe(objects);
    expect(recordCount(desk, sessionId, 'repeat:')).toBe(repeats);
    expect(recordCount(desk, sessionId, 'kept:system/microcompact_boundary')).toBe(microcompact);
    if (lines !== undefined)
      expect(new TextDecoder().decode(bytes).trimEnd().split('\n')).toHaveLength(lines);
    expect(report.childSessionIds).toEqual(child === undefined ? [] : [`${sessionId}.${child[0]}`]);
    if (child !== undefined)
      expect(countsOf(desk, `${sessionId}.${child[0]}`)).toMatchObject({ calls: child[1] });
  });
  test('G-16 a compaction says how many messages there were, how many took their place, and why', async () => {
    const desk = makeThreadDesk();
    const { sessionId } = await importOne(desk, corpusBytes('claude', cli, '2.1.14-microcompact.jsonl'));
    const boundaries = eventsOf(desk, String(sessionId)).filter(
      ({ type }) => type === 'thread.compact_boundary',
    );
    expect(boundaries).toEqual([
      expect.objectContaining({
        trigger: 'auto',
        mode: 'provider',
        original_message_count: 134,
        compacted_message_count: 1,
      }),
    ]);
    expect(member(boundaries[0], 'src', 'derived')).toEqual(
      expect.arrayContaining(['original_message_count', 'compacted_message_count']),
    );
  });
}
