import {
  type EncodedEvent,
  encodeEvent,
  encodeRawEvent,
  formatTimestamp,
  lifecycleKindOf,
  recordBytesMax,
  writeRecord,
} from '@turnlog/events';
import { writeAll } from '@turnlog/fs';
import { type FileHandle, isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import { logPaths, type OwnedLog, openLogReader, openOwnedLog } from '@turnlog/log';
import { type Building, type ImportTarget, moveIntoPlace, startBuilding } from './import-target.js';
import { KeySet } from './key-set.js';
import { noHistory, readHistory, type SessionHistory } from './session-history.js';
import type { MappedEvent } from './stream-types.js';

/** Where the events of one session go. */
export interface SessionSink {
  readonly sessionId: string;
  readonly state: 'new' | 'grown';
  readonly history: SessionHistory;
  /** Appends what is not there yet. */
  append(event: MappedEvent): void;
  /** How many events were not there yet. */
  readonly addedCount: number;
  /** The last record of the log. */
  readonly lastSeq: number;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/**
 * Opens a session that exists, or begins to build one. Of a session whose records up to `knownSeq` cannot come
 * again only those behind it are read.
 */
export async function openSink(
  target: ImportTarget,
  sessionId: string,
  knownSeq: number = 0,
): Promise<SessionSink> {
  const directory = `${target.sessionsDirectory}/${sessionId}`;
  if (target.environment.fs.status(directory) === null) {
    return await beginSession(target, sessionId);
  }
  const { environment, lockWaitMs: waitMs = 0 } = target;
  const log = await openOwnedLog(environment, directory, sessionId, { durability: 'buffered', waitMs });
  try {
    const history = readHistory(target.environment.fs, directory, sessionId, knownSeq);
    return new GrowingSession(log, history);
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function beginSession(target: ImportTarget, sessionId: string): Promise<SessionSink> {
  const building = await startBuilding(target);
  try {
    return new NewSession(target, building, sessionId);
  } catch (error) {
    await building.discard();
    throw error;
  }
}

/**
 * Lines carry the times of the source, never before that of the line in front, and none while the source has told
 * none: the time of the import is not that of the events.
 */
class NewSession implements SessionSink {
  readonly sessionId: string;
  readonly state = 'new' as const;
  readonly history: SessionHistory = noHistory;
  addedCount = 0;
  readonly #target: ImportTarget;
  readonly #building: Building;
  readonly #file: FileHandle;
  readonly #keys = new KeySet();
  /** Lines that are not in the file yet. */
  #lines = new Uint8Array(limits.writeBufferBytes * 4);
  #filled = 0;
  #newestMs: number | null = null;
  #newestTs: string | null = null;
  #isOpen = true;

  constructor(target: ImportTarget, building: Building, sessionId: string) {
    this.#target = target;
    this.#building = building;
    this.sessionId = sessionId;
    this.#file = target.environment.fs.open(logPaths(building.directory).events, 'create');
  }

  append(mapped: MappedEvent): void {
    const { key, tsMs } = mapped;
    if (key !== undefined && this.#keys.has(key)) return;
    const encoded = encodedOf(mapped);
    const envelope = {
      seq: this.addedCount + 1,
      ts: this.#timeOf(tsMs ?? null),
      ...(key === undefined ? {} : { key }),
    };
    const room = recordBytesMax(envelope, encoded);
    if (this.#filled + room > this.#lines.length) this.#write();
    if (room > this.#lines.length) this.#lines = new Uint8Array(room);
    this.#filled = writeRecord(this.#lines, this.#filled, envelope, encoded);
    if (key !== undefined) this.#keys.add(key);
    this.addedCount += 1;
  }

  get lastSeq(): number {
    return this.addedCount;
  }

  #timeOf(tsMs: number | null): string | null {
    if (tsMs !== null && (this.#newestMs === null || tsMs > this.#newestMs)) {
      this.#newestMs = tsMs;
      this.#newestTs = formatTimestamp(tsMs);
    }
    return this.#newestTs;
  }

  #write(): void {
    writeAll(this.#file, this.#lines.subarray(0, this.#filled));
    this.#filled = 0;
  }

  async finish(): Promise<void> {
    const { environment } = this.#target;
    const { directory } = this.#building;
    this.#write();
    this.#close();
    await this.#building.release();
    // What a writer finds without a manifest it reads, makes durable and publishes.
    const log = await openOwnedLog(environment, directory, this.sessionId);
    await log.close();
    const reader = openLogReader(environment.fs, directory, this.sessionId);
    const { eventCount } = reader.state.lifecycle;
    const damageCount = reader.state.damage.count;
    reader.close();
    if (eventCount !== this.addedCount || damageCount > 0) {
      const details = { path: directory, eventCount, addedCount: this.addedCount, damageCount };
      throw new TurnlogError('TURNLOG_INTERNAL', { details });
    }
    moveIntoPlace(this.#target, this.#building, this.sessionId);
  }

  async abandon(): Promise<void> {
    try {
      this.#close();
    } finally {
      await this.#building.discard();
    }
  }

  #close(): void {
    if (!this.#isOpen) return;
    // A file whose close fails is closed all the same.
    this.#isOpen = false;
    this.#file.close();
  }
}

const typeHead = '{"type":"';

/** The whole session is read back before it is moved into place, so a text of our own is taken as it is. */
function encodedOf({ event, isClean }: MappedEvent): EncodedEvent {
  if (!('raw' in event)) return encodeEvent(event);
  if (isClean !== true || !event.raw.startsWith(typeHead)) return encodeRawEvent(event.raw);
  const type = event.raw.slice(typeHead.length, event.raw.indexOf('"', typeHead.length));
  return { text: event.raw, type, kind: lifecycleKindOf(type) };
}

/**
 * A session that exists: what is new is appended under its lock, with the source's time, else that of the record in
 * front.
 */
class GrowingSession implements SessionSink {
  readonly sessionId: string;
  readonly state = 'grown' as const;
  readonly history: SessionHistory;
  addedCount = 0;
  readonly #log: OwnedLog;
  readonly #keys = new KeySet();
  #isOpen = true;
  #lastSeq: number;

  constructor(log: OwnedLog, history: SessionHistory) {
    this.#log = log;
    this.#lastSeq = log.lastSeq;
    this.sessionId = log.sessionId;
    this.history = history;
  }

  append({ event, key, tsMs }: MappedEvent): void {
    if (key !== undefined && (this.history.hasKey(key) || this.#keys.has(key))) return;
    const time = tsMs ?? this.#log.state.newestTsMs;
    if (key !== undefined) this.#keys.add(key);
    if (this.#isAppended(event, key === undefined ? { tsMs: time } : { tsMs: time, key }))
      this.addedCount += 1;
  }

  /**
   * The history knows the keys behind the state that this pass goes on from, and the log all of them: what it holds
   * already, from an earlier row that said the same, is skipped like any other known part.
   */
  #isAppended(
    event: MappedEvent['event'],
    options: { readonly tsMs: number | null; readonly key?: string },
  ): boolean {
    try {
      this.#log.append(event, options);
      return true;
    } catch (error) {
      if (isTurnlogError(error, 'TURNLOG_KEY_CONFLICT')) return false;
      throw error;
    }
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  async finish(): Promise<void> {
    this.#isOpen = false;
    this.#lastSeq = this.#log.lastSeq;
    await this.#log.close();
  }

  /** What was appended stays: it is of the source, and the next import goes on behind it. */
  async abandon(): Promise<void> {
    if (this.#isOpen) await this.finish();
  }
}
