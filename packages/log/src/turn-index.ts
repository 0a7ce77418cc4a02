import { formatTimestamp, parseTimestamp } from '@turnlog/events';
import { type Generation, limits } from '@turnlog/kernel';
import { type FoundMembers, isCount, isText, isTextOrNull, readMembers } from './checked-json.js';
import type { ClosedStatus, ClosedTurn } from './lifecycle.js';

/**
 * The format of `index/turns.jsonl`. A header, then one line per closed turn and one mark per full MiB of log,
 * in the order in which the log passed them:
 *
 *     {"turnlog":"turns","v":1,"session_id":"s-7","generation":"<32 hex>","turn_base":4}
 *     {"turn":4,"status":"completed","start":1322,"end":9316,"first_seq":43,"last_seq":70,"events":28,
 *      "upto":30,"ts":"2026-10-05T08:30:00.500Z","end_ts":"2026-10-05T08:30:03.875Z"}
 *     {"mark":8193,"at":1048602}
 *
 * `[start,end)` are bytes, `events` the records in them, `upto` the records of the file up to `end`; a mark
 * names the first record at or after the border of a MiB by its number in the file, from 1 on.
 */

export interface TurnIndexHeader {
  readonly sessionId: string;
  readonly generation: Generation;
  /** Number of the first kept turn. */
  readonly turnBase: number;
}

export interface IndexMark {
  readonly mark: number;
  readonly at: number;
}

export type TurnIndexLine =
  | { readonly kind: 'turn'; readonly turn: ClosedTurn }
  | { readonly kind: 'mark'; readonly mark: IndexMark };

export function encodeIndexHeader(header: TurnIndexHeader): string {
  const { sessionId, generation, turnBase } = header;
  return `${JSON.stringify({ turnlog: 'turns', v: 1, session_id: sessionId, generation, turn_base: turnBase })}\n`;
}

export function encodeIndexTurn(turn: ClosedTurn): string {
  return `${JSON.stringify({
    turn: turn.turn,
    status: turn.status,
    start: turn.start,
    end: turn.end,
    first_seq: turn.firstSeq,
    last_seq: turn.lastSeq,
    events: turn.events,
    upto: turn.upto,
    ts: formatTime(turn.tsMs),
    end_ts: formatTime(turn.endTsMs),
  })}\n`;
}

export function encodeIndexMark(mark: IndexMark): string {
  return `${JSON.stringify({ mark: mark.mark, at: mark.at })}\n`;
}

/** A time as it is published: `YYYY-MM-DDTHH:MM:SS.mmmZ`, or null when unknown. */
export function formatTime(tsMs: number | null): string | null {
  return tsMs === null ? null : formatTimestamp(tsMs);
}

/** The header in `text`, or null when it is none. */
export function parseIndexHeader(text: string): TurnIndexHeader | null {
  const found = readMembers(text);
  if (found === null || found['turnlog'] !== 'turns' || found['v'] !== 1) return null;
  const { session_id: sessionId, generation, turn_base: turnBase } = found;
  if (!isText(sessionId) || !isText(generation) || !isCount(turnBase)) return null;
  return { sessionId, generation: generation as Generation, turnBase };
}

/** The turn or mark in `text`, or null when it is neither. */
export function parseIndexLine(text: string): TurnIndexLine | null {
  const found = readMembers(text);
  if (found === null) return null;
  return 'mark' in found ? markOf(found) : turnOf(found);
}

function markOf(found: FoundMembers): TurnIndexLine | null {
  const { mark, at } = found;
  return isCount(mark) && isCount(at) ? { kind: 'mark', mark: { mark, at } } : null;
}

const closedStatuses: readonly string[] = ['completed', 'failed', 'interrupted'] satisfies ClosedStatus[];

function isClosedStatus(value: unknown): value is ClosedStatus {
  return typeof value === 'string' && closedStatuses.includes(value);
}

function turnOf(found: FoundMembers): TurnIndexLine | null {
  const {
    turn,
    status,
    start,
    end,
    first_seq: firstSeq,
    last_seq: lastSeq,
    events,
    upto,
    ts,
    end_ts: endTs,
  } = found;
  if (!isCount(turn) || !isClosedStatus(status) || !isCount(start) || !isCount(end)) return null;
  if (!isCount(firstSeq) || !isCount(lastSeq) || !isCount(events) || !isCount(upto)) return null;
  if (!isTextOrNull(ts) || !isTextOrNull(endTs) || start >= end || events === 0) return null;
  const tsMs = ts === null ? null : parseTimestamp(ts);
  const endTsMs = endTs === null ? null : parseTimestamp(endTs);
  return { kind: 'turn', turn: { turn, status, start, end, firstSeq, lastSeq, events, upto, tsMs, endTsMs } };
}

/**
 * The mark that a record at `start`, the `ordinal`-th of the file, sets when the record before it began at
 * `previousStart` (-1 for the first): one for the last border of a MiB passed in between, else null.
 */
export function markAt(previousStart: number, start: number, ordinal: number): IndexMark | null {
  const border = Math.floor(start / limits.indexMarkBytes);
  const passed = previousStart < 0 ? 0 : Math.floor(previousStart / limits.indexMarkBytes);
  return border > passed ? { mark: ordinal, at: start } : null;
}

/** Whether `next` may follow `previous` in an index: numbers rise by one, ranges are disjoint and rise. */
export function followsTurn(previous: ClosedTurn | null, next: ClosedTurn, turnBase: number): boolean {
  if (previous === null) return next.turn === turnBase;
  return next.turn === previous.turn + 1 && next.start >= previous.end && next.upto > previous.upto;
}
