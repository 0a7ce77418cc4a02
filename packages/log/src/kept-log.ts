import { limits } from '@turnlog/kernel';
import type { EvictedPrefix } from './evicted-prefix.js';
import type { UsedKey } from './idempotency.js';
import type { ClosedTurn, OpenTurn } from './lifecycle.js';
import { type ByteSource, LineFramer } from './line-framer.js';
import { type EvictedTotals, emptyLogState, type LineSpan, type LogState } from './log-state.js';
import { PublishQueue } from './publish-queue.js';
import type { IndexMark } from './turn-index.js';

/**
 * What is known of a log after its oldest turns have left it, worked out from what was known before instead of
 * reading the log again: the records that stay are the same, only their places have moved. It holds for logs
 * without damage; what it gives is what a scan of the new file would.
 */

/** The log before, and what happened to it. */
export interface Rewritten {
  readonly before: LogState;
  readonly prefix: EvictedPrefix;
  /** The first byte that stayed, and the length of the header that stands before it now, its 0x0A included. */
  readonly cut: number;
  readonly headerBytes: number;
  /** The time of the header. */
  readonly headerTsMs: number;
  readonly total: EvictedTotals;
  /** Seq of the first record that stayed; null when none did. */
  readonly firstSeq: number | null;
  /** The closed turns that stayed, as the log had them before. */
  readonly turns: readonly ClosedTurn[];
}

/** Whether nothing about the records that stay depends on more than their places. */
export function isMovable(before: LogState, prefix: EvictedPrefix): boolean {
  const isUndamaged = before.damage.count === prefix.state.damage.count;
  return isUndamaged && before.unorderedCount === 0;
}

/** The state of the log with its header and the records that stayed. */
export function stateAfter(rewritten: Rewritten): LogState {
  const { before, prefix, cut, headerBytes, total, headerTsMs } = rewritten;
  const header: LineSpan = { offset: 0, length: headerBytes - 1 };
  const shift = headerBytes - cut;
  const open = before.lifecycle.open === null ? null : moved(before.lifecycle.open, shift);
  const { tail } = before;
  return {
    ...emptyLogState,
    length: before.length + shift,
    lifecycle: {
      turnCount: before.lifecycle.turnCount,
      open,
      status: before.lifecycle.status,
      eventCount: before.lifecycle.eventCount - prefix.state.lifecycle.eventCount,
      closed: null,
    },
    order: before.order,
    firstSeq: rewritten.firstSeq,
    firstTsMs: prefix.firstTsMs ?? headerTsMs,
    newestTsMs: Math.max(before.newestTsMs ?? headerTsMs, headerTsMs),
    head: header,
    tail: tail === null || tail.offset < cut ? header : { ...tail, offset: tail.offset + shift },
    damage: { ...emptyLogState.damage },
    evicted: total,
    firstTurn: rewritten.turns[0]?.turn ?? open?.turn ?? null,
    keyCount: before.keyCount - prefix.state.keyCount,
    facts: before.facts,
  };
}

/** The lines of the turn index for the new file in `source`, turns and marks in the order in which it passes them. */
export function indexAfter(rewritten: Rewritten, source: ByteSource): PublishQueue {
  const { cut, headerBytes, prefix } = rewritten;
  const shift = headerBytes - cut;
  const evicted = prefix.state.lifecycle.eventCount;
  const turns = rewritten.turns.map((turn) => ({ ...moved(turn, shift), upto: turn.upto - evicted }));
  const queue = new PublishQueue();
  let next = 0;
  for (const { mark, end } of marksOf(source, rewritten.before.length + shift, turns, headerBytes)) {
    for (let turn = turns[next]; turn !== undefined && isClosedBefore(turn, mark, end); turn = turns[next]) {
      queue.addTurn(turn);
      next += 1;
    }
    queue.addMark(mark, end);
  }
  for (const turn of turns.slice(next)) queue.addTurn(turn);
  return queue;
}

/** The keys whose records stayed. */
export function keysAfter(keys: Iterable<UsedKey>, toSeq: number): readonly UsedKey[] {
  const kept: UsedKey[] = [];
  for (const used of keys) if (used.seq > toSeq) kept.push({ ...used, end: 0 });
  return kept;
}

function moved<Turn extends OpenTurn>(turn: Turn, shift: number): Turn {
  return { ...turn, start: turn.start + shift, end: turn.end + shift };
}

/**
 * Whether the record that closes `turn` comes before, or is, the one that sets `mark` and ends at `end`. An
 * interrupted turn is closed by the record behind it.
 */
function isClosedBefore(turn: ClosedTurn, mark: IndexMark, end: number): boolean {
  return turn.end <= mark.at || (turn.end === end && turn.status !== 'interrupted');
}

/**
 * The marks of a file of plain lines whose first is the header: of each border of a MiB the first line at or behind
 * it. Only the turn that a border lies in is read, from its start, where the number of records is known.
 */
function* marksOf(
  source: ByteSource,
  length: number,
  turns: readonly ClosedTurn[],
  headerBytes: number,
): Iterable<{ readonly mark: IndexMark; readonly end: number }> {
  let known = { at: headerBytes, ordinal: 0 };
  let nextTurn = 0;
  for (let border = limits.indexMarkBytes; border < length; ) {
    for (let turn = turns[nextTurn]; turn !== undefined && turn.end <= border; turn = turns[nextTurn]) {
      if (turn.end > known.at) known = { at: turn.end, ordinal: turn.upto };
      nextTurn += 1;
    }
    const found = firstLineFrom(source, length, known, border);
    if (found === null) return;
    yield { mark: { mark: found.ordinal, at: found.at }, end: found.end };
    known = { at: found.end, ordinal: found.ordinal };
    border = (Math.floor(found.at / limits.indexMarkBytes) + 1) * limits.indexMarkBytes;
  }
}

/** The first line that starts at or behind `border`, counted on from a line start whose number is known. */
function firstLineFrom(
  source: ByteSource,
  length: number,
  known: { readonly at: number; readonly ordinal: number },
  border: number,
): { readonly at: number; readonly end: number; readonly ordinal: number } | null {
  const framer = new LineFramer(source, { from: known.at, to: length });
  for (let ordinal = known.ordinal + 1; framer.next(); ordinal += 1) {
    if (framer.offset >= border) return { at: framer.offset, end: framer.nextOffset, ordinal };
  }
  return null;
}
