import { addUsage, noTokens, type UsageCounts } from '@turnlog/events';
import type { Picodollars } from './prices.js';

/** Who says what something cost. */
export type CostSource = 'recorded' | 'prices';

/** What was spent, and how far that is known. */
export interface Cost {
  /** Null when nothing of it is known. */
  readonly picodollars: Picodollars | null;
  /** Who says so, in alphabetical order. */
  readonly sources: readonly CostSource[];
  /** Figures of usage that have no cost. */
  readonly unpricedCount: number;
}

/** What is added up for one row. */
export interface Measures {
  readonly eventCount: number;
  readonly turnCount: number;
  /** Turns that are over and of which nothing says what they used. */
  readonly turnsWithoutUsage: number;
  readonly answerCount: number;
  /** Null while no usage is known, which is not 0. */
  readonly usage: UsageCounts | null;
  readonly cost: Cost;
  readonly callCount: number;
  readonly failedCallCount: number;
}

export const noCost: Cost = { picodollars: null, sources: [], unpricedCount: 0 };

export const nothing: Measures = {
  eventCount: 0,
  turnCount: 0,
  turnsWithoutUsage: 0,
  answerCount: 0,
  usage: null,
  cost: noCost,
  callCount: 0,
  failedCallCount: 0,
};

export function addMeasures(left: Measures, right: Measures): Measures {
  return {
    eventCount: left.eventCount + right.eventCount,
    turnCount: left.turnCount + right.turnCount,
    turnsWithoutUsage: left.turnsWithoutUsage + right.turnsWithoutUsage,
    answerCount: left.answerCount + right.answerCount,
    usage: addKnownUsage(left.usage, right.usage),
    cost: addCost(left.cost, right.cost),
    callCount: left.callCount + right.callCount,
    failedCallCount: left.failedCallCount + right.failedCallCount,
  };
}

function addKnownUsage(left: UsageCounts | null, right: UsageCounts | null): UsageCounts | null {
  if (left === null && right === null) return null;
  return addUsage(left ?? noTokens, right ?? noTokens);
}

function addCost(left: Cost, right: Cost): Cost {
  const sources = [...new Set([...left.sources, ...right.sources])].sort();
  const isKnown = left.picodollars !== null || right.picodollars !== null;
  return {
    picodollars: isKnown ? (left.picodollars ?? 0n) + (right.picodollars ?? 0n) : null,
    sources,
    unpricedCount: left.unpricedCount + right.unpricedCount,
  };
}
