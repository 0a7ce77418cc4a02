import { type EventInput, follow, LogFollower, type LogRecord } from '@turnlog/log';
import fc from 'fast-check';
import { line, note, notes, TestLog, turnCompleted, turnFailed, turnStarted } from './support.js';

/** Appends raw bytes to the planted log, as a writer of any kind would. */
function grow(log: TestLog, bytes: Uint8Array | string): void {
  const file = log.disk.open(log.path('events.jsonl'), 'append');
  file.write(Buffer.from(bytes));
  file.close();
}

function seqsOf(records: Iterable<LogRecord>): readonly number[] {
  return [...records].map((record) => record.seq);
}

/** A log as an array of lines, and what a naive reader makes of it. */
interface NaiveRecord {
  readonly seq: number;
  readonly turn: number | null;
}

/** Reads a log made of our own lines, repeats and damage by splitting it, with nothing of the engine in use. */
function readNaively(text: string): readonly NaiveRecord[] {
  const records: NaiveRecord[] = [];
  let open: number | null = null;
  let turnCount = 0;
  for (const raw of text.split('\n').slice(0, -1)) {
    if (!raw.startsWith('{"schema_version"')) continue;
    const { seq, event } = JSON.parse(raw) as { seq: number; event: { type: string } };
    if (event.type === 'turn.started') {
      open = turnCount + 1;
      turnCount = open;
    }
    records.push({ seq, turn: open });
    if (event.type === 'turn.completed' || event.type === 'turn.failed') open = null;
  }
  return records;
}

const pieces = fc.array(
  fc.constantFrom('note', 'start', 'complete', 'fail', 'repeat', 'jump', 'damage', 'blank'),
  { maxLength: 60 },
);

const eventOf: Readonly<Record<string, (seq: number) => EventInput>> = {
  start: () => turnStarted,
  complete: () => turnCompleted,
  fail: () => turnFailed,
};

function textOf(kinds: readonly string[]): string {
  let text = '';
  let seq = 0;
  let last = '';
  for (const kind of kinds) {
    if (kind === 'damage' || kind === 'blank') {
      text += kind === 'blank' ? '\n' : 'not json\n';
      continue;
    }
    if (kind !== 'repeat') {
      seq += kind === 'jump' ? 5 : 1;
      last = line(seq, (eventOf[kind] ?? note)(seq));
    }
    text += last;
  }
  return text;
}

test('T-84 turn, range, tail and follow agree with a naive reader, over repeats and damage, with and without metadata', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.boolean(), fc.nat(70), fc.nat(70), async (kinds, isPublished, a, b) => {
      const text = textOf(kinds);
      if (readNaively(text).length === 0) return;
      const log = new TestLog();
      log.plant(text);
      if (isPublished) await (await log.open()).close();
      const naive = readNaively(log.text());
      const reader = log.read();
      const loaded = [...reader.records()];
      expect(loaded.map(({ seq, turn }) => ({ seq, turn }))).toEqual(naive);
      for (const turn of new Set(naive.map((record) => record.turn))) {
        if (turn !== null)
          expect(seqsOf(reader.readTurn(turn))).toEqual(
            naive.filter((record) => record.turn === turn).map(({ seq }) => seq),
          );
      }
      const [from, to] = [Math.min(a, b) + (naive[0]?.seq ?? 1), Math.max(a, b) + (naive[0]?.seq ?? 1)];
      expect(seqsOf(reader.readRange(from, to))).toEqual(
        naive.filter(({ seq }) => seq >= from && seq <= to).map(({ seq }) => seq),
      );
      expect(reader.tail(a % 9).map(({ seq, turn }) => ({ seq, turn }))).toEqual(
        a % 9 === 0 ? [] : naive.slice(-(a % 9)),
      );
      const follower = new LogFollower(log.fs, log.directory, 'case');
      expect(follower.poll().map(({ seq, turn }) => ({ seq, turn }))).toEqual(naive);
      follower.close();
      reader.close();
    }),
  );
});

