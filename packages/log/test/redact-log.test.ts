import {
  type HistoryLeaf,
  historyLeaves,
  LogFollower,
  type LogReader,
  type RedactedLog,
  type RedactionOrder,
  redactLog,
  transaction,
} from '@turnlog/log';
import { TestLog } from './support.js';

/** Redacts the records of these seqs, with a statement behind the log. */
async function redact(log: TestLog, ...seqs: readonly number[]): Promise<RedactedLog | null> {
  const decide = (reader: LogReader): RedactionOrder => {
    const leaves = [...historyLeaves(log.fs, reader)].filter(({ record }) => seqs.includes(record.seq));
    const indexes = leaves.map(({ index }) => index);
    const hashes = leaves.map(({ record }) => record.leaf());
    const said = { reason: 'secret', actor: 'ann' };
    return {
      statement: { type: 'log.redaction', indexes, leaves: hashes, ...said },
      targets: leaves.map((leaf) => ({ ...leaf, ...said })),
    };
  };
  return await redactLog(log.machine, log.directory, 'case', decide, { waitMs: 0 });
}

const message = (text: string): { readonly type: string } & Readonly<Record<string, unknown>> => ({
  type: 'item.completed',
  item: { id: 'i1', type: 'agent_message', text },
});

async function filled(): Promise<TestLog> {
  const log = new TestLog();
  await log.write([
    { type: 'turn.started' },
    message('one'),
    { type: 'turn.completed', usage: { input_tokens: 3, output_tokens: 4 } },
    { type: 'turn.started' },
    message('two'),
  ]);
  return log;
}

const leavesIn = (log: TestLog): readonly HistoryLeaf[] => {
  const reader = log.read();
  try {
    return [...historyLeaves(log.fs, reader)];
  } finally {
    reader.close();
  }
};

test('numbers, turns, keys and the tree stay; the generation is another one, and nothing is left of the rewrite', async () => {
  const log = new TestLog();
  const writer = await log.open();
  writer.append({ type: 'turn.started' });
  writer.append(message('one'), { key: 'k-1' });
  writer.append({ type: 'turn.completed', usage: {} });
  await writer.close();
  const before = [log.manifest(), leavesIn(log).map(({ record }) => record.leaf())] as const;
  expect(await redact(log, 2)).toEqual({ statementSeq: 4, unnamedArchives: [], maintenance: [] });
  const after = log.manifest();
  expect(after).toMatchObject({ turn_count: 1, event_count: 4 });
  expect(after.turnlog.generation).not.toBe(before[0].turnlog.generation);
  expect(
    leavesIn(log)
      .map(({ record }) => record.leaf())
      .slice(0, 3),
  ).toEqual(before[1]);
  expect(
    log.disk
      .list(log.path('index'))
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['keys.jsonl', 'turns.jsonl']);
  expect(leavesIn(log)[1]?.record).toMatchObject({ seq: 2, key: 'k-1', type: 'log.redacted', turn: 1 });
  // What the key stood for is not known any more: nobody is told that another event is the same.
  expect(log.text('index/keys.jsonl')).toContain('"k":"k-1"');
  const again = await log.open();
  expect(again.report).toMatchObject({ scan: 'none' });
  expect(() => again.append(message('one'), { key: 'k-1' })).toThrow(
    expect.objectContaining({ code: 'TURNLOG_KEY_CONFLICT' }),
  );
  await again.close();
});

test('a follower goes on behind what it has read, and those who share the log notice the new file', async () => {
  const log = await filled();
  const follower = new LogFollower(log.fs, log.directory, 'case');
  expect(follower.poll().map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  const late = new LogFollower(log.fs, log.directory, 'case', follower.cursor);
  await redact(log, 2, 5);
  expect(follower.poll().map(({ seq, type }) => [seq, type])).toEqual([[6, 'log.redaction']]);
  const append = async (): Promise<number> =>
    await transaction(log.machine, log.directory, 'case', (shared) => shared.append(message('more')).seq);
  expect([await append(), await append()]).toEqual([7, 8]);
  expect(late.poll().map(({ seq }) => seq)).toEqual([6, 7, 8]);
  expect(follower.poll().map(({ seq }) => seq)).toEqual([7, 8]);
  follower.close();
  late.close();
});

test('whoever has the log open meanwhile is not overtaken, and reads on in the old file', async () => {
  const log = await filled();
  const reader = log.read();
  const owner = await log.open();
  await expect(redact(log, 2)).rejects.toMatchObject({ code: 'TURNLOG_LOCKED' });
  await owner.close();
  await redact(log, 2);
  expect([...reader.records()].map(({ type }) => type)[1]).toBe('item.completed');
  reader.close();
});

/** A redaction whose log takes its name, and whose manifest does not. */
async function cutShort(log: TestLog, seq: number): Promise<void> {
  log.fs.setFault({
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'ENOSPC' },
    applies: ({ verb, path }) => verb === 'write' && /manifest|turns|\.t-/.test(path) && isReplaced(log),
  });
  await redact(log, seq);
  log.fs.setFault(null);
}

const isReplaced = (log: TestLog): boolean => log.text().includes('"log.redacted"');

