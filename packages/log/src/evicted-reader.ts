import { type FileSystem, TurnlogError } from '@turnlog/kernel';
import { endedEarly } from './archive-file.js';
import type { EvictionHeader } from './eviction-record.js';
import {
  type ArchivedPart,
  archivedParts,
  archivedRecords,
  OpenArchive,
  partOfTurn,
  partsBetween,
  partsToFile,
} from './log-history.js';
import type { LogPaths } from './log-layout.js';
import type { LogRecord } from './log-record.js';
import { type LogState, turnBaseOf } from './log-state.js';
import { readFully } from './read-fully.js';

export interface ArchiveOptions {
  /** Reads records that have left the log from its archives; without it they are gone. */
  readonly archived?: boolean;
}

/** Reads what has left a log, where it was archived, and says that it is gone where it was not. */
export class EvictedReader {
  readonly #fs: FileSystem;
  readonly #paths: LogPaths;
  readonly #sessionId: string;
  readonly #state: LogState;
  readonly #readHeader: () => EvictionHeader | null;
  #parts: readonly ArchivedPart[] | null = null;
  #open: OpenArchive | null = null;

  /** `readHeader` gives the header that the file begins with; null when the log has not been cut. */
  constructor(
    fs: FileSystem,
    paths: LogPaths,
    sessionId: string,
    state: LogState,
    readHeader: () => EvictionHeader | null,
  ) {
    this.#fs = fs;
    this.#paths = paths;
    this.#sessionId = sessionId;
    this.#state = state;
    this.#readHeader = readHeader;
  }

  /** The archived parts of the log that its file goes on from, oldest first. */
  parts(): readonly ArchivedPart[] {
    this.#parts ??= archivedParts(this.#fs, this.#paths, this.#readHeader());
    return this.#parts;
  }

  /** The bytes of a record that was read from an archive. Reading forwards costs least. */
  bytesIn(name: string, offset: number, length: number): Uint8Array {
    if (this.#open?.name !== name) {
      this.close();
      const part = this.parts().find((known) => known.name === name);
      if (part === undefined) throw new TurnlogError('TURNLOG_GONE', { details: { archive: name } });
      this.#open = new OpenArchive(this.#fs, this.#paths, part);
    }
    const bytes = new Uint8Array(length);
    if (!readFully(this.#open.source, bytes, offset)) throw endedEarly(offset, length);
    return bytes;
  }

  close(): void {
    this.#open?.close();
    this.#open = null;
  }

  /** Everything that was archived and that the file goes on from without a gap, with the header it begins with, if any. */
  *everything(): Iterable<LogRecord> {
    yield* archivedRecords(this.#fs, this.#paths, this.#toFile(), 'first-header');
  }

  /** Whether `everything` has anything to give. */
  get isAnyArchived(): boolean {
    return this.#toFile().length > 0;
  }

  /** Seq of the first record from which all can be read, in archives or in the file. */
  get firstReadableSeq(): number {
    const [oldest] = this.#toFile();
    if (oldest === undefined) return this.#firstSeq;
    return oldest.begins === null ? (oldest.namedBy?.fromSeq ?? this.#firstSeq) : oldest.begins.toSeq + 1;
  }

  #toFile(): readonly ArchivedPart[] {
    return partsToFile(this.parts(), this.#readHeader());
  }

  /** Whether turn `number`, or the record of that seq, has left the log. */
  hasTurn(number: number): boolean {
    return number >= 1 && number < turnBaseOf(this.#state);
  }

  hasSeq(seq: number, { archived = false }: ArchiveOptions = {}): boolean {
    const { evicted, isPrefixMissing } = this.#state;
    if (seq < this.#firstSeq) return evicted !== null || isPrefixMissing;
    // The file may begin with a repeat of the last seq that has left it.
    return archived && evicted !== null && seq <= evicted.toSeq;
  }

  /** @throws TURNLOG_GONE */
  *turn(turn: number, { archived = false }: ArchiveOptions): Iterable<LogRecord> {
    const part = partOfTurn(this.#fs, this.#paths, this.parts(), turn);
    let isFound = false;
    if (archived && part !== null) {
      for (const record of archivedRecords(this.#fs, this.#paths, [part])) {
        if (record.turn !== turn) continue;
        isFound = true;
        yield record;
      }
    }
    if (isFound) return;
    const details = {
      sessionId: this.#sessionId,
      turn,
      firstTurn: turnBaseOf(this.#state),
      firstSeq: this.#firstSeq,
      archive: part?.name ?? null,
    };
    throw new TurnlogError('TURNLOG_GONE', { details });
  }

  /** @throws TURNLOG_GONE */
  *range(from: number, to: number, { archived = false }: ArchiveOptions): Iterable<LogRecord> {
    const lastSeq = this.#state.evicted?.toSeq ?? this.#firstSeq - 1;
    const parts = archived ? partsBetween(this.parts(), from, Math.min(to, lastSeq)) : null;
    if (parts === null) {
      if (from >= this.#firstSeq) return;
      const details = { sessionId: this.#sessionId, from, firstSeq: this.#firstSeq };
      throw new TurnlogError('TURNLOG_GONE', { details });
    }
    for (const record of archivedRecords(this.#fs, this.#paths, parts)) {
      if (record.seq >= from && record.seq <= to) yield record;
    }
  }

  /** Seq of the first record in the file, or of the next one when it holds none. */
  get #firstSeq(): number {
    return this.#state.firstSeq ?? this.#state.order.highestSeq + 1;
  }
}
