import { formatTimestamp, isOwnWords, listItems, messageText } from '@turnlog/events';
import type { JsonObject } from '@turnlog/kernel';
import { type FilesState, filesView, touchedFiles } from './files-view.js';
import {
  evolveKnownMatrices,
  type Matrices,
  matricesFrom,
  matricesJson,
  noMatrices,
  tasksOf,
} from './internal/matrices.js';
import { beginningOf, ownMember, ownText } from './internal/members.js';
import {
  evolveSlimItems,
  noItems,
  type SlimItems,
  slimItemsFrom,
  slimItemsJson,
} from './internal/slim-items.js';
import { list, member, number, orNull, text } from './internal/stored-value.js';
import { VersionedMap } from './internal/versioned-map.js';
import type { View, ViewRecord } from './view.js';

/**
 * What `derived/memory.json` says, in the shape of VT Code's session memory envelope, schema version 3: every member
 * it has is there with its type, so that it can be read as one. What no record says is null or empty, nothing is
 * guessed: `constraints`, `pending_intents` and `applied_intent_ids` are always empty.
 *
 * | member | from |
 * |---|---|
 * | summary | the newest summary of a compaction, else goal and newest message |
 * | objective | the newest goal of a turn, else the first words of the user |
 * | task_summary, verification_todo | the matrices: tasks verified; checks of those that are not |
 * | spec_summary | the newest plan |
 * | evaluation_summary, verification_summary | the newest such message of the harness |
 * | grounded_facts | the newest decisions, with their seq as source |
 * | touched_files | paths of the files view |
 * | open_questions | plans that wait for approval |
 * | delegation_notes | the newest messages of the harness about delegated agents |
 * | history_artifact_path | the newest boundary of a compaction |
 * | generated_at | the newest known time; empty when there is none |
 */
export interface MemoryState {
  readonly sessionId: string;
  readonly compactSummary: string | null;
  readonly goal: string | null;
  readonly firstWords: string | null;
  /** Who spoke last and the beginning of what was said. */
  readonly latest: { readonly role: 'user' | 'agent'; readonly text: string } | null;
  readonly historyPath: string | null;
  readonly newestMs: number | null;
  /** Plans waiting for approval, by turn. */
  readonly waiting: VersionedMap<string, string>;
  readonly items: SlimItems;
  readonly files: FilesState;
  readonly matrices: Matrices;
}

const schemaVersion = 3;
const listedMax = 5;
const textCodeUnitsMax = 2_000;
const latestCodeUnitsMax = 140;

export const memoryView: View<MemoryState> = {
  name: 'memory',
  version: 1,
  initial: (sessionId) => ({
    sessionId,
    compactSummary: null,
    goal: null,
    firstWords: null,
    latest: null,
    historyPath: null,
    newestMs: null,
    waiting: VersionedMap.empty(),
    items: noItems,
    files: filesView.initial(sessionId),
    matrices: noMatrices,
  }),
  evolve: (state, record) => {
    const { tsMs } = record;
    const { newestMs } = state;
    return evolveWords(
      {
        ...state,
        newestMs: newestMs === null || (tsMs !== null && tsMs > newestMs) ? tsMs : newestMs,
        items: evolveSlimItems(state.items, record, slimItem),
        files: filesView.evolve(state.files, record),
        matrices: evolveKnownMatrices(state.matrices, record),
      },
      record,
    );
  },
  toJson: stateJson,
  fromJson: stateFrom,
  toDocument: envelope,
};

function slimItem(item: Readonly<Record<string, unknown>>, type: string): JsonObject | null {
  const short = (name: string): string | null => {
    const found = ownText(item, name);
    return found === null ? null : beginningOf(found, textCodeUnitsMax);
  };
  if (type === 'decision') return { summary: short('summary') };
  if (type === 'plan') return { text: short('text') };
  if (type !== 'harness') return null;
  const event = ownText(item, 'event');
  const isOfUse =
    event === 'delegated_agent_status' || /^(?:evaluation|verification)_(?:passed|failed)$/.test(event ?? '');
  return isOfUse ? { event, message: short('message') } : null;
}

/** What was said, by whom, and what it means for the memory of the session. */
function evolveWords(state: MemoryState, record: ViewRecord): MemoryState {
  switch (record.type) {
    case 'user.message':
      return withMessage(state, record.readEvent());
    case 'item.updated':
    case 'item.completed':
      return withAgentMessage(state, ownMember(record.readEvent(), 'item'));
    case 'turn.started':
      return withMember(state, 'goal', ownText(ownMember(record.readEvent(), 'context'), 'goal'));
    case 'log.summary':
      return withMember(state, 'compactSummary', ownText(record.readEvent(), 'text'));
    case 'thread.compact_boundary':
      return withMember(state, 'historyPath', ownText(record.readEvent(), 'history_artifact_path'));
    case 'plan.approval.requested':
    case 'plan.approval.resolved':
      return withApproval(state, record.type, record.readEvent());
    default:
      return state;
  }
}

function withMember(
  state: MemoryState,
  name: 'goal' | 'compactSummary' | 'historyPath',
  value: string | null,
): MemoryState {
  return value === null ? state : { ...state, [name]: beginningOf(value, textCodeUnitsMax) };
}

