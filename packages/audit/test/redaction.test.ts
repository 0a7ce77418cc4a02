import { gunzipSync } from 'node:zlib';
import { previewRedaction, type RedactionRequest, redactSession } from '@turnlog/audit';
import { parseSessionId } from '@turnlog/store';
import { AuditWorld, lineV, logV, readWhole } from './world.js';

const id = parseSessionId('s-1');

const named = (...seqs: readonly number[]): RedactionRequest => ({
  seqs,
  reason: 'secret',
  actor: 'ann',
  guessable: 'accept',
});

async function redact(world: AuditWorld, ...seqs: readonly number[]): ReturnType<typeof redactSession> {
  return await redactSession(await world.store(), id, named(...seqs));
}

/** Every byte below the store, archives unpacked as well. */
function everything(world: AuditWorld, path = world.root): Buffer {
  const parts = world.disk.list(path).map(({ name, kind }) => {
    const below = `${path}/${name}`;
    if (kind === 'directory') return everything(world, below);
    const bytes = readWhole(world.disk, below);
    return name.endsWith('.gz') ? Buffer.concat([bytes, gunzipSync(bytes)]) : bytes;
  });
  return Buffer.concat(parts);
}

const linesOf = (world: AuditWorld): readonly string[] =>
  world.bytes('events.jsonl').toString('utf8').trimEnd().split('\n');

test('AU-22: a record becomes its leaf hash, every other line stays byte for byte, and old packs verify', async () => {
  const world = new AuditWorld();
  world.plantLog(logV(7));
  await world.pack();
  const report = await redact(world, 2, 5);
  expect(report.targets.map(({ record, cause }) => [record.seq, cause])).toEqual([
    [2, 'named'],
    [5, 'named'],
  ]);
  expect(report).toMatchObject({ statementSeq: 8, outOfReach: [], maintenance: [] });
  const lines = linesOf(world);
  expect([0, 2, 3, 5, 6].map((at) => lines[at])).toEqual([1, 3, 4, 6, 7].map(lineV));
  const second = JSON.parse(lines[1] ?? '');
  expect(second).toMatchObject({
    seq: 2,
    ts: '2026-01-05T10:00:02.000Z',
    event: {
      type: 'log.redacted',
      leaf: report.targets[0]?.leaf,
      original_type: 'error',
      length: lineV(2).length,
      reason: 'secret',
      actor: 'ann',
    },
  });
  expect(JSON.parse(lines[7] ?? '').event).toMatchObject({
    type: 'log.redaction',
    indexes: [1, 4],
    leaves: report.targets.map(({ leaf }) => leaf),
    reason: 'secret',
    actor: 'ann',
  });
  const found = await world.verify();
  expect([await world.verdict(), found.tree.redacted.map(({ seq }) => seq)]).toEqual(['verified', [2, 5]]);
  const everywhere = everything(world).toString('utf8');
  expect(['"m2"', '"m5"'].filter((text) => everywhere.includes(text))).toEqual([]);
  expect(world.disk.list(world.path('index')).map(({ name }) => name)).toEqual(['turns.jsonl']);
});

test('AU-22: records in archives are redacted, the chain of headers names the new files, and every pack verifies', async () => {
  const world = new AuditWorld();
  await world.turns(8);
  for (const name of ['one', 'two', 'three']) world.disk.plantDirectory(`/data/${name}`);
  await world.pack({ record: 'none', out: '/data/one' });
  await world.cut(15);
  await world.pack({ record: 'none', out: '/data/two' });
  await world.turns(6);
  await world.cut(15);
  await world.pack({ record: 'none', out: '/data/three' });
  const before = everything(world).toString('utf8');
  expect(before).toContain('turn 4 says something of its own');
  const report = await redact(world, 5, 2);
  const summaries = report.targets.filter(({ cause }) => cause === 'summary');
  expect(report.targets.filter(({ cause }) => cause === 'named').map(({ record }) => record.seq)).toEqual([2, 5]);
  expect(summaries.length).toBeGreaterThan(0);
  const after = everything(world).toString('utf8');
  expect(['turn 1 says', 'turn 4 says'].filter((text) => after.includes(text))).toEqual([]);
  expect(after).toContain('turn 7 says');
  for (const packDirectory of ['/data/one', '/data/two', '/data/three']) {
    const found = await world.verify({ packDirectory });
    expect([packDirectory, found.mismatches, found.missing, found.unproven]).toEqual([packDirectory, [], [], []]);
    expect(found.tree.redacted.map(({ seq }) => seq)).toEqual(expect.arrayContaining([2, 5]));
  }
  const reader = await world.reader();
  expect([...reader.history()].filter(({ type }) => type === 'log.redacted').length).toBe(report.targets.length);
  reader.close();
});

test('a preview says the same and changes nothing', async () => {
  const world = new AuditWorld();
  world.plantLog(logV(7));
  const before = everything(world);
  const preview = previewRedaction(await world.store(), id, named(3));
  expect(preview.targets.map(({ record }) => record.seq)).toEqual([3]);
  expect(everything(world).equals(before)).toBe(true);
});
