import { LineFramer, openLogReader, openOwnedLog, Scanner, type ScanOptions } from '@turnlog/log';
import { createTestMachine, FakeClock, ModelFileSystem } from '@turnlog/testkit';
import { canary, fuzz, orRefused, orRefusedLater } from './fuzzing.js';
import { changedLog, corpusFiles, sessionFiles, wireLogs } from './inputs.js';

let sources: readonly Uint8Array[] = [];

beforeAll(async () => {
  const own = [
    (await sessionFiles('whole')).get('events.jsonl'),
    (await sessionFiles('cut')).get('events.jsonl'),
  ];
  sources = [...wireLogs(), ...own.filter((bytes) => bytes !== undefined), ...corpusFiles()];
});

/** Bytes that come as a disk may give them: at most so many at once. */
function sourceOf(bytes: Uint8Array, readBytesMax = Number.MAX_SAFE_INTEGER) {
  let readCount = 0;
  return {
    get readCount(): number {
      return readCount;
    },
    read(into: Uint8Array, offset: number): number {
      readCount += 1;
      const piece = bytes.subarray(offset, offset + Math.min(into.length, readBytesMax));
      into.set(piece);
      return piece.length;
    },
  };
}

interface Line {
  readonly offset: number;
  readonly length: number;
  readonly isTerminated: boolean;
}

/** The reference: a split at each 0x0A. */
function linesOf(bytes: Buffer): readonly Line[] {
  const lines: Line[] = [];
  let offset = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, offset)) {
    lines.push({ offset, length: end - offset, isTerminated: true });
    offset = end + 1;
  }
  return offset === bytes.length
    ? lines
    : [...lines, { offset, length: bytes.length - offset, isTerminated: false }];
}

fuzz('line framer: the lines of a split at 0x0A, whatever a read gives', 1_500, (random, tell) => {
  const bytes = changedLog(sources, random);
  tell(bytes);
  const expected = linesOf(bytes);
  const lineBytesMax = 1 + random.below(300);
  for (const [blockBytes, readBytesMax] of [
    [65_536, 65_536],
    [16 + random.below(64), 1 + random.below(40)],
  ] as const) {
    const source = sourceOf(bytes, readBytesMax);
    const framer = new LineFramer(source, { from: 0, to: bytes.length, lineBytesMax, blockBytes });
    const found: Line[] = [];
    while (framer.next()) {
      const { offset, length, isTerminated, isTooLong, start, end } = framer;
      found.push({ offset, length, isTerminated });
      expect(isTooLong).toBe(length > lineBytesMax);
      if (isTooLong) continue;
      const held = Buffer.from(framer.bytes.subarray(start, end));
      expect(held.equals(bytes.subarray(offset, offset + length))).toBe(true);
      expect(framer.bytes.length).toBeLessThanOrEqual(lineBytesMax + 3 * blockBytes);
    }
    expect(found).toEqual(expected);
    expect(source.readCount).toBeLessThanOrEqual(
      2 * Math.ceil(bytes.length / Math.min(blockBytes, readBytesMax)) + 3,
    );
  }
});

/** What a scan says of each piece; the end of its line apart, which the next bytes decide. */
function scan(bytes: Uint8Array, options: Omit<ScanOptions, 'to'> = {}, readBytesMax?: number) {
  const scanner = new Scanner(sourceOf(bytes, readBytesMax), { to: bytes.length, ...options });
  const pieces: { offset: number; length: number; end: number; text: string }[] = [];
  for (let piece = scanner.next(); piece !== null; piece = scanner.next()) {
    const { offset, length, end, line } = piece;
    const facts =
      piece.verdict === 'damage'
        ? [piece.kind]
        : [
            piece.seq,
            piece.tsMs,
            piece.turn,
            piece.flags,
            piece.record.type,
            piece.record.kind,
            piece.record.key,
          ];
    if (piece.verdict === 'record') {
      expect(Buffer.from(piece.bytes).equals(bytes.subarray(offset, offset + length))).toBe(true);
      piece.readEvent();
    }
    pieces.push({ offset, length, end, text: JSON.stringify([piece.verdict, line, facts]) });
  }
  return { pieces, state: scanner.state };
}

