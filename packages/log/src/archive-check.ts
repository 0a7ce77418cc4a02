import { join } from 'node:path';
import { listIfThere } from '@turnlog/fs';
import { type FileSystem, isTurnlogError, RunningSha256 } from '@turnlog/kernel';
import { archiveCodec } from './archive-codec.js';
import { blocksOf } from './archive-file.js';
import type { EvictionHeader } from './eviction-record.js';
import type { ByteSource } from './line-framer.js';
import {
  type ArchivedPart,
  eachLeaf,
  evictedLeaves,
  headerIn,
  leafBlocks,
  leafBytes,
  newestBefore,
  OpenArchive,
} from './log-history.js';
import { archivedTo, type LogPaths, leavesName, logPaths } from './log-layout.js';
import type { LogReader } from './log-reader.js';
import { emptyTree, MerkleFrontier, type TreeHead } from './merkle-frontier.js';
import { openInside } from './read-text.js';
import { Scanner } from './scanner.js';

/**
 * Whether the files of a log's archive are those that its headers name: the first names the newest, the first line
 * of each the one before. What no header names is what a crash has left behind an archive that was just written, or
 * hashes that newer ones stand for.
 */

/** What is wrong with a file of the archive, or with one that should be there. */
export interface ArchiveFault {
  readonly kind: 'missing' | 'damaged' | 'unnamed';
  readonly path: string;
  /** One sentence. */
  readonly message: string;
  /** Of one that is unnamed: whether all of it stands in the log or in a named archive too, byte for byte. */
  readonly isSpare: boolean;
}

/**
 * Looks at the archive of a log; nothing is changed.
 *
 * @param depth `whole` reads all of it: content against the digest that the header names, leaf hashes against its
 *   tree. `names` reads the first line of each file only, and all of one that nothing names.
 */
export function checkArchives(
  fs: FileSystem,
  reader: LogReader,
  depth: 'names' | 'whole',
): readonly ArchiveFault[] {
  return new ArchiveCheck(fs, reader, depth).run();
}

class ArchiveCheck {
  readonly #fs: FileSystem;
  readonly #reader: LogReader;
  readonly #paths: LogPaths;
  readonly #isWhole: boolean;
  readonly #faults: ArchiveFault[] = [];
  /** Names of files that belong to the log. */
  readonly #named = new Set<string>();

  constructor(fs: FileSystem, reader: LogReader, depth: 'names' | 'whole') {
    this.#fs = fs;
    this.#reader = reader;
    this.#paths = logPaths(reader.directory);
    this.#isWhole = depth === 'whole';
  }

