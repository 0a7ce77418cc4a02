import { encodeEvent, encodeRawEvent, encodeRecord } from '@turnlog/events';
import { writeAll } from '@turnlog/fs';
import { type FileHandle, TurnlogError } from '@turnlog/kernel';
import { logPaths, type OwnedLog, openLogReader, openOwnedLog } from '@turnlog/log';
import { type Building, type ImportTarget, moveIntoPlace, startBuilding } from './import-target.js';
import { isMembers, textMember } from './source-object.js';
import type { MappedEvent } from './stream-types.js';

/** A file that a session was imported from. */
export interface ImportedFile {
  /** As in "f1". */
  readonly file: string;
  readonly path: string;
  /** The run that its first record belongs to. */
  readonly run: number;
  /** How far the passes came, and the digest of the bytes before. */
  readonly passes: { readonly to: number; readonly sha256: string }[];
}

/** What a session holds that an import goes on from. */
export interface SessionHistory {
  readonly runCount: number;
  readonly hasKey: (key: string) => boolean;
  readonly files: readonly ImportedFile[];
}

const noHistory: SessionHistory = { runCount: 0, hasKey: () => false, files: [] };

/** Where the events of one session go. */
export interface SessionSink {
  readonly sessionId: string;
  readonly state: 'new' | 'grown';
  readonly history: SessionHistory;
  /** Appends what is not there yet. */
  append(event: MappedEvent): void;
  /** How many events were not there yet. */
  readonly addedCount: number;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/** Opens a session that exists, or begins to build one. */
export async function openSink(target: ImportTarget, sessionId: string): Promise<SessionSink> {
  const directory = `${target.sessionsDirectory}/${sessionId}`;
  if (target.environment.fs.status(directory) === null) {
    return new NewSession(target, await startBuilding(target), sessionId);
  }
  const log = await openOwnedLog(target.environment, directory, sessionId);
  return new GrowingSession(log, historyOf(target, directory, sessionId));
}

function historyOf(target: ImportTarget, directory: string, sessionId: string): SessionHistory {
  const reader = openLogReader(target.environment.fs, directory, sessionId);
  try {
    const keys = new Set<string>();
    const files: ImportedFile[] = [];
    let runCount = 0;
    for (const record of reader.records()) {
      if (record.key !== null) keys.add(record.key);
      if (record.type === 'thread.started') runCount += 1;
      if (record.type === 'run.source') noteFile(files, record.readEvent(), runCount);
      if (record.type === 'run.imported') notePass(files, record.readEvent());
    }
    return { runCount, hasKey: (key) => keys.has(key), files };
  } finally {
    reader.close();
  }
}

function noteFile(files: ImportedFile[], event: unknown, run: number): void {
  if (!isMembers(event)) return;
  const path = textMember(event, 'path');
  const file = textMember(event, 'file');
  if (path !== undefined && file !== undefined) files.push({ file, path, run, passes: [] });
}

function notePass(files: readonly ImportedFile[], event: unknown): void {
  if (!isMembers(event)) return;
  const { to } = event;
  const sha256 = textMember(event, 'prefix_sha256');
  const imported = files.find(({ file }) => file === event['file']);
  if (typeof to === 'number' && sha256 !== undefined) imported?.passes.push({ to, sha256 });
}

/** Lines are written without a time: the source knows none, and the time of the import is not that of the events. */
class NewSession implements SessionSink {
  readonly sessionId: string;
  readonly state = 'new' as const;
  readonly history: SessionHistory = noHistory;
  addedCount = 0;
  readonly #target: ImportTarget;
  readonly #building: Building;
  readonly #file: FileHandle;
  readonly #keys = new Set<string>();
  #isOpen = true;

  constructor(target: ImportTarget, building: Building, sessionId: string) {
    this.#target = target;
    this.#building = building;
    this.sessionId = sessionId;
    this.#file = target.environment.fs.open(logPaths(building.directory).events, 'create');
  }

  append({ event, key }: MappedEvent): void {
    if (key !== undefined && this.#keys.has(key)) return;
    const encoded = 'raw' in event ? encodeRawEvent(event.raw) : encodeEvent(event);
    const envelope = { seq: this.addedCount + 1, ts: null, ...(key === undefined ? {} : { key }) };
    writeAll(this.#file, encodeRecord(envelope, encoded));
    if (key !== undefined) this.#keys.add(key);
    this.addedCount += 1;
  }

  async finish(): Promise<void> {
    const { environment } = this.#target;
    const { directory } = this.#building;
    this.#file.sync();
    this.#close();
    environment.fs.syncDirectory(directory);
    await this.#building.release();
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
    this.#close();
    await this.#building.discard();
  }

  #close(): void {
    if (this.#isOpen) this.#file.close();
    this.#isOpen = false;
  }
}

/** A session that exists: what is new is appended under its lock, with the time of the append. */
class GrowingSession implements SessionSink {
  readonly sessionId: string;
  readonly state = 'grown' as const;
  readonly history: SessionHistory;
  addedCount = 0;
  readonly #log: OwnedLog;
  readonly #keys = new Set<string>();
  #isOpen = true;

  constructor(log: OwnedLog, history: SessionHistory) {
    this.#log = log;
    this.sessionId = log.sessionId;
    this.history = history;
  }

  append({ event, key }: MappedEvent): void {
    if (key !== undefined && (this.history.hasKey(key) || this.#keys.has(key))) return;
    this.#log.append(event, key === undefined ? {} : { key });
    if (key !== undefined) this.#keys.add(key);
    this.addedCount += 1;
  }

  async finish(): Promise<void> {
    this.#isOpen = false;
    await this.#log.close();
  }

  /** What was appended stays: it is of the source, and the next import goes on behind it. */
  async abandon(): Promise<void> {
    if (this.#isOpen) await this.finish();
  }
}
