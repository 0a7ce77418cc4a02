import { limits } from '@turnlog/kernel';
import { LineFramer, LogFollower, type LogReader, type LogRecord, type Scanned, Scanner } from '@turnlog/log';
import fc from 'fast-check';
import { line, note, notes, TestLog, turnStarted } from './support.js';

type Bytes = Buffer | string;

function bytesOf(parts: readonly Bytes[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

/** A record as `seq turn offset+length flags`, damage as `kind offset+length`; the same words for every reader. */
function shownRecord(record: LogRecord): string {
  const flags = [...record.flags].sort().join(' ');
  return `${record.seq} turn ${record.turn} ${record.offset}+${record.length} ${flags}`.trimEnd();
}

function shownPiece(piece: Scanned): string {
  const { offset, length } = piece;
  if (piece.verdict === 'damage') return `${piece.kind} ${offset}+${length}`;
  const flags = [...piece.flags].sort().join(' ');
  return `${piece.seq} turn ${piece.turn} ${offset}+${length} ${flags}`.trimEnd();
}

function scanned(
  bytes: Buffer,
  blockBytes: number,
  lineBytesMax: number = limits.readerLineBytesMax,
): readonly Scanned[] {
  const source = { read: (into: Uint8Array, offset: number): number => bytes.copy(into, 0, offset) };
  const scanner = new Scanner(source, { to: bytes.length, blockBytes, lineBytesMax });
  const pieces: Scanned[] = [];
  for (let piece = scanner.next(); piece !== null; piece = scanner.next()) pieces.push(piece);
  return pieces;
}

function isRecordText(text: string): boolean {
  return /^\d/.test(text);
}

/**
 * Reads a log in every way there is, expects one answer of all of them, and returns it. A follower has no say
 * about what no 0x0A ends.
 */
function readEveryWay(bytes: Buffer): readonly string[] {
  const log = new TestLog();
  log.plant(bytes);
  const reader = log.read();
  const pieces = [...reader.pieces()].map(shownPiece);
  const records = pieces.filter(isRecordText);
  for (const blockBytes of [1, 2, 7, 65_536])
    expect(scanned(bytes, blockBytes).map(shownPiece)).toEqual(pieces);
  expect([...reader.records()].map(shownRecord)).toEqual(records);
  expect([...reader.readRange(1, 99)].map(shownRecord)).toEqual(records);
  expect(reader.tail(99).map(shownRecord)).toEqual(records);
  expect(reader.tail(1).map(shownRecord)).toEqual(records.slice(-1));
  for (const { turn } of reader.turns()) {
    const own = records.filter((text) => text.split(' ')[2] === String(turn));
    expect([...reader.readTurn(turn)].map(shownRecord)).toEqual(own);
  }
  expect(reader.state.lifecycle.eventCount).toBe(records.length);
  reader.close();
  const follower = new LogFollower(log.fs, log.directory, 'case');
  const ended = bytes.lastIndexOf(0x0a) + 1;
  const followed = records.filter((text) => Number(/(\d+)\+/.exec(text)?.[1]) < ended);
  expect(follower.poll().map(shownRecord)).toEqual(followed);
  expect(follower.cursor.offset).toBe(ended);
  follower.close();
  return pieces;
}

/** Appends raw bytes to a planted log, as a writer of any kind would. */
function grow(log: TestLog, bytes: Bytes): void {
  const file = log.disk.open(log.path('events.jsonl'), 'append');
  file.write(Buffer.from(bytes));
  file.close();
}

function messagesOf(reader: LogReader): readonly unknown[] {
  return [...reader.records()].map((record) => Reflect.get(record.readEvent() ?? {}, 'message'));
}

const others: readonly (readonly [name: string, character: string])[] = [
  ['0x0D', '\r'],
  ['0x0B', '\v'],
  ['0x0C', '\f'],
  ['U+0085', '\u0085'],
  ['U+2028', '\u2028'],
  ['U+2029', '\u2029'],
];

describe('C-1 0x0A is the only line end', () => {
  test.each(others)(
    'C-1 %s within a string, between tokens and around lines cuts no line, for any reader',
    (_name, character) => {
      const head = line(1, turnStarted);
      const inString = line(2, { type: 'error', message: 'a*b*' }).replaceAll('*', character);
      const between = line(3, note(3)).replace(',"event"', `${character},"event"`);
      const after = line(4, note(4)).replace('\n', `${character}\n`);
      const last = line(5, note(5));
      const texts = [head, inString, between, after, last];
      const isBlank = character === '\r';
      const isInString = character > '\u0020';
      const allowed = [true, isInString, isBlank, isBlank, true];
      const bytes = bytesOf(texts);
      let offset = 0;
      const expected = texts.map((text, index) => {
        const length = Buffer.byteLength(text) - 1;
        const at = offset;
        offset += length + 1;
        // A gap in the numbers says where a line was lost; each line is one piece, a record or one damage.
        const before = allowed.slice(0, index);
        const gap = before.at(-1) === false ? ' seq-gap' : '';
        return allowed[index] ? `${index + 1} turn 1 ${at}+${length}${gap}` : `unreadable ${at}+${length}`;
      });
      expect(readEveryWay(bytes)).toEqual(expected);
      expect(scanned(bytes, 7).map((piece) => piece.line)).toEqual([1, 2, 3, 4, 5]);
      if (isInString) {
        const log = new TestLog();
        log.plant(bytes);
        const reader = log.read();
        expect(messagesOf(reader)[1]).toBe(`a${character}b${character}`);
        reader.close();
      }
    },
  );

  test('C-1 0x0D alone between two records: they share a line, which a reader can tell', () => {
    const bytes = bytesOf([line(1, turnStarted).trimEnd(), '\r', line(2, note(2)), line(3, note(3))]);
    expect(readEveryWay(bytes).map((text) => text.replace(/ \d+\+\d+/, ''))).toEqual([
      '1 turn 1 salvaged',
      '2 turn 1 salvaged',
      '3 turn 1',
    ]);
    expect(scanned(bytes, 7).map((piece) => piece.line)).toEqual([1, 1, 2]);
  });

  test('C-1 any bytes are cut where a 0x0A stands and nowhere else', () => {
    const byte = fc.oneof(
      fc.constantFrom(0x0a, 0x0d, 0x0b, 0x0c, 0x85, 0x00, 0xe2, 0x80, 0xa8, 0xa9, 0xc2),
      fc.nat({ max: 255 }),
    );
    fc.assert(
      fc.property(
        fc.array(byte, { maxLength: 200 }),
        fc.integer({ min: 1, max: 64 }),
        (given, blockBytes) => {
          const bytes = Buffer.from(given);
          const wanted: string[] = [];
          let start = 0;
          given.forEach((value, at) => {
            if (value !== 0x0a) return;
            wanted.push(`${start}+${at - start} ended`);
            start = at + 1;
          });
          if (start < given.length) wanted.push(`${start}+${given.length - start}`);
          const source = { read: (into: Uint8Array, offset: number): number => bytes.copy(into, 0, offset) };
          const framer = new LineFramer(source, { from: 0, to: bytes.length, blockBytes });
          const found: string[] = [];
          while (framer.next()) {
            found.push(`${framer.offset}+${framer.length}${framer.isTerminated ? ' ended' : ''}`);
            expect(
              Buffer.compare(
                framer.bytes.subarray(framer.start, framer.end),
                bytes.subarray(framer.offset, framer.offset + framer.length),
              ),
            ).toBe(0);
          }
          expect(found).toEqual(wanted);
        },
      ),
    );
  });

  test('C-1 no reader takes a log as one text: none reads more of it at once than a block', async () => {
    const log = new TestLog();
    log.plant(notes(20_000));
    expect(log.bytes().length).toBeGreaterThan(20 * limits.readBlockBytes);
    const reader = log.read();
    expect([...reader.records()].length).toBe(20_000);
    expect(reader.damage()).toEqual([]);
    expect(reader.tail(20_000).length).toBe(20_000);
    reader.close();
    const follower = new LogFollower(log.fs, log.directory, 'case');
    expect(follower.poll().length).toBe(20_000);
    follower.close();
    await (await log.open()).close();
    const reads = log.fs.journal.filter(
      ({ verb, path }) => verb === 'read' && path === log.path('events.jsonl'),
    );
    expect(reads.length).toBeGreaterThan(100);
    expect(Math.max(...reads.map(({ byteCount }) => byteCount))).toBe(limits.readBlockBytes);
  });
});

const bom = Buffer.from([0xef, 0xbb, 0xbf]);
const first = line(1, turnStarted);
const second = line(2, note(2));
const third = line(3, note(3));

/** Where the second of three lines begins. */
const at = first.length;

describe('C-30 what is cut off before a line is judged', () => {
  const middles: readonly (readonly [title: string, text: Bytes, expected: readonly string[]])[] = [
    ['nothing: blank', '\n', [`blank ${at}+0`]],
    ['blanks, tabs and 0x0D: blank', ' \t\r \n', [`blank ${at}+4`]],
    ['another kind of blank is none', '\u00a0\n', [`unreadable ${at}+2`]],
    [
      'leading zeros, and what follows is judged as the line',
      `\0\0\0${second}`,
      [`nul-run ${at}+3`, `2 turn 1 ${at + 3}+${second.length - 1}`],
    ],
    ['leading zeros before nothing', '\0\0\n', [`nul-run ${at}+2`]],
    ['leading zeros before blanks', '\0 \n', [`nul-run ${at}+1`, `blank ${at + 1}+1`]],
    [
      'leading zeros before what is no record',
      '\0{"a":1}\n',
      [`nul-run ${at}+1`, `not-a-record ${at + 1}+7`],
    ],
    ['zeros that lead nothing are part of the line', `{"a":\0\0\n`, [`unreadable ${at}+7`]],
    [
      'a byte-order mark elsewhere than at the start is part of the line',
      Buffer.concat([bom, Buffer.from(second)]),
      [`fused-stub ${at}+3`, `2 turn 1 ${at + 3}+${second.length - 1} salvaged`],
    ],
  ];

  test.each(middles)('C-30 %s, and the neighbours stay', (_title, text, expected) => {
    const bytes = bytesOf([first, text, third]);
    const isRecordLost = !expected.some((shown) => shown.startsWith('2 '));
    expect(readEveryWay(bytes)).toEqual([
      `1 turn 1 0+${at - 1}`,
      ...expected,
      `3 turn 1 ${bytes.length - third.length}+${third.length - 1}${isRecordLost ? ' seq-gap' : ''}`,
    ]);
  });

  const starts: readonly (readonly [title: string, text: Bytes, expected: readonly string[]])[] = [
    ['before a record', first, [`1 turn 1 3+${at - 1} bom`]],
    ['before nothing', `\n${first}`, ['blank 3+0', `1 turn 1 4+${at - 1}`]],
    ['before zeros', `\0${first}`, ['nul-run 3+1', `1 turn 1 4+${at - 1} bom`]],
    [
      'before another mark',
      Buffer.concat([bom, Buffer.from(first)]),
      ['fused-stub 3+3', `1 turn 1 6+${at - 1} bom salvaged`],
    ],
  ];

  test.each(starts)(
    'C-30 a byte-order mark at the start of the file is not part of the first line: %s',
    (_title, text, expected) => {
      const bytes = bytesOf([bom, text, second]);
      const pieces = readEveryWay(bytes);
      expect(pieces.slice(0, -1)).toEqual(expected);
      expect(pieces.at(-1)).toContain(`${bytes.length - second.length}+${second.length - 1}`);
      // Half a mark is none.
      expect(readEveryWay(bytesOf([bom.subarray(0, 2), first, second]))[0]).toBe('fused-stub 0+2');
    },
  );

  test('C-30 a line over the limit is passed over to the next 0x0A, at any chunk size, and its neighbours stay', () => {
    const limit = 200;
    const lengths = [limit, limit + 1, 5_000];
    for (const length of lengths) {
      const bytes = bytesOf([first, `${'x'.repeat(length)}\n`, second]);
      const expected = [
        `1 turn 1 0+${at - 1}`,
        `${length > limit ? 'too-long' : 'unreadable'} ${at}+${length}`,
        `2 turn 1 ${at + length + 1}+${second.length - 1}`,
      ];
      for (const blockBytes of [1, 7, 64, 65_536]) {
        expect(scanned(bytes, blockBytes, limit).map(shownPiece)).toEqual(expected);
      }
      const log = new TestLog();
      log.plant(bytes);
      const reader = log.readWithin(limit);
      expect([...reader.pieces()].map(shownPiece)).toEqual(expected);
      expect([...reader.records()].map(({ seq }) => seq)).toEqual([1, 2]);
      expect([...reader.readTurn(1)].map(({ seq }) => seq)).toEqual([1, 2]);
      expect([...reader.readRange(2, 2)].map(({ seq }) => seq)).toEqual([2]);
      expect(reader.tail(5).map(({ seq }) => seq)).toEqual([1, 2]);
      expect(reader.damage()).toMatchObject([{ offset: at, length, lines: 1, line: 2 }]);
      reader.close();
    }
  });

  test('C-30 a record over the limit is passed over too, whole or without its 0x0A', () => {
    const long = line(2, note('x'.repeat(500)));
    const bytes = bytesOf([first, long, third]);
    expect(scanned(bytes, 64, 200).map(shownPiece)).toEqual([
      `1 turn 1 0+${at - 1}`,
      `too-long ${at}+${long.length - 1}`,
      `3 turn 1 ${at + long.length}+${third.length - 1} seq-gap`,
    ]);
    expect(
      scanned(bytes.subarray(0, at + long.length - 1), 64, 200)
        .map(shownPiece)
        .at(-1),
    ).toBe(`torn-tail ${at}+${long.length - 1}`);
  });

  test('C-30 passing over takes memory of the limit and a block, however long the line', () => {
    const lineBytes = 8_000_000;
    const bytes = bytesOf([first, Buffer.alloc(lineBytes, 0x78), '\n', second]);
    const source = { read: (into: Uint8Array, offset: number): number => bytes.copy(into, 0, offset) };
    const framer = new LineFramer(source, {
      from: 0,
      to: bytes.length,
      lineBytesMax: 1_000,
      blockBytes: 1_024,
    });
    let mostBytes = 0;
    const found: unknown[] = [];
    while (framer.next()) {
      mostBytes = Math.max(mostBytes, framer.bytes.length);
      found.push([framer.offset, framer.length, framer.isTooLong]);
    }
    expect(found).toEqual([
      [0, at - 1, false],
      [at, lineBytes, true],
      [at + lineBytes + 1, second.length - 1, false],
    ]);
    expect(mostBytes).toBeLessThanOrEqual(1_000 + 3 * 1_024);
  });
});

describe('C-35 the bytes behind the last 0x0A', () => {
  const whole = second.trimEnd();
  const stub = '{"schema_version":"0.18.0","seq":2,"ts';
  const next = line(3, note(3)).trimEnd();
  const tails: readonly (readonly [title: string, text: Bytes, expected: readonly string[]])[] = [
    ['nothing', '', []],
    ['a complete record counts', whole, [`2 turn 1 ${at}+${whole.length} unterminated`]],
    ['blanks around it do not matter', ` ${whole}\r`, [`2 turn 1 ${at}+${whole.length + 2} unterminated`]],
    ['a part of a record', stub, [`torn-tail ${at}+${stub.length}`]],
    ['blanks', ' \r', [`torn-tail ${at}+2`]],
    ['JSON that is no record', '{"a":1}', [`torn-tail ${at}+7`]],
    [
      'a lifecycle record that is none',
      '{"schema_version":"0.18.0","event":{"type":"turn.completed"}}',
      [`torn-tail ${at}+61`],
    ],
    ['a record and something behind it', `${whole}x`, [`torn-tail ${at}+${whole.length + 1}`]],
    ['bytes that are no text', Buffer.from([0xff, 0xc3]), [`torn-tail ${at}+2`]],
    ['zeros', '\0\0', [`nul-run ${at}+2`]],
    [
      'zeros before a complete record',
      `\0${whole}`,
      [`nul-run ${at}+1`, `2 turn 1 ${at + 1}+${whole.length} unterminated`],
    ],
    ['zeros before a part of one', `\0${stub}`, [`nul-run ${at}+1`, `torn-tail ${at + 1}+${stub.length}`]],
    [
      'salvage: a stub and a complete record',
      stub + whole,
      [
        `fused-stub ${at}+${stub.length}`,
        `2 turn 1 ${at + stub.length}+${whole.length} salvaged unterminated`,
      ],
    ],
    [
      'salvage: a complete record and a stub',
      whole + stub,
      [`2 turn 1 ${at}+${whole.length} salvaged`, `torn-tail ${at + whole.length}+${stub.length}`],
    ],
    [
      'salvage: two complete records, of which only the last is unterminated',
      whole + next,
      [
        `2 turn 1 ${at}+${whole.length} salvaged`,
        `3 turn 1 ${at + whole.length}+${next.length} salvaged unterminated`,
      ],
    ],
    ['salvage: two stubs hold nothing', stub + stub, [`torn-tail ${at}+${2 * stub.length}`]],
  ];

  test.each(tails)('C-35 %s', (_title, tail, expected) => {
    expect(readEveryWay(bytesOf([first, tail]))).toEqual([`1 turn 1 0+${at - 1}`, ...expected]);
  });

  test('C-35 every proper beginning of a record is a torn tail, and the whole of it a record', () => {
    const texts = [
      note('größe 語 🦊'),
      { type: 'x.n', v: [{ a: '"}' }, 1e21, null] },
      { type: 'turn.failed', message: '}' },
    ];
    for (const event of texts) {
      const record = Buffer.from(line(2, event).trimEnd());
      for (let length = 1; length <= record.length; length += 1) {
        const bytes = bytesOf([first, record.subarray(0, length)]);
        const last = scanned(bytes, 7).map(shownPiece).at(-1);
        expect(last).toBe(
          length === record.length ? `2 turn 1 ${at}+${length} unterminated` : `torn-tail ${at}+${length}`,
        );
      }
    }
  });

  test.each(tails.filter(([, tail]) => tail.length > 0))(
    'C-35 a follower waits for the 0x0A: %s',
    (_title, tail) => {
      const log = new TestLog();
      log.plant(first);
      const follower = new LogFollower(log.fs, log.directory, 'case');
      expect(follower.poll().length).toBe(1);
      const bytes = Buffer.from(tail);
      for (const cut of [1, bytes.length]) {
        log.plant(bytesOf([first, bytes.subarray(0, cut)]));
        expect(follower.poll()).toEqual([]);
        expect(follower.cursor).toMatchObject({ offset: at, seq: 1 });
      }
      // One that comes to it now waits as well.
      const late = new LogFollower(log.fs, log.directory, 'case', follower.cursor);
      expect(late.poll()).toEqual([]);
      grow(log, '\n');
      const wanted = scanned(bytesOf([first, bytes, '\n']), 7)
        .map(shownPiece)
        .filter(isRecordText)
        .slice(1);
      expect(wanted.join()).not.toContain('unterminated');
      for (const each of [follower, late]) {
        expect(each.poll().map(shownRecord)).toEqual(wanted);
        expect(each.cursor.offset).toBe(at + bytes.length + 1);
        expect(each.poll()).toEqual([]);
        each.close();
      }
    },
  );

  test('C-35 a follower that waits in a line goes on behind it', () => {
    const log = new TestLog();
    log.plant(bytesOf([first, stub]));
    const follower = new LogFollower(log.fs, log.directory, 'case');
    expect(follower.poll().map(({ seq }) => seq)).toEqual([1]);
    grow(log, `\n${second}${next}`);
    expect(follower.poll().map(({ seq }) => seq)).toEqual([2]);
    grow(log, '\n');
    expect(follower.poll().map(shownRecord)).toEqual([
      `3 turn 1 ${at + stub.length + 1 + second.length}+${next.length}`,
    ]);
    follower.close();
  });
});
