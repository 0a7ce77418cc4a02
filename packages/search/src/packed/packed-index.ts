import { join } from 'node:path';
import { isTurnlogError, TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { storeNames } from '@turnlog/store';
import type { Supersession } from '../as-of.js';
import type { ChunkFields, ChunkKey, SessionInfo } from '../chunk.js';
import { neverOver } from '../evaluation.js';
import type { IndexedChunk } from '../indexed-chunk.js';
import type { KnownItem } from '../item-chain.js';
import type { IndexAnswer, IndexState, LexicalIndex, QueryHelp } from '../lexical-index.js';
import type { QueryPlan } from '../query-plan.js';
import { tokenizerName } from '../tokenizer.js';
import { type ChunkSource, ordinalsOfLog, ordinalsOfRecord } from './chunk-source.js';
import { ItemLookup } from './item-lookup.js';
import { LiveTail, type TextChunk } from './live-tail.js';
import { newestFirst } from './newest-first.js';
import { answerQuery } from './packed-query.js';
import { PageCache } from './page-cache.js';
import { QueryStates } from './query-states.js';
import { fieldsOf } from './query-table.js';
import { type OpenSegment, openSegmentSet, presentRevision } from './segment-set.js';
import { entryAfter, type SessionEntry, SessionTable, type TakenStep } from './session-table.js';

export interface PackedOptions {
  /** Names the tokenizer whose tokens are given; an index of another one is built again. */
  readonly tokenizer?: string;
  /** How much of the pages is held in memory. */
  readonly cacheBytesMax?: number;
  /** How many chunks are kept in memory before a segment is made of them. */
  readonly tailChunks?: number;
}

/**
 * The default engine: segments that never change, read by page, and a tail in memory. It answers from what it holds;
 * `CatchUp` brings it up to the logs, `maintain` writes the tail down and joins segments.
 */
export class PackedIndex implements LexicalIndex {
  readonly name = 'packed';
  readonly environment: LogEnvironment;
  readonly directory: string;
  readonly tokenizer: string;
  readonly tailChunks: number | null;
  readonly cache: PageCache;
  #segments: readonly OpenSegment[] = [];
  /** Tails that are being written, or could not be. */
  #frozen: readonly LiveTail[] = [];
  #tail = new LiveTail();
  #listRevision: string | null = null;
  #listedAtMs = 0;
  #damaged: readonly string[] = [];
  readonly #sessions = new SessionTable();
  readonly #states = new QueryStates();
  readonly #items = new ItemLookup();
  #changes = 0;
  #isBegun = false;
  #isClosed = false;

  private constructor(environment: LogEnvironment, root: string, options: PackedOptions) {
    this.environment = environment;
    this.directory = join(root, storeNames.search);
    this.tokenizer = options.tokenizer ?? tokenizerName;
    this.tailChunks = options.tailChunks ?? null;
    this.cache = new PageCache(options.cacheBytesMax);
  }

  /**
   * Opens the index of a store as it is; nothing is created. What is damaged is left aside and read again from the
   * logs by the next `CatchUp`.
   *
   * @throws TURNLOG_IO, TURNLOG_UNSAFE_PATH when the disk cannot be read.
   */
  static open(environment: LogEnvironment, root: string, options: PackedOptions = {}): PackedIndex {
    const index = new PackedIndex(environment, root, options);
    index.reload();
    return index;
  }

  /** Opens one that holds nothing: what it writes takes the place of all that is there. */
  static begin(environment: LogEnvironment, root: string): PackedIndex {
    const index = new PackedIndex(environment, root, {});
    index.#listRevision = presentRevision(index);
    index.#listedAtMs = environment.clock.now();
    index.#isBegun = true;
    return index;
  }

  /** Whether it holds nothing but what it has read from the logs itself. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  get state(): IndexState {
    if (this.#isClosed) return { kind: 'unusable', reason: 'it is closed' };
    return this.#damaged.length > 0 ? { kind: 'incomplete', reasons: this.#damaged } : { kind: 'ready' };
  }

  get revision(): string {
    return `packed:${this.#listRevision?.slice(0, 16) ?? 'none'}:${this.#changes}`;
  }

  /** Which list of segments is open; null for none. */
  get listRevision(): string | null {
    return this.#listRevision;
  }

  /** When that list was published, in milliseconds since the epoch. */
  get listedAtMs(): number {
    return this.#listedAtMs;
  }

  get segments(): readonly OpenSegment[] {
    return this.#segments;
  }

  /** Tails that wait to be written. */
  get frozen(): readonly LiveTail[] {
    return this.#frozen;
  }

  get tail(): LiveTail {
    return this.#tail;
  }

  /** Chunks, dead ones included. */
  get chunkCount(): number {
    return this.sources().reduce((sum, { chunkCount }) => sum + chunkCount, 0);
  }

  sources(): readonly ChunkSource[] {
    return [...this.#segments.map(({ reader }) => reader), ...this.#frozen, this.#tail];
  }

  query(plan: QueryPlan, help: QueryHelp): IndexAnswer {
    this.check();
    return this.#reading((sources) => {
      const { revision } = this.#sessions;
      const sessions = { revision, infoOf: (session: string) => this.#infoOf(session) };
      const { isOver = neverOver } = help;
      const views = this.#states.viewsOf(sources, plan.asOf, sessions, isOver);
      return answerQuery(plan, help, views, this.#states.scan);
    });
  }

  fieldsOf(key: ChunkKey): ChunkFields | null {
    return this.#reading((sources) => {
      for (const source of sources) {
        for (const ordinal of this.#ordinalsOf(source, key.session, key.seq)) {
          if (source.n(ordinal) === key.n) return fieldsOf(source, ordinal);
        }
      }
      return null;
    });
  }

  sessionInfo(session: string): SessionInfo | null {
    return this.#sessions.info(session);
  }

  *newestFirst(): Iterable<ChunkKey> {
    try {
      yield* newestFirst(this.sources());
    } catch (error) {
      // It ends there. Who asked sees in `state` that something was lost.
      if (!this.leaveAside(error)) throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { reader } of this.#segments) reader.close();
    this.#segments = [];
  }

  /** @throws TURNLOG_CLOSED */
  check(): void {
    if (this.#isClosed) throw new TurnlogError('TURNLOG_CLOSED', { details: { engine: this.name } });
  }

  /** The ids of all sessions of which anything was taken in. */
  sessionIds(): readonly string[] {
    return this.#sessions.ids();
  }

  /** How far a session was taken in; null when nothing of it was. */
  sessionEntry(session: string): SessionEntry | null {
    return this.#sessions.entry(session);
  }

  /** Bytes of text of all sessions that were too far inside of records to be indexed. */
  get unindexedBytes(): number {
    return this.#sessions.unindexedBytes;
  }

  /** Takes a chunk of a session that was noted. None of its id is there, or that one is gone. */
  add(chunk: TextChunk | IndexedChunk): void {
    this.#tail.add(chunk);
    this.#changes += 1;
  }

  /** Notes that the records of `span` were taken in, and how far that brought the log. */
  noteTaken(session: string, step: TakenStep): void {
    this.#sessions.note(session, step);
    const held = this.#tail.logs[this.#tail.logNumber(session)] ?? null;
    this.#tail.noteLog(entryAfter(session, held, step));
    this.#changes += 1;
  }

  /** A later snapshot took the place of the chunks of a record. */
  supersede(session: string, seq: number, by: Supersession): void {
    this.#reading((sources) => {
      for (const source of sources) {
        for (const ordinal of this.#ordinalsOf(source, session, seq)) {
          source.tombstones.bury(ordinal, source.len(ordinal), by);
        }
      }
    });
    this.#changes += 1;
  }

  /** The chunks of the records before `seq` left the corpus. */
  removeBefore(session: string, seq: number): void {
    this.#reading((sources) => {
      for (const source of sources) {
        const log = source.logNumber(session);
        if (log === -1) continue;
        for (const ordinal of ordinalsOfLog(source, log)) {
          if (source.seq(ordinal) < seq) source.tombstones.bury(ordinal, source.len(ordinal), null);
        }
      }
    });
    this.#changes += 1;
  }

  /** Everything of a session left the corpus, or is to be taken in anew. */
  removeSession(session: string): void {
    this.#reading((sources) => {
      for (const source of sources) {
        const log = source.logNumber(session);
        if (log === -1) continue;
        for (const ordinal of ordinalsOfLog(source, log)) {
          source.tombstones.bury(ordinal, source.len(ordinal), null);
        }
        source.tombstones.voidLog(log);
      }
    });
    this.#sessions.remove(session);
    this.#changes += 1;
  }

  /** The newest document of an item that nothing has superseded; null when there is none. */
  findItem(session: string, itemId: string): KnownItem | null {
    return this.#reading((sources) => {
      const found = sources.flatMap((source) => this.#findItemIn(source, session, itemId) ?? []);
      return found.reduce<KnownItem | null>(newerOf, null);
    });
  }

  #findItemIn(source: ChunkSource, session: string, itemId: string): KnownItem | null {
    const log = source.logNumber(session);
    if (log === -1) return null;
    let found: KnownItem | null = null;
    for (const ordinal of this.#items.find(source, log, itemId)) {
      const seq = source.seq(ordinal);
      if (source.tombstones.isDead(ordinal) || seq <= (found?.seq ?? 0)) continue;
      const tool = source.toolNumber(ordinal);
      found = { seq, tool: tool === 0 ? null : source.toolText(tool) };
    }
    return found;
  }

  /** Lets go of what was kept for looking up items, and of words that were met. */
  forgetItems(): void {
    this.#items.forget(this.#tail);
    this.#tail.forgetWords();
  }

  /** Bytes of the arrays that queries work with, which are kept from one to the next. */
  get workingBytes(): number {
    return this.#states.scan.byteLength;
  }

  /** Bytes of all arrays that are held in memory for as long as it is open, but for pages in the cache. */
  get residentBytes(): number {
    const segments = this.#segments.map(({ reader }) => reader.residentBytes + reader.tombstones.byteLength);
    const tails = [...this.#frozen, this.#tail].map(({ residentBytes }) => residentBytes);
    const held = [...segments, ...tails].reduce((sum, bytes) => sum + bytes, 0);
    return held + this.#states.byteLength;
  }

  /** Opens what the list names by now. What is in no segment is forgotten: it is read again behind the new cursors. */
  reload(): void {
    this.check();
    const opened = openSegmentSet(this, this.cache);
    this.#isBegun = false;
    for (const { reader } of this.#segments) reader.close();
    this.#damaged = opened.damaged;
    this.#listedAtMs = opened.listedAtMs;
    this.#frozen = [];
    this.#tail = new LiveTail();
    this.#install(opened.segments, opened.revision);
    this.#sessions.readFrom(this.sources());
  }

  /** Sets the tail aside to be written; what comes from now on goes into a new one. */
  freezeTail(): void {
    if (this.#tail.logs.length === 0) return;
    this.#frozen = [...this.#frozen, this.#tail];
    this.#tail = new LiveTail();
    this.#items.forget(null);
  }

  /** What was written takes the place of segments and tails, and says of sessions what they said. */
  replaceSegments(segments: readonly OpenSegment[], revision: string, listedAtMs: number): void {
    const kept = new Set(segments.map(({ reader }) => reader));
    for (const { reader } of this.#segments) if (!kept.has(reader)) reader.close();
    this.#frozen = [];
    this.#damaged = [];
    this.#listedAtMs = listedAtMs;
    this.#install(segments, revision);
  }

  /** Leaves the segment aside that an error speaks of; false when it speaks of none. */
  leaveAside(error: unknown): boolean {
    if (!isTurnlogError(error, 'TURNLOG_IO')) return false;
    const damaged = this.#segments.find(({ reader }) => reader.path === error.details['path']);
    if (damaged === undefined) return false;
    damaged.reader.close();
    this.#damaged = [...this.#damaged, `${damaged.listed.file}: ${error.message}`];
    this.#install(
      this.#segments.filter((segment) => segment !== damaged),
      this.#listRevision,
    );
    this.#sessions.readFrom(this.sources());
    return true;
  }

  get fs(): LogEnvironment['fs'] {
    return this.environment.fs;
  }

  #install(segments: readonly OpenSegment[], revision: string | null): void {
    this.#segments = segments;
    this.#listRevision = revision;
    this.#states.forget();
    this.#items.forget(null);
    this.#changes += 1;
  }

  /**
   * Does something with the sources. A damaged page is met when it is read: then its segment is left aside, what it
   * said is read again from the logs, and the work begins anew with the others.
   */
  #reading<Result>(work: (sources: readonly ChunkSource[]) => Result): Result {
    for (;;) {
      try {
        return work(this.sources());
      } catch (error) {
        if (!this.leaveAside(error)) throw error;
      }
    }
  }

  /** The chunks of a record in a source, those that are gone left out. */
  #ordinalsOf(source: ChunkSource, session: string, seq: number): readonly number[] {
    const log = source.logNumber(session);
    if (log === -1) return [];
    const { tombstones } = source;
    return [...ordinalsOfRecord(source, log, seq)].filter((ordinal) => !tombstones.isGone(ordinal));
  }

  #infoOf(session: string): SessionInfo {
    return this.sessionInfo(session) ?? { session, workspaces: [], agent: 'primary' };
  }
}

function newerOf(left: KnownItem | null, right: KnownItem): KnownItem {
  return left === null || right.seq > left.seq ? right : left;
}
