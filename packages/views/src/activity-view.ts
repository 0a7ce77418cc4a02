import { list, member, number, orNull } from './internal/stored-value.js';
import { VersionedMap } from './internal/versioned-map.js';
import type { View } from './view.js';

/** How many records there are, and when. */
export interface ActivityState {
  /** Records by the quarter of an hour they fall in, as its first millisecond; null holds those of unknown time. */
  readonly records: VersionedMap<number | null, number>;
}

const quarterMs = 900_000;

/**
 * From here on every zone lies a whole number of quarters from universal time, so that no day begins inside of one;
 * records from before are counted by the millisecond.
 */
const quartersSinceMs = 946_684_800_000;

/** The first millisecond of the bucket that an instant falls in. */
export function bucketOf(tsMs: number): number {
  return tsMs < quartersSinceMs ? tsMs : Math.floor(tsMs / quarterMs) * quarterMs;
}

/** The last millisecond of a bucket. */
export function bucketEnd(bucketMs: number): number {
  return bucketMs < quartersSinceMs ? bucketMs : bucketMs + quarterMs - 1;
}

/** When records came: enough to count them by the days of any zone, and small. */
export const activityView: View<ActivityState> = {
  name: 'activity',
  version: 1,
  initial: () => ({ records: VersionedMap.empty() }),
  evolve: ({ records }, { tsMs }) => {
    const bucket = tsMs === null ? null : bucketOf(tsMs);
    return { records: records.set(bucket, (records.get(bucket) ?? 0) + 1) };
  },
  toJson: ({ records }) => ({ records: records.entries().map(([bucket, count]) => [bucket, count]) }),
  fromJson: (json) => ({
    records: VersionedMap.from(
      list(member(json, 'records')).map((entry): readonly [number | null, number] => {
        const [bucket, count] = list(entry);
        return [orNull(bucket, number), number(count)];
      }),
    ),
  }),
};
