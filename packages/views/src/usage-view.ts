import {
  evolveTurnUsage,
  initialTurnUsage,
  type TurnUsageState,
  turnUsageOf,
  type UsageCounts,
} from '@turnlog/events';
import { ownMember, ownText } from './internal/members.js';
import { usageStateFrom, usageStateJson } from './internal/usage-json.js';
import { VersionedMap } from './internal/versioned-map.js';
import { countedType, type View, type ViewRecord } from './view.js';

/** What is known of the usage of one turn. */
export interface UsageTurn {
  readonly usage: TurnUsageState;
  /** Time of its first record. */
  readonly startMs: number | null;
  /** Time of the record that states its usage; of its first one while none does. */
  readonly statedMs: number | null;
  readonly model: string | null;
  /** Whether answers stand in it: these are counted then, and the turn's own figure is their sum. */
  readonly hasAnswers: boolean;
}

/** One answer of a model as the source names it; rows of one answer are snapshots, and the last one counts. */
export interface UsageAnswer {
  /** Answer id, with the request id where there is one. */
  readonly key: string;
  /** Turn and time of its first row. */
  readonly turn: number | null;
  readonly tsMs: number | null;
  readonly model: string | null;
  /** Null when it is unknown. */
  readonly usage: UsageCounts | null;
  readonly costUsd: number | null;
  /** The session in which it was counted already. */
  readonly repeatOf: string | null;
}

/** What a thread says of itself at its end. */
export interface UsageThread {
  readonly tsMs: number | null;
  readonly usage: UsageCounts | null;
  readonly costUsd: number | null;
}

export interface UsageState {
  readonly turns: VersionedMap<number, UsageTurn>;
  readonly answers: VersionedMap<string, UsageAnswer>;
  /** The newest `thread.completed`; null before one. */
  readonly thread: UsageThread | null;
  /** The model at work, as far as the log says. */
  readonly model: string | null;
  /** The turn of the last record; null outside turns. */
  readonly present: number | null;
  /** Records of answers, and rows of the imported files: all, and without those repeated word for word. */
  readonly answerRows: number;
  readonly rawRows: number;
  readonly uniqueRows: number;
  /** The session whose sub-agent this is. */
  readonly parent: string | null;
  /** Sessions that this one continues, or shares answers with. */
  readonly linkedTo: VersionedMap<string, true>;
}

/**
 * Usage, counted once per answer of a model (CL-20). The view keeps what was said, turn by turn and answer by answer;
 * `usageEntries` says what of it counts.
 */
export const usageView: View<UsageState> = {
  name: 'usage',
  version: 2,
  initial: () => ({
    turns: VersionedMap.empty(),
    answers: VersionedMap.empty(),
    thread: null,
    model: null,
    present: null,
    answerRows: 0,
    rawRows: 0,
    uniqueRows: 0,
    parent: null,
    linkedTo: VersionedMap.empty(),
  }),
  evolve: (state, record) => evolveFacts(evolveTurn(state, record), record),
  toJson: usageStateJson,
  fromJson: usageStateFrom,
};

/** The record as one of the present turn. */
function evolveTurn(state: UsageState, record: ViewRecord): UsageState {
  const { turn, tsMs } = record;
  if (turn === null) return state.present === null ? state : { ...state, present: null };
  const known = state.turns.get(turn);
  const before = known?.usage ?? initialTurnUsage;
  const usage = evolveTurnUsage(before, record);
  const isAnswer = record.type === 'run.answer';
  if (known !== undefined && usage === before && !isAnswer) {
    // Most records say nothing of usage.
    return state.present === turn ? state : { ...state, present: turn };
  }
  const next: UsageTurn = {
    usage,
    startMs: known === undefined ? tsMs : known.startMs,
    statedMs: known !== undefined && usage === before ? known.statedMs : tsMs,
    model: state.model,
    hasAnswers: isAnswer || (known?.hasAnswers ?? false),
  };
  return { ...state, turns: state.turns.set(turn, next), present: turn };
}

