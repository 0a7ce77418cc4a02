import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogFollower, type LogReader, type LogRecord, type PlaceFlag, Scanner } from '@turnlog/log';
import { line, note, seqsAndTypes, TestLog, turnCompleted, turnStarted } from './support.js';

const wire = join(__dirname, '..', '..', '..', 'test', 'golden', 'wire');
const golden = readFileSync(join(wire, 'golden.jsonl'));
const odd = readFileSync(join(wire, 'odd.jsonl'));

interface ExpectedPiece {
  readonly offset: number;
  readonly length: number;
  readonly verdict: 'record' | 'kept-unknown' | 'damage';
  readonly kind?: string;
  readonly type?: string;
  readonly seq?: number;
  readonly turn?: number | null;
  readonly flags?: readonly string[];
}

interface Expected {
  readonly totals: {
    readonly records: number;
    readonly damage_pieces: number;
    readonly damage_bytes: number;
    readonly damage_reports: readonly { kind: string; offset: number; length: number; lines: number }[];
    readonly next_seq: number;
    readonly status: string;
    readonly open_turn: number;
    readonly turn_count: number;
    readonly turns: readonly Readonly<Record<string, unknown>>[];
  };
  readonly pieces: readonly ExpectedPiece[];
}

const expected = JSON.parse(readFileSync(join(wire, 'odd.expected.json'), 'utf8')) as Expected;
const expectedRecords = expected.pieces.filter((piece) => piece.verdict !== 'damage');

const placeFlags: readonly string[] = [
  'bom',
  'seq-missing',
  'seq-invalid',
  'seq-repeat',
  'seq-conflict',
  'seq-gap',
  'prefix-missing',
  'ts-invalid',
  'ts-back',
  'salvaged',
  'misplaced',
] satisfies PlaceFlag[];

/** Offset, length, seq, type, turn and the flags that a record has from its place. */
function shapeOf(record: LogRecord): readonly unknown[] {
  return [record.offset, record.length, record.seq, record.type, record.turn, [...record.flags].sort()];
}

function expectedShape(piece: ExpectedPiece): readonly unknown[] {
  const flags = (piece.flags ?? []).filter((flag) => placeFlags.includes(flag)).sort();
  return [piece.offset, piece.length, piece.seq, piece.type, piece.turn ?? null, flags];
}

function oddLog(): TestLog {
  const log = new TestLog();
  log.plant(odd);
  return log;
}

