import { join } from 'node:path';
import { type FileStatus, isTurnlogError, limits } from '@turnlog/kernel';
import { type LogReader, logNames } from '@turnlog/log';
import { parseSessionId, type Store } from '@turnlog/store';
import type { Freshness } from './lexical-index.js';

/**
 * How far an index is behind the logs of a store (SE-32). `offsetOf` says up to which byte a session's file was taken
 * in, 0 where nothing of it was. Records are counted while little enough remains.
 *
 * @param seen by session the bytes of its file, where all files have just been looked at.
 */
export function freshnessOf(
  store: Store,
  offsetOf: (session: string) => number,
  seen: ReadonlyMap<string, number> | null = null,
): Freshness {
  const behind: { readonly session: string; readonly offset: number }[] = [];
  let bytes = 0;
  for (const session of seen?.keys() ?? store.ids()) {
    const offset = offsetOf(session);
    const left = (seen?.get(session) ?? fileBytes(store, session)) - offset;
    if (left <= 0) continue;
    bytes += left;
    behind.push({ session, offset });
  }
  const events = bytes > limits.countedBehindBytesMax ? null : countRecords(store, behind);
  return { events, bytes, sessions: behind.length };
}

/** Bytes of a session's file; 0 when there is none. */
export function fileBytes(store: Store, session: string): number {
  return fileStatus(store, session)?.size ?? 0;
}

/** What the system says of a session's file; null when there is none. */
export function fileStatus(store: Store, session: string): FileStatus | null {
  const directory = store.sessionDirectory(parseSessionId(session));
  return store.environment.fs.status(join(directory, logNames.events));
}

function countRecords(
  store: Store,
  sessions: readonly { readonly session: string; readonly offset: number }[],
): number {
  let count = 0;
  for (const { session, offset } of sessions) {
    try {
      const reader = store.read(session, { unreadable: 'show' });
      try {
        count += recordsBehind(reader, offset);
      } finally {
        reader.close();
      }
    } catch (error) {
      // Which session cannot be read is told by itself.
      if (!isTurnlogError(error)) throw error;
    }
  }
  return count;
}

function recordsBehind(reader: LogReader, offset: number): number {
  const from = reader.firstSeqFrom(offset);
  if (from === null) return 0;
  let count = 0;
  for (const record of reader.readRange(from, Number.MAX_SAFE_INTEGER))
    if (record.offset >= offset) count += 1;
  return count;
}