function evolveFacts(state: UsageState, record: ViewRecord): UsageState {
  switch (countedType(record)) {
    case 'run.answer':
      return withAnswer(state, record);
    case 'thread.completed':
      return { ...state, thread: threadOf(record) };
    case 'run.started':
      return withRun(state, record);
    case 'run.changed':
      return withModel(state, modelChange(record));
    case 'journal.set':
      return withModel(state, ownText(ownMember(record.readEvent(), 'model'), 'reference'));
    case 'run.imported':
      return withRows(state, ownMember(ownMember(record.readEvent(), 'ledger'), 'records'));
    default:
      return state;
  }
}

function withModel(state: UsageState, model: string | null): UsageState {
  return model === null || model === state.model ? state : { ...state, model };
}

function modelChange(record: ViewRecord): string | null {
  const event = record.readEvent();
  return ownText(event, 'field') === 'model' ? ownText(event, 'value') : null;
}

function withRun(state: UsageState, record: ViewRecord): UsageState {
  const event = record.readEvent();
  const parent = ownText(ownMember(event, 'parent'), 'session');
  const origin = ownText(ownMember(event, 'forked_from'), 'session');
  const linked = origin === null ? state : linkedWith(state, origin);
  return { ...withModel(linked, ownText(event, 'model')), parent: state.parent ?? parent };
}

function linkedWith(state: UsageState, session: string): UsageState {
  return state.linkedTo.has(session) ? state : { ...state, linkedTo: state.linkedTo.set(session, true) };
}

/** Which rows the files of an import had: `repeat` are those that came word for word before. */
function withRows(state: UsageState, records: unknown): UsageState {
  let raw = 0;
  let repeats = 0;
  for (const [name, count] of Object.entries(
    typeof records === 'object' && records !== null ? records : {},
  )) {
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) continue;
    raw += count;
    if (name.startsWith('repeat:')) repeats += count;
  }
  return { ...state, rawRows: state.rawRows + raw, uniqueRows: state.uniqueRows + raw - repeats };
}

function withAnswer(state: UsageState, record: ViewRecord): UsageState {
  const event = record.readEvent();
  const answerId = ownText(event, 'answer_id');
  const counted = { ...state, answerRows: state.answerRows + 1 };
  if (answerId === null) return counted;
  const key = JSON.stringify([answerId, ownText(event, 'request_id')]);
  const known = state.answers.get(key);
  const repeatOf = ownText(event, 'repeat_of');
  const linked = repeatOf === null ? counted : linkedWith(counted, repeatOf);
  // A copy of what was counted here already says nothing new.
  if (known !== undefined && known.repeatOf === null && repeatOf !== null) return linked;
  const answer: UsageAnswer = {
    key,
    turn: known === undefined ? record.turn : known.turn,
    tsMs: known === undefined ? record.tsMs : known.tsMs,
    model: ownText(event, 'model') ?? state.model,
    usage: statedUsage(record),
    costUsd: costIn(event, 'cost_usd'),
    repeatOf,
  };
  return { ...linked, answers: linked.answers.set(key, answer) };
}

function threadOf(record: ViewRecord): UsageThread {
  const costUsd = costIn(record.readEvent(), 'total_cost_usd');
  return { tsMs: record.tsMs, usage: statedUsage(record), costUsd };
}

/** The exact counts of the member `usage`, read as that of a turn's end: the rules for both are the same. */
function statedUsage(record: ViewRecord): UsageCounts | null {
  if (record.type === 'log.redacted') return null;
  const asEnd = { type: 'turn.completed', eventBytes: () => record.eventBytes() };
  return turnUsageOf(evolveTurnUsage(initialTurnUsage, asEnd)).usage;
}

function costIn(event: unknown, name: string): number | null {
  const cost = ownMember(event, name);
  return typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : null;
}
