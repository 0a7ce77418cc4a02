import { addUsage, noTokens, turnUsageOf, type UsageCounts } from '@turnlog/events';
import type { UsageState, UsageTurn } from './usage-view.js';

/** One figure that counts: together the entries of a session are its usage, each token once. */
export interface UsageEntry {
  readonly source: 'turn' | 'answer' | 'thread';
  /** Of an answer: what it must not be counted twice by, in all sessions of a store. */
  readonly answerKey: string | null;
  readonly turn: number | null;
  readonly tsMs: number | null;
  readonly model: string | null;
  /** Null when it is unknown, as of an answer without figures. */
  readonly usage: UsageCounts | null;
  /** As it was recorded; null when it was not. */
  readonly costUsd: number | null;
}

/** A turn that was counted, with or without usage. */
export interface CountedTurn {
  readonly turn: number;
  /** Time of its first record. */
  readonly tsMs: number | null;
  /** It is over, and nothing says what it used. */
  readonly isWithoutUsage: boolean;
}

/**
 * What counts (CL-20): the answers that are named, once each and not those counted elsewhere; the turns in which no
 * answer is named; the thread's own figure only when no turn states any.
 */
export function usageEntries(state: UsageState): readonly UsageEntry[] {
  const entries = [...turnEntries(state), ...answerEntries(state)];
  const { thread } = state;
  if (thread?.usage === null || thread === null || statesUsage(state)) return entries;
  const { tsMs, usage } = thread;
  const own: UsageEntry = {
    source: 'thread',
    answerKey: null,
    turn: null,
    tsMs,
    model: state.model,
    usage,
    costUsd: null,
  };
  return [...entries, own];
}

function turnEntries(state: UsageState): readonly UsageEntry[] {
  return state.turns.entries().flatMap(([turn, entry]): readonly UsageEntry[] => {
    const { usage } = turnUsageOf(entry.usage);
    if (usage === null || entry.hasAnswers) return [];
    const { statedMs: tsMs, model } = entry;
    return [{ source: 'turn', answerKey: null, turn, tsMs, model, usage, costUsd: null }];
  });
}

function answerEntries(state: UsageState): readonly UsageEntry[] {
  return state.answers.values().flatMap(({ key, turn, tsMs, model, usage, costUsd, repeatOf }) => {
    if (repeatOf !== null) return [];
    return [{ source: 'answer' as const, answerKey: key, turn, tsMs, model, usage, costUsd }];
  });
}

/** Whether any turn or answer of the session states a usage, also one that is counted elsewhere. */
function statesUsage(state: UsageState): boolean {
  return (
    state.turns.values().some((turn) => turnUsageOf(turn.usage).usage !== null) ||
    state.answers.values().some(({ usage }) => usage !== null)
  );
}

export function countedTurns(state: UsageState): readonly CountedTurn[] {
  return state.turns.entries().map(([turn, entry]) => ({
    turn,
    tsMs: entry.startMs,
    isWithoutUsage: isOver(state, turn, entry) && !isUsageKnown(state, turn, entry),
  }));
}

function isOver(state: UsageState, turn: number, { usage }: UsageTurn): boolean {
  return usage.closedBy !== null || state.present !== turn;
}

function isUsageKnown(state: UsageState, turn: number, entry: UsageTurn): boolean {
  if (turnUsageOf(entry.usage).usage !== null) return true;
  if (!entry.hasAnswers) return false;
  return state.answers.values().some((answer) => answer.turn === turn && answer.usage !== null);
}

/** By how much the thread's own figure is off from the sum of its turns. */
export interface UsageDifference {
  readonly thread: UsageCounts;
  readonly turns: UsageCounts;
}

/** Null when they agree, or when one of them states nothing. */
export function usageDifference(state: UsageState): UsageDifference | null {
  const thread = state.thread?.usage ?? null;
  if (thread === null || !statesUsage(state)) return null;
  let turns = noTokens;
  for (const turn of state.turns.values()) turns = addUsage(turns, turnUsageOf(turn.usage).usage ?? noTokens);
  return isEqualUsage(thread, turns) ? null : { thread, turns };
}

function isEqualUsage(left: UsageCounts, right: UsageCounts): boolean {
  return (
    left.input === right.input &&
    left.cached === right.cached &&
    left.creation === right.creation &&
    left.output === right.output
  );
}
