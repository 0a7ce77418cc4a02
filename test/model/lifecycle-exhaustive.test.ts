import { followLifecycle, lineOf, type NaiveRecord, readNaively, SeededRandom } from '@turnlog/testkit';
import {
  type ClosedTurn,
  initialLifecycle,
  type LifecycleState,
  step,
} from '../../packages/log/src/lifecycle.js';
import { Scanner } from '../../packages/log/src/scanner.js';

const usage = '"usage":{}';
const kinds = [
  ['thread-started', '{"type":"thread.started","thread_id":"t"}'],
  ['turn-started', '{"type":"turn.started"}'],
  ['turn-completed', `{"type":"turn.completed",${usage}}`],
  ['turn-failed', '{"type":"turn.failed","message":"m"}'],
  [
    'thread-completed',
    `{"type":"thread.completed","thread_id":"t","session_id":"s","subtype":"success","outcome_code":"ok",${usage},"num_turns":0}`,
  ],
  ['other', '{"type":"x.test.note"}'],
] as const;

const lengthMax = 7;
const ts = '2026-10-05T08:00:00.000Z';

/** The line of each kind at each place, so that a sequence is a concatenation. All lines of a place are equally long. */
const lines: readonly (readonly Buffer[])[] = Array.from({ length: lengthMax }, (_, place) =>
  kinds.map(([, text]) => Buffer.from(`${lineOf({ seq: place + 1, ts, key: null, text })}\n`)),
);

interface Turn {
  readonly turn: number;
  readonly status: string;
  readonly start: number;
  readonly end: number;
  readonly first: number;
  readonly last: number;
  readonly events: number;
  readonly upto: number;
}

interface Outcome {
  readonly turnCount: number;
  readonly status: string;
  readonly eventCount: number;
  readonly turns: readonly Turn[];
}

function describeTurn(turn: ClosedTurn | NonNullable<LifecycleState['open']>): Turn {
  const { start, end, firstSeq: first, lastSeq: last, events } = turn;
  const [status, upto] = 'status' in turn ? [turn.status, turn.upto] : ['open', 0];
  return { turn: turn.turn, status, start, end, first, last, events, upto };
}

function outcomeOf(state: LifecycleState, closed: readonly ClosedTurn[]): Outcome {
  const { turnCount, status, eventCount, open } = state;
  const turns = [...closed, ...(open === null ? [] : [open])].map(describeTurn);
  return { turnCount, status, eventCount, turns };
}

function naively(records: readonly NaiveRecord[]): Outcome {
  const { turnCount, status, turns } = followLifecycle(records);
  return {
    turnCount,
    status,
    eventCount: records.length,
    turns: turns.map(({ turn, status: as, records: own, upto }) => {
      const [first, last] = [own[0], own.at(-1)];
      return {
        turn,
        status: as,
        start: first?.start ?? -1,
        end: last?.end ?? -1,
        first: first?.seq ?? -1,
        last: last?.seq ?? -1,
        events: own.length,
        upto,
      };
    }),
  };
}

function scanned(sequence: readonly number[]): Outcome {
  const bytes = Buffer.concat(sequence.map((kind, place) => lines[place]?.[kind] ?? Buffer.alloc(0)));
  const source = {
    read: (into: Uint8Array, offset: number): number => bytes.copy(into, 0, offset, offset + into.length),
  };
  const scanner = new Scanner(source, { to: bytes.length, blockBytes: 4_096 });
  const closed: ClosedTurn[] = [];
  for (let piece = scanner.next(); piece !== null; piece = scanner.next()) {
    const { closed: now } = scanner.state.lifecycle;
    if (now !== null) closed.push(now);
  }
  return outcomeOf(scanner.state.lifecycle, closed);
}

/** Compared as text first: this happens a third of a million times. */
function expectSame(sequence: readonly number[], found: Outcome, expected: Outcome): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    expect([sequence, found]).toEqual([sequence, expected]);
  }
}

test('T-57 all kind sequences to length 7: append, scan and the naive model agree', () => {
  const random = new SeededRandom(20_261_005);
  let sequences = 0;
  let scans = 0;
  const events = kinds.map(([, text]) => JSON.parse(text) as Readonly<Record<string, unknown>>);
  const sequence: number[] = [];
  const records: NaiveRecord[] = [];
  const visit = (state: LifecycleState, closed: readonly ClosedTurn[], start: number): void => {
    sequences += 1;
    const expected = naively(records);
    expectSame(sequence, outcomeOf(state, closed), expected);
    if (sequence.length <= 5 || random.below(8) === 0) {
      scans += 1;
      expectSame(sequence, scanned(sequence), expected);
    }
    if (sequence.length === lengthMax) return;
    for (const [position, [kind]] of kinds.entries()) {
      const place = sequence.length;
      const line = lines[place]?.[position] ?? Buffer.alloc(0);
      const span = { start, end: start + line.length, seq: place + 1, tsMs: null };
      const next = step(state, kind, span);
      sequence.push(position);
      const { end, seq } = span;
      const event = events[position] ?? {};
      records.push({ seq, ts, key: null, text: '', event, start, end, lineOffset: start, bytes: line });
      visit(next, next.closed === null ? closed : [...closed, next.closed], end);
      sequence.pop();
      records.pop();
    }
  };
  visit(initialLifecycle, [], 0);
  expect(sequences).toBe((6 ** 8 - 1) / 5);
  expect(scans).toBeGreaterThan(40_000);
}, 60_000);

test('the naive model reads the same from bytes as from its own records', () => {
  const bytes = Buffer.concat(
    [1, 5, 1, 3, 2, 4, 0].map((kind, place) => lines[place]?.[kind] ?? Buffer.alloc(0)),
  );
  const { turns, turnCount, status } = readNaively(bytes);
  expect(turns.map(({ turn, status: as, records }) => [turn, as, records.length])).toEqual([
    [1, 'interrupted', 2],
    [2, 'failed', 2],
  ]);
  expect([turnCount, status]).toEqual([2, 'active']);
});