fuzz(
  'scanner: spans in order that cover the bytes; the same in any pieces; a prefix of a longer one',
  1_500,
  (random, tell) => {
    const bytes = changedLog(sources, random);
    tell(bytes);
    const whole = scan(bytes);
    let at = 0;
    for (const { offset, length, end } of whole.pieces) {
      const gap = bytes.subarray(at, offset);
      // Between two pieces stands nothing, in front of the first one a byte-order mark.
      expect([...gap]).toEqual(at === 0 && gap.length > 0 ? [0xef, 0xbb, 0xbf] : []);
      expect([offset + length, offset + length + 1]).toContain(end);
      at = end;
    }
    expect([...bytes.subarray(at)]).toEqual(whole.pieces.length > 0 ? [] : [...bytes]);
    // A mark with nothing behind it is the beginning of a first line.
    if (whole.pieces.length === 0) expect(['', '\ufeff']).toContain(bytes.toString());
    else expect(whole.state.length).toBe(bytes.length);

    const inPieces = scan(bytes, { blockBytes: 1 + random.below(200) }, 1 + random.below(100));
    expect(inPieces).toEqual(whole);

    const cut = bytes.subarray(0, random.below(bytes.length + 1));
    const settled = cut.lastIndexOf(0x0a) + 1;
    const ofCut = scan(cut).pieces.filter(({ end }) => end <= settled);
    expect(ofCut).toEqual(whole.pieces.filter(({ end }) => end <= settled));
  },
);

fuzz(
  'a log of any bytes: readers change nothing, a writer keeps every line and goes on',
  1_000,
  async (random, tell) => {
    const bytes = changedLog(sources, random);
    tell(bytes);
    const clock = new FakeClock('skips');
    const disk = new ModelFileSystem({ clock });
    disk.plantFile('/s-1/events.jsonl', bytes);
    const contents = (): Buffer => Buffer.from(disk.contentOf('/s-1/events.jsonl'));

    const reader = orRefused(() => openLogReader(disk, '/s-1', 's-1'));
    if (reader !== null) {
      const records = [...reader.recordsBefore(bytes.length)];
      expect(reader.tail(3).map(({ seq }) => seq)).toEqual(records.slice(-3).map(({ seq }) => seq));
      for (const { turn } of reader.turns()) orRefused(() => [...reader.readTurn(turn)]);
      reader.close();
    }
    expect(contents().equals(bytes)).toBe(true);
    expect(disk.list('/s-1').map(({ name }) => name)).toEqual(['events.jsonl']);

    const machine = createTestMachine({ fs: disk, clock });
    const log = await orRefusedLater(() => openOwnedLog(machine, '/s-1', 's-1'));
    if (log !== null) {
      const { lastSeq } = log;
      const answer = orRefused(() => log.append({ raw: '{"type":"x.test.note"}' }));
      if (answer !== null) expect(answer.seq).toBe(lastSeq + 1);
      await log.close();
      const kept = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
      expect(contents().subarray(0, kept.length).equals(kept)).toBe(true);
      const again = await openOwnedLog(machine, '/s-1', 's-1');
      expect(again.lastSeq).toBeGreaterThanOrEqual(answer?.seq ?? lastSeq);
      expect(again.report.recovered).toEqual([]);
      await again.close();
    }
    expect([disk.openHandleCount, clock.waitingCount]).toEqual([0, 0]);
  },
);

canary('a reader that takes other line ends and whole texts', 200, (random, tell) => {
  const bytes = changedLog(sources, random);
  tell(bytes);
  const lengths = bytes
    .toString('utf8')
    .split(/\r?\n|\u2028/)
    .map((text) => Buffer.byteLength(text));
  const expected = linesOf(bytes).map(({ length }) => length);
  expect(lengths.slice(0, expected.length)).toEqual(expected);
});

canary('a scan that depends on how the bytes come', 200, (random, tell) => {
  const bytes = changedLog(sources, random);
  tell(bytes);
  const whole = scan(bytes);
  const middle = bytes.length >> 1;
  const halves = [bytes.subarray(0, middle), bytes.subarray(middle)].map((half) => scan(half).pieces.length);
  expect(halves.reduce((sum, count) => sum + count, 0)).toBe(whole.pieces.length);
});
