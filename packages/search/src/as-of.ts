import type { FilterVerdict } from './filters.js';
import type { AsOf } from './query-plan.js';

/** What took the place of a chunk: the seq and time of the record that did. */
export interface Supersession {
  readonly seq: number;
  readonly tsMs: number | null;
}

/**
 * Whether a chunk belonged to the corpus at a past moment (SE-34).
 *
 * - `there`: it did.
 * - `unknown-time`: nobody knows, because its record has no time; it is left out and counted.
 * - `no`: it came later, or another had taken its place by then.
 */
export type Presence = 'there' | 'unknown-time' | 'no';

/** `superseded`: what took its place since; null when nothing has. */
export function presenceAt(
  asOf: AsOf,
  session: string,
  record: Supersession,
  superseded: Supersession | null,
): Presence {
  const isNamed = asOf.session !== null && asOf.session.id === session;
  if (!isNamed && record.tsMs === null) return superseded === null ? 'unknown-time' : 'no';
  if (!isUpTo(asOf, isNamed, record)) return 'no';
  return superseded !== null && isUpTo(asOf, isNamed, superseded) ? 'no' : 'there';
}

function isUpTo(asOf: AsOf, isNamed: boolean, { seq, tsMs }: Supersession): boolean {
  if (isNamed) return seq <= (asOf.session?.seq ?? 0);
  return tsMs !== null && tsMs <= asOf.tsMs;
}

/** What is said of a chunk whose place in the past is unknown: it may be counted for that, and for nothing else. */
export function judgeUnknownTime(verdict: FilterVerdict): FilterVerdict {
  return verdict === 'match' || verdict === 'unknown-time' ? 'unknown-time' : 'no';
}
