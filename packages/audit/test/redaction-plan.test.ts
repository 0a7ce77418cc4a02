import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  isRedactable,
  previewRedaction,
  type RedactionRequest,
  redactSession,
  unfinishedRedactions,
} from '@turnlog/audit';
import { leafHash } from '@turnlog/log';
import { AssetStore, deleteSession, parseSessionId } from '@turnlog/store';
import { AuditWorld, lineV, logV } from './world.js';

const id = parseSessionId('s-1');

const named = (...seqs: readonly number[]): RedactionRequest => ({
  seqs,
  reason: 'secret',
  actor: 'ann',
  guessable: 'accept',
});

test('records that hold the log or the work of an agent together are refused, and what only says something is not', async () => {
  const refused = [
    'log.evicted',
    'log.redacted',
    'log.redaction',
    'log.recovered',
    'log.imported',
    'log.pack',
    'journal.begin',
    'journal.commit',
    'journal.started',
    'job.queued',
  ];
  const taken = ['log.summary', 'journal.set', 'journal.summary', 'journal.snapshot', 'error', 'x.acme.note'];
  expect([refused.filter(isRedactable), taken.filter(isRedactable)]).toEqual([[], taken]);
  const world = new AuditWorld();
  world.plantLog(logV(3));
  const store = await world.store();
  await redactSession(store, id, named(2));
  const before = world.bytes('events.jsonl');
  for (const [seqs, code, details] of [
    [[4], 'TURNLOG_RESERVED_RECORD', { seq: 4, type: 'log.redaction' }],
    [[2], 'TURNLOG_GONE', { seqs: [2], reason: 'redacted' }],
    [[3, 2], 'TURNLOG_GONE', { seqs: [2] }],
    [[3, 9], 'TURNLOG_NOT_FOUND', { seq: 9, lastSeq: 4 }],
  ] as const) {
    await expect(redactSession(store, id, named(...seqs))).rejects.toMatchObject({ code, details });
    expect(() => previewRedaction(store, id, named(...seqs))).toThrow(expect.objectContaining({ code }));
  }
  await expect(redactSession(store, parseSessionId('s-2'), named(1))).rejects.toMatchObject({
    code: 'TURNLOG_NOT_FOUND',
  });
  expect([world.bytes('events.jsonl').equals(before), store.has('s-2')]).toEqual([true, false]);
});

test('what was dropped is gone, and said to be; what was archived before a drop can still be redacted', async () => {
  const world = new AuditWorld();
  await world.turns(3);
  await world.cut(4);
  await world.turns(3);
  await world.cut(6, 'drop');
  const store = await world.store();
  const reader = await world.reader();
  const dropped = (reader.state.evicted?.toSeq ?? 0) - 1;
  reader.close();
  await expect(redactSession(store, id, named(dropped))).rejects.toMatchObject({
    code: 'TURNLOG_GONE',
    details: { seq: dropped },
  });
  const { targets } = await redactSession(store, id, named(2));
  expect(targets[0]).toMatchObject({ index: 1, cause: 'named', record: { archive: 'e-6.jsonl.gz' } });
  expect(gunzipSync(world.bytes('archive/e-6.jsonl.gz')).toString('utf8')).not.toContain('turn 1 says');
});

test('records with the same seq go together', async () => {
  const world = new AuditWorld();
  world.plantLog([lineV(1), lineV(2), lineV(2), lineV(3)].map((line) => `${line}\n`).join(''));
  const { targets } = await redactSession(await world.store(), id, named(2));
  expect(targets.map(({ index, record }) => [index, record.seq])).toEqual([
    [1, 2],
    [2, 2],
  ]);
  expect(world.bytes('events.jsonl').toString('utf8')).not.toContain('"m2"');
});

async function withPicture(world: AuditWorld, session: string, bytes: string): Promise<string> {
  const store = await world.store();
  store.ensureSessionsDirectory();
  const { sha256, bytes: length } = new AssetStore(store.environment, world.root).put(Buffer.from(bytes));
  const log = await store.open(session);
  log.append({
    type: 'user.message',
    id: 'u1',
    origin: 'prompt',
    content: [{ type: 'asset', sha256, bytes: length, media_type: 'image/png' }],
  });
  await log.close();
  return sha256;
}

test.each(['nobody', 'a session', 'the trash', 'the same session', 'an unreadable session'] as const)(
  'an asset that %s names too stays, and goes where nobody else does',
  async (other) => {
    const world = new AuditWorld();
    const sha256 = await withPicture(world, 's-1', 'a picture');
    const store = await world.store();
    if (other === 'a session' || other === 'the trash') await withPicture(world, 's-2', 'a picture');
    if (other === 'the trash') await deleteSession(store, 's-2');
    if (other === 'the same session') await withPicture(world, 's-1', 'a picture');
    if (other === 'an unreadable session') world.disk.plantLink(`${world.root}/sessions/s-3`, '/data');
    const isGoing = other === 'nobody';
    const assets = { going: isGoing ? [sha256] : [], raw: [], shared: isGoing ? [] : [sha256] };
    expect(previewRedaction(store, id, named(1)).assets).toEqual(assets);
    const files = new AssetStore(store.environment, world.root);
    expect(files.has(sha256)).toBe(true);
    expect((await redactSession(store, id, named(1))).assets).toEqual(assets);
    expect(files.has(sha256)).toBe(!isGoing);
  },
);