describe('T-85, B80, B81, B82, T-12, B10 a follower in the middle of a line', () => {
  test('T-85 half a line, then the rest: one record, offset in bytes', () => {
    const log = new TestLog();
    const bytes = Buffer.from(notes(1) + line(2, note('größe 語 🦊')));
    for (let cut = notes(1).length; cut < bytes.length; cut += 1) {
      log.plant(bytes.subarray(0, cut));
      const follower = new LogFollower(log.fs, log.directory, 'case');
      expect(seqsOf(follower.poll())).toEqual([1]);
      expect(follower.poll()).toEqual([]);
      expect(follower.cursor).toMatchObject({ offset: notes(1).length, seq: 1 });
      const stored = follower.cursor;
      // Half of the time another process goes on from the stored cursor.
      const next = cut % 2 === 0 ? follower : new LogFollower(log.fs, log.directory, 'case', stored);
      grow(log, bytes.subarray(cut));
      expect(seqsOf(next.poll())).toEqual([2]);
      expect(next.cursor.offset).toBe(bytes.length);
      next.close();
      if (next !== follower) follower.close();
    }
  });

  test('T-12 a file that ends inside a character: a fragment, no U+FFFD written, lengths in bytes', async () => {
    const log = new TestLog();
    const whole = Buffer.from(line(2, note('é')));
    const cut = whole.indexOf(0xc3) + 1;
    log.plant(Buffer.concat([Buffer.from(notes(1)), whole.subarray(0, cut)]));
    const follower = new LogFollower(log.fs, log.directory, 'case');
    expect(seqsOf(follower.poll())).toEqual([1]);
    expect(follower.poll()).toEqual([]);
    follower.close();
    const writer = await log.open();
    expect(writer.report.damage).toMatchObject([{ kind: 'torn-tail', offset: notes(1).length, length: cut }]);
    writer.append(note(3));
    await writer.close();
    expect(log.bytes().includes(Buffer.from('\ufffd'))).toBe(false);
    const reader = log.read();
    expect(seqsOf(reader.records())).toEqual([1, 2, 3]);
    reader.close();
  });
});

describe('T-86, B78, B83, B84 a cursor and a log that changes', () => {
  test('T-86 a grown tail gives all new records, and nothing twice', () => {
    const log = new TestLog();
    log.plant(notes(5));
    const follower = new LogFollower(log.fs, log.directory, 'case');
    expect(seqsOf(follower.poll())).toEqual([1, 2, 3, 4, 5]);
    grow(log, [6, 7, 8].map((seq) => line(seq, note(seq))).join(''));
    expect(seqsOf(follower.poll())).toEqual([6, 7, 8]);
    expect(follower.poll()).toEqual([]);
    follower.close();
  });

  test.each([
    [
      'T-86 the last line changed in place',
      (log: TestLog) => log.plant(notes(4) + line(5, note('X')) + line(6, note(6))),
    ],
    ['T-86 the log shrank', (log: TestLog) => log.plant(notes(3))],
  ])('%s: REWOUND', (_name, change) => {
    const log = new TestLog();
    log.plant(notes(5));
    const first = new LogFollower(log.fs, log.directory, 'case');
    first.poll();
    change(log);
    expect(() => new LogFollower(log.fs, log.directory, 'case', first.cursor).poll()).toThrow(
      expect.objectContaining({ code: 'TURNLOG_REWOUND' }),
    );
    first.close();
  });

  test('T-86 a crash between reading and committing: the stored cursor gives the same records again', () => {
    const log = new TestLog();
    log.plant(notes(2));
    const follower = new LogFollower(log.fs, log.directory, 'case');
    follower.poll();
    const committed = follower.cursor;
    grow(log, line(3, note(3)));
    expect(seqsOf(follower.poll())).toEqual([3]);
    follower.close();
    const again = new LogFollower(log.fs, log.directory, 'case', committed);
    expect(seqsOf(again.poll())).toEqual([3]);
    again.close();
  });

  test('T-86 a read error is an error of that call: what was read stays, the next call goes on', () => {
    const log = new TestLog();
    log.plant(notes(2));
    const follower = new LogFollower(log.fs, log.directory, 'case');
    follower.poll();
    grow(log, line(3, note(3)));
    log.fs.setFault({
      call: 1,
      lasting: 'once',
      effect: { errno: 'EIO' },
      applies: ({ verb }) => verb === 'read',
    });
    expect(() => follower.poll()).toThrow(
      expect.objectContaining({ code: 'TURNLOG_IO', details: expect.objectContaining({ errno: 'EIO' }) }),
    );
    expect(follower.cursor.seq).toBe(2);
    log.fs.setFault(null);
    expect(seqsOf(follower.poll())).toEqual([3]);
    follower.close();
  });

  test('a rewritten file under the same name is gone on with by seq, or reported as gone', () => {
    const log = new TestLog();
    log.plant(notes(5));
    const follower = new LogFollower(log.fs, log.directory, 'case');
    follower.poll();
    const header = {
      type: 'log.evicted',
      generation: 'a'.repeat(32),
      from_seq: 1,
      to_seq: 4,
      events: 4,
      turns: 0,
      total_events: 4,
      total_turns: 0,
      last_turn: 0,
      first_ts: null,
      last_ts: null,
      evicted_at: '2026-10-05T08:00:00.000Z',
      tree: { size: 0, root: '0'.repeat(64), frontier: [] },
      archive: null,
      summary: null,
    };
    log.disk.plantFile(log.path('next'), Buffer.from(line(4, header) + line(5, note(5)) + line(6, note(6))));
    log.disk.rename(log.path('next'), log.path('events.jsonl'));
    expect(seqsOf(follower.poll())).toEqual([6]);
    log.disk.plantFile(log.path('next'), Buffer.from(line(8, { ...header, to_seq: 8 }) + line(9, note(9))));
    log.disk.rename(log.path('next'), log.path('events.jsonl'));
    expect(() => follower.poll()).toThrow(
      expect.objectContaining({ code: 'TURNLOG_GONE', details: expect.objectContaining({ firstSeq: 9 }) }),
    );
    follower.close();
  });
});

