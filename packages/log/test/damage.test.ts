import { limits } from '@turnlog/kernel';
import { LineFramer, type LogReader } from '@turnlog/log';
import { line, note, notes, seqsAndTypes, TestLog, turnStarted } from './support.js';

function reportsOf(reader: LogReader): readonly (readonly [kind: string, offset: number, length: number])[] {
  return reader.damage().map((report) => [report.kind, report.offset, report.length]);
}

describe('T-23, B04, B05, B25 records that share a line', () => {
  const stub = '{"schema_version":"0.18.0","seq":3,"ts":"2026-';
  const prefix = line(2, note('abcdef')).slice(0, 70);
  const cases: readonly (readonly [name: string, bytes: string, seqs: readonly number[], damage: number])[] =
    [
      [
        'T-23 a stub fused with the next record',
        notes(2) + stub + line(4, note(4)) + line(5, note(5)),
        [1, 2, 4, 5],
        1,
      ],
      [
        'T-23 a cut prefix and the full copy',
        notes(1) + prefix + line(2, note('abcdef')) + line(3, note(3)),
        [1, 2, 3],
        1,
      ],
      ['T-23 a welded pair', notes(1) + line(2, note(2)).trimEnd() + line(3, note(3)), [1, 2, 3], 0],
    ];

  test.each(cases)('%s', async (_name, bytes, seqs, damageCount) => {
    const log = new TestLog();
    log.plant(bytes);
    const reader = log.read();
    const records = [...reader.records()];
    expect(records.map((record) => record.seq)).toEqual(seqs);
    const reports = reader.damage();
    expect(reports.length).toBe(damageCount);
    for (const report of reports) expect(report.kind).toBe('fused-stub');
    expect(records.some((record) => record.flags.includes('salvaged'))).toBe(true);
    reader.close();
    // What we write never looks like that: every append brings a whole line, also behind such a log.
    await log.write([note('new')]);
    expect(log.text()).toBe(bytes + line(Math.max(...seqs) + 1, note('new')));
  });
});

describe('T-24, B06 zeros', () => {
  const zeros = '\0'.repeat(512);
  const cases: readonly (readonly [name: string, bytes: string, offset: number])[] = [
    [
      'T-24 on a line of their own',
      `${notes(2)}${zeros}\n${line(3, note(3))}${line(4, note(4))}`,
      notes(2).length,
    ],
    ['T-24 glued to a record', notes(2) + zeros + line(3, note(3)) + line(4, note(4)), notes(2).length],
    ['T-24 at the end', notes(4) + zeros, notes(4).length],
  ];

  test.each(cases)('%s', (_name, bytes, offset) => {
    const log = new TestLog();
    log.plant(bytes);
    const reader = log.read();
    expect(reportsOf(reader)).toEqual([['nul-run', offset, 512]]);
    expect(reader.state.lifecycle.eventCount).toBe(4);
    expect([...reader.records()].map((record) => record.seq)).toEqual([1, 2, 3, 4]);
    expect(reader.tail(4).map((record) => record.seq)).toEqual([1, 2, 3, 4]);
    expect([...reader.readRange(1, 4)].map((record) => record.seq)).toEqual([1, 2, 3, 4]);
    reader.close();
  });
});

test('T-25 unreadable lines in the middle hide no neighbour, and adjacent ones are one report', async () => {
  const log = new TestLog();
  const bytes = `${notes(1)}{"broken\nnot json\n${line(2, note(2))}[1]\n${line(3, note(3))}`;
  log.plant(bytes);
  const reader = log.read();
  expect(seqsAndTypes(reader)).toEqual(['1 error', '2 error', '3 error']);
  expect(reader.damage()).toMatchObject([
    { kind: 'unreadable', lines: 2, line: 2 },
    { kind: 'not-a-record', lines: 1, line: 5 },
  ]);
  expect(reader.state.damage).toMatchObject({
    count: 2,
    bytes: '{"broken'.length + 'not json'.length + '[1]'.length,
  });
  reader.close();
  await log.write([note('new')]);
  expect(log.text().startsWith(bytes)).toBe(true);
});

