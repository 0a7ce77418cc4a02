import {
  type Clock,
  type FileHandle,
  type FileSystem,
  limits,
  sha256Hex,
  TurnlogError,
} from '@turnlog/kernel';
import { BackwardLines } from './backward-lines.js';
import { type LogPaths, logPaths } from './log-layout.js';
import type { LogReader } from './log-reader.js';
import { LogRecord } from './log-record.js';
import type { LogState } from './log-state.js';
import { openLogReader } from './open-log-reader.js';
import { Scanner } from './scanner.js';

/**
 * How far a reader has come, to be stored together with what it made of the records: it moves only with the
 * consumer's own commit.
 */
export interface LogCursor {
  /** Which rewrite of the log; null when it was unknown. */
  readonly generation: string | null;
  /** Position behind the last line that was read. */
  readonly offset: number;
  /** SHA-256 of that line without its 0x0A; null at the start of the log. */
  readonly sha256: string | null;
  /** Seq of the last record that was read; 0 before the first. */
  readonly seq: number;
}

/** Before the first record. */
export const startCursor: LogCursor = { generation: null, offset: 0, sha256: null, seq: 0 };

interface Source {
  readonly file: FileHandle;
  readonly identity: string;
  readonly generation: string | null;
}

/**
 * Reads a log as it grows. It delivers records that a 0x0A ends and nothing else, so it waits silently in the
 * middle of a line; size and inode decide whether there is anything new, not events or times.
 */
export class LogFollower {
  readonly #fs: FileSystem;
  readonly #paths: LogPaths;
  readonly #sessionId: string;
  #source: Source | null = null;
  #cursor: LogCursor;
  #state: LogState | null = null;
  #seenBytes = -1;

  constructor(fs: FileSystem, directory: string, sessionId: string, from: LogCursor = startCursor) {
    this.#fs = fs;
    this.#paths = logPaths(directory);
    this.#sessionId = sessionId;
    this.#cursor = from;
  }

  /** How far `poll` has come. */
  get cursor(): LogCursor {
    return this.#cursor;
  }

