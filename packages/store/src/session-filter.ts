import { parseTimestamp } from '@turnlog/events';
import type { SessionSummary } from './session-summary.js';

/** Which sessions of a list are wanted; members that are not given ask nothing. */
export interface SessionFilter {
  /** One of the recorded workspaces is this directory. */
  readonly workspace?: string;
  /** Last known event at or after this instant, in milliseconds since the epoch. */
  readonly sinceMs?: number;
  readonly status?: SessionSummary['status'] | 'open';
  readonly tag?: string;
  /** One of these, by id. */
  readonly ids?: ReadonlySet<string>;
  /** By default archived sessions are left out, as are those that hold nothing. */
  readonly archived?: 'left-out' | 'included' | 'only';
  readonly empty?: 'left-out' | 'included';
  /** By default runs of programs and of other agents are left out: people look for their own. */
  readonly unattended?: 'left-out' | 'included';
}

/** Whether `summary` is asked for. What cannot be read is shown unless something else is asked for by name. */
export function matchesFilter(summary: SessionSummary, filter: SessionFilter): boolean {
  return isOfInterest(summary, filter) && !isHidden(summary, filter);
}

/** Whether only its being archived, empty or unattended keeps `summary` out of the list. */
export function isHiddenByDefault(summary: SessionSummary, filter: SessionFilter): boolean {
  return isOfInterest(summary, filter) && isHidden(summary, filter);
}

function isHidden(summary: SessionSummary, filter: SessionFilter): boolean {
  if (summary.error !== null) return filter.archived === 'only';
  if (filter.archived === 'only') return !summary.isArchived;
  if (summary.isArchived && filter.archived !== 'included') return true;
  const isUnattended = summary.agent === 'headless' || summary.agent === 'subagent';
  if (isUnattended && filter.unattended !== 'included') return true;
  // Only the log itself decides that a session is empty.
  const isEmpty = summary.events === 0 && summary.bytes === 0;
  return isEmpty && filter.empty !== 'included';
}

function isOfInterest(summary: SessionSummary, filter: SessionFilter): boolean {
  const { workspace, sinceMs, status, tag, ids } = filter;
  if (ids !== undefined && !ids.has(summary.id)) return false;
  if (workspace !== undefined && !summary.workspaces.includes(workspace)) return false;
  if (tag !== undefined && !summary.tags.includes(tag)) return false;
  if (status === 'open' ? !summary.inTurn : status !== undefined && summary.status !== status) return false;
  return sinceMs === undefined || (instantOf(summary.lastTs) ?? Number.NEGATIVE_INFINITY) >= sinceMs;
}

export const sessionSorts = ['newest', 'oldest', 'id', 'bytes', 'events'] as const;
export type SessionSort = (typeof sessionSorts)[number];

type Order = (left: SessionSummary, right: SessionSummary) => number;

const orders: Readonly<Record<SessionSort, Order>> = {
  newest: (left, right) => compareTimes(right.lastTs, left.lastTs, -1),
  oldest: (left, right) => compareTimes(left.lastTs, right.lastTs, 1),
  bytes: (left, right) => right.bytes - left.bytes,
  events: (left, right) => right.events - left.events,
  id: () => 0,
};

/** A total order: sessions that are equal in what is asked for stand by id; unknown times come last. */
export function sessionOrder(sort: SessionSort): Order {
  const order = orders[sort];
  return (left, right) => order(left, right) || compareTexts(left.id, right.id);
}

/** Written times are texts of one length, in the order of their instants. */
function compareTimes(left: string | null, right: string | null, whereUnknown: number): number {
  if (left !== null && right !== null) return compareTexts(left, right);
  if (left === right) return 0;
  return left === null ? whereUnknown : -whereUnknown;
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function instantOf(ts: string | null): number | null {
  return ts === null ? null : parseTimestamp(ts);
}