describe('C-51, T-32 the odd log through every reader', () => {
  test('C-51, T-32 loaded whole: pieces, totals and turns', () => {
    const reader = oddLog().read();
    const pieces = [...reader.pieces()].map((piece) =>
      piece.verdict === 'damage'
        ? ['damage', piece.offset, piece.length, piece.kind]
        : ['record', piece.offset, piece.length, piece.seq],
    );
    expect(pieces).toEqual(
      expected.pieces.map((piece) =>
        piece.verdict === 'damage'
          ? ['damage', piece.offset, piece.length, piece.kind]
          : ['record', piece.offset, piece.length, piece.seq],
      ),
    );
    expect([...reader.records()].map(shapeOf)).toEqual(expectedRecords.map(expectedShape));
    const { totals } = expected;
    expect(reader.state.lifecycle).toMatchObject({
      eventCount: totals.records,
      turnCount: totals.turn_count,
      status: totals.status,
      open: { turn: totals.open_turn },
    });
    expect(reader.state.order.highestSeq + 1).toBe(totals.next_seq);
    expect(reader.state.damage).toMatchObject({
      count: totals.damage_reports.length,
      bytes: totals.damage_bytes,
    });
    expect(
      reader.damage().map(({ kind, offset, length, lines }) => ({ kind, offset, length, lines })),
    ).toEqual(totals.damage_reports);
    expect(
      [...reader.turns()].map(({ turn, status, start, end, firstSeq, lastSeq, events }) => ({
        turn,
        status,
        start,
        end,
        first_seq: firstSeq,
        last_seq: lastSeq,
        events,
      })),
    ).toEqual(totals.turns);
    reader.close();
  });

  test.each([1, 7, 65_536])('C-51, T-28, C-38, B37, B39 in chunks of %i bytes', (blockBytes) => {
    for (const bytes of [odd, golden]) {
      const source = { read: (into: Uint8Array, offset: number): number => bytes.copy(into, 0, offset) };
      const seen = (blocks: number): readonly string[] => {
        const scanner = new Scanner(source, { to: bytes.length, blockBytes: blocks });
        const pieces: string[] = [];
        for (let piece = scanner.next(); piece !== null; piece = scanner.next()) {
          const {
            bytes: _view,
            record: _record,
            ...shape
          } = piece.verdict === 'record' ? piece : { ...piece, bytes: null, record: null };
          pieces.push(JSON.stringify(shape));
        }
        return [...pieces, JSON.stringify(scanner.state)];
      };
      expect(seen(blockBytes)).toEqual(seen(1_048_576));
    }
  });

  test('C-51 by turn', () => {
    const reader = oddLog().read();
    for (const turn of [1, 2, 3, 4, 5, 6]) {
      const wanted = expectedRecords.filter((piece) => piece.turn === turn);
      expect([...reader.readTurn(turn)].map(shapeOf)).toEqual(wanted.map(expectedShape));
    }
    reader.close();
  });

  test('C-51 by range: repeated seqs all appear, in file order', () => {
    const reader = oddLog().read();
    for (const [from, to] of [
      [1, 99],
      [30, 40],
      [32, 32],
      [53, 53],
    ] as const) {
      const wanted = expectedRecords.filter((piece) => (piece.seq ?? 0) >= from && (piece.seq ?? 0) <= to);
      expect([...reader.readRange(from, to)].map(shapeOf)).toEqual(wanted.map(expectedShape));
    }
    reader.close();
  });

  test('C-51 from the end', () => {
    const reader = oddLog().read();
    for (const count of [1, 5, 20, 51]) {
      expect(reader.tail(count).map(shapeOf)).toEqual(expectedRecords.slice(-count).map(expectedShape));
    }
    reader.close();
  });

  test('C-51 followed while it grows', () => {
    const log = new TestLog();
    log.plant('');
    const follower = new LogFollower(log.fs, log.directory, 'case');
    const seen: LogRecord[] = [];
    for (let end = 100; end < odd.length + 100; end += 100) {
      const held = log.disk.open(log.path('events.jsonl'), 'append');
      held.write(odd.subarray(end - 100, Math.min(end, odd.length)));
      held.close();
      seen.push(...follower.poll());
    }
    expect(seen.map(shapeOf)).toEqual(expectedRecords.map(expectedShape));
    follower.close();
  });
});

describe('the golden log', () => {
  function goldenLog(): TestLog {
    const log = new TestLog();
    log.plant(golden);
    return log;
  }

  function expectGolden(reader: LogReader): void {
    expect(reader.state.lifecycle).toMatchObject({
      eventCount: 46,
      turnCount: 6,
      status: 'completed',
      open: null,
    });
    expect(reader.state.order.highestSeq + 1).toBe(87);
    expect(reader.damage()).toEqual([]);
    expect([...reader.turns()].map(({ turn, status }) => [turn, status])).toEqual([
      [4, 'completed'],
      [5, 'failed'],
      [6, 'completed'],
    ]);
  }

  test('C-51, T-32 loaded, by turn, by range and from the end', () => {
    const reader = goldenLog().read();
    expectGolden(reader);
    expect([...reader.readTurn(5)].map((record) => record.seq)).toEqual([71, 72, 73]);
    expect([...reader.readRange(85, 90)].map((record) => record.seq)).toEqual([85, 86]);
    expect(reader.tail(3).map((record) => record.seq)).toEqual([84, 85, 86]);
    expect([...reader.records()].every((record) => record.inspect().faults.length === 0)).toBe(true);
    reader.close();
  });

  test('C-15, L-7 an eviction header is no event of the count and numbering goes on behind it', async () => {
    const log = goldenLog();
    const writer = await log.open();
    expect(writer.append(turnStarted)).toMatchObject({ seq: 87, turn: 7 });
    expect(writer.append(turnCompleted)).toMatchObject({ seq: 88, turn: 7 });
    await writer.close();
    const manifest = log.manifest();
    expect(manifest).toMatchObject({ turn_count: 7, event_count: 48, retained_turn_base: 4 });
    expect(manifest.turnlog).toMatchObject({
      first_seq: 41,
      last_seq: 88,
      first_ts: '2026-10-05T08:00:00.000Z',
      evicted: { to_seq: 40, events: 40, turns: 3, last_turn: 3 },
      keys: 4,
      workspaces: ['/srv/work/parser'],
      tree: { size: 88 },
    });
    const reader = log.read();
    expect(() => [...reader.readTurn(3)]).toThrow(
      expect.objectContaining({
        code: 'TURNLOG_GONE',
        details: expect.objectContaining({ firstTurn: 4, firstSeq: 41 }),
      }),
    );
    expect(() => [...reader.readRange(40, 50)]).toThrow(expect.objectContaining({ code: 'TURNLOG_GONE' }));
    expect(() => [...reader.readTurn(9)]).toThrow(
      expect.objectContaining({ code: 'TURNLOG_TURN_NOT_FOUND' }),
    );
    reader.close();
    expect(log.bytes().subarray(0, golden.length).equals(golden)).toBe(true);
  });
});

