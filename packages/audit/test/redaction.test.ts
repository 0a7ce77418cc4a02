import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { previewRedaction, type RedactionRequest, redactSession, verifyConsistency } from '@turnlog/audit';
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
  expect(report.targets.filter(({ cause }) => cause === 'named').map(({ record }) => record.seq)).toEqual([
    2, 5,
  ]);
  expect(summaries.length).toBeGreaterThan(0);
  const after = everything(world).toString('utf8');
  expect(['turn 1 says', 'turn 4 says'].filter((text) => after.includes(text))).toEqual([]);
  expect(after).toContain('turn 7 says');
  for (const packDirectory of ['/data/one', '/data/two', '/data/three']) {
    const found = await world.verify({ packDirectory });
    expect([packDirectory, found.mismatches, found.missing, found.unproven]).toEqual([
      packDirectory,
      [],
      [],
      [],
    ]);
    expect(found.tree.redacted.map(({ seq }) => seq)).toEqual(expect.arrayContaining([2, 5]));
  }
  const reader = await world.reader();
  expect([...reader.history()].filter(({ type }) => type === 'log.redacted').length).toBe(
    report.targets.length,
  );
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

interface KeptPack {
  readonly directory: string;
  readonly bytes: Buffer;
}

/** Redacts one of the newest records, one of the oldest, or one in the middle, by turns; says which went with it. */
async function redactByTurns(world: AuditWorld, number: number): Promise<readonly number[]> {
  const reader = await world.reader();
  const alive = [...reader.history()].filter(({ type }) => type === 'error').map(({ seq }) => seq);
  reader.close();
  const at = [alive.length - 1, 0, Math.floor(alive.length / 2)][(number / 2) % 3] ?? 0;
  const { targets } = await redact(world, alive[at] ?? 0);
  return targets.map(({ record }) => record.seq);
}

async function evictedTo(world: AuditWorld): Promise<number> {
  const reader = await world.reader();
  const { evicted } = reader.state;
  reader.close();
  return evicted?.toSeq ?? 0;
}

/** Makes the next pack where packs are looked for, and keeps a copy of it. */
async function packAside(world: AuditWorld, number: number): Promise<KeptPack> {
  await world.pack({ record: 'none' });
  const kept = { directory: `/data/pack-${number}`, bytes: world.bytes('derived/audit-pack.json') };
  world.disk.plantDirectory(kept.directory);
  world.disk.plantFile(`${kept.directory}/audit-pack.json`, kept.bytes);
  return kept;
}

function expectLink(earlier: KeptPack, later: KeptPack): void {
  const [before, after] = [earlier, later].map(({ bytes }) => JSON.parse(bytes.toString('utf8')));
  const { size, root } = before.tree;
  expect(after.previous).toMatchObject({
    pack_sha256: createHash('sha256').update(earlier.bytes).digest('hex'),
    size,
    root,
  });
  const to = { size: after.tree.size, root: after.tree.root };
  expect(to.size).toBeGreaterThan(size);
  const path = after.previous.consistency;
  expect(verifyConsistency({ from: { size, root }, to, path })).toBe(true);
}

test('A-11 a chain of 20 packs with evictions and redactions in between: each verifies against the present log, and its proof links it to the one before', async () => {
  const world = new AuditWorld();
  const packs: KeptPack[] = [];
  const redactedSeqs: number[] = [];
  const cuts = new Set<number>();
  for (let number = 1; number <= 20; number += 1) {
    await world.turns(2);
    if (number % 3 === 0) await world.cut(6);
    cuts.add(await evictedTo(world));
    if (number % 2 === 0) redactedSeqs.push(...(await redactByTurns(world, number)));
    packs.push(await packAside(world, number));
  }
  expect([packs.length, cuts.size >= 6, redactedSeqs.length >= 10]).toEqual([20, true, true]);
  for (const [at, pack] of packs.entries()) {
    const found = await world.verify({ packDirectory: pack.directory });
    expect([at, found.mismatches, found.missing, found.unproven]).toEqual([at, [], [], []]);
    expect([at, await world.exit({ packDirectory: pack.directory })]).toEqual([at, 0]);
    const earlier = packs[at - 1];
    if (earlier !== undefined) expectLink(earlier, pack);
  }
});