  run(): readonly ArchiveFault[] {
    const header =
      this.#reader.state.evicted === null ? null : headerIn(this.#reader.source, this.#reader.length);
    const names = this.#names();
    if (header === null && names.length === 0) return [];
    this.#checkChain(header);
    for (const name of names) if (!this.#named.has(name)) this.#checkUnnamed(name, header);
    return this.#faults;
  }

  #names(): readonly string[] {
    return listIfThere(this.#fs, this.#paths.archive)
      .filter(({ kind, name }) => kind === 'file' && (archivedTo(name) !== null || leavesToOf(name) !== null))
      .map(({ name }) => name);
  }

  /** From the newest to the oldest, as far as one leads to the next. */
  #checkChain(newest: EvictionHeader | null): void {
    let areLeavesChecked = false;
    for (let header = newest; header !== null; ) {
      if (header.archive === null && !areLeavesChecked) {
        areLeavesChecked = true;
        this.#checkLeaves(header);
      }
      const name: string | null = header.archive?.file ?? newestBefore(this.#fs, this.#paths, header.fromSeq);
      if (name === null) return;
      if (this.#named.has(name)) {
        this.#fault(
          'damaged',
          join(this.#paths.archive, name),
          'the headers of the archives lead back to it',
        );
        return;
      }
      this.#named.add(name);
      const begins: EvictionHeader | null | 'unknown' = this.#checkPart(name, header);
      if (begins === 'unknown') return;
      header = begins;
    }
  }

  /** The header that an archive begins with; `unknown` when it does not tell. */
  #checkPart(name: string, names: EvictionHeader): EvictionHeader | null | 'unknown' {
    const codec = archivedTo(name)?.codec;
    const path = join(this.#paths.archive, name);
    if (codec === undefined || this.#fs.status(path)?.kind !== 'file') {
      this.#fault('missing', path, `the archive of the records up to seq ${names.toSeq} is not there`);
      return 'unknown';
    }
    return this.#reading(path, () => {
      const part = new OpenArchive(this.#fs, this.#paths, { name, codec });
      try {
        const begins = headerIn(part.source, Number.MAX_SAFE_INTEGER);
        const namedBy = names.archive === null ? null : names;
        if (this.#isWhole) this.#checkContent(path, { name, codec, namedBy, begins }, part.source);
        return begins;
      } finally {
        part.close();
      }
    });
  }

  /** A file that cannot be unpacked is a finding; a disk that cannot be read is not. */
  #reading<Result>(path: string, work: () => Result): Result | 'unknown' {
    try {
      return work();
    } catch (error) {
      if (!isTurnlogError(error, 'TURNLOG_IO') || error.details['reason'] === undefined) throw error;
      this.#fault('damaged', path, `it cannot be unpacked: ${error.message}`);
      return 'unknown';
    }
  }

