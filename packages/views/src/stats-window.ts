import { effectiveRecords, type LogReader } from '@turnlog/log';
import { bucketEnd, bucketOf } from './activity-view.js';
import type { Fact } from './stats-facts.js';
import { nothing } from './stats-measures.js';
import { viewRecord } from './view.js';

/** A span of time, `since` included and `until` not; null is no bound. */
export interface Window {
  readonly since: number | null;
  readonly until: number | null;
}

export function isBounded({ since, until }: Window): boolean {
  return since !== null || until !== null;
}

function holds({ since, until }: Window, tsMs: number): boolean {
  return (since === null || tsMs >= since) && (until === null || tsMs < until);
}

/** Whether a bound falls into the middle of a bucket of records, of which the view knows only the sum. */
function cuts({ since, until }: Window, bucketMs: number): boolean {
  const isCutBy = (bound: number | null): boolean =>
    bound !== null && bucketMs < bound && bucketEnd(bucketMs) >= bound;
  return isCutBy(since) || isCutBy(until);
}

export interface Windowed {
  readonly inside: readonly Fact[];
  /** What cannot be said to be inside, because its time is unknown. */
  readonly unknown: readonly Fact[];
}

/** The facts of a window. Where it cuts a bucket of records, the log itself is asked how many lie inside. */
export function within(window: Window, facts: readonly Fact[], reader: LogReader): Windowed {
  if (!isBounded(window)) return { inside: facts, unknown: [] };
  const known = facts.filter(({ tsMs }) => tsMs !== null);
  const isCutBucket = ({ tsMs, measures }: Fact): boolean =>
    tsMs !== null && measures.eventCount > 0 && cuts(window, tsMs);
  const inside = known.filter((fact) => !isCutBucket(fact) && fact.tsMs !== null && holds(window, fact.tsMs));
  const recounted = known.some(isCutBucket) ? [...recordsInCutBuckets(window, reader)] : [];
  return { inside: [...inside, ...recounted], unknown: facts.filter(({ tsMs }) => tsMs === null) };
}

function* recordsInCutBuckets(window: Window, reader: LogReader): Iterable<Fact> {
  for (const { record } of effectiveRecords(reader.history())) {
    const { tsMs } = viewRecord(record);
    if (tsMs === null || !cuts(window, bucketOf(tsMs)) || !holds(window, tsMs)) continue;
    yield { tsMs, measures: { ...nothing, eventCount: 1 } };
  }
}
