import { join } from 'node:path';
import { checkDirectory } from '@turnlog/fs';
import { type FileSystem, limits } from '@turnlog/kernel';
import { readTextIfThere } from '@turnlog/log';
import { isMembers, type Members, textMember } from './source-object.js';

/** Number of the first turn in a log of VT Code, and whether its metadata prove it. */
export interface TurnBase {
  readonly value: number;
  readonly isCertain: boolean;
}

/** What stands beside the log in a session directory of VT Code. */
export interface VtcodeMetadata {
  readonly manifest: Members | null;
  readonly marker: Members | null;
  readonly turns: Members | null;
}

/** Reads `manifest.json`, `index/pending-cap-rewrite.json` and `index/turns.json`. Changes nothing. */
export function readVtcodeMetadata(fs: FileSystem, directory: string): VtcodeMetadata {
  const index = join(directory, 'index');
  const hasIndex = fs.status(index) !== null;
  if (hasIndex) checkDirectory(fs, index, null);
  return {
    manifest: readObject(fs, join(directory, 'manifest.json')),
    marker: hasIndex ? readObject(fs, join(index, 'pending-cap-rewrite.json')) : null,
    turns: hasIndex ? readObject(fs, join(index, 'turns.json')) : null,
  };
}

/**
 * The manifest counts when it describes a file of this length; so does the marker of a rewrite that led to this
 * length. An index that fits the file, an older manifest and at last 1 are guesses.
 */
export function turnBaseFrom(metadata: VtcodeMetadata, length: number): TurnBase {
  const { manifest, marker, turns } = metadata;
  const stated = manifest === null ? null : turnNumberIn(manifest, 'retained_turn_base');
  if (stated !== null && manifest !== null && manifest['persisted_file_len'] === length) {
    return { value: stated, isCertain: true };
  }
  const rewritten = marker === null ? null : baseOfMarker(marker, length);
  if (rewritten !== null) return { value: rewritten, isCertain: true };
  const indexed = turns === null ? null : baseOfIndex(turns, length);
  return { value: indexed ?? stated ?? 1, isCertain: false };
}

/** The id that the directory's own files give the session. */
export function statedSessionId(metadata: VtcodeMetadata): string | undefined {
  return metadata.manifest === null ? undefined : textMember(metadata.manifest, 'session_id');
}

function baseOfMarker(marker: Members, length: number): number | null {
  const before = countIn(marker, 'previous_file_len');
  if (before === null || marker['new_file_len'] !== length || length >= before) return null;
  return turnNumberIn(marker, 'retained_turn_base');
}

function baseOfIndex(turns: Members, length: number): number | null {
  const { entries } = turns;
  if (!Array.isArray(entries)) return null;
  let first: number | null = null;
  let last = 0;
  let end = 0;
  for (const entry of entries) {
    const turn = isMembers(entry) ? turnNumberIn(entry, 'turn_number') : null;
    const from = isMembers(entry) ? countIn(entry, 'start_offset') : null;
    const to = isMembers(entry) ? countIn(entry, 'end_offset') : null;
    if (turn === null || from === null || to === null) return null;
    if (turn <= last || from < end || to < from || to > length) return null;
    first ??= turn;
    last = turn;
    end = to;
  }
  return first;
}

function countIn(members: Members, name: string): number | null {
  const value = members[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function turnNumberIn(members: Members, name: string): number | null {
  const value = countIn(members, name);
  return value === null || value === 0 ? null : value;
}

/** The object in a small JSON file; null when there is no file, or no object in it. */
function readObject(fs: FileSystem, path: string): Members | null {
  const text = readTextIfThere(fs, path, limits.readerLineBytesMax);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) ? value : null;
  } catch (error) {
    // Another program's derived file: one that cannot be read says nothing, and the base is called uncertain.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
