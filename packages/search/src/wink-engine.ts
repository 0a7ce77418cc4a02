import { parseTimestamp } from '@turnlog/events';
import { isTurnlogError, type TurnlogError } from '@turnlog/kernel';
import { type LogReader, logPaths } from '@turnlog/log';
import { parseSessionId, type Store } from '@turnlog/store';
import { chunksOf } from './chunker.js';
import { documentsOf, type RecordDocument, sessionInfoOf } from './documents.js';
import { earlierItemsOf } from './earlier-items.js';
import type { EngineProvider, OpenEngine } from './engine-choice.js';
import { freshnessOf } from './freshness.js';
import { noEarlierItems } from './item-chain.js';
import { countTokens } from './token-views.js';
import { WinkSegments } from './wink-segments.js';

/** The engine that can be used wherever the logs can be read; it begins empty in every process. */
export function winkEngine(store: Store): EngineProvider {
  return { name: 'wink', open: async () => new WinkEngine(store) };
}

/** How far a session was taken in. */
interface Taken {
  /** Of the file that was read, and how long it was. */
  readonly file: string;
  readonly length: number;
  /** Behind the last record that an index may stop at. */
  readonly offset: number;
  readonly seq: number;
  readonly unindexedBytes: number;
}

class WinkEngine implements OpenEngine {
  readonly index: WinkSegments = new WinkSegments();
  readonly #store: Store;
  readonly #taken = new Map<string, Taken>();

  constructor(store: Store) {
    this.#store = store;
  }

  get unindexedBytes(): number {
    let bytes = 0;
    for (const taken of this.#taken.values()) bytes += taken.unindexedBytes;
    return bytes;
  }

  async catchUp(waitMs: number, signal?: AbortSignal): ReturnType<OpenEngine['catchUp']> {
    const { clock } = this.#store.environment;
    const endMs = clock.monotonicMs() + waitMs;
    const failed: { readonly session: string; readonly error: TurnlogError }[] = [];
    const ids = this.#store.ids();
    this.#dropMissing(new Set(ids));
    for (const session of ids) {
      if (!this.#isChanged(session)) continue;
      await new Promise((resolve) => setImmediate(resolve));
      try {
        this.#takeIn(session);
      } catch (error) {
        if (!isTurnlogError(error)) throw error;
        failed.push({ session, error });
      }
      if (signal?.aborted === true || clock.monotonicMs() >= endMs) break;
    }
    const behind = freshnessOf(this.#store, (session) => this.#taken.get(session)?.offset ?? 0);
    return { behind, failed };
  }

  close(): void {
    this.index.close();
  }

  #isChanged(session: string): boolean {
    const { fs } = this.#store.environment;
    const status = fs.status(logPaths(this.#store.sessionDirectory(parseSessionId(session))).events);
    const taken = this.#taken.get(session);
    if (taken === undefined || status === null) return true;
    return status.size !== taken.length || `${status.device}:${status.inode}` !== taken.file;
  }

  #dropMissing(present: ReadonlySet<string>): void {
    for (const session of this.#taken.keys()) {
      if (present.has(session)) continue;
      this.index.removeSession(session);
      this.#taken.delete(session);
    }
  }

  /** What is new of a log that has only grown; all of one that may be another, or whose records are out of order. */
  #takeIn(session: string): void {
    const reader = this.#store.read(session, { unreadable: 'show' });
    try {
      const before = this.#taken.get(session);
      const hasGrown =
        before !== undefined &&
        before.file === reader.fileIdentity &&
        before.length <= reader.length &&
        reader.state.unorderedCount === 0;
      if (!hasGrown) this.index.removeSession(session);
      this.index.noteSession(sessionInfoOf(reader));
      this.#taken.set(session, this.#read(reader, hasGrown ? before : null));
    } finally {
      reader.close();
    }
  }

  #read(reader: LogReader, before: Taken | null): Taken {
    const { sessionId: session, fileIdentity: file, length } = reader;
    const records =
      before === null ? reader.history() : reader.readRange(before.seq + 1, Number.MAX_SAFE_INTEGER);
    const earlier =
      before === null
        ? noEarlierItems
        : earlierItemsOf(reader, before, (itemId) => this.index.newestOf(session, itemId));
    let { offset, seq, unindexedBytes } = before ?? { offset: 0, seq: 0, unindexedBytes: 0 };
    let pending: RecordDocument[] = [];
    for (const read of documentsOf(records, { session, earlier })) {
      pending.push(read);
      if (!read.isSettled) continue;
      for (const one of pending) {
        unindexedBytes += one.document?.unindexedBytes ?? 0;
        this.#add(session, one);
      }
      pending = [];
      seq = read.record.seq;
      if (read.record.archive === null) offset = read.record.end;
    }
    return { file, length, offset, seq, unindexedBytes };
  }

  #add(session: string, { record, document, supersededSeq }: RecordDocument): void {
    if (supersededSeq !== null) {
      const tsMs = record.ts === null ? null : parseTimestamp(record.ts);
      this.index.supersede(session, supersededSeq, { seq: record.seq, tsMs });
    }
    if (document === null) return;
    const { text, unindexedBytes: _, itemId, ...fields } = document;
    for (const [n, part] of chunksOf(text).entries()) {
      this.index.add({ fields: { ...fields, n }, ...countTokens(part), itemId });
    }
  }
}
