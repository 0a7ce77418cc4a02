import type { Cap } from './cap.js';
import type { ClosedTurn } from './lifecycle.js';

/**
 * Which closed turns leave a log that has grown over its cap: pure, so that it is decided, and tested, without a
 * disk. Source of the rules: the log specification, §10.
 */

/** What is known of the log. */
export interface EvictionInput {
  /** Closed turns in the file, oldest first; read no further than needed. */
  readonly entries: Iterable<ClosedTurn>;
  /** Number of the newest closed turn. */
  readonly lastTurn: number;
  /** Records in the file, its header not counted. */
  readonly eventCount: number;
  readonly bytes: number;
  /** The highest turn that may leave; null when every one may. */
  readonly guard: number | null;
  /** The last seq that has left before; 0, the default, when none has. Each eviction goes beyond it. */
  readonly evictedTo?: number;
}

export type EvictionLimits = Pick<Cap, 'maxEvents' | 'maxBytes' | 'target' | 'keepTurns'>;

export interface EvictionPlan {
  readonly kind: 'evict';
  /** How many turns leave. */
  readonly turns: number;
  /** The first byte that stays. */
  readonly cut: number;
  /** Seq of the last record of the last turn that leaves, and its number. */
  readonly toSeq: number;
  readonly lastTurn: number;
  /** Records that leave, those between the turns included. */
  readonly events: number;
  readonly bytes: number;
  /** Whether the log is within its target afterwards. */
  readonly reaches: boolean;
}

/**
 * - `off`, `under-cap`: there is nothing to do.
 * - `nothing-may-go`: the log is over its cap, and no closed turn may leave: an open turn has become too long, or
 *   the newest turns, which stay, are that large, or a guard holds them.
 */
export interface NoEviction {
  readonly kind: 'keep';
  readonly reason: 'off' | 'under-cap' | 'nothing-may-go';
}

/**
 * The fewest of the oldest turns whose leaving brings the log down to its target, or all that may leave when they
 * are too few.
 */
export function planEviction(input: EvictionInput, limits: EvictionLimits): EvictionPlan | NoEviction {
  const { maxEvents, maxBytes } = limits;
  if (maxEvents === 0 && maxBytes === 0) return { kind: 'keep', reason: 'off' };
  if (isWithin(input.eventCount, maxEvents) && isWithin(input.bytes, maxBytes)) {
    return { kind: 'keep', reason: 'under-cap' };
  }
  const lastCandidate = lastCandidateOf(input, limits);
  let last: ClosedTurn | null = null;
  let turns = 0;
  let taken = 0;
  for (const turn of input.entries) {
    if (turn.turn > lastCandidate) break;
    turns += 1;
    // Repeated seqs: a cut here would have the name of the one before.
    if (turn.lastSeq <= (input.evictedTo ?? 0)) continue;
    last = turn;
    taken = turns;
    if (reachesTarget(input, limits, turn)) return planFor(turn, turns, true);
  }
  return last === null ? { kind: 'keep', reason: 'nothing-may-go' } : planFor(last, taken, false);
}

/** The newest turn that may leave, if it is there. */
export function lastCandidateOf(
  { lastTurn, guard }: Pick<EvictionInput, 'lastTurn' | 'guard'>,
  { keepTurns }: Pick<EvictionLimits, 'keepTurns'>,
): number {
  return Math.min(lastTurn - keepTurns, guard ?? Number.POSITIVE_INFINITY);
}

function reachesTarget(input: EvictionInput, limits: EvictionLimits, turn: ClosedTurn): boolean {
  const { maxEvents, maxBytes, target } = limits;
  return (
    isWithin(input.eventCount - turn.upto, Math.floor(maxEvents * target), maxEvents) &&
    isWithin(input.bytes - turn.end, Math.floor(maxBytes * target), maxBytes)
  );
}

/** Whether `count` is no more than `most`; a limit of 0 is none. */
function isWithin(count: number, most: number, limit: number = most): boolean {
  return limit === 0 || count <= most;
}

function planFor(turn: ClosedTurn, turns: number, reaches: boolean): EvictionPlan {
  return {
    kind: 'evict',
    turns,
    cut: turn.end,
    toSeq: turn.lastSeq,
    lastTurn: turn.turn,
    events: turn.upto,
    bytes: turn.end,
    reaches,
  };
}

/**
 * The plan that evicts exactly the turns up to the one that ends at `lastSeq`, as one that a summary was written for;
 * null when there is none, or when it may not leave any more.
 */
export function planUpTo(
  entries: Iterable<ClosedTurn>,
  lastSeq: number,
  lastCandidate: number,
): EvictionPlan | null {
  let turns = 0;
  for (const turn of entries) {
    if (turn.turn > lastCandidate) return null;
    turns += 1;
    if (turn.lastSeq === lastSeq) return planFor(turn, turns, true);
    if (turn.lastSeq > lastSeq) return null;
  }
  return null;
}