test('A-15 salted: equal content has different leaves, and nothing is asked; an unsalted short record is refused without the flag', async () => {
  const world = new AuditWorld();
  const store = await world.store();
  // The same event at the same place and time, in two logs: nothing but the salt can tell them apart.
  for (const session of ['s-1', 's-2']) {
    const salted = await store.open(session, { salt: 'each' });
    for (let at = 0; at < 2; at += 1) salted.append({ type: 'error', message: 'equal' }, { tsMs: 0 });
    await salted.close();
  }
  const [one, other] = ['s-1', 's-2'].map((session) =>
    world
      .bytes('events.jsonl', session)
      .toString('utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  const withoutSalt = ({ salt: _, ...rest }: Readonly<Record<string, unknown>>): object => rest;
  expect(one?.map(withoutSalt)).toEqual(other?.map(withoutSalt));
  const leavesOf = async (session: string): Promise<readonly string[]> => {
    const request = { ...named(1, 2), guessable: 'refuse' } as const;
    const { targets } = await redactSession(store, parseSessionId(session), request);
    expect(targets.map(({ isGuessable }) => isGuessable)).toEqual([false, false]);
    return targets.map(({ leaf }) => leaf);
  };
  expect(new Set([...(await leavesOf('s-1')), ...(await leavesOf('s-2'))]).size).toBe(4);
  // The salt goes with the line: what is left tells nothing, and the statement behind it has one of its own.
  const left = linesOf(world).map((line) => JSON.parse(line));
  expect(left.map(({ salt }) => typeof salt)).toEqual(['undefined', 'undefined', 'string']);
  const plain = new AuditWorld();
  plain.plantLog(logV(3));
  const before = everything(plain);
  const refused = redactSession(await plain.store(), id, { ...named(2), guessable: 'refuse' });
  await expect(refused).rejects.toMatchObject({ code: 'TURNLOG_GUESSABLE', details: { seqs: [2] } });
  expect(linesOf(plain)).toEqual(logV(3).trimEnd().split('\n'));
  expect(before.length).toBeGreaterThan(0);
  await redact(plain, 2);
  expect(JSON.parse(linesOf(plain)[1] ?? '').event.type).toBe('log.redacted');
});

const cases = join(__dirname, '..', '..', '..', 'test', 'golden', 'cases');

test.each(['B44-big-integers', 'B40-lone-surrogates', 'B48-deep-nesting'])(
  'A-16 untouched lines are byte-identical after a redaction and an eviction: case %s',
  async (name) => {
    const odd = readFileSync(join(cases, name, 'events.jsonl'));
    const count = odd
      .toString('latin1')
      .split('\n')
      .filter((line) => line !== '').length;
    const highest = Math.max(
      ...[...odd.toString('latin1').matchAll(/"seq":(\d+)/g)].map(([, seq]) => Number(seq)),
    );
    const stamped = (seq: number, event: object): string =>
      `${JSON.stringify({ schema_version: '0.18.0', seq, ts: '2026-01-05T11:00:00.000Z', event })}\n`;
    // The case, a turn that will be cut with it, and one that stays, each with a record that goes.
    const more = [
      { type: 'turn.started' },
      { type: 'error', message: 'the first that goes' },
      { type: 'turn.completed', usage: {} },
      { type: 'turn.started' },
      { type: 'error', message: 'the second that goes' },
      { type: 'turn.completed', usage: {} },
    ].map((event, at) => stamped(highest + 1 + at, event));
    const world = new AuditWorld();
    world.plantLog(Buffer.concat([odd, Buffer.from(more.join(''))]));
    const original = (): readonly Buffer[] => splitLines(Buffer.concat([odd, Buffer.from(more.join(''))]));
    const kept = (lines: readonly Buffer[]): readonly Buffer[] =>
      lines.filter((line) => !line.includes('that goes') && !/"type":"log\./.test(line.toString('latin1')));
    await world.pack();
    await redact(world, highest + 5);
    expect(kept(splitLines(world.bytes('events.jsonl')))).toEqual(kept(original()));
    await world.cut(7);
    const [archive = ''] = world.disk.list(world.path('archive')).map(({ name: file }) => file);
    const whole = (): Buffer =>
      Buffer.concat([gunzipSync(world.bytes(`archive/${archive}`)), world.bytes('events.jsonl')]);
    expect(kept(splitLines(whole()))).toEqual(kept(original()));
    await redact(world, highest + 2);
    expect(kept(splitLines(whole()))).toEqual(kept(original()));
    expect(kept(original()).length).toBeGreaterThanOrEqual(count);
    expect(whole().includes('that goes')).toBe(false);
    expect(await world.verdict()).toBe('verified');
  },
);

/** The lines of a log as bytes, without their 0x0A. */
function splitLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at) === -1 ? bytes.length : bytes.indexOf(0x0a, at);
    lines.push(bytes.subarray(at, end));
    at = end + 1;
  }
  return lines;
}
