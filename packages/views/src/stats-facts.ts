import type { UsageCounts } from '@turnlog/events';
import type { ActivityState } from './activity-view.js';
import { costOf, type Picodollars, type Prices, picodollars, priceOf } from './prices.js';
import { type Cost, type Measures, noCost, nothing } from './stats-measures.js';
import { type ToolsState, toolCalls } from './tools-view.js';
import { countedTurns, type UsageEntry, usageEntries } from './usage-entries.js';
import type { UsageState } from './usage-view.js';

/** Something that happened in a session at a time, to be added up. */
export interface Fact {
  readonly tsMs: number | null;
  /** Of usage: the model, null when nobody says which. Undefined for what has none. */
  readonly model?: string | null;
  /** Of calls. */
  readonly tool?: string;
  readonly measures: Measures;
}

export interface SessionStates {
  readonly activity: ActivityState;
  readonly usage: UsageState;
  readonly tools: ToolsState;
}

/** Answers that were counted already, in this session or another. */
export interface CountedAnswers {
  /** Whether it is the first time; it will not be again. */
  claim(answerKey: string): boolean;
}

/** What a session adds to statistics. */
export function factsOf(
  states: SessionStates,
  answers: CountedAnswers,
  prices: Prices | null,
): readonly Fact[] {
  return [
    ...eventFacts(states.activity),
    ...usageFacts(states.usage, answers, prices),
    ...callFacts(states.tools),
  ];
}

function eventFacts({ records }: ActivityState): readonly Fact[] {
  return records
    .entries()
    .map(([tsMs, eventCount]): Fact => ({ tsMs, measures: { ...nothing, eventCount } }));
}

function callFacts(state: ToolsState): readonly Fact[] {
  return toolCalls(state).map(({ tsMs, tool, status }): Fact => {
    const failedCallCount = status === 'failed' ? 1 : 0;
    return { tsMs, tool, measures: { ...nothing, callCount: 1, failedCallCount } };
  });
}

function usageFacts(state: UsageState, answers: CountedAnswers, prices: Prices | null): readonly Fact[] {
  const turns = countedTurns(state).map(({ tsMs, isWithoutUsage }): Fact => {
    return { tsMs, measures: { ...nothing, turnCount: 1, turnsWithoutUsage: isWithoutUsage ? 1 : 0 } };
  });
  const counted = usageEntries(state).filter(
    ({ answerKey }) => answerKey === null || answers.claim(answerKey),
  );
  return [...turns, ...entryFacts(state, counted, prices)];
}

/**
 * Usage with what it cost. The sources of a cost, in order: what the answer says, what the thread says of all of
 * itself where no answer says anything, the user's prices. What the thread says stands at its end, and then nothing
 * of the session is priced again.
 */
function entryFacts(
  state: UsageState,
  entries: readonly UsageEntry[],
  prices: Prices | null,
): readonly Fact[] {
  const { thread, model } = state;
  const saysAnswer = entries.some(({ costUsd }) => costUsd !== null);
  const ofThread =
    thread === null || thread.costUsd === null || saysAnswer ? null : picodollars(thread.costUsd);
  const facts = entries.map((entry): Fact => {
    const { tsMs, usage } = entry;
    const cost = ofThread === null ? entryCost(entry, prices) : noCost;
    const answerCount = entry.source === 'answer' ? 1 : 0;
    return { tsMs, model: entry.model, measures: { ...nothing, usage, cost, answerCount } };
  });
  if (ofThread === null || thread === null) return facts;
  return [...facts, { tsMs: thread.tsMs, model, measures: { ...nothing, cost: recorded(ofThread) } }];
}

function entryCost({ costUsd, usage, model }: UsageEntry, prices: Prices | null): Cost {
  const said = costUsd === null ? null : picodollars(costUsd);
  if (said !== null) return recorded(said);
  const priced = usage === null || prices === null ? null : pricedAt(prices, model, usage);
  if (priced !== null) return { picodollars: priced, sources: ['prices'], unpricedCount: 0 };
  return { ...noCost, unpricedCount: usage === null ? 0 : 1 };
}

function recorded(cost: Picodollars): Cost {
  return { picodollars: cost, sources: ['recorded'], unpricedCount: 0 };
}

function pricedAt(prices: Prices, model: string | null, usage: UsageCounts): Picodollars | null {
  const price = priceOf(prices, model);
  return price === null ? null : costOf(price, usage);
}
