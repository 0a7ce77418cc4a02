import type { Store } from '@turnlog/store';
import { parseSessionId } from '@turnlog/store';
import { type Difference, firstDifference } from './internal/first-difference.js';
import { checkIndex, rebuildIndex } from './rebuild-index.js';
import type { RunningFold } from './view-fold.js';
import { type RegisteredView, views } from './view-registry.js';
import { publishFolds, runFolds } from './view-runner.js';

export const rebuildParts = ['index', 'views'] as const;

export type RebuildPart = (typeof rebuildParts)[number];

export interface RebuildOptions {
  /** `check` compares and writes nothing; `publish` puts what was rebuilt in place. */
  readonly mode: 'check' | 'publish';
  /** By default everything. */
  readonly only?: readonly RebuildPart[];
}

/**
 * How a published thing stood to the log:
 *
 * - `equal`: brought up to the end of the log it says what a rebuild says.
 * - `different`: it does not. `wrong`: the file is cut short, changed, or not ours. Both are drift.
 * - `absent`: nothing is published, or by another version of the view. `stale`: it was made of a log that is not
 *   there any more. Neither is drift: it is not used, and made again when it is wanted.
 */
export type RebuildOutcome = 'equal' | 'different' | 'wrong' | 'absent' | 'stale';

export interface PartReport {
  readonly part: RebuildPart;
  /** `index`, or the name of the view. */
  readonly name: string;
  readonly outcome: RebuildOutcome;
  /** Logical digest of what the log gives, and of what was published, brought up to date; null when it is not used. */
  readonly digest: string;
  readonly publishedDigest: string | null;
  /** The first place at which they differ. */
  readonly difference: Difference | null;
  /** Whether it has been published by this call. */
  readonly isPublished: boolean;
}

export interface RebuildReport {
  readonly sessionId: string;
  readonly parts: readonly PartReport[];
  /** How many parts were `different` or `wrong`. */
  readonly driftCount: number;
}

/**
 * Derives what is derived from a session's log again, and compares it with what is published; the log is read from
 * its start, and nothing but the log.
 *
 * @throws TURNLOG_INVALID_SESSION_ID, TURNLOG_NOT_FOUND, TURNLOG_LOG_UNREADABLE; in `publish` also TURNLOG_LOCKED,
 *   TURNLOG_READ_ONLY, TURNLOG_IO.
 */
export async function rebuildSession(
  store: Store,
  id: string,
  options: RebuildOptions,
): Promise<RebuildReport> {
  const checked = parseSessionId(id);
  const only: readonly RebuildPart[] = options.only ?? rebuildParts;
  const parts: PartReport[] = [];
  if (only.includes('index')) {
    const index = checkIndex(store, checked);
    const isPublished = options.mode === 'publish';
    if (isPublished) await rebuildIndex(store, checked);
    parts.push({ ...index, isPublished });
  }
  if (only.includes('views')) parts.push(...rebuildViews(store, checked, options.mode));
  return { sessionId: checked, parts, driftCount: parts.filter(isDrift).length };
}

function isDrift({ outcome }: PartReport): boolean {
  return outcome === 'different' || outcome === 'wrong';
}

/** As `rebuildSession`, for the views alone, or for some. */
export function rebuildViews(
  store: Store,
  id: string,
  mode: RebuildOptions['mode'],
  chosen: readonly RegisteredView[] = views,
): readonly PartReport[] {
  const reader = store.read(id);
  try {
    const rebuilt = chosen.map((view) => view.fromStart(reader));
    const published = chosen.map((view) => view.open(store.environment.fs, reader));
    runFolds(reader, [...rebuilt, ...published.filter(({ start }) => start === 'resumed')]);
    if (mode === 'publish') publishFolds(store.environment, reader.directory, rebuilt);
    return rebuilt.map((fold, position) => reportOf(fold, published[position] ?? fold, mode));
  } finally {
    reader.close();
  }
}

const outcomes: Readonly<Record<RunningFold['start'], RebuildOutcome>> = {
  resumed: 'equal',
  unpublished: 'absent',
  wrong: 'wrong',
  moved: 'stale',
};

function reportOf(rebuilt: RunningFold, published: RunningFold, mode: RebuildOptions['mode']): PartReport {
  const isUsed = published.start === 'resumed';
  const difference = isUsed ? firstDifference(published.digested(), rebuilt.digested()) : null;
  return {
    part: 'views',
    name: rebuilt.name,
    outcome: difference === null ? outcomes[published.start] : 'different',
    digest: rebuilt.digest(),
    publishedDigest: isUsed ? published.digest() : null,
    difference,
    isPublished: mode === 'publish',
  };
}

/**
 * Brings the published views of a session up to its log, reading what is new. Nothing is lost when it is stopped:
 * each view is published together with its cursor, and the next call goes on from there.
 *
 * @throws as `rebuildSession`; the views before the one that failed have been published.
 */
export function publishViews(store: Store, id: string, chosen: readonly RegisteredView[] = views): void {
  const reader = store.read(id);
  try {
    const folds = chosen.map((view) => view.open(store.environment.fs, reader));
    runFolds(reader, folds);
    publishFolds(store.environment, reader.directory, folds);
  } finally {
    reader.close();
  }
}