test('T-26, B09 load, tail and range agree on records, last seq and damage', () => {
  const log = new TestLog();
  log.plant(`${notes(300)}{"schema_version":"0.18.0","seq":301,"ts"`);
  const reader = log.read();
  const loaded = [...reader.records()].map((record) => record.seq);
  expect(loaded.length).toBe(300);
  expect(reader.state.order.highestSeq).toBe(300);
  expect(reader.tail(2).map((record) => record.seq)).toEqual([299, 300]);
  expect([...reader.readRange(1, 400)].map((record) => record.seq)).toEqual(loaded);
  expect(reportsOf(reader)).toEqual([['torn-tail', notes(300).length, 41]]);
  reader.close();
});

test('T-27 malformed lifecycle lines are damage, an unknown enum value in one is not', () => {
  const log = new TestLog();
  const future = {
    type: 'turn.started',
    context: {
      task_id: 't',
      turn_id: 'u',
      actor_id: 'a',
      origin: 'telepathy',
      timestamp: '2026-10-05T08:00:00.000Z',
    },
  };
  log.plant(
    line(1, future) +
      line(2, { type: 'turn.completed', usage: null }) +
      line(2, { type: 'turn.failed' }) +
      line(2, { type: 'thread.started' }) +
      line(2, note('good')),
  );
  const reader = log.read();
  expect(reader.state.lifecycle).toMatchObject({ eventCount: 2, turnCount: 0, open: { turn: 1, events: 2 } });
  expect(reader.damage()).toMatchObject([{ kind: 'lifecycle', lines: 3 }]);
  expect([...reader.readTurn(1)].length).toBe(2);
  reader.close();
});

test('T-29, B50 200 MiB without a newline are passed over, with offset and length, in memory bounded by the limit', () => {
  const head = Buffer.from(notes(1));
  const tail = Buffer.from(`\n${line(2, note(2))}`);
  const longBytes = 200 * 1024 * 1024;
  const tailAt = head.length + longBytes;
  const source = {
    read(into: Uint8Array, offset: number): number {
      if (offset >= tailAt) return into.length === 0 ? 0 : tail.copy(into, 0, offset - tailAt);
      if (offset < head.length) return head.copy(into, 0, offset);
      const count = Math.min(into.length, tailAt - offset);
      into.fill(0x78, 0, count);
      return count;
    },
  };
  const framer = new LineFramer(source, { from: 0, to: tailAt + tail.length });
  const lines: (readonly [offset: number, length: number, isTooLong: boolean])[] = [];
  while (framer.next()) lines.push([framer.offset, framer.length, framer.isTooLong]);
  expect(lines).toEqual([
    [0, head.length - 1, false],
    [head.length, longBytes, true],
    [tailAt + 1, tail.length - 2, false],
  ]);
  expect(framer.bytes.length).toBeLessThan(limits.readerLineBytesMax * 1.01);
});

test('T-29, C-41 the limit is one of a line, whatever the block around it', () => {
  const log = new TestLog();
  const long = 'x'.repeat(200_000);
  const short = Array.from({ length: 5_000 }, (_, index) => line(index + 2, note(index)));
  log.plant(`${notes(1)}${long}\n${short.join('')}`);
  const limited = log.readWithin(10_000);
  expect(limited.damage()).toMatchObject([{ kind: 'too-long', offset: notes(1).length, length: 200_000 }]);
  expect(limited.state.lifecycle.eventCount).toBe(5_001);
  limited.close();
});