test.each([
  ['lost', (line: string) => (line.startsWith('{"turn":3,') ? '' : `${line}\n`)],
  ['zeros', (line: string) => `${line.startsWith('{"turn":3,') ? '\0'.repeat(line.length) : line}\n`],
])('L-31 a line of the turn index is %s: the turns are those of the log', async (_name, spoil) => {
  const log = new TestLog();
  await log.write([1, 2, 3, 4, 5].flatMap((turn) => [turnStarted, note(turn), turnCompleted]));
  const whole = log.text('index/turns.jsonl');
  const spoiled = whole.trimEnd().split('\n').map(spoil).join('');
  // The manifest goes on to vouch for as many bytes.
  log.replace('index/turns.jsonl', spoiled.padEnd(whole.length, '\n'));
  const reader = log.read();
  expect([...reader.turns()].map(({ turn }) => turn)).toEqual([1, 2, 3, 4, 5]);
  expect(seqsOf(reader.readTurn(3))).toEqual([7, 8, 9]);
  reader.close();
});

test('following yields records as they come until it is stopped', async () => {
  const log = new TestLog();
  const writer = await log.open({ durability: 'event' });
  writer.append(note(1));
  const stop = new AbortController();
  const seen: number[] = [];
  const done = (async () => {
    for await (const record of follow(new LogFollower(log.fs, log.directory, 'case'), log.clock, {
      signal: stop.signal,
    })) {
      seen.push(record.seq);
      if (record.seq === 2) stop.abort();
    }
  })();
  await new Promise((resolve) => setImmediate(resolve));
  writer.append(note(2));
  log.clock.advance(250);
  await done;
  expect(seen).toEqual([1, 2]);
  await writer.close();
});

test('T-38, B58 every read error keeps its own code and nothing is deleted or hidden', async () => {
  for (const errno of ['EACCES', 'EIO', 'ENOMEM', 'EMFILE']) {
    const log = new TestLog();
    await log.write([note(1)]);
    const before = log.snapshot();
    log.fs.setFault({
      call: 1,
      lasting: 'from-then-on',
      effect: { errno },
      applies: ({ verb }) => verb === 'read' || verb === 'open',
    });
    expect(() => log.read()).toThrow(
      expect.objectContaining({ code: 'TURNLOG_IO', details: expect.objectContaining({ errno }) }),
    );
    await expect(log.open()).rejects.toMatchObject({ code: 'TURNLOG_IO', details: { errno } });
    log.fs.setFault(null);
    expect(log.snapshot()).toEqual(before);
  }
  const none = new TestLog();
  expect(() => none.read()).toThrow(expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }));
});
