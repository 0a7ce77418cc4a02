import { createHash } from 'node:crypto';
import { AuditWorld, lineV, logV } from './world.js';

/** The leaf of a line, by the definition. */
const leafOf = (line: string): string =>
  createHash('sha256')
    .update(Buffer.concat([Buffer.of(0), Buffer.from(line)]))
    .digest('hex');

const stamped = (seq: number, event: object): string =>
  JSON.stringify({ schema_version: '0.18.0', seq, ts: '2026-01-05T10:00:09.000Z', event });

const redacted = (n: number): string =>
  stamped(n, {
    type: 'log.redacted',
    leaf: leafOf(lineV(n)),
    original_type: 'error',
    length: lineV(n).length,
    redacted_at: '2026-01-05T10:00:09.000Z',
  });

const statement = (seq: number, indexes: readonly number[], leaves: readonly string[]): string =>
  stamped(seq, { type: 'log.redaction', indexes, leaves, reason: 'secret', actor: 'ann' });

/** V with lines 2, 5 and 6 redacted, and what is said about it behind. */
function redactedLog(said: readonly string[]): string {
  const lines = Array.from({ length: 7 }, (_, at) =>
    [2, 5, 6].includes(at + 1) ? redacted(at + 1) : lineV(at + 1),
  );
  return [...lines, ...said].map((line) => `${line}\n`).join('');
}

const leaves = [2, 5, 6].map((n) => leafOf(lineV(n)));

async function packedV(): Promise<AuditWorld> {
  const world = new AuditWorld();
  world.plantLog(logV(7));
  await world.pack();
  return world;
}

test('AU-24: redacted records keep old packs valid, and are listed with the statement that explains them', async () => {
  const world = await packedV();
  world.plantLog(redactedLog([statement(8, [1, 4, 5], leaves)]));
  const found = await world.verify();
  expect([await world.verdict(), found.completeness, found.tree.grownBy]).toEqual(['verified', 'proven', 1]);
  expect(found.tree.redacted).toEqual([
    { index: 1, seq: 2, statementSeq: 8 },
    { index: 4, seq: 5, statementSeq: 8 },
    { index: 5, seq: 6, statementSeq: 8 },
  ]);
  const { pack } = await world.pack();
  expect(pack.own?.redacted).toEqual(found.tree.redacted);
  expect(await world.verdict()).toBe('verified');
});

const unexplained: readonly (readonly [name: string, said: readonly string[], index: number])[] = [
  ['nothing said', [], 1],
  ['one that is not named', [statement(8, [1, 4], leaves.slice(0, 2))], 5],
  ['another leaf', [statement(8, [1, 4, 5], [leaves[1] ?? '', leaves[0] ?? '', leaves[2] ?? ''])], 1],
  ['no reason', [stamped(8, { type: 'log.redaction', indexes: [1, 4, 5], leaves, actor: 'ann' })], 1],
];

test.each(unexplained)(
  'AU-24: a redaction with %s is not explained, and a mismatch',
  async (_name, said, index) => {
    const world = await packedV();
    world.plantLog(redactedLog(said));
    const { mismatches } = await world.verify();
    expect(mismatches).toContainEqual(expect.objectContaining({ reason: 'redaction-unexplained', index }));
    expect(await world.exit()).toBe(1);
  },
);

test('AU-24: a redacted record with the hash of something else is not what was packed', async () => {
  const world = await packedV();
  const log = redactedLog([statement(8, [1, 4, 5], leaves)]);
  world.plantLog(log.replaceAll(leaves[1] ?? '', leafOf('something else')));
  const { mismatches } = await world.verify();
  expect(mismatches[0]).toMatchObject({ diagnosis: 'edited', index: 4, seq: 5, leavesIntact: 6 });
});

test('AU-24: a statement before the record that it speaks of explains nothing', async () => {
  const world = new AuditWorld();
  const early = [lineV(1), statement(2, [2], [leafOf(lineV(3))]), redacted(3)];
  world.plantLog(early.map((line) => `${line}\n`).join(''));
  const { mismatches } = await world.verify();
  expect(mismatches.map(({ reason, seq }) => [reason, seq])).toEqual([['redaction-unexplained', 3]]);
});
