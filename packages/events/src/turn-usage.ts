import { isJsonNull, isJsonTrue, jsonMember, jsonMembers } from './internal/json-member.js';
import { stringValue } from './internal/text-codec.js';
import type { StoredEvent } from './stored-event.js';
import { readUsageCounts, type UsageCounts } from './usage-counts.js';

/** What the events of one turn say of its usage so far. */
export interface TurnUsageState {
  /** What the closing record states: undefined while it states no usage, null when it states a broken one. */
  readonly closing: UsageCounts | null | undefined;
  /** The same of the newest `turn.blocked` that states a usage. */
  readonly blocked: UsageCounts | null | undefined;
  /** Type of the closing record. */
  readonly closedBy: string | null;
}

/** The usage of a turn, counted once. */
export interface TurnUsage {
  /** Null when it is unknown, which is not 0. */
  readonly usage: UsageCounts | null;
  /** Type of the record that states it; null when none does. */
  readonly source: string | null;
}

/** Before the first event of a turn. */
export const initialTurnUsage: TurnUsageState = { closing: undefined, blocked: undefined, closedBy: null };

/**
 * The usage of a turn after one more of its events. The closing record's counts, that of `turn.blocked` only where
 * the closing record has none (C-9); all other events say nothing of it. A redacted record counts with the usage
 * that was kept of it.
 */
export function evolveTurnUsage(state: TurnUsageState, event: StoredEvent): TurnUsageState {
  switch (event.type) {
    case 'turn.completed':
    case 'turn.failed':
    case 'turn.blocked':
      return withUsage(state, event.type, statedUsage(event.eventBytes()));
    case 'log.redacted':
      return afterRedacted(state, event.eventBytes());
    default:
      return state;
  }
}

/** The usage of a turn and where it stands. */
export function turnUsageOf(state: TurnUsageState): TurnUsage {
  if (state.closing !== undefined) return { usage: state.closing, source: state.closedBy };
  if (state.blocked !== undefined) return { usage: state.blocked, source: 'turn.blocked' };
  return { usage: null, source: null };
}

/** The usage of the turn that has just these events. */
export function turnUsage(events: Iterable<StoredEvent>): TurnUsage {
  let state = initialTurnUsage;
  for (const event of events) state = evolveTurnUsage(state, event);
  return turnUsageOf(state);
}

type Stated = UsageCounts | null | undefined;

function withUsage(state: TurnUsageState, type: string, stated: Stated): TurnUsageState {
  if (type === 'turn.blocked') return stated === undefined ? state : { ...state, blocked: stated };
  if (type !== 'turn.completed' && type !== 'turn.failed') return state;
  // A turn has one end; what follows it belongs to no turn, or to another.
  return state.closedBy === null ? { ...state, closing: stated, closedBy: type } : state;
}

function afterRedacted(state: TurnUsageState, bytes: Uint8Array): TurnUsageState {
  const type = jsonMember(bytes, 0, bytes.length, 'original_type');
  if (type?.token !== 'string') return state;
  const kept = jsonMember(bytes, 0, bytes.length, 'kept');
  const stated =
    kept?.token === 'object-start' ? statedUsage(bytes.subarray(kept.start, kept.end)) : undefined;
  return withUsage(state, stringValue(bytes, type.start, type.end, false), stated);
}

/**
 * The member `usage` of an object: undefined when it is absent or null, null when it holds no counts. The zeros of an
 * end that says `without_usage` are there because the contract wants the member: nobody stated them.
 */
function statedUsage(bytes: Uint8Array): Stated {
  const found = jsonMembers(bytes, 0, bytes.length, (name) => name === 'usage' || name === 'without_usage');
  const usage = found?.get('usage');
  if (usage === undefined || isJsonNull(bytes, usage)) return undefined;
  const without = found?.get('without_usage');
  if (without !== undefined && isJsonTrue(bytes, without)) return undefined;
  return usage.token === 'object-start' ? readUsageCounts(bytes, usage.start, usage.end) : null;
}
