import { peekRecord } from '@turnlog/events';
import { type FileHandle, type FileSystem, TurnlogError } from '@turnlog/kernel';
import { endedEarly } from './archive-file.js';
import { BackwardLines } from './backward-lines.js';
import type { DamageReport } from './damage-report.js';
import { type ArchiveOptions, EvictedReader } from './evicted-reader.js';
import type { EvictionHeader } from './eviction-record.js';
import { type ClosedTurn, type OpenTurn, raiseTurnCount } from './lifecycle.js';
import type { ByteSource } from './line-framer.js';
import { type ArchivedPart, headerIn, treeHeadAt } from './log-history.js';
import type { LogPaths } from './log-layout.js';
import { LogRecord } from './log-record.js';
import { LogScan, scanWholeLog } from './log-scan.js';
import { emptyLogState, type LogState, turnBaseOf } from './log-state.js';
import { treeRoot } from './merkle-frontier.js';
import { readFully } from './read-fully.js';
import { type Scanned, Scanner } from './scanner.js';
import { type IndexedTurns, TurnTable } from './turn-table.js';

export interface ReaderOptions {
  /** The longest line that is taken, in bytes; longer ones are reported as damage. */
  readonly lineBytesMax?: number;
  /** What to do with a log of which no record can be read: refuse it, by default, or show its damage. */
  readonly unreadable?: 'refuse' | 'show';
  /** `hashed` also computes the hash tree over what no manifest covers, which costs about as much as reading it. */
  readonly tree?: 'hashed' | 'none';
  /**
   * Given for a directory that another program wrote: says, from the length found at open, which number the
   * first turn has where the log itself does not say it. Nothing but the log is read then.
   */
  readonly foreignTurnBase?: (length: number) => number;
}

/** A turn, closed or open, as `turns()` lists it. */
export type TurnSummary = ClosedTurn | (OpenTurn & { readonly status: 'open' });

/** The closed turns of the file, oldest first. */
export function* closedTurns(reader: LogReader): Iterable<ClosedTurn> {
  for (const turn of reader.turns()) if (turn.status !== 'open') yield turn;
}

/** What a reader goes by besides its file. */
export interface ReaderBasis extends ReaderOptions {
  readonly indexed: { readonly path: string; readonly bytes: number } | null;
  readonly generation: string | null;
}

/**
 * A log as it was when it was opened. Records appended later are not seen; a rewrite of the log in the meantime
 * changes nothing, because the old file stays open until `close`.
 */
export class LogReader {
  readonly sessionId: string;
  readonly directory: string;
  /** What is known of the whole log. */
  readonly state: LogState;
  /** Which rewrite of the log this is; null when its manifest is missing or not to be believed. */
  readonly generation: string | null;
  /** Size and root of the hash tree over all records, evicted ones included; null unless it was asked for. */
  readonly tree: { readonly size: number; readonly root: string } | null;
  /** Bytes of the file when it was opened. */
  readonly length: number;
  /** Device and inode of the open file, as text. */
  readonly fileIdentity: string;

  readonly #file: FileHandle;
  readonly #indexFile: FileHandle | null;
  readonly #fs: FileSystem;
  readonly #paths: LogPaths;
  readonly #evicted: EvictedReader;
  #turns: TurnTable;
  readonly #scan: LogScan;
  readonly #options: ReaderOptions;
  readonly #isWhole: boolean;