describe('T-31, B49, B87, B88 times do not order records', () => {
  const cases: readonly (readonly [name: string, ts: unknown])[] = [
    ['T-31 -1', -1],
    ['T-31 1e20', 1e20],
    ['T-31 empty', ''],
    ['T-31 words', 'yesterday'],
    ['T-31 30 February', '2026-02-30T10:00:00.000Z'],
    ['T-31 missing', undefined],
  ];

  test.each(cases)('%s reads as unknown and keeps its place', async (_name, ts) => {
    const log = new TestLog();
    const odd = `${JSON.stringify({ schema_version: '0.18.0', seq: 2, ts, event: note(2) })}\n`;
    log.plant(
      notes(1) +
        odd +
        line(3, note(3), '2026-10-05T07:00:00.000Z') +
        line(4, note(4), '2026-10-05T09:00:00.000Z'),
    );
    const reader = log.read();
    const records = [...reader.records()];
    expect(records.map((record) => record.seq)).toEqual([1, 2, 3, 4]);
    expect(records[1]?.ts).toBeNull();
    reader.close();
    // The clock stands at 08:00, an hour before the newest record.
    await log.write([note('new')]);
    expect(JSON.parse(log.text().trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      seq: 5,
      ts: '2026-10-05T09:00:00.000Z',
    });
  });

  test('T-31 equal times keep the order of the file', async () => {
    const log = new TestLog();
    await log.write([note('b'), note('a'), note('c')]);
    const reader = log.read();
    const texts = [...reader.records()]
      .map((record) => record.readEvent())
      .map((event) => event && 'message' in event && event.message);
    expect(texts).toEqual(['note b', 'note a', 'note c']);
    reader.close();
  });
});

test('C-6 a record is never written with an earlier time than one before it', async () => {
  const log = new TestLog();
  const writer = await log.open();
  log.clock.advance(5_000);
  writer.append(note(1));
  log.clock.setNow(0);
  writer.append(note(2));
  await writer.close();
  const times = log
    .text()
    .trimEnd()
    .split('\n')
    .map((text) => (JSON.parse(text) as { ts: string }).ts);
  expect(times).toEqual(['2026-10-05T08:00:05.000Z', '2026-10-05T08:00:05.000Z']);
  const reader = log.read();
  expect([...reader.records()].map((record) => record.seq)).toEqual([1, 2]);
  reader.close();
});

test('a time that is stated counts in place of the clock, never backwards; where none is known there is no ts', async () => {
  const log = new TestLog();
  const writer = await log.open();
  const times = [null, Date.UTC(2026, 0, 2), null, Date.UTC(2026, 0, 1), undefined, null, 0];
  for (const tsMs of times) writer.append(note(1), tsMs === undefined ? {} : { tsMs });
  await writer.close();
  const reader = log.read();
  const stored = [...reader.records()].map(({ ts, flags }) => [ts, flags]);
  const [second, now] = ['2026-01-02T00:00:00.000Z', '2026-10-05T08:00:00.000Z'];
  expect(stored).toEqual([null, second, null, second, now, null, now].map((ts) => [ts, []]));
  expect([reader.state.firstTsMs, reader.state.newestTsMs]).toEqual([Date.parse(second), Date.parse(now)]);
  reader.close();
  expect(log.text().split('\n')[0]).toBe(
    line(1, note(1))
      .trimEnd()
      .replace(/"ts":"[^"]*",/, ''),
  );
  // What the next opening makes of it is what this one knew.
  const again = await log.open();
  expect(again.append(note(2)).seq).toBe(8);
  await again.close();
  expect(log.text()).toContain(line(8, note(2)));
});

test('C-13 records stand anywhere: outside turns they are counted and found by seq, in no turn', async () => {
  const log = new TestLog();
  await log.write([note(1), turnStarted, note(3), { type: 'turn.completed', usage: {} } as never, note(5)]);
  const reader = log.read();
  expect(reader.state.lifecycle.eventCount).toBe(5);
  const turns = [...reader.records()].map((record) => record.turn);
  expect(turns).toEqual([null, 1, 1, 1, null]);
  expect([...reader.readRange(5, 5)].map((record) => record.seq)).toEqual([5]);
  reader.close();
});

test('a log that holds bytes but no record is no empty session', async () => {
  const log = new TestLog();
  log.plant('not json\n\n{"a":1}\n');
  expect(() => log.read()).toThrow(expect.objectContaining({ code: 'TURNLOG_LOG_UNREADABLE' }));
  await expect(log.open()).rejects.toMatchObject({ code: 'TURNLOG_LOG_UNREADABLE' });
  expect(log.text()).toBe('not json\n\n{"a":1}\n');
  // A lone fragment is a first write that was cut short.
  log.plant('{"schema_version":"0.18');
  const reader = log.read();
  expect(reader.state.lifecycle.eventCount).toBe(0);
  reader.close();
});
