import type { Store } from '@turnlog/store';
import { buildMirror, inDatabase, newMirrorPath } from './build-mirror.js';
import { type CatchUpLimits, catchUpStore } from './catch-up.js';
import { compareMirrors, type MirrorDifference } from './logical-rows.js';
import { isOfThisFormat, type MirrorPlace, openDatabase, removeDatabase } from './mirror-file.js';
import { sqliteCodeOf } from './sqlite-port.js';

/**
 * How a mirror stands to the logs: `absent` when there is none of this format, which is no fault; `wrong` when SQLite
 * cannot read it; `cut-short` when the comparison was stopped.
 */
export interface MirrorCheck {
  readonly outcome: 'equal' | 'different' | 'wrong' | 'absent' | 'cut-short';
  readonly digest: string | null;
  readonly publishedDigest: string | null;
  readonly difference: MirrorDifference | null;
}

const nothing = { digest: null, publishedDigest: null, difference: null };

/**
 * Compares what the mirror says, brought up to the logs in a copy, with what a new one says. The mirror itself is not
 * written to.
 */
export async function checkMirror(
  place: MirrorPlace,
  store: Store,
  limits: CatchUpLimits,
): Promise<MirrorCheck> {
  const [copyPath, newPath] = [newMirrorPath(place), newMirrorPath(place)];
  try {
    const found = copyMirror(place, copyPath);
    if (found !== 'copied') return { outcome: found, ...nothing };
    const isFollowed = await follow(place, store, copyPath, limits);
    const built = await buildMirror(place, store, newPath, limits);
    if (!isFollowed || !built.isComplete) return { outcome: 'cut-short', ...nothing };
    return compare(place, copyPath, newPath);
  } catch (error) {
    if (sqliteCodeOf(error) === null) throw error;
    return { outcome: 'wrong', ...nothing };
  } finally {
    removeDatabase(place, copyPath);
    removeDatabase(place, newPath);
  }
}

/** False when it was stopped. Rows that SQLite refuses to add to contradict the logs: that is seen when comparing. */
async function follow(
  place: MirrorPlace,
  store: Store,
  path: string,
  limits: CatchUpLimits,
): Promise<boolean> {
  try {
    const leaving = { ...limits, contradicted: 'leave' } as const;
    const report = await inDatabase(place, path, (database) => catchUpStore(database, store, leaving));
    return report.isComplete;
  } catch (error) {
    if (sqliteCodeOf(error)?.startsWith('SQLITE_CONSTRAINT') !== true) throw error;
    return true;
  }
}

function copyMirror(place: MirrorPlace, to: string): 'copied' | 'absent' | 'wrong' {
  if (place.env.fs.status(place.path) === null) return 'absent';
  try {
    const database = openDatabase(place, place.path, 'read-only');
    try {
      if (!isOfThisFormat(database)) return 'absent';
      // An empty file keeps its mode.
      place.env.fs.open(to, 'create').close();
      database.prepare<never>('VACUUM INTO ?').run(to);
      return 'copied';
    } finally {
      database.close();
    }
  } catch (error) {
    if (sqliteCodeOf(error) === null) throw error;
    return 'wrong';
  }
}

function compare(place: MirrorPlace, publishedPath: string, rebuiltPath: string): MirrorCheck {
  const published = openDatabase(place, publishedPath, 'read-only');
  try {
    const rebuilt = openDatabase(place, rebuiltPath, 'read-only');
    try {
      const comparison = compareMirrors(published, rebuilt);
      return { outcome: comparison.difference === null ? 'equal' : 'different', ...comparison };
    } finally {
      rebuilt.close();
    }
  } finally {
    published.close();
  }
}
