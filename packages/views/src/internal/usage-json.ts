import type { TurnUsageState, UsageCounts } from '@turnlog/events';
import type { JsonObject } from '@turnlog/kernel';
import type { UsageAnswer, UsageState, UsageThread, UsageTurn } from '../usage-view.js';
import { ownMember } from './members.js';
import { boolean, countsFrom, list, member, number, orNull, storedCounts, text } from './stored-value.js';
import { VersionedMap } from './versioned-map.js';

/** The published form of the usage view. */
export function usageStateJson(state: UsageState): JsonObject {
  return {
    turns: state.turns.entries().map(([turn, entry]) => ({ turn, ...turnJson(entry) })),
    answers: state.answers.values().map(answerJson),
    thread: state.thread === null ? null : threadJson(state.thread),
    model: state.model,
    present: state.present,
    answer_rows: state.answerRows,
    raw_rows: state.rawRows,
    unique_rows: state.uniqueRows,
    parent: state.parent,
    linked_to: state.linkedTo.entries().map(([session]) => session),
  };
}

export function usageStateFrom(json: unknown): UsageState {
  const answers = list(member(json, 'answers')).map(answerFrom);
  return {
    turns: VersionedMap.from(
      list(member(json, 'turns')).map((entry) => [number(member(entry, 'turn')), turnFrom(entry)]),
    ),
    answers: VersionedMap.from(answers.map((answer) => [answer.key, answer])),
    thread: orNull(member(json, 'thread'), threadFrom),
    model: orNull(member(json, 'model'), text),
    present: orNull(member(json, 'present'), number),
    answerRows: number(member(json, 'answer_rows')),
    rawRows: number(member(json, 'raw_rows')),
    uniqueRows: number(member(json, 'unique_rows')),
    parent: orNull(member(json, 'parent'), text),
    linkedTo: VersionedMap.from(list(member(json, 'linked_to')).map((session) => [text(session), true])),
  };
}

function turnJson(turn: UsageTurn): JsonObject {
  const { closing, blocked, closedBy } = turn.usage;
  return {
    started_ms: turn.startMs,
    stated_ms: turn.statedMs,
    model: turn.model,
    has_answers: turn.hasAnswers,
    closed_by: closedBy,
    ...(closing === undefined ? {} : { closing: countsJson(closing) }),
    ...(blocked === undefined ? {} : { blocked: countsJson(blocked) }),
  };
}

function turnFrom(value: unknown): UsageTurn {
  const usage: TurnUsageState = {
    closing: statedFrom(ownMember(value, 'closing')),
    blocked: statedFrom(ownMember(value, 'blocked')),
    closedBy: orNull(member(value, 'closed_by'), text),
  };
  return {
    usage,
    startMs: orNull(member(value, 'started_ms'), number),
    statedMs: orNull(member(value, 'stated_ms'), number),
    model: orNull(member(value, 'model'), text),
    hasAnswers: boolean(member(value, 'has_answers')),
  };
}

/** Absent where nothing is stated, null where what is stated is broken. */
function statedFrom(value: unknown): UsageCounts | null | undefined {
  return value === undefined ? undefined : orNull(value, countsFrom);
}

function countsJson(counts: UsageCounts | null): JsonObject | null {
  return counts === null ? null : storedCounts(counts);
}

function answerJson({ key, turn, tsMs, model, usage, costUsd, repeatOf }: UsageAnswer): JsonObject {
  return { key, turn, ts_ms: tsMs, model, usage: countsJson(usage), cost_usd: costUsd, repeat_of: repeatOf };
}

function answerFrom(value: unknown): UsageAnswer {
  return {
    key: text(member(value, 'key')),
    turn: orNull(member(value, 'turn'), number),
    tsMs: orNull(member(value, 'ts_ms'), number),
    model: orNull(member(value, 'model'), text),
    usage: orNull(member(value, 'usage'), countsFrom),
    costUsd: orNull(member(value, 'cost_usd'), number),
    repeatOf: orNull(member(value, 'repeat_of'), text),
  };
}

function threadJson({ tsMs, usage, costUsd }: UsageThread): JsonObject {
  return { ts_ms: tsMs, usage: countsJson(usage), cost_usd: costUsd };
}

function threadFrom(value: unknown): UsageThread {
  return {
    tsMs: orNull(member(value, 'ts_ms'), number),
    usage: orNull(member(value, 'usage'), countsFrom),
    costUsd: orNull(member(value, 'cost_usd'), number),
  };
}
