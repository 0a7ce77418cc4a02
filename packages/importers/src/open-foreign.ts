import { basename } from 'node:path';
import { checkDirectory } from '@turnlog/fs';
import { errnoOf, type FileSystem, TurnlogError } from '@turnlog/kernel';
import { type LogReader, openLogReader, type ReaderOptions } from '@turnlog/log';
import { readVtcodeMetadata, statedSessionId, type TurnBase, turnBaseFrom } from './foreign-turn-base.js';

/** A session directory of VT Code, read where it lies. */
export interface ForeignLog {
  readonly reader: LogReader;
  /** Number of the first turn in the file. */
  readonly turnBase: TurnBase;
  /** The id that its manifest states, else the name of the directory; as it stands there, checked by nobody. */
  readonly sessionId: string;
  close(): void;
}

/**
 * Opens the log in a session directory of VT Code for reading. Nothing is locked, created or changed; what is
 * appended meanwhile is not seen.
 *
 * @throws TURNLOG_NOT_FOUND; TURNLOG_LOG_UNREADABLE when it holds bytes but no record; TURNLOG_UNSAFE_PATH when
 *   the directory or a file in it is a link; TURNLOG_IO.
 */
export function openForeign(
  fs: FileSystem,
  directory: string,
  options: Pick<ReaderOptions, 'lineBytesMax' | 'unreadable'> = {},
): ForeignLog {
  const metadata = metadataIn(fs, directory);
  const sessionId = statedSessionId(metadata) ?? basename(directory);
  let turnBase: TurnBase = { value: 1, isCertain: false };
  const reader = openLogReader(fs, directory, sessionId, {
    ...options,
    foreignTurnBase: (length) => {
      turnBase = turnBaseFrom(metadata, length);
      return turnBase.value;
    },
  });
  return { reader, turnBase, sessionId, close: () => reader.close() };
}

function metadataIn(fs: FileSystem, directory: string): ReturnType<typeof readVtcodeMetadata> {
  try {
    checkDirectory(fs, directory, null);
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause;
    throw new TurnlogError('TURNLOG_NOT_FOUND', { details: { path: directory }, cause });
  }
  return readVtcodeMetadata(fs, directory);
}