function withMessage(state: MemoryState, event: unknown): MemoryState {
  const origin = ownText(event, 'origin');
  const words = messageText(ownMember(event, 'content'));
  if (origin === null || words === '') return state;
  if (origin === 'compact_summary') return withMember(state, 'compactSummary', words);
  if (!isOwnWords(origin)) return state;
  return {
    ...state,
    firstWords: state.firstWords ?? beginningOf(words, textCodeUnitsMax),
    latest: { role: 'user', text: beginningOf(words, latestCodeUnitsMax) },
  };
}

function withAgentMessage(state: MemoryState, item: unknown): MemoryState {
  const words = ownText(item, 'type') === 'agent_message' ? ownText(item, 'text') : null;
  if (words === null || words === '') return state;
  return { ...state, latest: { role: 'agent', text: beginningOf(words, latestCodeUnitsMax) } };
}

function withApproval(state: MemoryState, type: string, event: unknown): MemoryState {
  const turnId = ownText(event, 'turn_id') ?? '';
  if (type === 'plan.approval.resolved') {
    return state.waiting.has(turnId) ? { ...state, waiting: state.waiting.without(turnId) } : state;
  }
  const file = ownText(event, 'plan_file');
  const question = file === null ? 'A plan waits for approval.' : `A plan waits for approval: ${file}`;
  return { ...state, waiting: state.waiting.set(turnId, beginningOf(question, textCodeUnitsMax)) };
}

/** The newest items of a type, the newest last. */
function newestItems(
  state: MemoryState,
  type: string,
  event?: RegExp,
): readonly { text: string; seq: number }[] {
  return listItems(state.items).flatMap(({ type: found, item, position }) => {
    if (found !== type || (event !== undefined && !event.test(ownText(item, 'event') ?? ''))) return [];
    const words = ownText(item, 'summary') ?? ownText(item, 'text') ?? ownText(item, 'message');
    return words === null || words === '' ? [] : [{ text: words, seq: position.seq }];
  });
}

function newestText(state: MemoryState, type: string, event?: RegExp): string | null {
  return newestItems(state, type, event).at(-1)?.text ?? null;
}

function envelope(state: MemoryState): JsonObject {
  const objective = state.goal ?? state.firstWords;
  const tasks = tasksOf(state.matrices);
  const verified = tasks.filter(({ status }) => status === 'verified').length;
  const checks = tasks
    .filter(({ status }) => status !== 'verified')
    .flatMap(({ id, checks: open }) => open.map((check) => `${id}: ${check}`));
  const notes = newestItems(state, 'harness', /^delegated_agent_status$/).map(({ text: note }) => note);
  return {
    session_id: state.sessionId,
    schema_version: schemaVersion,
    summary: state.compactSummary ?? continuity(objective, state.latest),
    objective,
    task_summary: tasks.length === 0 ? null : `${verified} of ${tasks.length} tasks verified`,
    spec_summary: newestText(state, 'plan'),
    evaluation_summary: newestText(state, 'harness', /^evaluation_/),
    verification_summary: newestText(state, 'harness', /^verification_/),
    constraints: [],
    grounded_facts: newestItems(state, 'decision')
      .slice(-listedMax)
      .map(({ text: fact, seq }) => ({ fact, source: `seq ${seq}` })),
    touched_files: touchedFiles(state.files).map(({ path }) => path),
    open_questions: state.waiting.values().slice(-listedMax),
    verification_todo: checks.slice(0, listedMax),
    delegation_notes: notes.slice(-listedMax),
    pending_intents: [],
    applied_intent_ids: [],
    history_artifact_path: state.historyPath,
    generated_at: state.newestMs === null ? '' : formatTimestamp(state.newestMs),
  };
}

function continuity(objective: string | null, latest: MemoryState['latest']): string {
  const parts = [
    ...(objective === null ? [] : [`Objective: ${objective}`]),
    ...(latest === null ? [] : [`Latest words of the ${latest.role}: ${latest.text}`]),
  ];
  return parts.join('\n');
}

function stateJson(state: MemoryState): JsonObject {
  return {
    session_id: state.sessionId,
    compact_summary: state.compactSummary,
    goal: state.goal,
    first_words: state.firstWords,
    latest: state.latest,
    history_path: state.historyPath,
    newest_ms: state.newestMs,
    waiting: state.waiting.entries().map(([turnId, question]) => [turnId, question]),
    items: slimItemsJson(state.items),
    files: filesView.toJson(state.files),
    matrices: matricesJson(state.matrices),
  };
}

function stateFrom(json: unknown): MemoryState {
  const waiting = list(member(json, 'waiting')).map((entry): readonly [string, string] => {
    const [turnId, question] = list(entry);
    return [text(turnId), text(question)];
  });
  return {
    sessionId: text(member(json, 'session_id')),
    compactSummary: orNull(member(json, 'compact_summary'), text),
    goal: orNull(member(json, 'goal'), text),
    firstWords: orNull(member(json, 'first_words'), text),
    latest: orNull(member(json, 'latest'), latestFrom),
    historyPath: orNull(member(json, 'history_path'), text),
    newestMs: orNull(member(json, 'newest_ms'), number),
    waiting: VersionedMap.from(waiting),
    items: slimItemsFrom(member(json, 'items')),
    files: filesView.fromJson(member(json, 'files')),
    matrices: matricesFrom(member(json, 'matrices')),
  };
}

function latestFrom(value: unknown): NonNullable<MemoryState['latest']> {
  const role = text(member(value, 'role'));
  return { role: role === 'user' ? 'user' : 'agent', text: text(member(value, 'text')) };
}
