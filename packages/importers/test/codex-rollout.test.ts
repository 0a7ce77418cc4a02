import { type CodexCounts, countsOf } from './codex-counts.js';
import { corpusBytes, hasCorpus, sayWithoutCorpus } from './stream-lines.js';
import { importOne, makeThreadDesk } from './thread-files.js';

sayWithoutCorpus('codex-rollout');

const nothing: CodexCounts = {
  turns: 0,
  prompts: 0,
  calls: 0,
  results: 0,
  text: 0,
  think: 0,
  usage: 'none',
  subPrompts: 0,
  injected: 0,
  notifications: 0,
  queued: 0,
  compact: 0,
  searches: 0,
  changes: 0,
  failed: 0,
  open: 0,
  interrupted: 0,
  implicit: 0,
  strays: 0,
};

type Row = readonly [
  name: string,
  path: readonly string[],
  objects: number,
  lines: number,
  counts: Partial<CodexCounts>,
];

const git = 'entireio-git-sync';
export const rows: readonly Row[] = [
  [
    'G-2 A 2025-11-17',
    ['acidicsoil', 'rollout-2025-11-17T15-30-28-019a93b9-f380-7600-98ff-940e6b99603c.jsonl'],
    279,
    279,
    {
      turns: 1,
      prompts: 1,
      calls: 39,
      results: 39,
      think: 37,
      usage: '1099261/1027328/22305/19520',
      injected: 1,
    },
  ],
  [
    'G-2 C 2026-01-02T18-39',
    ['codemie', 'rollout-2026-01-02T18-39-45-019b7f94-51b4-7593-922e-ba12b5b73b52.jsonl'],
    26,
    26,
    { turns: 1, prompts: 1, calls: 3, results: 3, think: 1, usage: '22474/14848/300/128', injected: 2 },
  ],
  [
    'G-2 C 2026-01-02T19-00',
    ['codemie', 'rollout-2026-01-02T19-00-00-019b7f95-0000-7000-0000-000000000001.jsonl'],
    11,
    11,
    { turns: 1, calls: 3, results: 3, usage: '5300/0/180/0', implicit: 1 },
  ],
  [
    'G-2 C 2026-05-11T13-28',
    ['codemie', 'rollout-2026-05-11T13-28-45-019e1695-0522-7c83-8b39-0dd379793f80.jsonl'],
    99,
    99,
    { turns: 3, prompts: 3, calls: 38, results: 38, text: 3 },
  ],
  [
    'G-2 G 0.118-fork-child-compacted',
    [git, '0.118-fork-child-compacted.jsonl'],
    1115,
    1115,
    {
      turns: 8,
      subPrompts: 8,
      calls: 76,
      results: 76,
      text: 30,
      usage: '7401859/5742464/18939/9541',
      injected: 4,
      compact: 1,
      searches: 2,
    },
  ],
  [
    'G-2 G 0.118-fork-parent',
    [git, '0.118-fork-parent.jsonl'],
    676,
    676,
    {
      turns: 7,
      prompts: 8,
      calls: 131,
      results: 131,
      text: 45,
      usage: '10205896/9329280/31902/5331',
      open: 1,
      queued: 1,
      injected: 1,
      notifications: 7,
      searches: 1,
      changes: 11,
    },
  ],
  [
    'G-2 G 0.120-turn-aborted',
    [git, '0.120-turn-aborted.jsonl'],
    213,
    213,
    {
      turns: 3,
      prompts: 3,
      calls: 41,
      results: 41,
      text: 14,
      usage: '1084509/970112/7586/3231',
      failed: 1,
      injected: 2,
    },
  ],
  [
    'G-2 G 0.126-desktop',
    [git, '0.126-desktop.jsonl'],
    327,
    327,
    {
      turns: 9,
      prompts: 9,
      calls: 54,
      results: 54,
      text: 27,
      usage: '1222494/1118464/9693/1021',
      open: 1,
      injected: 1,
      changes: 2,
    },
  ],
  [
    'G-2 G 0.139-review-subagent',
    [git, '0.139-review-subagent.jsonl'],
    28,
    28,
    {
      turns: 1,
      calls: 4,
      results: 4,
      text: 1,
      usage: '57112/29184/1162/772',
      subPrompts: 1,
      injected: 1,
    },
  ],
  [
    'G-2 G concatenated-line',
    [git, 'concatenated-line.excerpt.jsonl'],
    21,
    20,
    {
      turns: 2,
      prompts: 1,
      calls: 1,
      results: 2,
      text: 2,
      usage: '329415/328960/331/20',
      open: 1,
      interrupted: 1,
      strays: 1,
    },
  ],
];

if (hasCorpus) {
  test.each(rows)(
    '%s',
    async (_name, path, objects, _lines, counts) => {
      const desk = makeThreadDesk();
      const bytes = corpusBytes('codex', ...path);
      const report = await importOne(desk, bytes);
      expect(report).toMatchObject({ outcome: 'new', error: null, unansweredCount: 0 });
      const { changes: _, ...found } = countsOf(desk, String(report.sessionId));
      const { changes: _wanted, ...wanted } = { ...nothing, ...counts };
      expect(found).toEqual(wanted);
      const total = Object.values(report.ledger.records).reduce((sum, count) => sum + count, 0);
      expect(total).toBe(objects);
      const { mapped, kept, refused } = report.ledger;
      expect([mapped + kept + refused, refused]).toEqual([bytes.length, 0]);
    },
    60_000,
  );
}
