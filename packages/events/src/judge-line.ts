import { limits } from '@turnlog/kernel';
import { utf8Bytes } from './internal/text-codec.js';
import { type DamageKind, type PeekedRecord, peekRecord, recordPeeker } from './peek-record.js';

/** Bytes that hold a record, without its 0x0A. */
export interface RecordPiece {
  readonly verdict: 'record';
  readonly start: number;
  readonly end: number;
  readonly record: PeekedRecord;
  /** It shares its line with other pieces. */
  readonly isSalvaged: boolean;
  /** Nothing ends its line yet: it is whole, but the 0x0A is missing. */
  readonly isUnterminated: boolean;
}

/** Bytes that hold no record. */
export interface DamagePiece {
  readonly verdict: 'damage';
  readonly start: number;
  readonly end: number;
  readonly kind: DamageKind;
}

export type LinePiece = RecordPiece | DamagePiece;

export interface LineContext {
  /** Highest seq of the records before this line; 0 when there are none. */
  readonly highestSeq: number;
  /** Whether a 0x0A follows the line. */
  readonly isTerminated: boolean;
}

const tab = 0x09;
const carriageReturn = 0x0d;
const blank = 0x20;

/** What every record of ours begins with: where it stands inside of a broken line, a record may begin. */
const recordHead: Uint8Array = utf8Bytes('{"schema_version":');

function isBlank(byte: number | undefined): boolean {
  return byte === blank || byte === tab || byte === carriageReturn;
}

function skipBlanks(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isBlank(bytes[at])) at += 1;
  return at;
}

function skipZeros(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] === 0) at += 1;
  return at;
}

function startsRecord(bytes: Uint8Array, at: number, end: number): boolean {
  if (end - at < recordHead.length) return false;
  for (let index = 1; index < recordHead.length; index += 1) {
    if (bytes[at + index] !== recordHead[index]) return false;
  }
  return true;
}

/** Where the line may be cut; null when there are more places than a reader tries. */
function cutsOf(bytes: Uint8Array, start: number, end: number): readonly number[] | null {
  const cuts: number[] = [];
  for (let at = start; at < end; at += 1) {
    if (bytes[at] !== 0x7b || !startsRecord(bytes, at, end)) continue;
    if (cuts.length === limits.salvageCutsMax) return null;
    cuts.push(at);
  }
  return cuts;
}

/**
 * The longest record that begins at `start` and ends at a cut or at the line's end, or null. A JSON text has
 * one end, so there is one place to look at: behind it, after the blanks that may follow.
 */
function recordAt(
  bytes: Uint8Array,
  start: number,
  cuts: readonly number[],
  end: number,
): { readonly end: number; readonly record: PeekedRecord } | null {
  const textEnd = recordPeeker.endOfObject(bytes, skipBlanks(bytes, start, end), end);
  if (textEnd < 0) return null;
  const pieceEnd = skipBlanks(bytes, textEnd, end);
  if (pieceEnd !== end && !cuts.includes(pieceEnd)) return null;
  const record = peekRecord(bytes, start, pieceEnd);
  return typeof record === 'string' ? null : { end: pieceEnd, record };
}

/** The pieces of a line that is no record as a whole (C-34); null when none of them is a record. */
function salvage(bytes: Uint8Array, start: number, end: number, context: LineContext): LinePiece[] | null {
  const cuts = cutsOf(bytes, start, end);
  if (cuts === null) return null;
  const pieces: LinePiece[] = [];
  let highestSeq = context.highestSeq;
  let hasRecord = false;
  let at = start;
  while (at < end) {
    const found = recordAt(bytes, at, cuts, end);
    const seq = found?.record.statedSeq ?? null;
    if (found !== null && seq !== null && seq > highestSeq) {
      const isUnterminated = found.end === end && !context.isTerminated;
      pieces.push({
        verdict: 'record',
        start: at,
        end: found.end,
        record: found.record,
        isSalvaged: true,
        isUnterminated,
      });
      highestSeq = seq;
      hasRecord = true;
      at = found.end;
    } else {
      const from = at;
      at = cuts.find((cut) => cut > from) ?? end;
      const kind = at === end && !context.isTerminated ? 'torn-tail' : 'fused-stub';
      pieces.push({ verdict: 'damage', start: from, end: at, kind });
    }
  }
  return hasRecord ? pieces : null;
}

/** The pieces of a line that begins with no zero byte. */
function judgeText(
  bytes: Uint8Array,
  start: number,
  end: number,
  context: LineContext,
): readonly LinePiece[] {
  const isUnterminated = !context.isTerminated;
  if (isBlank(bytes[start]) && skipBlanks(bytes, start, end) === end) {
    return [{ verdict: 'damage', start, end, kind: isUnterminated ? 'torn-tail' : 'blank' }];
  }
  const record = peekRecord(bytes, start, end);
  if (typeof record !== 'string') {
    return [{ verdict: 'record', start, end, record, isSalvaged: false, isUnterminated }];
  }
  const kind = isUnterminated ? 'torn-tail' : record;
  return salvage(bytes, start, end, context) ?? [{ verdict: 'damage', start, end, kind }];
}

/**
 * Judges `bytes` from `start` to `end`: one line without its 0x0A, and without a byte-order mark, which the
 * caller skips at the start of a file. The pieces are in order, do not overlap and cover the line; an empty
 * line is one `blank` of length 0.
 *
 * The bytes after the last 0x0A are judged like a line, but what holds no record at their end is a
 * `torn-tail`: more may come.
 */
export function judgeLine(
  bytes: Uint8Array,
  start: number,
  end: number,
  context: LineContext,
): readonly LinePiece[] {
  if (start === end) return context.isTerminated ? [{ verdict: 'damage', start, end, kind: 'blank' }] : [];
  if (bytes[start] !== 0) return judgeText(bytes, start, end, context);
  const textStart = skipZeros(bytes, start, end);
  const zeros: LinePiece = { verdict: 'damage', start, end: textStart, kind: 'nul-run' };
  return textStart === end ? [zeros] : [zeros, ...judgeText(bytes, textStart, end, context)];
}
