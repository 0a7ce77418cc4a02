import { childPath } from '@turnlog/fs';
import type { FileSystem } from '@turnlog/kernel';
import { readManifest } from './evidence.js';
import { logNames } from './log-layout.js';
import type { LogState } from './log-state.js';

/**
 * What the manifest of the log in `directory` says, where the log is as long as it says; null when there is more
 * to look at, and then only opening the log tells. For lists: the log itself is not opened.
 *
 * A manifest of this session with all its members is believed when its last line ends where the file ends now,
 * and the file is a regular one that its owner `uid` can read. Whatever was appended, cut, evicted or put in the
 * place of the log since gives it another length, and a length that differs means that the log decides. So three
 * things can stay unseen here, all of which leave the length as it is: bytes changed in place, another log of
 * just this length, and counts that somebody wrote into the manifest. Opening the log sees the first and the
 * second where they touch its first or last published line; what is left is found by verifying it. A file that
 * cannot be read although its mode allows it (a failing disk) is found when it is opened.
 *
 * It does not matter that manifest and log are looked at one after the other while a writer goes on: a manifest
 * of an earlier or of a later moment names another length.
 *
 * @throws TURNLOG_UNSAFE_PATH when the manifest is a link or no regular file; TURNLOG_IO.
 */
export function readPublishedState(
  fs: FileSystem,
  directory: string,
  sessionId: string,
  uid: number | null,
): LogState | null {
  const manifest = readManifest(fs, { manifest: childPath(directory, logNames.manifest) }, sessionId, 'form');
  if (manifest === null) return null;
  const { state, head, tail } = manifest;
  // None is published without them, of a log that holds nothing.
  if (head === null || tail === null || tail.offset + tail.length + 1 !== state.length) return null;
  const status = fs.status(childPath(directory, logNames.events));
  if (status === null || status.kind !== 'file' || status.size !== state.length) return null;
  if (uid !== null && (status.uid !== uid || (status.mode & ownerMayRead) === 0)) return null;
  return state;
}

const ownerMayRead = 0o400;