test('C-14 log.evicted and log.imported act only as the first record of the file', () => {
  const imported = {
    type: 'log.imported',
    source: { kind: 'vtcode', session_id: 's', bytes: 1, sha256: '0'.repeat(64) },
    records: 1,
    damage_count: 0,
    turn_base: 9,
    schema_versions: [],
  };
  const evicted = JSON.parse(golden.toString('utf8').split('\n')[0] ?? '') as {
    event: Record<string, unknown>;
  };
  const first = new TestLog();
  first.plant(line(1, imported) + line(2, turnStarted));
  expect([...first.read().turns()].map(({ turn }) => turn)).toEqual([9]);
  const later = new TestLog();
  later.plant(line(1, note(1)) + line(2, imported) + line(3, evicted.event) + line(4, turnStarted));
  const reader = later.read();
  expect([...reader.turns()].map(({ turn }) => turn)).toEqual([1]);
  expect(reader.state.lifecycle.eventCount).toBe(4);
  expect([...reader.records()].map((record) => record.flags)).toEqual([[], [], ['misplaced'], []]);
  reader.close();
});

test('C-17 a redacted lifecycle record keeps its part in the lifecycle', () => {
  const log = new TestLog();
  const redacted = {
    type: 'log.redacted',
    leaf: 'a'.repeat(64),
    original_type: 'turn.completed',
    length: 9,
    redacted_at: '2026-10-05T08:00:00.000Z',
  };
  log.plant(line(1, turnStarted) + line(2, redacted) + line(3, note(3)));
  const reader = log.read();
  expect([...reader.turns()].map(({ turn, status, events }) => [turn, status, events])).toEqual([
    [1, 'completed', 2],
  ]);
  expect(seqsAndTypes(reader)).toEqual(['1 turn.started', '2 log.redacted', '3 error']);
  reader.close();
});

test('C-18 what a recovery has to say stands before anything else that the handle appends', async () => {
  const log = new TestLog();
  log.plant(`${line(1, turnStarted)}{"schema_version":"0.18.0","seq":2`);
  const writer = await log.open();
  expect(writer.append(note('mine')).seq).toBe(3);
  await writer.close();
  const reader = log.read();
  expect(seqsAndTypes(reader)).toEqual(['1 turn.started', '2 log.recovered', '3 error']);
  expect([...reader.readRange(2, 2)][0]?.readEvent()).toMatchObject({ reason: 'torn_tail', open_turn: 1 });
  reader.close();
  // Nobody else writes one.
  const again = await log.open();
  expect(() =>
    again.append({ type: 'log.recovered', reason: 'gap', damage: [], open_turn: null } as never),
  ).toThrow(expect.objectContaining({ code: 'TURNLOG_RESERVED_RECORD' }));
  await again.close();
});
