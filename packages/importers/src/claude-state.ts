import { type ClaudeThreadState, firstThreadState } from './claude-thread-state.js';
import type { ClaudeRow } from './claude-voice.js';
import { DigestSet } from './digest-set.js';
import { isMembers, type Members } from './source-object.js';
import { fromTagged, toTagged } from './tagged-json.js';

/** Words in a queue that no other record has carried so far. */
export interface HeldWords {
  readonly row: ClaudeRow;
  readonly text: string;
  /** They left the queue: what waited for them has them. */
  isTaken: boolean;
}

/** A result that stands before its call. */
export interface EarlyResult {
  readonly row: ClaudeRow;
  /** The record as it is. */
  readonly json: string;
}

/** A sub-agent whose records stand among those of its parent. */
export interface ClaudeChild {
  readonly sessionId: string;
  readonly callId: string | undefined;
  readonly thread: ClaudeThreadState<ClaudeRow>;
  last: ClaudeRow;
  /** The newest time of its records. */
  newestMs: number | null;
}

/** The beginning of a fork while it is passed over. */
export interface ClaudeCopy {
  /** The one that has the newest of them: a fork of a fork goes on from that. */
  session: string;
  /** How many records were copied, where that was decided before. */
  readonly limit: number | null;
  records: number;
  lastId: string | undefined;
}

/** All that the fold over a transcript depends on. */
export interface ClaudeState {
  isStarted: boolean;
  /** The header waits until it is known how much was copied. */
  header: { readonly row: ClaudeRow; readonly agent: string } | null;
  copy: ClaudeCopy | null;
  thread: ClaudeThreadState<ClaudeRow>;
  children: Map<string, ClaudeChild>;
  /** What changes within a file, by the names of `run.changed`; titles also by who gave them. */
  fields: Map<string, string>;
  /** Ids of the records so far. */
  seen: DigestSet;
  queue: HeldWords[];
  /** Calls that started sub-agents, by agent. */
  links: Map<string, string>;
  /** Results that stand before their calls, by call. */
  early: Map<string, EarlyResult>;
  /** The last record, the last that has an id, and the last of the conversation. */
  last: ClaudeRow | null;
  lastId: string | undefined;
  leafId: string | undefined;
}

export function firstClaudeState(): ClaudeState {
  return {
    isStarted: false,
    header: null,
    copy: null,
    thread: firstThreadState(),
    children: new Map(),
    fields: new Map(),
    seen: new DigestSet(),
    queue: [],
    links: new Map(),
    early: new Map(),
    last: null,
    lastId: undefined,
    leafId: undefined,
  };
}

export function savedClaudeState(state: ClaudeState): unknown {
  return toTagged(state);
}

/** Whether a value is what was saved; its digest has been checked by whoever read it. */
function isSaved(value: unknown): value is ClaudeState {
  if (!isMembers(value)) return false;
  const { thread, children, fields, seen, queue, links, early } = value;
  const areMaps = [children, fields, links, early].every((each) => each instanceof Map);
  return areMaps && isMembers(thread) && seen instanceof DigestSet && Array.isArray(queue);
}

/** The state that was saved; the first one where there is none. */
export function restoredClaudeState(saved: unknown): ClaudeState {
  const value = fromTagged(saved);
  return isSaved(value) ? { ...firstClaudeState(), ...value } : firstClaudeState();
}

/** The call that started a sub-agent, in a saved state. */
export function linkIn(saved: unknown, agentId: string): string | undefined {
  const links = isMembers(saved) ? taggedMember(saved, 'links') : undefined;
  const found = fromTagged(links);
  const call: unknown = found instanceof Map ? found.get(agentId) : undefined;
  return typeof call === 'string' ? call : undefined;
}

function taggedMember({ of }: Members, name: string): unknown {
  const entry: unknown = Array.isArray(of)
    ? of.find((each) => Array.isArray(each) && each[0] === name)
    : undefined;
  return Array.isArray(entry) ? entry[1] : undefined;
}