test('a log that is as long as it was, with the same lines at its ends, is not taken for the old one', async () => {
  const withText = async (text: string): Promise<TestLog> => {
    const log = new TestLog();
    await log.write([{ type: 'turn.started' }, message(text), { type: 'turn.completed', usage: {} }]);
    return log;
  };
  const lengthOf = (log: TestLog): number => leavesIn(log)[1]?.record.length ?? 0;
  const bare = lengthOf(await withText(''));
  const probe = await withText('x'.repeat(200));
  await redact(probe, 2);
  const log = await withText('x'.repeat(lengthOf(probe) - bare));
  const before = log.manifest();
  const length = log.bytes().length;
  await cutShort(log, 2);
  const statement = leavesIn(log)[3]?.record.length ?? 0;
  expect([isReplaced(log), log.bytes().length - statement - 1]).toEqual([true, length]);
  expect(log.disk.status(log.path('index/pending-rewrite.json'))).not.toBeNull();
  const writer = await log.open();
  expect(writer.report).toMatchObject({ scan: 'full', damage: [] });
  await writer.close();
  expect(log.manifest().turnlog.generation).not.toBe(before.turnlog.generation);
  expect(log.disk.status(log.path('index/pending-rewrite.json'))).toBeNull();
});

test('one piece of a line goes and the rest of the line stays; lines without seq or time keep their places', async () => {
  const log = new TestLog();
  const plain = (text: string): string =>
    `{"schema_version":"0.18.0","event":{"type":"error","message":"${text}"}}`;
  const stated = (seq: number, text: string): string =>
    `{"schema_version":"0.18.0","seq":${seq},"ts":"2026-01-05T10:00:0${seq}.000Z","event":{"type":"error","message":"${text}"}}`;
  const stub = '{"schema_version":"0.18.0","seq":3,"ts":"2026-01';
  const lines = [plain('a'), plain('goes'), `${stub}${stated(3, 'goes too')}`, stated(4, 'd')];
  log.plant(`\u{feff}${lines.join('\n')}\r\n`);
  const reader = log.read();
  const before = [reader.state.damage, [...reader.records()].map(({ seq, flags }) => [seq, flags])];
  reader.close();
  await redact(log, 2, 3);
  const now = log.bytes().toString('utf8').split('\n');
  expect([now[0], now[3]]).toEqual([`\u{feff}${lines[0]}`, `${lines[3]}\r`]);
  expect(JSON.parse(now[1] ?? '')).toMatchObject({ seq: 2, event: { type: 'log.redacted' } });
  expect(JSON.parse(now[1] ?? '')).not.toHaveProperty('ts');
  expect(now[2]?.startsWith(`${stub}{"schema_version"`)).toBe(true);
  const again = log.read();
  expect(again.state.damage).toMatchObject({ count: 1, bytes: stub.length });
  expect(before[0]).toMatchObject({ count: 1, bytes: stub.length });
  expect([...again.records()].map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  again.close();
  expect(log.text()).not.toContain('goes');
});

test('what a header carries of a record goes with it, in the log and in the archives behind', async () => {
  const log = new TestLog();
  const run = { type: 'run.started', program: 'p', cwd: '/w', workspace: '/secret/place' };
  const set = { type: 'journal.set', title: 'a secret title' };
  const turn = [{ type: 'turn.started' }, message('x'), { type: 'turn.completed', usage: {} }];
  await log.write([run, set, ...turn, ...turn, ...turn, ...turn]);
  for (const maxEvents of [9, 6]) {
    const writer = await log.open({ cap: { maxEvents, target: 1, keepTurns: 1 } });
    await writer.maintain();
    await writer.close();
  }
  const archives = log.disk.list(log.path('archive')).map(({ name }) => name);
  expect([
    archives.length,
    log.text().includes('secret title'),
    log.text('manifest.json').includes('/secret/place'),
  ]).toEqual([3, true, true]);
  await redact(log, 1, 2);
  expect(log.text()).not.toMatch(/secret (?:title|place)/);
  expect(log.text('manifest.json')).not.toContain('secret');
  expect(
    leavesIn(log)
      .map(({ record }) => Buffer.from(record.bytes).toString('utf8'))
      .join(''),
  ).not.toMatch(/secret title|secret\/place/);
  const header: unknown = JSON.parse(log.text().split('\n')[0] ?? '').event.carried;
  expect(header).toEqual([]);
});

test('an archive that a crash has left beside those that are named goes, for it holds what goes', async () => {
  const log = new TestLog();
  const turn = [{ type: 'turn.started' }, message('goes'), { type: 'turn.completed', usage: {} }];
  await log.write([...turn, ...turn, ...turn]);
  const writer = await log.open({ cap: { maxEvents: 7, target: 1 } });
  await writer.maintain();
  await writer.close();
  const [name = ''] = log.disk.list(log.path('archive')).map((entry) => entry.name);
  log.disk.plantFile(log.path('archive/e-2.jsonl.gz'), log.bytes(`archive/${name}`));
  const result = await redact(log, 2);
  expect(result?.unnamedArchives).toEqual([]);
  expect(log.disk.list(log.path('archive')).map((entry) => entry.name)).toEqual([name]);
});

test('a log whose beginning is lost keeps its turn numbers', async () => {
  const log = new TestLog();
  const turn = [{ type: 'turn.started' }, message('x'), { type: 'turn.completed', usage: {} }];
  await log.write([...turn, ...turn, ...turn]);
  const rest = log.text().split('\n').slice(3).join('\n');
  log.replace('events.jsonl', rest);
  await redact(log, 5);
  const reader = log.read();
  expect([...reader.turns()].map((each) => [each.turn, each.firstSeq])).toEqual([
    [2, 4],
    [3, 7],
  ]);
  expect([...reader.readTurn(2)].map(({ type }) => type)[1]).toBe('log.redacted');
  reader.close();
});