  constructor(
    fs: FileSystem,
    paths: LogPaths,
    sessionId: string,
    file: FileHandle,
    scan: LogScan,
    basis: ReaderBasis,
  ) {
    const status = file.status();
    this.sessionId = sessionId;
    this.directory = paths.directory;
    this.state = scan.state;
    this.generation = basis.generation;
    this.tree = basis.tree === 'hashed' ? { size: scan.tree.size, root: treeRoot(scan.tree.head()) } : null;
    this.length = scan.state.length;
    this.fileIdentity = `${status.device}:${status.inode}`;
    this.#fs = fs;
    this.#paths = paths;
    this.#file = file;
    this.#scan = scan;
    this.#options = basis;
    this.#evicted = new EvictedReader(fs, paths, sessionId, scan.state, () => this.#header());
    this.#isWhole = basis.indexed === null && basis.generation === null;
    this.#indexFile = basis.indexed === null ? null : fs.open(basis.indexed.path, 'read');
    const indexed: IndexedTurns | null =
      this.#indexFile === null || basis.indexed === null
        ? null
        : { source: this.#indexFile, bytes: basis.indexed.bytes };
    this.#turns = new TurnTable(indexed, scan.queue.turns());
  }

  close(): void {
    try {
      this.#file.close();
    } finally {
      this.#closeOthers();
    }
  }

  /** Whatever else is open, also when a file before could not be closed. */
  #closeOthers(): void {
    try {
      this.#indexFile?.close();
    } finally {
      this.#evicted.close();
    }
  }

  /** The bytes of the file, of which the first `length` are meant. */
  get source(): ByteSource {
    return this.#file;
  }

