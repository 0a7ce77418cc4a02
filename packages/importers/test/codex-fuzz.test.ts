import { SeededRandom } from '@turnlog/testkit';
import { countsOf } from './codex-counts.js';
import { corpusBytes, corpusPath, hasCorpus, sayWithoutCorpus } from './stream-lines.js';
import { eventsOf, importOne, makeThreadDesk, member } from './thread-files.js';
import { codexFiles, handMade } from './thread-samples.js';

sayWithoutCorpus('codex-fuzz');

const seed = Number(process.env['TURNLOG_TEST_SEED'] ?? 20_261_005);

const samples: readonly (readonly [name: string, read: () => Uint8Array])[] = [
  ['a thread made by hand', handMade],
  ...(hasCorpus
    ? codexFiles.slice(1, 3).map(([name, path]) => [name, () => corpusBytes('codex', ...path)] as const)
    : []),
];

type Json = Record<string, unknown>;

const replacements: readonly unknown[] = [
  null,
  0,
  -1,
  1e300,
  '',
  'text',
  '\ud800',
  true,
  [],
  [null],
  [[]],
  {},
  { type: 'unknown_block', text: 7 },
  { __proto__x: 1, constructor: { prototype: 1 } },
];

/** Changes one member somewhere in a value. */
function mutated(value: Json, random: SeededRandom): Json {
  const copy = structuredClone(value);
  let target = copy;
  for (;;) {
    const names = Object.keys(target);
    const name = names[random.below(Math.max(names.length, 1))];
    if (name === undefined) return copy;
    const inner = target[name];
    const isDeeper = typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0;
    if (isDeeper && random.below(4) > 0) {
      target = inner as Json;
      continue;
    }
    const choice = random.below(replacements.length + 1);
    if (choice === replacements.length) delete target[name];
    else target[name] = replacements[choice];
    return copy;
  }
}

test.each(samples)(
  'G-11 %s: whatever a member is, nothing is thrown, the ledger closes, neighbours are intact',
  async (_name, read) => {
    const random = new SeededRandom(seed);
    const lines = new TextDecoder()
      .decode(read())
      .split('\n')
      .filter((line) => line !== '');
    for (let round = 0; round < 60; round += 1) {
      const at = random.below(lines.length);
      const changed = lines.map((line, index) =>
        index === at ? JSON.stringify(mutated(JSON.parse(line) as Json, random)) : line,
      );
      const bytes = new TextEncoder().encode(`${changed.join('\n')}\n`);
      const desk = makeThreadDesk();
      const report = await importOne(desk, bytes, { raw: 'reference' });
      // A first line that is none of a rollout makes the file none.
      if (at === 0 && report.outcome === 'unknown') continue;
      const { mapped, kept, refused } = report.ledger;
      expect({ at, line: changed[at], error: report.error, sum: mapped + kept + refused }).toEqual({
        at,
        line: changed[at],
        error: null,
        sum: bytes.length,
      });
      expect(refused).toBe(0);
      const events = eventsOf(desk, String(report.sessionId));
      expect(events.at(-1)).toMatchObject({ type: 'run.imported', to: bytes.length });
      if (at < lines.length - 1) expect(events.some(({ type }) => type === 'item.completed')).toBe(true);
    }
  },
  120_000,
);

test('G-11 unknown types and blocks are kept, and what stands around them is what it is without them', async () => {
  const plain = makeThreadDesk();
  const { sessionId } = await importOne(plain, handMade());
  const lines = new TextDecoder()
    .decode(handMade())
    .split('\n')
    .filter((line) => line !== '');
  const strange = [
    '{"timestamp":"2026-04-01T00:00:09.000Z","type":"event_msg","payload":{"type":"from_the_future","__proto__":{"x":1}}}',
    '{"timestamp":null,"type":"new_family","payload":{}}',
    '{"type":7,"payload":[]}',
    `{"timestamp":"2026-04-01T00:00:09.000Z","type":"event_msg","payload":{"type":"deep","d":${'['.repeat(300)}${']'.repeat(300)}}}`,
  ];
  const mixed = lines.flatMap((line, at) => (at % 5 === 4 ? [line, strange[at % strange.length]] : [line]));
  const desk = makeThreadDesk();
  const report = await importOne(desk, new TextEncoder().encode(`${mixed.join('\n')}\n`));
  expect(report).toMatchObject({ error: null, ledger: { refused: 0 } });
  expect(countsOf(desk, String(sessionId))).toEqual(countsOf(plain, String(sessionId)));
  const kept = eventsOf(desk, String(sessionId)).filter(({ type }) => type === 'run.kept');
  expect(kept.length).toBe(mixed.length - lines.length + 1);
});

if (hasCorpus) {
  test('rollouts of later versions, trimmed: nothing thrown, nothing refused but what is cut, the ledger closes', async () => {
    const names = [
      'small.jsonl',
      'large.jsonl',
      'codex_050_legacy.jsonl',
      'codex_051_usage.jsonl',
      'codex_052_raw.jsonl',
      'codex_053_rate_limit.jsonl',
    ];
    expect(corpusPath('shapes')).toContain('shapes');
    for (const name of names) {
      const desk = makeThreadDesk();
      const bytes = corpusBytes('shapes', 'agent-sessions', 'codex', name);
      const report = await importOne(desk, bytes);
      expect(report).toMatchObject({ outcome: 'new', error: null });
      const { mapped, kept, refused } = report.ledger;
      expect([mapped + kept + refused, refused]).toEqual([bytes.length, 0]);
      expect(member(eventsOf(desk, String(report.sessionId)).at(0), 'type')).toBe('thread.started');
    }
  });
}
