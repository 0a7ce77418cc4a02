import { comparePackedIndex, hasPackedIndex, type IndexVerdict, rebuildPackedIndex } from '@turnlog/search';
import type { Store } from '@turnlog/store';
import type { Context } from '../command.js';
import { shownCode } from '../exit-codes.js';
import * as flags from '../flags.js';

/** The first chunk that two indexes do not say the same of. */
interface SearchDifference {
  /** Id of the chunk. */
  readonly chunk: string;
  /** What of it differs; null when only one of them has it. */
  readonly column: string | null;
  /** The values as JSON; null where there is none, and for the words of a text. */
  readonly published: string | null;
  readonly rebuilt: string | null;
}

/** What became of the search index of the store. */
export interface SearchOutcome {
  /** `behind`: some sessions could not be read. */
  readonly outcome: IndexVerdict['outcome'] | 'rebuilt' | 'behind' | 'cut-short';
  readonly digest: string | null;
  readonly publishedDigest: string | null;
  readonly difference: SearchDifference | null;
  /** Why it is not, or not wholly, what was asked for. */
  readonly degraded: readonly string[];
}

/**
 * Builds the search index anew, or compares it with one built anew. Null when nobody asked for it: without `--only`
 * that is when there is none.
 *
 * @throws TURNLOG_BUSY, TURNLOG_IO
 */
export async function rebuildSearchOf({ args, stop }: Context, store: Store): Promise<SearchOutcome | null> {
  const only = args.get(flags.onlyFlag);
  if (only !== undefined && !only.includes('search')) return null;
  if (only === undefined && (args.positionals.length > 0 || !hasPackedIndex(store))) return null;
  if (args.has(flags.checkFlag)) return compared(await comparePackedIndex(store, stop));
  const { outcome, failed } = await rebuildPackedIndex(store, stop);
  return {
    outcome: outcome === 'rebuilt' && failed.length > 0 ? 'behind' : outcome,
    digest: null,
    publishedDigest: null,
    difference: null,
    degraded: failed.map(({ session, error }) => `${session}: ${shownCode(error.code)}: ${error.message}`),
  };
}

function compared({ difference, damaged, ...verdict }: IndexVerdict): SearchOutcome {
  return { ...verdict, difference: difference === null ? null : placeOf(difference), degraded: damaged };
}

/** The columns of a chunk in the order of its digest (SE-61). */
const columns = ['session', 'seq', 'n', 'turn', 'ts', 'role', 'kind', 'tool', 'paths', 'length', 'words'];

function placeOf({ published, rebuilt }: NonNullable<IndexVerdict['difference']>): SearchDifference {
  const [ours, theirs] = [valuesIn(published), valuesIn(rebuilt)];
  const known = ours.length === 0 ? theirs : ours;
  const chunk = known.slice(0, 3).map(String).join(':');
  const at = columns.findIndex((_, index) => JSON.stringify(ours[index]) !== JSON.stringify(theirs[index]));
  const isSameChunk = at > 2;
  if (!isSameChunk || at === columns.length - 1) {
    return { chunk, column: isSameChunk ? (columns[at] ?? null) : null, published: null, rebuilt: null };
  }
  const [mine, other] = [ours[at], theirs[at]];
  return {
    chunk,
    column: columns[at] ?? null,
    published: JSON.stringify(mine) ?? null,
    rebuilt: JSON.stringify(other) ?? null,
  };
}

function valuesIn(line: string | null): readonly unknown[] {
  const values: unknown = line === null ? [] : JSON.parse(line);
  return Array.isArray(values) ? values : [];
}

const drift: ReadonlySet<SearchOutcome['outcome']> = new Set(['different', 'wrong']);
const failures: ReadonlySet<SearchOutcome['outcome']> = new Set(['behind', 'cut-short']);

/** Whether the index says something else than the logs. */
export function isSearchDrift(outcome: SearchOutcome | null): boolean {
  return outcome !== null && drift.has(outcome.outcome);
}

/** Whether what was asked for could not be done, or not wholly. */
export function isSearchFailure(outcome: SearchOutcome | null): boolean {
  return outcome !== null && failures.has(outcome.outcome);
}

export async function printSearch({ output }: Context, search: SearchOutcome): Promise<void> {
  if (output.form !== 'text') return;
  const { shown } = output;
  const { outcome, difference, degraded } = search;
  for (const reason of degraded) await output.warn(shown`search: ${reason}`);
  if (!isSearchDrift(search)) return;
  const place = difference === null ? '' : ` at ${difference.chunk} ${difference.column ?? ''}`;
  const head = shown`${output.paint('red', outcome)}  search${place.trimEnd()}`;
  const isTold = difference !== null && (difference.published !== null || difference.rebuilt !== null);
  const values = isTold
    ? [
        shown`  published: ${difference.published ?? 'nothing'}`,
        shown`  rebuilt:   ${difference.rebuilt ?? 'nothing'}`,
      ]
    : [];
  await output.lines([head, ...values]);
}

export function searchJson(search: SearchOutcome): Readonly<Record<string, unknown>> {
  const { outcome, digest, publishedDigest, difference, degraded } = search;
  return { outcome, digest, published_digest: publishedDigest, difference, degraded };
}
