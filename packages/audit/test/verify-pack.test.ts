import { AuditWorld, lineV, logV } from './world.js';

async function packed(turns = 4): Promise<AuditWorld> {
  const world = new AuditWorld();
  await world.turns(turns);
  await world.pack();
  return world;
}

test('a session is as it was packed', async () => {
  const world = await packed();
  const found = await world.verify();
  expect(found).toMatchObject({
    mismatches: [],
    missing: [],
    unproven: [],
    unaccounted: [],
    stale: [],
    completeness: 'proven',
    assurance: 'self-attested',
    tree: { size: 12, grownBy: 0, evicted: 0, redacted: [] },
  });
  expect(found.tree.recomputed).toBe(found.tree.root);
  expect(await world.exit()).toBe(0);
});

test('A-4 one flipped bit anywhere in the log: exit 1, the record named, the others intact', async () => {
  const world = await packed();
  const log = world.bytes('events.jsonl');
  const ends = [...log.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at);
  for (let at = 0; at < log.length; at += 7) {
    const flipped = Buffer.from(log);
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (at % 8)), at);
    world.plant('events.jsonl', flipped);
    const found = await world.verify();
    const leaf = ends.findIndex((end) => at <= end);
    expect([at, await world.exit()]).toEqual([at, 1]);
    const [first] = found.mismatches;
    expect([at, first?.index]).toEqual([at, leaf]);
    // A newline that went joins two records.
    expect([at, (first?.leavesIntact ?? 0) >= (ends.includes(at) ? 10 : 11)]).toEqual([at, true]);
    expect(first?.diagnosis).toBe('edited');
  }
});

test.each([['manifest.json'], ['index/turns.jsonl']])(
  'A-4 a flipped bit in %s is a mismatch while the log is unchanged',
  async (name) => {
    const world = await packed();
    const bytes = world.bytes(name);
    bytes.writeUInt8(bytes.readUInt8(9) ^ 1, 9);
    world.plant(name, bytes);
    const { mismatches } = await world.verify();
    expect(mismatches.map(({ path }) => path)).toContain(name);
    expect(await world.exit()).toBe(1);
  },
);

test.each([1, 2, 5, 11])('A-5, B166 the last %p lines removed: shorter by so many', async (count) => {
  const world = await packed();
  const lines = world.bytes('events.jsonl').toString('utf8').trimEnd().split('\n');
  world.plant('events.jsonl', `${lines.slice(0, -count).join('\n')}\n`);
  const { mismatches } = await world.verify();
  expect(mismatches).toEqual([
    expect.objectContaining({
      path: 'events.jsonl',
      diagnosis: 'shorter',
      leavesGone: count,
      leavesIntact: 12 - count,
    }),
  ]);
  expect(await world.exit()).toBe(1);
});

test.each(['emptied', 'deleted'])('A-5, B167 a log that was %s is missing', async (what) => {
  const world = await packed();
  if (what === 'emptied') world.plant('events.jsonl', '');
  else world.disk.removeFile(world.path('events.jsonl'));
  expect(await world.verify()).toMatchObject({ missing: ['events.jsonl'], completeness: 'cannot-prove' });
  expect([await world.verdict(), await world.exit()]).toEqual(['missing', 1]);
});

test('B166 without a pack it cannot be told whether records are missing at the end', async () => {
  const world = new AuditWorld();
  world.plantLog(logV(5));
  expect(await world.verify()).toMatchObject({
    completeness: 'cannot-prove',
    mismatches: [],
    packSha256: null,
  });
  expect([await world.exit(), await world.exit({ require: { pack: true } })]).toEqual([0, 1]);
});

test('A-6 records that came later: verified, so many more, derived files stale; exactly as packed it is not', async () => {
  const world = await packed();
  await world.turns(2);
  const found = await world.verify();
  expect(found.tree.grownBy).toBe(6);
  expect(found.stale).toEqual(['index/turns.jsonl', 'manifest.json']);
  expect([await world.exit(), await world.exit({ extent: 'exact' })]).toEqual([0, 1]);
});