  #checkContent(path: string, { codec, namedBy, begins }: ArchivedPart, source: ByteSource): void {
    const named = namedBy?.archive ?? null;
    if (namedBy === null || named === null) return;
    const { bytes, rawBytes, sha256 } = this.#contentOf(path, codec);
    if (bytes !== named.bytes || rawBytes !== named.raw_bytes || sha256 !== named.raw_sha256) {
      const message = `it holds ${rawBytes} bytes in ${bytes}, and not the ${named.raw_bytes} in ${named.bytes} that its header names`;
      this.#fault('damaged', path, message);
    } else if (!isTreeOver(begins?.tree ?? emptyTree, leafBlocks(source, rawBytes), namedBy.tree)) {
      this.#fault('damaged', path, 'its records do not lead to the hash tree that its header names');
    }
  }

  #contentOf(
    path: string,
    codec: ArchivedPart['codec'],
  ): { readonly bytes: number; readonly rawBytes: number; readonly sha256: string } {
    const digest = new RunningSha256();
    let rawBytes = 0;
    const file = this.#fs.open(path, 'read');
    try {
      const bytes = file.status().size;
      for (const piece of archiveCodec(codec).pieces(file, bytes)) {
        digest.update(piece);
        rawBytes += piece.length;
      }
      return { bytes, rawBytes, sha256: digest.digestHex() };
    } finally {
      file.close();
    }
  }

  /** What is left of records that were dropped: the hashes of everything up to there. */
  #checkLeaves(header: EvictionHeader): void {
    const name = leavesName(header.toSeq);
    const path = join(this.#paths.archive, name);
    this.#named.add(name);
    const file = openInside(this.#fs, this.#paths.archive, name);
    if (file === null) {
      this.#fault(
        'missing',
        path,
        `the hashes of the dropped records up to seq ${header.toSeq} are not there`,
      );
      return;
    }
    try {
      const { size } = file.status();
      const isRight = size === header.tree.size * leafBytes;
      if (isRight && (!this.#isWhole || isTreeOver(emptyTree, blocksOf(file, size), header.tree))) return;
      this.#fault('damaged', path, 'its hashes are not those that the header of the log stands for');
    } finally {
      file.close();
    }
  }

  #checkUnnamed(name: string, header: EvictionHeader | null): void {
    const path = join(this.#paths.archive, name);
    const isSpare = this.#faults.length === 0 && this.#isElsewhere(name, header);
    const message = isSpare
      ? 'no header names it, and all of it stands elsewhere: it can go'
      : 'no header names it, and it cannot be told that all of it stands elsewhere';
    this.#faults.push({ kind: 'unnamed', path, message, isSpare });
  }

  #isElsewhere(name: string, header: EvictionHeader | null): boolean {
    try {
      return archivedTo(name) === null
        ? this.#areLeavesElsewhere(name, header)
        : this.#areRecordsElsewhere(name);
    } catch (error) {
      // What cannot be read, or has left the log, cannot be compared.
      if (isTurnlogError(error, 'TURNLOG_IO') || isTurnlogError(error, 'TURNLOG_GONE')) return false;
      throw error;
    }
  }

  /** Each record of it against the one of the same place in the whole history of the log. */
  #areRecordsElsewhere(name: string): boolean {
    const codec = archivedTo(name)?.codec ?? 'gzip';
    const part = new OpenArchive(this.#fs, this.#paths, { name, codec });
    try {
      const scanner = new Scanner(part.source, { to: Number.MAX_SAFE_INTEGER });
      let others: Iterator<{ readonly bytes: Uint8Array }> | null = null;
      for (let piece = scanner.next(); piece !== null; piece = scanner.next()) {
        if (piece.verdict !== 'record') return false;
        const isHeader = piece.offset === 0 && piece.record.type === 'log.evicted';
        if (isHeader) continue;
        others ??= this.#recordsFrom(piece.seq);
        const other = others.next();
        if (other.done === true || Buffer.compare(other.value.bytes, piece.bytes) !== 0) return false;
      }
      return true;
    } finally {
      part.close();
    }
  }

  #recordsFrom(seq: number): Iterator<{ readonly bytes: Uint8Array }> {
    return this.#reader.readRange(seq, Number.MAX_SAFE_INTEGER, { archived: true })[Symbol.iterator]();
  }

  /** Each hash of it against that of the same number among all that the log has. */
  #areLeavesElsewhere(name: string, header: EvictionHeader | null): boolean {
    const file = openInside(this.#fs, this.#paths.archive, name);
    if (file === null) return false;
    try {
      const { size } = file.status();
      return size % leafBytes === 0 && isPrefix(blocksOf(file, size), this.#allLeaves(header));
    } finally {
      file.close();
    }
  }

  *#allLeaves(header: EvictionHeader | null): Iterable<Uint8Array> {
    yield* evictedLeaves(this.#fs, this.#paths, header);
    yield* leafBlocks(this.#reader.source, this.#reader.length);
  }

  #fault(kind: 'missing' | 'damaged', path: string, message: string): void {
    this.#faults.push({ kind, path, message, isSpare: false });
  }
}

/** The seq that the name of a file of hashes says; null for any other name. */
function leavesToOf(name: string): number | null {
  const found = /^leaves-([1-9]\d{0,15})\.bin$/.exec(name);
  return found === null ? null : Number(found[1]);
}

/** Whether a tree that goes on from `before` with these leaves is `after`. */
function isTreeOver(before: TreeHead, leaves: Iterable<Uint8Array>, after: TreeHead): boolean {
  const tree = new MerkleFrontier(before);
  for (const leaf of eachLeaf(leaves)) tree.add(leaf);
  const head = tree.head();
  return head.size === after.size && head.frontier.join() === after.frontier.join();
}

/** Whether `bytes` are the first of `whole`; both come in blocks of any size. */
function isPrefix(bytes: Iterable<Uint8Array>, whole: Iterable<Uint8Array>): boolean {
  const others = whole[Symbol.iterator]();
  let other = new Uint8Array(0);
  for (const block of bytes) {
    for (let at = 0; at < block.length; ) {
      while (other.length === 0) {
        const next = others.next();
        if (next.done === true) return false;
        other = next.value.slice();
      }
      const length = Math.min(block.length - at, other.length);
      if (Buffer.compare(block.subarray(at, at + length), other.subarray(0, length)) !== 0) return false;
      other = other.subarray(length);
      at += length;
    }
  }
  return true;
}
