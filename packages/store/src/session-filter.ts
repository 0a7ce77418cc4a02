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
  const { workspace, sinceMs, status, tag } = filter;
  if (workspace !== undefined && !summary.workspaces.includes(workspace)) return false;
  if (tag !== undefined && !summary.tags.includes(tag)) return false;
  if (status === 'open' ? !summary.inTurn : status !== undefined && summary.status !== status) return false;
  return sinceMs === undefined || (instantOf(summary.lastTs) ?? Number.NEGATIVE_INFINITY) >= sinceMs;
}

export const sessionSorts = ['newest', 'oldest', 'id', 'bytes', 'events'] as const;
export type SessionSort = (typeof sessionSorts)[number];

/** In a total order: sessions that are equal in what is asked for stand by id; unknown times come last. */
export function sortSessions(summaries: readonly SessionSummary[], sort: SessionSort): SessionSummary[] {
  return [...summaries].sort((left, right) => compare(left, right, sort) || compareIds(left.id, right.id));
}

function compare(left: SessionSummary, right: SessionSummary, sort: SessionSort): number {
  switch (sort) {
    case 'newest':
      return compareTimes(right, left, -1);
    case 'oldest':
      return compareTimes(left, right, 1);
    case 'bytes':
      return right.bytes - left.bytes;
    case 'events':
      return right.events - left.events;
    case 'id':
      return 0;
  }
}

function compareTimes(left: SessionSummary, right: SessionSummary, whereUnknown: number): number {
  const leftMs = instantOf(left.lastTs);
  const rightMs = instantOf(right.lastTs);
  if (leftMs === null || rightMs === null) {
    if (leftMs === rightMs) return 0;
    return leftMs === null ? whereUnknown : -whereUnknown;
  }
  return leftMs - rightMs;
}

function compareIds(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

function instantOf(ts: string | null): number | null {
  return ts === null ? null : parseTimestamp(ts);
}
