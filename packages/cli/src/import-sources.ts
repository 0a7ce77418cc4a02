import { join } from 'node:path';
import { detectSource, type SourceKind } from '@turnlog/importers';
import { errnoOf, type FileSystem, isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import { logNames } from '@turnlog/log';
import type { ImportKind } from './import-kinds.js';

export interface FoundSource {
  readonly path: string;
  readonly kind: ImportKind;
}

/** What lies below a path, and what of it cannot be imported. */
export interface Search {
  readonly found: FoundSource[];
  readonly counts: { unknown: number; links: number; unreadable: number };
}

/** How deep directories are searched below a named one. */
const depthMax = 4;

/** Where an agent keeps its sessions, seen from a workspace. */
export function usualPlaces(cwd: string): readonly string[] {
  return [join(cwd, '.vtcode', 'sessions')];
}

/**
 * Adds what can be imported at `path`: formats are told by content, folders read in byte order, links not
 * followed.
 *
 * @throws TURNLOG_NOT_FOUND; TURNLOG_UNKNOWN_SOURCE when a file that was named is in none of the `kinds`.
 */
export function searchSources(
  fs: FileSystem,
  path: string,
  kinds: readonly ImportKind[],
  search: Search,
): void {
  const status = fs.status(path);
  if (status === null) {
    throw new TurnlogError('TURNLOG_NOT_FOUND', { details: { path }, message: `nothing stands at ${path}` });
  }
  if (status.kind === 'directory') {
    searchDirectory(fs, path, kinds, search, 1);
    return;
  }
  const kind = kindOfFile(fs, path);
  if (!isWanted(kind, kinds)) {
    throw new TurnlogError('TURNLOG_UNKNOWN_SOURCE', {
      details: { path, found: kind, from: kinds.join(',') },
    });
  }
  search.found.push({ path, kind });
}

function isWanted(kind: SourceKind, kinds: readonly ImportKind[]): kind is ImportKind {
  return kinds.some((wanted) => wanted === kind);
}

function searchDirectory(
  fs: FileSystem,
  directory: string,
  kinds: readonly ImportKind[],
  search: Search,
  depth: number,
): void {
  if (fs.status(join(directory, logNames.events))?.kind === 'file') {
    if (kinds.includes('vtcode')) search.found.push({ path: directory, kind: 'vtcode' });
    return;
  }
  for (const { name, kind } of fs.list(directory)) {
    const path = join(directory, name);
    if (kind === 'link') search.counts.links += 1;
    else if (kind === 'directory' && depth < depthMax) searchDirectory(fs, path, kinds, search, depth + 1);
    else if (kind === 'file' && name.endsWith('.jsonl')) addFile(fs, path, kinds, search);
  }
}

function addFile(fs: FileSystem, path: string, kinds: readonly ImportKind[], search: Search): void {
  try {
    const kind = kindOfFile(fs, path);
    if (isWanted(kind, kinds)) search.found.push({ path, kind });
    else search.counts.unknown += 1;
  } catch (error) {
    if (!isTurnlogError(error)) throw error;
    if (errnoOf(error) !== 'ENOENT') search.counts.unreadable += 1;
  }
}

function kindOfFile(fs: FileSystem, path: string): SourceKind {
  const file = fs.open(path, 'read');
  try {
    const head = new Uint8Array(limits.readBlockBytes);
    const count = file.read(head, 0);
    return detectSource(head.subarray(0, count), path.slice(path.lastIndexOf('/') + 1));
  } finally {
    file.close();
  }
}
