import { basename } from 'node:path';
import { type DraftFile, ensurePrivateDirectory, openOwnFile, publish } from '@turnlog/fs';
import { TurnlogError } from '@turnlog/kernel';
import { LogFile } from './log-file.js';
import type { LogWriter } from './log-writer.js';
import type { LineProof } from './manifest.js';
import type { LogEnvironment } from './options.js';
import {
  encodeMarker,
  headSha256,
  type LogFingerprint,
  type RewriteMarker,
  removeMarker,
} from './rewrite-marker.js';

/**
 * Replaces `events.jsonl` by another file in one step. The order is the protocol: everything durable, marker,
 * rename, and only then what is derived; a crash behind each line is settled by the next open.
 */

/** What becomes the log. */
export interface Replacement {
  readonly kind: RewriteMarker['kind'];
  /** The new log, whole and synced, still under its temporary name. */
  readonly draft: DraftFile;
  readonly to: LogFingerprint;
  readonly toSeq: number;
  readonly lastTurn: number;
  /** A record that only the new log has; null where its first line is another one. */
  readonly probe: LineProof | null;
  /** Archives written anew, durable under their temporary names. They take their own behind the log, by the caller. */
  readonly archives: readonly DraftFile[];
}

/** What stands at the name of the log afterwards. */
export interface Replaced {
  readonly file: LogFile;
  /** What made it uncertain whether the new name lasts; null when it does. */
  readonly doubt: unknown;
}

/**
 * Puts `replacement` in the place of the log that `writer` holds, which has synced and published everything.
 *
 * When it throws, the log is as it was and the marker is gone, unless the writer is poisoned.
 *
 * @throws TURNLOG_IO, LOCK_LOST.
 */
export function replaceLog(env: LogEnvironment, writer: LogWriter, replacement: Replacement): Replaced {
  const { fs, ids, ownership } = env;
  const { paths, file, generation } = writer.opened;
  writer.checkOwnership();
  const from = { generation, bytes: file.length, headSha256: headSha256(file, file.length) ?? '' };
  const marker = encodeMarker({
    kind: replacement.kind,
    temporary: basename(replacement.draft.temporaryPath),
    from,
    to: replacement.to,
    toSeq: replacement.toSeq,
    lastTurn: replacement.lastTurn,
    probe: replacement.probe,
    archives: replacement.archives.map(({ temporaryPath, path }) => ({
      temporary: basename(temporaryPath),
      file: basename(path),
    })),
  });
  ensurePrivateDirectory(fs, paths.index, ownership);
  try {
    publish(fs, ids, paths.pendingRewrite, new TextEncoder().encode(marker), { durability: 'durable' });
    takeName(writer, replacement.draft);
  } catch (error) {
    if (writer.isOpen) removeMarker(fs, paths);
    throw error;
  }
  return openReplaced(env, writer, replacement);
}

/** Renames the draft over the log, whose descriptor is given back meanwhile. */
function takeName(writer: LogWriter, draft: DraftFile): void {
  const { file } = writer.opened;
  file.detach();
  try {
    draft.rename();
  } catch (error) {
    try {
      file.attach();
    } catch (cause) {
      writer.poison(cause);
    }
    throw error;
  }
}

/** The new log is in place: from here on nothing is taken back. */
function openReplaced(env: LogEnvironment, writer: LogWriter, { draft, to }: Replacement): Replaced {
  const { fs, ownership } = env;
  const { paths } = writer.opened;
  let doubt: unknown = null;
  try {
    fs.syncDirectory(paths.directory);
  } catch (cause) {
    doubt = cause;
  }
  try {
    const file = LogFile.of(fs, openOwnFile(fs, paths.events, 'append', ownership));
    try {
      checkReplaced(file, draft.length, to.headSha256);
    } catch (cause) {
      file.close();
      throw cause;
    }
    return { file, doubt };
  } catch (cause) {
    writer.poison(cause);
    throw cause;
  }
}

/** Sees that the name leads to what was put there. */
function checkReplaced(file: LogFile, expectedBytes: number, expectedHead: string): void {
  if (file.length === expectedBytes && headSha256(file, file.length) === expectedHead) return;
  throw new TurnlogError('TURNLOG_LOCK_LOST', {
    details: { path: file.path, expectedBytes, actualBytes: file.length },
    message: `somebody else replaced the log during its rewrite: ${file.path}`,
  });
}