test('A-7 another file is not accounted for, also one that is called like a pack', async () => {
  const world = await packed();
  world.plant('audit-pack.json', '{}');
  world.plant('derived/note.txt', 'x');
  const { unaccounted } = await world.verify();
  expect(unaccounted).toEqual(['audit-pack.json', 'derived/note.txt']);
  expect([await world.exit(), await world.exit({ extent: 'exact' })]).toEqual([0, 1]);
});

test('A-9 the pack of one session in another is found out', async () => {
  const world = await packed();
  await world.turns(4, undefined, 's-2');
  await world.pack({ record: 'none' }, 's-2');
  world.plant('derived/audit-pack.json', world.bytes('derived/audit-pack.json'), 's-2');
  const { mismatches } = await world.verify({}, 's-2');
  expect(mismatches.map(({ reason }) => reason)).toContain('other-session');
  expect(await world.exit({}, 's-2')).toBe(1);
});

test.each([
  ['A-12 archived: verified', 'gzip', false, 'verified'],
  ['A-12 dropped: verified', 'drop', false, 'verified'],
  ['A-12 dropped, and the hashes lost: unproven', 'drop', true, 'unproven'],
] as const)('%s', async (_name, archive, isLost, verdict) => {
  const world = await packed();
  await world.turns(8);
  await world.cut(6, archive);
  if (isLost) {
    const [name] = world.disk.list(world.path('archive')).map((entry) => entry.name);
    world.disk.removeFile(world.path(`archive/${name}`));
  }
  const found = await world.verify();
  expect(found.tree.evicted).toBeGreaterThan(12);
  const { tree } = await world.reader();
  expect(found.tree.grownBy).toBe(verdict === 'unproven' ? 0 : (tree?.size ?? 0) - 12);
  expect(verdictOf(found.unproven)).toBe(verdict === 'unproven' ? 'unproven' : 'none');
  expect(await world.verdict()).toBe(verdict);
});

const verdictOf = (unproven: readonly string[]): string => (unproven.length > 0 ? 'unproven' : 'none');

test('AU-5: a pack that holds more than what has left is proved by the header alone', async () => {
  const world = new AuditWorld();
  await world.turns(8);
  await world.pack();
  await world.cut(6, 'drop');
  for (const { name } of world.disk.list(world.path('archive')))
    world.disk.removeFile(world.path(`archive/${name}`));
  expect(await world.verdict()).toBe('verified');
});

test('a changed byte in an archive is found by an old pack', async () => {
  const world = await packed();
  await world.turns(8);
  await world.cut(6);
  const [name] = world.disk.list(world.path('archive')).map((entry) => entry.name);
  const bytes = world.bytes(`archive/${name}`);
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 4, bytes.length >> 1);
  world.plant(`archive/${name}`, bytes);
  const { mismatches } = await world.verify();
  expect(mismatches[0]).toMatchObject({ path: `archive/${name}`, diagnosis: 'unreadable' });
});

const transforms: readonly (readonly [name: string, change: (text: string) => string])[] = [
  ['crlf', (text) => text.replaceAll('\n', '\r\n')],
  ['bom', (text) => `\ufeff${text}`],
  ['bom-crlf', (text) => `\ufeff${text.replaceAll('\n', '\r\n')}`],
  ['no-final-newline', (text) => text.slice(0, -1)],
];

test.each(transforms)('AU-19: a log changed by %s is named, and does not verify', async (name, change) => {
  const world = await packed();
  world.plant('events.jsonl', change(world.bytes('events.jsonl').toString('utf8')));
  const { mismatches } = await world.verify();
  expect(mismatches).toEqual([
    expect.objectContaining({ path: 'events.jsonl', diagnosis: 'transformed', transform: name }),
  ]);
});

test('AU-19: another log altogether is replaced, and bytes without a record cannot be read', async () => {
  const world = await packed();
  world.plant('events.jsonl', logV(12));
  expect((await world.verify()).mismatches[0]).toMatchObject({ diagnosis: 'replaced' });
  world.plant('events.jsonl', 'no record\n');
  expect((await world.verify()).mismatches[0]).toMatchObject({ diagnosis: 'unreadable' });
  expect(lineV(1)).toBe(
    '{"schema_version":"0.18.0","seq":1,"ts":"2026-01-05T10:00:01.000Z","event":{"type":"error","message":"m1"}}',
  );
});
