import { join } from 'node:path';
import { errnoOf, type FileSystem, isTurnlogError, limits, sha256Hex } from '@turnlog/kernel';
import { readBytesIfThere } from '@turnlog/log';
import { damagedFile } from './byte-codec.js';
import type { PageCache } from './page-cache.js';
import {
  type FoundList,
  type ListedSegment,
  type ListedTombstones,
  readSegmentList,
} from './segment-list.js';
import { SegmentReader } from './segment-reader.js';
import { Tombstones } from './tombstones.js';

/** A segment that is open, with what the list says of it. */
export interface OpenSegment {
  readonly listed: ListedSegment;
  readonly reader: SegmentReader;
  /** The state of its tombstones that the list knows. */
  readonly savedVersion: number;
}

/** What could be opened of the index. */
export interface OpenedSet {
  readonly segments: readonly OpenSegment[];
  /** Which list it is; null when there is none that can be read. */
  readonly revision: string | null;
  /** When the list was published, in milliseconds since the epoch; 0 without one. */
  readonly listedAtMs: number;
  /** What was left aside because it is damaged, in words. */
  readonly damaged: readonly string[];
}

/** Where the files of the index lie. */
export interface IndexPlace {
  readonly fs: FileSystem;
  readonly directory: string;
  readonly tokenizer: string;
}

export function listPath(directory: string): string {
  return join(directory, 'segments.json');
}

/** Which list there is; null when there is none that can be read. */
export function presentRevision({ fs, directory, tokenizer }: IndexPlace): string | null {
  const found = readSegmentList(fs, listPath(directory), tokenizer);
  return found.kind === 'list' ? found.revision : null;
}

/**
 * Opens what the list names. A file that is gone was replaced meanwhile: then the list is read again. What is damaged
 * is left aside, and so are files that no list brings back.
 *
 * @throws TURNLOG_IO, TURNLOG_UNSAFE_PATH when the disk cannot be read.
 */
export function openSegmentSet(place: IndexPlace, cache: PageCache): OpenedSet {
  for (let attempt = 1; ; attempt += 1) {
    const found = readSegmentList(place.fs, listPath(place.directory), place.tokenizer);
    const set = openListed(place, cache, found);
    if (set.missing === 0 || attempt === limits.searchListReadsMax) return set;
    for (const { reader } of set.segments) reader.close();
  }
}

function openListed(place: IndexPlace, cache: PageCache, found: FoundList): OpenedSet & { missing: number } {
  if (found.kind !== 'list') {
    const damaged = found.kind === 'damaged' ? [`segments.json: ${found.reason}`] : [];
    return { segments: [], revision: null, listedAtMs: 0, damaged, missing: 0 };
  }
  const segments: OpenSegment[] = [];
  const damaged: string[] = [];
  let missing = 0;
  try {
    for (const listed of found.list.segments) {
      const opened = openListedSegment(place, cache, listed);
      if (opened instanceof SegmentReader) {
        segments.push({ listed, reader: opened, savedVersion: opened.tombstones.version });
      } else {
        damaged.push(opened.reason);
        if (opened.isMissing) missing += 1;
      }
    }
  } catch (error) {
    for (const { reader } of segments) reader.close();
    throw error;
  }
  const listedAtMs = place.fs.status(listPath(place.directory))?.modifiedMs ?? 0;
  return { segments, revision: found.revision, listedAtMs, damaged, missing };
}

interface LeftAside {
  readonly reason: string;
  readonly isMissing: boolean;
}

function openListedSegment(
  place: IndexPlace,
  cache: PageCache,
  listed: ListedSegment,
): SegmentReader | LeftAside {
  const { fs, directory, tokenizer } = place;
  let reader: SegmentReader | null = null;
  try {
    reader = SegmentReader.open(fs, join(directory, listed.file), { ...listed, tokenizer }, cache);
    if (reader.chunkCount !== listed.chunks) throw damagedFile(reader.path, 'it holds other chunks');
    if (listed.dead !== null) reader.tombstones = readTombstones(place, reader, listed.dead);
    return reader;
  } catch (error) {
    reader?.close();
    if (!isDamage(error)) throw error;
    return { reason: `${listed.file}: ${reasonOf(error)}`, isMissing: errnoOf(error) === 'ENOENT' };
  }
}

function readTombstones(place: IndexPlace, reader: SegmentReader, dead: ListedTombstones): Tombstones {
  const path = join(place.directory, dead.file);
  const bytes = readBytesIfThere(place.fs, path, dead.bytes);
  // Opening it again makes the port itself report ENOENT, in its own words.
  if (bytes === null) place.fs.open(path, 'read').close();
  if (bytes === null || bytes.length !== dead.bytes || sha256Hex(bytes) !== dead.digest) {
    throw damagedFile(path, 'it is not what the list says');
  }
  return Tombstones.decode(bytes, path, reader.chunkCount, (ordinal) => reader.len(ordinal));
}

/** Whether a file is to be left aside: it is damaged, or gone. Other failures concern the disk. */
export function isDamage(error: unknown): boolean {
  if (!isTurnlogError(error, 'TURNLOG_IO')) return isTurnlogError(error, 'TURNLOG_UNSAFE_PATH');
  return error.details['operation'] === 'check' || errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EIO';
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
