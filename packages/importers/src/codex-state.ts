import { isMembers, type Members } from './source-object.js';
import type { RecordPlace } from './thread-format.js';

/** Token counts of the producer; input includes what was cached, output the reasoning. */
export interface CodexTokens {
  readonly input: number;
  readonly cached: number;
  readonly creation: number;
  readonly output: number;
  readonly reasoning: number;
}

export const noCodexTokens: CodexTokens = { input: 0, cached: 0, creation: 0, output: 0, reasoning: 0 };

/** Events that wait for the words that opened their turn. */
export interface HeldEvents {
  readonly place: RecordPlace;
  readonly derived: readonly string[];
  /** Names and JSON texts of the members of each event. */
  readonly events: readonly (readonly (readonly [name: string, json: string])[])[];
}

export interface CodexTurn {
  /** What opened it: a turn that `task_started` opened has an end record of its own. */
  readonly by: 'task' | 'words' | 'implicit';
  hasPrompt: boolean;
  /** The words that open the turn have not come; what comes before them waits. */
  awaitsPrompt: boolean;
  used: CodexTokens;
  hasUsage: boolean;
  hasFailed: boolean;
}

export type CodexCallForm = 'command' | 'edit' | 'plan' | 'stdin' | 'tool';

export interface CodexCall {
  readonly itemId: string;
  readonly callId: string;
  readonly name: string;
  readonly form: CodexCallForm;
  /** What it was called with: JSON when `isJson`, else text. */
  readonly passed: string;
  readonly isJson: boolean;
  readonly command: string;
  /** No result, a first result of a command that goes on, the result, or all that can be said. */
  state: 'open' | 'running' | 'answered' | 'ended';
  output: string;
  exitCode: number | null;
  hasChange: boolean;
}

/** Copied history while it is passed over. */
export interface CodexCopy {
  /** Session of the parent; null when it is not in the store. */
  readonly parentSession: string | null;
  readonly threadId: string;
  lastMs: number | null;
  /** A record came that the parent does not have. */
  isBounded: boolean;
  /** The place where the burst says that own records begin is passed. */
  isPast: boolean;
  records: number;
}

/** All that the fold over a rollout depends on. */
export interface CodexState {
  threadId: string;
  /** The record before. */
  last: RecordPlace | null;
  isSubagent: boolean;
  /** Whether lines are of the old form, in which the user's words stand nowhere else. */
  isOld: boolean;
  isStarted: boolean;
  /** The header waits until it is known how much was copied. */
  start: { readonly place: RecordPlace; readonly members: readonly (readonly [string, string])[] } | null;
  copy: CodexCopy | null;
  turn: CodexTurn | null;
  held: HeldEvents[];
  turnCount: number;
  itemCount: number;
  answerCount: number;
  withoutUsageCount: number;
  messageCount: number;
  /** The last totals; null before the first. */
  total: CodexTokens | null;
  fields: Map<string, string>;
  calls: Map<string, CodexCall>;
  usedIds: Map<string, number>;
  /** Running commands by the number that the producer gives them. */
  running: Map<string, string>;
  /** Outputs that no call is known of. */
  strays: string[];
  /** What was said once and may come as its twin. */
  unpaired: { readonly from: string; readonly sha: string }[];
  searches: { readonly from: string; readonly itemId: string }[];
  isCompacted: boolean;
  /** Calls that started other threads. */
  children: Map<string, string>;
}

export function firstCodexState(): CodexState {
  return {
    threadId: '',
    last: null,
    isSubagent: false,
    isOld: false,
    isStarted: false,
    start: null,
    copy: null,
    turn: null,
    held: [],
    turnCount: 0,
    itemCount: 0,
    answerCount: 0,
    withoutUsageCount: 0,
    messageCount: 0,
    total: null,
    fields: new Map(),
    calls: new Map(),
    usedIds: new Map(),
    running: new Map(),
    strays: [],
    unpaired: [],
    searches: [],
    isCompacted: false,
    children: new Map(),
  };
}

const mapNames = ['fields', 'calls', 'usedIds', 'running', 'children'] as const;

/** The state as a JSON value: maps as lists, so that no name is taken for another. */
export function savedCodexState(state: CodexState): unknown {
  const maps = mapNames.map((name) => [name, [...state[name]]]);
  return { ...state, ...Object.fromEntries(maps) };
}

type SavedCodexState = Omit<CodexState, (typeof mapNames)[number]> & {
  readonly fields: [string, string][];
  readonly calls: [string, CodexCall][];
  readonly usedIds: [string, number][];
  readonly running: [string, string][];
  readonly children: [string, string][];
};

/** Whether a value is what `savedCodexState` gave; its digest has been checked by whoever read it. */
function isSaved(value: unknown): value is SavedCodexState {
  if (!isMembers(value)) return false;
  const first: Members = { ...firstCodexState() };
  const isAlike = Object.keys(first).every((name) => name in value);
  return isAlike && mapNames.every((name) => Array.isArray(value[name]));
}

/** The state that was saved; the first one where there is none. */
export function restoredCodexState(saved: unknown): CodexState {
  if (!isSaved(saved)) return firstCodexState();
  const { fields, calls, usedIds, running, children } = saved;
  return {
    ...saved,
    fields: new Map(fields),
    calls: new Map(calls),
    usedIds: new Map(usedIds),
    running: new Map(running),
    children: new Map(children),
  };
}