/** Eight turns, of which some are archived, and a pack. */
async function archived(): Promise<{ readonly world: AuditWorld; readonly path: string }> {
  const world = new AuditWorld();
  await world.turns(6);
  await world.cut(8);
  const [name = ''] = world.disk.list(world.path('archive')).map((entry) => entry.name);
  await world.pack();
  return { world, path: `archive/${name}` };
}

test('AU-24: an archive that somebody changed in silence is a difference, also where another of its records was redacted', async () => {
  const { world, path } = await archived();
  await redactSession(await world.store(), id, named(2));
  expect(await world.verdict()).toBe('verified');
  const found = await world.verify();
  expect([found.stale.includes(path), found.tree.redacted.map(({ seq }) => seq)]).toEqual([
    true,
    expect.arrayContaining([2]),
  ]);
  expect(await world.exit({ extent: 'exact' })).toBe(1);
  const text = gunzipSync(world.bytes(path)).toString('utf8');
  const line = text.split('\n').find((each) => each.includes('turn 4 says')) ?? '';
  const { seq, ts, schema_version } = JSON.parse(line);
  const bytes = Buffer.from(line);
  const event = {
    type: 'log.redacted',
    leaf: leafHash(bytes, 0, bytes.length),
    original_type: 'error',
    length: bytes.length,
    redacted_at: ts,
  };
  const replaced = Buffer.from(text.replace(line, JSON.stringify({ schema_version, seq, ts, event })));
  world.plant(path, gzipSync(replaced));
  expect((await world.verify()).mismatches).toMatchObject([{ path, reason: 'content' }]);
  // Whoever says the same in the header has still said it nowhere else.
  const [header = '', ...rest] = world.bytes('events.jsonl').toString('utf8').split('\n');
  const { archive } = JSON.parse(header).event;
  const now = {
    ...archive,
    bytes: world.bytes(path).length,
    raw_bytes: replaced.length,
    raw_sha256: createHash('sha256').update(replaced).digest('hex'),
  };
  const changed = header.replace(JSON.stringify(archive), JSON.stringify(now));
  world.plant('events.jsonl', [changed, ...rest].join('\n'));
  expect((await world.verify()).mismatches).toMatchObject([
    { path: 'archive', reason: 'redaction-unexplained', seq: 5 },
  ]);
  expect(await world.exit()).toBe(1);
});

test('AU-24: bytes between the records that change without a word are a difference, whatever was redacted before', async () => {
  const { world } = await archived();
  await redactSession(await world.store(), id, named(2));
  await world.pack();
  expect(await world.verdict()).toBe('verified');
  world.plant('events.jsonl', world.bytes('events.jsonl').toString('utf8').replace('\n', '\n\n'));
  expect(await world.verdict()).toBe('mismatch');
});

test('AU-25: what was begun is told, and finished by the next redaction for the reason that was given then', async () => {
  const world = new AuditWorld();
  world.plantLog(logV(5));
  const store = await world.store();
  world.fs.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb }) =>
      verb === 'rename' && world.disk.status(world.path('index/pending-rewrite.json')) !== null,
  });
  await expect(redactSession(store, id, named(2, 3))).rejects.toMatchObject({ code: 'TURNLOG_IO' });
  world.fs.setFault(null);
  expect(world.bytes('events.jsonl').toString('utf8')).toContain('"m2"');
  expect(await unfinishedRedactions(store, ['s-1'], { depth: 'metadata' })).toMatchObject([
    { kind: 'redaction-unfinished', sessionId: 's-1', message: expect.stringContaining('seq 2, 3') },
  ]);
  const later = { ...named(5), reason: 'other', actor: 'bob' };
  const { targets, statementSeq } = await redactSession(store, id, later);
  expect(targets.map(({ record, cause, reason, actor }) => [record.seq, cause, reason, actor])).toEqual([
    [2, 'unfinished', 'secret', 'ann'],
    [3, 'unfinished', 'secret', 'ann'],
    [5, 'named', 'other', 'bob'],
  ]);
  expect([statementSeq, world.bytes('events.jsonl').toString('utf8')]).toEqual([
    7,
    expect.not.stringMatching(/"m[235]"/),
  ]);
  expect(await unfinishedRedactions(store, ['s-1'], { depth: 'whole-log' })).toEqual([]);
  expect((await world.verify()).mismatches).toEqual([]);
});

test('no more goes at once than may be held, and what is too much changes nothing', async () => {
  const world = new AuditWorld();
  const filler = 'x'.repeat(14_000_000);
  const line = (n: number): string => lineV(n).replace(`"m${n}"`, `"${filler}"`);
  world.plantLog(Array.from({ length: 10 }, (_, at) => `${line(at + 1)}\n`).join(''));
  const store = await world.store();
  const all = named(...Array.from({ length: 10 }, (_, at) => at + 1));
  await expect(redactSession(store, id, all)).rejects.toMatchObject({ code: 'TURNLOG_RECORD_TOO_LARGE' });
  expect(world.bytes('events.jsonl').length).toBeGreaterThan(140_000_000);
  await redactSession(store, id, named(1, 2));
  expect(world.bytes('events.jsonl').length).toBeLessThan(120_000_000);
});