  /**
   * The records that have come since the last call.
   *
   * @throws TURNLOG_REWOUND when the log no longer holds what was read; TURNLOG_GONE with `firstSeq` when it was
   *   rewritten and the next record has left it; TURNLOG_NOT_FOUND, TURNLOG_IO.
   */
  poll(): readonly LogRecord[] {
    const source = this.#presentSource();
    const bytes = source.file.status().size;
    if (bytes < this.#cursor.offset) throw this.#rewound('the log is shorter than what was read');
    if (bytes === this.#seenBytes) return [];
    this.#checkLastLine(source);
    const records = this.#readOn(source, bytes);
    this.#seenBytes = bytes;
    return records;
  }

  close(): void {
    this.#source?.file.close();
    this.#source = null;
  }

  #presentSource(): Source {
    const status = this.#fs.status(this.#paths.events);
    const identity = status === null ? null : `${status.device}:${status.inode}`;
    if (this.#source !== null && this.#source.identity === identity) return this.#source;
    const isRewrite = this.#source !== null;
    this.close();
    return this.#openSource(isRewrite);
  }

  /** Opens the log that has the name now and finds the place to go on from. */
  #openSource(isRewrite: boolean): Source {
    const reader = openLogReader(this.#fs, this.#paths.directory, this.#sessionId, { unreadable: 'show' });
    try {
      const { generation, fileIdentity: identity } = reader;
      const isSameFile = !isRewrite && this.#isLineThere(reader);
      if (!isSameFile && this.#cursor.offset > 0) this.#moveTo(reader, generation, isRewrite);
      this.#state = reader.stateAtLine(this.#cursor.offset, this.#cursor.seq);
      this.#cursor = { ...this.#cursor, generation };
      this.#source = { file: this.#fs.open(this.#paths.events, 'read'), identity, generation };
      this.#seenBytes = -1;
      return this.#source;
    } finally {
      reader.close();
    }
  }

  #isLineThere(reader: LogReader): boolean {
    const { offset, sha256 } = this.#cursor;
    if (offset > reader.length) return false;
    if (sha256 === null) return true;
    return lineBefore({ read: (into, at) => readFrom(reader, into, at) }, offset) === sha256;
  }

  /** Goes to the place behind the last read seq in a log that was rewritten. */
  #moveTo(reader: LogReader, generation: string | null, isRewrite: boolean): void {
    const { seq } = this.#cursor;
    const isOtherLog = !isRewrite && generation === this.#cursor.generation;
    if (isOtherLog || reader.state.order.highestSeq < seq)
      throw this.#rewound('the log holds other records now');
    const { firstSeq } = reader.state;
    if (firstSeq !== null && seq + 1 < firstSeq) {
      throw new TurnlogError('TURNLOG_GONE', {
        details: { sessionId: this.#sessionId, from: seq + 1, firstSeq },
      });
    }
    const place = firstSeq !== null && seq >= firstSeq ? placeBehind(reader, seq) : placeOfHeader(reader);
    this.#cursor = { generation, ...place, seq: place.offset === 0 ? 0 : seq };
  }

  #checkLastLine(source: Source): void {
    const { offset, sha256 } = this.#cursor;
    if (sha256 !== null && lineBefore(source.file, offset) !== sha256) {
      throw this.#rewound('the last line that was read has changed');
    }
  }

  #readOn(source: Source, to: number): readonly LogRecord[] {
    const from = this.#state;
    if (from === null) return [];
    const scanner = new Scanner(source.file, { state: from, to });
    const records: LogRecord[] = [];
    for (;;) {
      const piece = scanner.next();
      if (piece === null || !piece.isLineEnded) break;
      this.#state = scanner.state;
      const seq = piece.verdict === 'record' ? piece.seq : this.#cursor.seq;
      this.#cursor = { ...this.#cursor, offset: piece.end, seq };
      if (piece.verdict === 'record') records.push(new LogRecord(piece));
    }
    if (this.#cursor.offset > 0)
      this.#cursor = { ...this.#cursor, sha256: lineBefore(source.file, this.#cursor.offset) };
    return records;
  }

  #rewound(reason: string): TurnlogError {
    return new TurnlogError('TURNLOG_REWOUND', {
      details: { sessionId: this.#sessionId, path: this.#paths.events, seq: this.#cursor.seq, reason },
    });
  }
}

type Place = Pick<LogCursor, 'offset' | 'sha256'>;

const atStart: Place = { offset: 0, sha256: null };

/** Behind the record of that seq. */
function placeBehind(reader: LogReader, seq: number): Place {
  let place = atStart;
  for (const record of reader.readRange(seq, seq)) {
    place = { offset: record.end, sha256: sha256Hex(record.bytes) };
  }
  return place;
}

/** Behind the header of an eviction, which stands for what was read before it: it is no news. */
function placeOfHeader(reader: LogReader): Place {
  if (reader.state.evicted === null) return atStart;
  for (const record of reader.records()) return { offset: record.end, sha256: sha256Hex(record.bytes) };
  return atStart;
}

/** SHA-256 of the line that ends at `offset`; null when there is none. */
function lineBefore(source: { read(into: Uint8Array, at: number): number }, offset: number): string | null {
  const lines = new BackwardLines(source, offset);
  return lines.next() ? sha256Hex(lines.bytes) : null;
}

function readFrom(reader: LogReader, into: Uint8Array, at: number): number {
  for (const block of reader.bytes(at, Math.min(at + into.length, reader.length))) {
    into.set(block);
    return block.length;
  }
  return 0;
}

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** How often to look, in milliseconds; by default 250. */
  readonly pollMs?: number;
  /** Resolves when something may have changed, to look sooner; it carries no facts. */
  readonly wake?: () => Promise<void>;
}

/** Records of a log as they come, until `signal` is aborted. Errors as `LogFollower.poll`. */
export async function* follow(
  follower: LogFollower,
  clock: Clock,
  options: FollowOptions = {},
): AsyncGenerator<LogRecord, void, void> {
  const { signal, pollMs = limits.followPollMs, wake } = options;
  try {
    while (signal?.aborted !== true) {
      const records = follower.poll();
      yield* records;
      if (records.length > 0) continue;
      const pause = clock.sleep(pollMs, signal);
      await (wake === undefined ? pause : Promise.race([pause, wake()]));
    }
  } finally {
    follower.close();
  }
}
