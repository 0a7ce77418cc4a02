import { join } from 'node:path';
import { listIfThere } from '@turnlog/fs';
import { type FileHandle, type FileSystem, isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import { archiveCodec } from './archive-codec.js';
import { blocksOf } from './archive-file.js';
import { type EvictionHeader, parseEvictionHeader } from './eviction-record.js';
import { raiseTurnCount } from './lifecycle.js';
import type { ByteSource } from './line-framer.js';
import { archivedTo, type LogPaths, leavesName } from './log-layout.js';
import { LogRecord } from './log-record.js';
import { LogScan } from './log-scan.js';
import { emptyLogState } from './log-state.js';
import { emptyTree, MerkleFrontier, treeRoot } from './merkle-frontier.js';
import { openInside } from './read-text.js';
import { type ScannedRecord, Scanner } from './scanner.js';
import { UnpackedSource } from './unpacked-source.js';

/**
 * The part of a log's history that its file no longer holds. The header of a cut log names the archive of what left
 * last; the first line of that archive is the header that the log had before, and so on: a chain from the newest to
 * the oldest. Where records were dropped, it goes on with the newest archive from before.
 */

/** One archived part of a log. */
export interface ArchivedPart {
  readonly name: string;
  readonly codec: 'gzip' | 'zstd';
  /** The header that names it; null for one from before records that were dropped. */
  readonly namedBy: EvictionHeader | null;
  /** The header that it begins with; null when it begins with the first record of the log. */
  readonly begins: EvictionHeader | null;
}

/** The archived parts behind `newest`, the header of the log's file, oldest first. */
export function archivedParts(
  fs: FileSystem,
  paths: LogPaths,
  newest: EvictionHeader | null,
): readonly ArchivedPart[] {
  const parts: ArchivedPart[] = [];
  for (let header = newest; header !== null; ) {
    const namedBy: EvictionHeader | null = header.archive === null ? null : header;
    const name: string | null = header.archive?.file ?? newestBefore(fs, paths, header.fromSeq);
    const archived = name === null ? null : archivedTo(name);
    if (name === null || archived === null) break;
    const begins = headerOf(fs, paths, name, archived.codec);
    // What is not there any more is gone like what was dropped.
    if (begins === 'missing') break;
    if (begins !== null && begins.toSeq >= header.toSeq) throw chainBroken(paths, name, header);
    parts.unshift({ name, codec: archived.codec, namedBy, begins });
    header = begins;
  }
  return parts;
}

/** The error of an archive that is not older than the header which leads to it: nobody could ever come to its end. */
function chainBroken(paths: LogPaths, name: string, { toSeq }: EvictionHeader): TurnlogError {
  return new TurnlogError('TURNLOG_IO', {
    details: { step: 'archive', reason: 'damaged', path: join(paths.archive, name), toSeq },
    message: `an archive does not hold what comes before the log: ${join(paths.archive, name)}`,
  });
}

/** The newest archive of records before `seq`; null when there is none. */
export function newestBefore(fs: FileSystem, paths: LogPaths, seq: number): string | null {
  let newest: { readonly name: string; readonly toSeq: number } | null = null;
  for (const { name } of listIfThere(fs, paths.archive)) {
    const toSeq = archivedTo(name)?.toSeq ?? seq;
    if (toSeq < seq && toSeq > (newest?.toSeq ?? 0)) newest = { name, toSeq };
  }
  return newest?.name ?? null;
}

function headerOf(
  fs: FileSystem,
  paths: LogPaths,
  name: string,
  codec: ArchivedPart['codec'],
): EvictionHeader | null | 'missing' {
  const file = openInside(fs, paths.archive, name);
  if (file === null) return 'missing';
  try {
    return headerIn(unpacked(file, codec), Number.MAX_SAFE_INTEGER);
  } finally {
    file.close();
  }
}

/** The header that a log begins with; null when it begins with something else. */
export function headerIn(source: ByteSource, length: number): EvictionHeader | null {
  const first = new Scanner(source, { to: length }).next();
  return first?.verdict === 'record' && first.record.type === 'log.evicted'
    ? parseEvictionHeader(first.readEvent())
    : null;
}

/** Seqs of the records in a part: behind the header that it begins with, up to the one that its name says. */
function seqsOf(part: ArchivedPart): { readonly after: number; readonly to: number } {
  return { after: part.begins?.toSeq ?? 0, to: archivedTo(part.name)?.toSeq ?? 0 };
}

/** The parts that hold the records from `from` to `to` that have left the log; null when some were dropped. */
export function partsBetween(
  parts: readonly ArchivedPart[],
  from: number,
  to: number,
): readonly ArchivedPart[] | null {
  const first = parts.findIndex((part) => seqsOf(part).after < from && from <= seqsOf(part).to);
  if (first === -1) return null;
  // The part behind may begin with a repeat.
  const wanted = parts.slice(first).filter((part) => seqsOf(part).after <= to);
  // Behind a part that no header names, records were dropped.
  return wanted.every((part) => !isUnnamed(part) || to <= seqsOf(part).to) ? wanted : null;
}

/** The parts that the log's file goes on from without a gap, oldest first; none behind records that were dropped. */
export function partsToFile(
  parts: readonly ArchivedPart[],
  newest: EvictionHeader | null,
): readonly ArchivedPart[] {
  if (newest === null || newest.archive === null) return [];
  return parts.slice(parts.findLastIndex(isUnnamed) + 1);
}

/** The part that holds turn `number`; null when none does. */
export function partOfTurn(
  fs: FileSystem,
  paths: LogPaths,
  parts: readonly ArchivedPart[],
  number: number,
): ArchivedPart | null {
  const candidates = parts.filter(({ begins }) => (begins?.lastTurn ?? 0) < number);
  const named = candidates.find(({ namedBy }) => namedBy !== null && number <= namedBy.lastTurn);
  if (named !== undefined) return named;
  // How far one from before a drop goes is known only to itself.
  const unnamed = candidates.findLast(isUnnamed);
  if (unnamed === undefined) return null;
  for (const { turn } of archivedRecords(fs, paths, [unnamed])) if (turn === number) return unnamed;
  return null;
}

/**
 * The records of archived parts, oldest first. Headers are not among them but, where that is asked for, the one that
 * the first part begins with: it stands for what was before.
 */
export function* archivedRecords(
  fs: FileSystem,
  paths: LogPaths,
  parts: readonly ArchivedPart[],
  firstHeader: 'first-header' | 'no-header' = 'no-header',
): Iterable<LogRecord> {
  for (const [position, part] of parts.entries()) {
    const isShown = firstHeader === 'first-header' && position === 0;
    const archive = new OpenArchive(fs, paths, part);
    try {
      for (const piece of scanPart(archive.source, part)) {
        if (piece.verdict === 'record' && (isShown || !isHeader(piece)))
          yield new LogRecord(piece, part.name);
      }
    } finally {
      archive.close();
    }
  }
}

function isHeader(piece: ScannedRecord): boolean {
  return piece.offset === 0 && piece.record.type === 'log.evicted';
}

function* scanPart(source: ByteSource, part: ArchivedPart): Iterable<ReturnType<Scanner['next']> & object> {
  const { namedBy } = part;
  // A log that began in the middle has its turn numbers from the header that stands for it.
  const turnsBefore = namedBy === null ? 0 : namedBy.lastTurn - namedBy.turns;
  const lifecycle = raiseTurnCount(emptyLogState.lifecycle, turnsBefore);
  const scanner = new Scanner(source, {
    state: { ...emptyLogState, lifecycle },
    to: Number.MAX_SAFE_INTEGER,
  });
  for (let piece = scanner.next(); piece !== null; piece = scanner.next()) yield piece;
}

function unpacked(file: FileHandle, codec: ArchivedPart['codec']): ByteSource {
  const { size } = file.status();
  return new UnpackedSource(() => namingFile(file.path, archiveCodec(codec).pieces(file, size)));
}

/** Damage of an archive is told with its name. */
function* namingFile(path: string, pieces: Iterable<Uint8Array>): Iterable<Uint8Array> {
  try {
    yield* pieces;
  } catch (cause) {
    if (!isTurnlogError(cause, 'TURNLOG_IO')) throw cause;
    const details = { ...cause.details, path, outcome: 'none' };
    throw new TurnlogError('TURNLOG_IO', { details, cause, message: `the archive cannot be read: ${path}` });
  }
}

/** An archived part that is open for reading here and there. */
export class OpenArchive {
  readonly name: string;
  readonly source: ByteSource;
  readonly #file: FileHandle;

  /** @throws TURNLOG_GONE when it is not there. */
  constructor(fs: FileSystem, paths: LogPaths, part: Pick<ArchivedPart, 'name' | 'codec'>) {
    this.name = part.name;
    this.#file = openArchive(fs, paths, part.name);
    this.source = unpacked(this.#file, part.codec);
  }

  close(): void {
    this.#file.close();
  }
}

function openArchive(fs: FileSystem, paths: LogPaths, name: string): FileHandle {
  const path = join(paths.archive, name);
  const file = openInside(fs, paths.archive, name);
  if (file !== null) return file;
  throw new TurnlogError('TURNLOG_GONE', {
    details: { path },
    message: `the archive that the log names is not there: ${path}`,
  });
}

/**
 * The leaf hashes of all records that have left the log, from its first on, 32 bytes each, in blocks.
 *
 * @throws TURNLOG_GONE when a file that holds some of them is not there.
 */
export function* evictedLeaves(
  fs: FileSystem,
  paths: LogPaths,
  newest: EvictionHeader | null,
): Iterable<Uint8Array> {
  const parts = archivedParts(fs, paths, newest);
  // What was dropped last is the base: its file holds everything from the first leaf on.
  const since = partsToFile(parts, newest);
  const base = since[0] === undefined ? newest : since[0].begins;
  if (base !== null) yield* storedLeaves(fs, paths, base);
  for (const part of since) {
    const archive = new OpenArchive(fs, paths, part);
    try {
      yield* leafBlocks(archive.source, Number.MAX_SAFE_INTEGER);
    } finally {
      archive.close();
    }
  }
}

function isUnnamed({ namedBy }: ArchivedPart): boolean {
  return namedBy === null;
}

/** The leaf hashes that are left of everything up to a header whose records were dropped. */
function* storedLeaves(fs: FileSystem, paths: LogPaths, header: EvictionHeader): Iterable<Uint8Array> {
  const path = join(paths.archive, leavesName(header.toSeq));
  const file = openInside(fs, paths.archive, leavesName(header.toSeq));
  const bytes = header.tree.size * leafBytes;
  try {
    if (file === null || file.status().size !== bytes) {
      throw new TurnlogError('TURNLOG_GONE', {
        details: { path, toSeq: header.toSeq },
        message: `the hashes of dropped records are not there: ${path}`,
      });
    }
    yield* blocksOf(file, bytes);
  } finally {
    file?.close();
  }
}

/** Bytes of one leaf hash. */
export const leafBytes = 32;

/** The leaf hashes of the first `to` bytes of a log, 32 bytes each, in blocks; a header is no leaf. */
export function* leafBlocks(source: ByteSource, to: number): Iterable<Uint8Array> {
  let leaves: string[] = [];
  const scan = new LogScan(source, { tree: 'hashed', onLeaf: (leaf) => leaves.push(leaf) });
  for (const _pausing of scan.slices(to, limits.rewriteSliceBytes)) {
    yield Buffer.from(leaves.join(''), 'hex');
    leaves = [];
  }
  if (leaves.length > 0) yield Buffer.from(leaves.join(''), 'hex');
}

/**
 * The head of the hash tree over the first `size` records of a log, those that have left it included. `source` is its
 * file, `length` bytes long, and `header` what that begins with.
 *
 * @throws TURNLOG_NOT_FOUND when there were never so many; TURNLOG_GONE when a file that holds hashes is not there.
 */
export function treeHeadAt(
  fs: FileSystem,
  paths: LogPaths,
  header: EvictionHeader | null,
  source: ByteSource,
  length: number,
  size: number,
): { readonly size: number; readonly root: string } {
  const evicted = header?.tree ?? emptyTree;
  const isEvicted = size < evicted.size;
  const leaves = isEvicted ? evictedLeaves(fs, paths, header) : leafBlocks(source, length);
  const tree = new MerkleFrontier(isEvicted ? emptyTree : evicted);
  for (const leaf of eachLeaf(leaves)) {
    if (tree.size >= size) break;
    tree.add(leaf);
  }
  if (tree.size === size) return { size, root: treeRoot(tree.head()) };
  throw new TurnlogError('TURNLOG_NOT_FOUND', {
    details: { path: paths.events, size, available: tree.size },
    message: `the log has had ${tree.size} records, not ${size}`,
  });
}

/** The hashes in blocks of them, as 64 hex digits each. */
export function* eachLeaf(blocks: Iterable<Uint8Array>): Iterable<string> {
  for (const block of blocks) {
    const hex = Buffer.from(block.buffer, block.byteOffset, block.length).toString('hex');
    for (let at = 0; at < hex.length; at += 2 * leafBytes) yield hex.slice(at, at + 2 * leafBytes);
  }
}