  /** The damaged places, found by reading all of the log if that has not been done. */
  damage(): readonly DamageReport[] {
    if (this.#isWhole) return this.#scan.damage();
    return scanWholeLog(this.#file, this.length, { tree: 'none', ...this.#lineLimit() }).damage();
  }

  /** All turns of the file, oldest first, the open one last. */
  *turns(): Iterable<TurnSummary> {
    let next = turnBaseOf(this.state);
    for (const turn of this.#turns.from(next)) {
      // The index is never synced: a crash may have taken a line out of its middle.
      if (turn.turn !== next) break;
      yield turn;
      next += 1;
    }
    const { open, turnCount } = this.state.lifecycle;
    if (next <= turnCount) yield* this.#rescanTurns().from(next);
    if (open !== null) yield { ...open, status: 'open' };
  }

  /** Records and damage in file order, all of them. */
  *pieces(): Iterable<Scanned> {
    yield* this.#scanBetween(this.#stateAtStart(), this.length);
  }

  /** All records in file order. */
  *records(): Iterable<LogRecord> {
    for (const piece of this.pieces()) {
      if (piece.verdict === 'record') yield new LogRecord(piece);
    }
  }

  /**
   * All records that can still be read, archived ones first. Behind records that were dropped it begins with the
   * header that stands for them.
   */
  *history(): Iterable<LogRecord> {
    const isFromArchives = this.#evicted.isAnyArchived;
    yield* this.#evicted.everything();
    for (const piece of this.pieces()) {
      if (piece.verdict === 'record' && !(isFromArchives && this.#isHeader(piece)))
        yield new LogRecord(piece);
    }
  }

  /** Seq of the first record from which all can be read, in archives or in the file. */
  get firstReadableSeq(): number {
    return this.#evicted.firstReadableSeq;
  }

  /**
   * The records of turn `number`, the open turn included; one that has left the log is read from its archive when
   * `archived` asks for that.
   *
   * @throws TURNLOG_TURN_NOT_FOUND; TURNLOG_GONE with `firstTurn`, `firstSeq` and `archive`, null when the turn was
   *   dropped, when the turn has left the log.
   */
  *readTurn(number: number, options: ArchiveOptions = {}): Iterable<LogRecord> {
    if (this.#evicted.hasTurn(number)) {
      yield* this.#evicted.turn(number, options);
      return;
    }
    const turn = this.#findTurn(number);
    const before = this.#turns.findLast((candidate) => candidate.turn < number);
    // The end of a turn may lie within a line, which is judged whole: so the end stops the reading, not the bytes.
    for (const piece of this.#scanBetween(this.#stateBehind(before), this.length)) {
      if (piece.offset >= turn.end) return;
      if (piece.verdict === 'record' && piece.offset >= turn.start) yield new LogRecord(piece);
      if (piece.end >= turn.end) return;
    }
  }

  /**
   * The records with a seq from `from` to `to`, both included, in file order; repeated seqs all appear. Those that
   * have left the log are read from its archives when `archived` asks for that.
   *
   * @throws TURNLOG_GONE with `firstSeq` when `from` has left the log, or was dropped.
   */
  *readRange(from: number, to: number, options: ArchiveOptions = {}): Iterable<LogRecord> {
    if (this.#evicted.hasSeq(from, options)) yield* this.#evicted.range(from, to, options);
    const isOrdered = this.state.unorderedCount === 0;
    const before = isOrdered ? this.#turns.findLast((turn) => turn.lastSeq < from) : null;
    for (const piece of this.#scanBetween(this.#stateBehind(before), this.length)) {
      if (piece.verdict !== 'record' || piece.seq < from || this.#isHeader(piece)) continue;
      if (piece.seq <= to) yield new LogRecord(piece);
      else if (isOrdered) return;
    }
  }

  /** The archived parts of the log that its file goes on from, oldest first. */
  archives(): readonly ArchivedPart[] {
    return this.#evicted.parts();
  }

  /**
   * The head of the hash tree over the first `size` records that the log has ever had, evicted ones included.
   *
   * @throws TURNLOG_NOT_FOUND when it never had so many; TURNLOG_GONE when a file that holds their hashes is not there.
   */
  root(size: number): { readonly size: number; readonly root: string } {
    return treeHeadAt(this.#fs, this.#paths, this.#header(), this.#file, this.length, size);
  }

  /** The header of the eviction that cut the log; null when it has not been cut. */
  #header(): EvictionHeader | null {
    return this.state.evicted === null ? null : headerIn(this.#file, this.length);
  }

  /** The records that lie before `end` in the file, in its order; the header of an eviction is none. */
  *recordsBefore(end: number): Iterable<LogRecord> {
    for (const piece of this.#scanBetween(this.#stateAtStart(), end)) {
      if (piece.verdict === 'record' && !this.#isHeader(piece)) yield new LogRecord(piece);
    }
  }

  /** Seq of the first record that lies at or behind `offset`, the start of a line; null when there is none. */
  firstSeqFrom(offset: number): number | null {
    const before = this.#turns.findLast((turn) => turn.end <= offset);
    for (const piece of this.#scanBetween(this.stateAtLine(offset, before?.lastSeq ?? 0), this.length)) {
      if (piece.verdict === 'record') return piece.seq;
    }
    return null;
  }

  /** The last `count` records, read from the end of the file: the cost is that of what is returned. */
  tail(count: number): readonly LogRecord[] {
    if (count <= 0) return [];
    const records: LogRecord[] = [];
    for (const piece of this.#scanBetween(this.#stateForTail(count), this.length)) {
      if (piece.verdict !== 'record' || this.#isHeader(piece)) continue;
      records.push(new LogRecord(piece));
      if (records.length > count) records.shift();
    }
    return records;
  }

  /** What a reader needs to know to begin at the line at `offset`, the record before being `seq`. */
  stateAtLine(offset: number, seq: number): LogState {
    if (offset === 0) return this.#stateAtStart();
    const before = this.#turns.findLast((turn) => turn.end <= offset);
    const inside = this.#turns.findLast((turn) => turn.start < offset);
    const { open } = this.state.lifecycle;
    const present = inside !== null && inside.end > offset ? inside : open;
    const turnCount = before?.turn ?? turnBaseOf(this.state) - 1;
    return {
      ...emptyLogState,
      length: offset,
      lifecycle: {
        ...emptyLogState.lifecycle,
        turnCount,
        open: present !== null && present.start < offset ? { ...present, end: offset } : null,
        eventCount: Math.max(before?.upto ?? 0, 1),
      },
      order: { highestSeq: seq, lastTsMs: null, recordCount: 1 },
      firstSeq: this.state.firstSeq,
      firstTurn: turnBaseOf(this.state),
    };
  }

  /** The bytes of a record that was read before, wherever it was read from, without its 0x0A. */
  bytesOf({ archive, offset, length }: Pick<LogRecord, 'archive' | 'offset' | 'length'>): Uint8Array {
    if (archive !== null) return this.#evicted.bytesIn(archive, offset, length);
    const bytes = new Uint8Array(length);
    if (!readFully(this.#file, bytes, offset)) throw endedEarly(offset, length);
    return bytes;
  }

  /** The stored bytes from `start` to `end`, a block at a time. */
  *bytes(start: number, end: number): Iterable<Uint8Array> {
    const block = new Uint8Array(Math.min(1_048_576, Math.max(end - start, 1)));
    for (let offset = start; offset < end; ) {
      const count = this.#file.read(block.subarray(0, Math.min(block.length, end - offset)), offset);
      if (count === 0) return;
      yield block.subarray(0, count);
      offset += count;
    }
  }

  #isHeader(piece: Scanned): boolean {
    return piece.verdict === 'record' && piece.offset === 0 && this.state.evicted !== null;
  }

  #lineLimit(): { readonly lineBytesMax?: number } {
    const { lineBytesMax } = this.#options;
    return lineBytesMax === undefined ? {} : { lineBytesMax };
  }

  *#scanBetween(from: LogState, to: number): Iterable<Scanned> {
    const scanner = new Scanner(this.#file, { state: from, to, ...this.#lineLimit() });
    for (;;) {
      const piece = scanner.next();
      if (piece === null) return;
      yield piece;
    }
  }

  #stateAtStart(): LogState {
    const lifecycle = raiseTurnCount(emptyLogState.lifecycle, turnBaseOf(this.state) - 1);
    return { ...emptyLogState, lifecycle };
  }

  /** What is known behind a closed turn; of a log whose seqs do not rise only the start is certain. */
  #stateBehind(turn: ClosedTurn | null): LogState {
    if (turn === null || this.state.unorderedCount > 0) return this.#stateAtStart();
    return { ...this.stateAtLine(turn.end, turn.lastSeq), order: orderBehind(turn) };
  }

  #findTurn(number: number): ClosedTurn | OpenTurn {
    const { open } = this.state.lifecycle;
    if (open?.turn === number) return open;
    const found = this.#turns.findLast((turn) => turn.turn <= number);
    if (found?.turn === number && this.#isTurnThere(found)) return found;
    const scanned = this.#rescanTurns().findLast((turn) => turn.turn <= number);
    if (scanned?.turn === number) return scanned;
    const details = {
      sessionId: this.sessionId,
      turn: number,
      lastTurn: open?.turn ?? this.state.lifecycle.turnCount,
    };
    throw new TurnlogError('TURNLOG_TURN_NOT_FOUND', { details });
  }

  /** Whether the log itself has the first record of a turn where the index says. */
  #isTurnThere(turn: ClosedTurn): boolean {
    for (const piece of this.#scanBetween(this.stateAtLine(turn.start, turn.firstSeq - 1), turn.end)) {
      return (
        piece.verdict === 'record' && piece.record.kind === 'turn-started' && piece.seq === turn.firstSeq
      );
    }
    return false;
  }

  /** The turns as the log itself has them, for an index that turned out to be wrong. */
  #rescanTurns(): TurnTable {
    const base = turnBaseOf(this.state);
    const scan = new LogScan(this.#file, { tree: 'none', turnBase: base, ...this.#lineLimit() }).run(
      this.length,
    );
    this.#turns = new TurnTable(null, scan.queue.turns());
    return this.#turns;
  }

  /**
   * Where to begin for the last `count` records: at a record that states its seq, one before the first that is
   * wanted, so that everything behind it is judged as a scan from the start would.
   */
  #stateForTail(count: number): LogState {
    if (this.state.unorderedCount > 0) return this.#stateAtStart();
    const lines = new BackwardLines(this.#file, this.length);
    for (let found = 0; lines.next(); ) {
      const record = peekRecord(lines.bytes, 0, lines.bytes.length);
      if (typeof record === 'string' || record.statedSeq === null) continue;
      found += 1;
      if (found > count) return this.stateAtLine(lines.offset, record.statedSeq - 1);
    }
    return this.#stateAtStart();
  }
}

function orderBehind(turn: ClosedTurn): LogState['order'] {
  return { highestSeq: turn.lastSeq, lastTsMs: turn.endTsMs, recordCount: turn.upto };
}
