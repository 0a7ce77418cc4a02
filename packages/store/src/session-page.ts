import { TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { sessionEntries, summarizeEntry, visitSessions } from './catalog.js';
import {
  isHiddenByDefault,
  matchesFilter,
  type SessionFilter,
  type SessionSort,
  sessionOrder,
} from './session-filter.js';
import type { SessionSummary } from './session-summary.js';

export interface ListOptions {
  /** By default everything is wanted. */
  readonly filter?: SessionFilter;
  /** By default `newest`. */
  readonly sort?: SessionSort;
  /** How many are returned at most, the first in the order; by default all. */
  readonly limit?: number;
  /** The id of a session in the list: those up to it in the order, itself included, are left out. */
  readonly after?: string;
  /** Ends the work early; what was read by then is returned. */
  readonly signal?: AbortSignal;
}

/** A part of a list, and what was met on the way to it. */
export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** Sessions that the filter asks for, on whatever page. */
  readonly matching: number;
  /** Sessions that only their being archived, empty or unattended keeps out. */
  readonly hidden: number;
  /** Matching ones behind this page. */
  readonly left: number;
}

const everything: SessionFilter = { archived: 'included', empty: 'included', unattended: 'included' };

/**
 * The sessions of a store that are asked for. With a limit, no more than twice as many summaries are held at any
 * moment, however many sessions there are, beside the names in the directory; without one, all that match, as they
 * are all returned. A summary holds what a session says of itself, never its records.
 *
 * @throws TURNLOG_CURSOR_MISMATCH when `after` is not in the list; details: after.
 */
export async function pageOfSessions(
  env: LogEnvironment,
  root: string,
  options: ListOptions = {},
): Promise<SessionPage> {
  const { filter = everything, limit = Number.POSITIVE_INFINITY, after } = options;
  const order = sessionOrder(options.sort ?? 'newest');
  const last = after === undefined ? null : findLast(env, root, after, filter);
  let kept: SessionSummary[] = [];
  let matching = 0;
  let behind = 0;
  let hidden = 0;
  const visit = (summary: SessionSummary): void => {
    if (!matchesFilter(summary, filter)) {
      if (isHiddenByDefault(summary, filter)) hidden += 1;
      return;
    }
    matching += 1;
    if (last !== null && order(summary, last) <= 0) return;
    behind += 1;
    kept.push(summary);
    if (kept.length >= 2 * limit) kept = kept.sort(order).slice(0, limit);
  };
  await visitSessions(env, root, visit, options.signal);
  const sessions = kept.sort(order).slice(0, limit);
  return { sessions, matching, hidden, left: behind - sessions.length };
}

/** The session that the page before ended with, as it is now. */
function findLast(env: LogEnvironment, root: string, id: string, filter: SessionFilter): SessionSummary {
  const entry = sessionEntries(env, root).find(({ name }) => name === id);
  const summary = entry === undefined ? null : summarizeEntry(env, root, entry);
  if (summary !== null && matchesFilter(summary, filter)) return summary;
  throw new TurnlogError('TURNLOG_CURSOR_MISMATCH', { details: { after: id } });
}
