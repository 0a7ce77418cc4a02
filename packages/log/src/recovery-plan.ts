import type { Evidence } from './evidence.js';
import type { LogState } from './log-state.js';
import type { Manifest } from './manifest.js';

/**
 * From facts to what has to be done, without doing it: how much of the log must be read at open, and what the
 * end of the log needs before anything can be appended.
 */

/**
 * - `none`: the manifest describes the whole log.
 * - `tail`: it describes a prefix; the rest is read.
 * - `full`: everything is read; `keptGeneration` is that of the manifest where the log itself is unchanged.
 */
export type ScanPlan =
  | { readonly kind: 'none'; readonly manifest: Manifest }
  | { readonly kind: 'tail'; readonly manifest: Manifest }
  | { readonly kind: 'full'; readonly keptGeneration: Manifest['generation'] | null };

export function planScan(evidence: Evidence, length: number): ScanPlan {
  const { manifest } = evidence;
  if (manifest === null) return { kind: 'full', keptGeneration: null };
  if (!evidence.isLongEnough || !evidence.isHeadRight || !evidence.isTailRight) {
    return { kind: 'full', keptGeneration: null };
  }
  if (!evidence.isTailPlain || !evidence.isIndexRight)
    return { kind: 'full', keptGeneration: manifest.generation };
  return { kind: manifest.state.length === length ? 'none' : 'tail', manifest };
}

/** Records that a manifest proves to have been in the log and that are not in it any more. */
export interface LostTail {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Number with which turns go on. */
  readonly turnBase: number;
}

/**
 * What was cut from the end of the log from outside. The manifest speaks for this log when its first line is
 * still there, or nothing is.
 */
export function findLostTail(evidence: Evidence, state: LogState): LostTail | null {
  const { manifest } = evidence;
  if (manifest === null || !evidence.isHeadRight) return null;
  const before = manifest.state;
  if (before.order.highestSeq <= state.order.highestSeq) return null;
  const highestTurn = Math.max(before.lifecycle.turnCount, before.lifecycle.open?.turn ?? 0);
  return {
    fromSeq: state.order.highestSeq + 1,
    toSeq: before.order.highestSeq,
    turnBase: highestTurn + 1,
  };
}
