import { limits } from '@turnlog/kernel';
import type { PeekedRecord } from './peek-record.js';
import { parseTimestamp } from './timestamp.js';

/** What is odd about a record's place in the log. Information: nothing of it makes damage. */
export type OrderFlag =
  | 'seq-missing'
  | 'seq-invalid'
  | 'seq-repeat'
  | 'seq-conflict'
  | 'seq-gap'
  | 'prefix-missing'
  | 'ts-invalid'
  | 'ts-back';

/** What must be known of the records before one, to number it. */
export interface OrderState {
  /** 0 before the first record. */
  readonly highestSeq: number;
  /** Time of the last record that had one, which need not be the newest time; null when none had one. */
  readonly lastTsMs: number | null;
  readonly recordCount: number;
}

export interface Ordered {
  /** The number the record counts as: the stated one where it can be believed. */
  readonly seq: number;
  readonly tsMs: number | null;
  readonly flags: readonly OrderFlag[];
  readonly state: OrderState;
}

/** Before the first record. */
export const emptyOrder: OrderState = { highestSeq: 0, lastTsMs: null, recordCount: 0 };

const noFlags: readonly OrderFlag[] = [];

/** The header of an evicted log may begin anywhere: it stands in the place of the last record that left. */
function isHeader(state: OrderState, record: PeekedRecord): boolean {
  return state.recordCount === 0 && record.type === 'log.evicted';
}

function isBelievable(state: OrderState, record: PeekedRecord, statedSeq: number): boolean {
  return statedSeq - state.highestSeq <= limits.seqJumpMax || isHeader(state, record);
}

function seqFlagOf(
  state: OrderState,
  record: PeekedRecord,
  isSameAsPrevious: () => boolean,
): OrderFlag | null {
  const stated = record.statedSeq;
  if (stated === null || !isBelievable(state, record, stated))
    return record.hasSeq ? 'seq-invalid' : 'seq-missing';
  if (stated === state.highestSeq + 1) return null;
  if (stated <= state.highestSeq) return isSameAsPrevious() ? 'seq-repeat' : 'seq-conflict';
  if (state.recordCount > 0) return 'seq-gap';
  return isHeader(state, record) ? null : 'prefix-missing';
}

function tsFlagOf(state: OrderState, record: PeekedRecord, tsMs: number | null): OrderFlag | null {
  if (tsMs === null) return record.hasTs ? 'ts-invalid' : null;
  return state.lastTsMs !== null && tsMs < state.lastTsMs ? 'ts-back' : null;
}

function flagList(seqFlag: OrderFlag | null, tsFlag: OrderFlag | null): readonly OrderFlag[] {
  if (seqFlag === null) return tsFlag === null ? noFlags : [tsFlag];
  return tsFlag === null ? [seqFlag] : [seqFlag, tsFlag];
}

/**
 * The effective number and time of a record, and what is odd about them (C-36, C-37).
 *
 * @param isSameAsPrevious whether the record's bytes are those of the record directly before it; asked only
 *   when the stated number was used before.
 */
export function order(state: OrderState, record: PeekedRecord, isSameAsPrevious: () => boolean): Ordered {
  const seqFlag = seqFlagOf(state, record, isSameAsPrevious);
  const isPlaced = seqFlag === 'seq-missing' || seqFlag === 'seq-invalid' || record.statedSeq === null;
  const next = Math.min(state.highestSeq + 1, Number.MAX_SAFE_INTEGER);
  const seq = isPlaced ? next : (record.statedSeq ?? next);
  const tsMs = record.ts === null ? null : parseTimestamp(record.ts);
  return {
    seq,
    tsMs,
    flags: flagList(seqFlag, tsFlagOf(state, record, tsMs)),
    state: {
      highestSeq: Math.max(state.highestSeq, seq),
      lastTsMs: tsMs ?? state.lastTsMs,
      recordCount: state.recordCount + 1,
    },
  };
}
