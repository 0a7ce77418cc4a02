import { type DamageKind, emptyOrder, type OrderState } from '@turnlog/events';
import type { FramePlace, OpenFrame } from './frame-step.js';
import { initialLifecycle, type LifecycleState } from './lifecycle.js';
import { noFacts, type SessionFacts } from './session-facts.js';

/** A line of the file, without its 0x0A. */
export interface LineSpan {
  readonly offset: number;
  readonly length: number;
}

/** What has left the log by its cap, since the log began. */
export interface EvictedTotals {
  readonly toSeq: number;
  readonly events: number;
  readonly turns: number;
  readonly lastTurn: number;
}

export interface DamageTotals {
  /** How many places; adjacent lines of one kind are one place. */
  readonly count: number;
  /** Damaged bytes, the 0x0A between lines not counted. */
  readonly bytes: number;
  /** The newest damaged place, to which an adjacent line of the same kind belongs. */
  readonly last: { readonly kind: DamageKind; readonly end: number } | null;
}

/** Where a log stands with its frames. */
export interface FramesState {
  /** What the last record was to the frame around it. */
  readonly place: FramePlace;
  /** The frame that is open behind it, and what is known with its members; null when none is. */
  readonly open: {
    readonly frame: OpenFrame;
    readonly facts: SessionFacts;
    readonly keyCount: number;
  } | null;
}

export const noFrame: FramesState = { place: 'alone', open: null };

/**
 * All that is known of a log after its first `length` bytes. Immutable: a refused append goes back to the
 * state before it by forgetting the new one.
 */
export interface LogState {
  /** Bytes of the file that the state accounts for. */
  readonly length: number;
  readonly lifecycle: LifecycleState;
  /** Highest seq, and the time of the last record that had one. */
  readonly order: OrderState;
  /** Seq of the first record that is not the header; null when there is none. */
  readonly firstSeq: number | null;
  /** First known time, in milliseconds since the epoch. */
  readonly firstTsMs: number | null;
  /** Newest known time: no record is written with an earlier one. */
  readonly newestTsMs: number | null;
  /** First and last line, records or not. */
  readonly head: LineSpan | null;
  readonly tail: LineSpan | null;
  readonly damage: DamageTotals;
  readonly evicted: EvictedTotals | null;
  /** Number of the first turn that lies in the file; null when it holds none. */
  readonly firstTurn: number | null;
  /** The first record begins above 1 and no header says why. */
  readonly isPrefixMissing: boolean;
  /**
   * Records whose seq is not above all before it. While there are none, seqs rise through the file and a
   * place can be found by its seq; otherwise only reading from the start gives every answer.
   */
  readonly unorderedCount: number;
  /** Records with an idempotency key; those in a frame count once it is committed, as for the facts. */
  readonly keyCount: number;
  readonly facts: SessionFacts;
  /** Nothing is published while a frame is open: a frame is one write, and the next writer closes what a crash cut. */
  readonly frames: FramesState;
}

export const emptyLogState: LogState = {
  length: 0,
  lifecycle: initialLifecycle,
  order: emptyOrder,
  firstSeq: null,
  firstTsMs: null,
  newestTsMs: null,
  head: null,
  tail: null,
  damage: { count: 0, bytes: 0, last: null },
  evicted: null,
  firstTurn: null,
  isPrefixMissing: false,
  unorderedCount: 0,
  keyCount: 0,
  facts: noFacts,
  frames: noFrame,
};

/** Number of the first turn kept in the file, or of the next one when it holds none. */
export function turnBaseOf(state: LogState): number {
  return state.firstTurn ?? state.lifecycle.turnCount + 1;
}
