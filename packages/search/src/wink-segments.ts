import { assert, TurnlogError } from '@turnlog/kernel';
import { answerFromPostings, type PostingSource, type Postings } from './answer-from-postings.js';
import { type Presence, presenceAt, type Supersession } from './as-of.js';
import type { CorpusStats } from './bm25.js';
import type { ChunkFields, ChunkKey, SessionInfo } from './chunk.js';
import { compareBytes, compareChunkKeys, formatChunkId } from './chunk-id.js';
import { type ChunkTable, neverOver } from './evaluation.js';
import { judgeFields } from './filters.js';
import type { IndexedChunk } from './indexed-chunk.js';
import type { KnownItem } from './item-chain.js';
import { lazyOrder } from './lazy-order.js';
import type { IndexAnswer, IndexState, LexicalIndex, QueryHelp } from './lexical-index.js';
import type { AsOf, QueryPlan } from './query-plan.js';
import { WinkSegment, winkSegmentChunks } from './wink-segment.js';

interface HeldChunk extends IndexedChunk {
  superseded: Supersession | null;
  /** Left the corpus: it counts for no state of it. */
  isGone: boolean;
}

/**
 * The engine that needs no file and no native code: everything is held in memory and is gone with the process. Chunks
 * lie in segments that never change, and the newest in a tail that is looked through.
 */
export class WinkSegments implements LexicalIndex {
  readonly name = 'wink';
  readonly #chunks: HeldChunk[] = [];
  readonly #segments: WinkSegment[] = [];
  readonly #places = new Map<string, number>();
  readonly #sessions = new Map<string, SessionInfo>();
  /** Of each item of a session the place of its newest chunk. */
  readonly #items = new Map<string, Map<string, number>>();
  /** In how many chunks that count now a token occurs. */
  readonly #dfs = new Map<string, number>();
  #sortedTokens: readonly string[] | null = null;
  #chunkCount = 0;
  #tokenCount = 0;
  #revision = 0;
  #isClosed = false;

  get state(): IndexState {
    return this.#isClosed ? { kind: 'unusable', reason: 'it is closed' } : { kind: 'ready' };
  }

  get revision(): string {
    return `wink:${this.#revision}`;
  }

  /** Notes what is known of a session; without that its chunks belong to a session of which nothing is known. */
  noteSession(info: SessionInfo): void {
    this.#sessions.set(info.session, info);
    this.#revision += 1;
  }

  /** Takes a chunk. One of that id must not have been taken before, unless it was removed. */
  add(chunk: IndexedChunk): void {
    this.#check();
    const place = this.#chunks.length;
    this.#chunks.push({ ...chunk, superseded: null, isGone: false });
    this.#places.set(formatChunkId(chunk.fields), place);
    if (chunk.itemId !== null) this.#itemsOf(chunk.fields.session).set(chunk.itemId, place);
    this.#count(chunk, 1);
    this.#revision += 1;
    const sealed = this.#segments.length * winkSegmentChunks;
    if (this.#chunks.length - sealed < winkSegmentChunks) return;
    this.#segments.push(new WinkSegment(this.#chunks.slice(sealed).map(({ terms }) => terms)));
  }

  /** A later snapshot has taken the place of the chunks of a record: they count for the past only. */
  supersede(session: string, seq: number, by: Supersession): void {
    for (let n = 0, chunk = this.#find({ session, seq, n }); chunk !== null; ) {
      if (chunk.superseded === null) {
        chunk.superseded = by;
        this.#count(chunk, -1);
      }
      n += 1;
      chunk = this.#find({ session, seq, n });
    }
    this.#revision += 1;
  }

  /** The newest document of an item that nothing has superseded; null when there is none. */
  newestOf(session: string, itemId: string): KnownItem | null {
    const place = this.#items.get(session)?.get(itemId);
    const chunk = place === undefined ? undefined : this.#chunks[place];
    if (chunk === undefined || chunk.isGone || chunk.superseded !== null) return null;
    const { seq, kind, tool } = chunk.fields;
    return { seq, tool: kind === 'tool_call' ? tool : null };
  }

  /** Everything of a session has left the corpus, or is to be taken anew. */
  removeSession(session: string): void {
    for (const chunk of this.#chunks) {
      if (chunk.fields.session !== session || chunk.isGone) continue;
      if (chunk.superseded === null) this.#count(chunk, -1);
      chunk.isGone = true;
      this.#places.delete(formatChunkId(chunk.fields));
    }
    this.#sessions.delete(session);
    this.#items.delete(session);
    this.#revision += 1;
  }

  query(plan: QueryPlan, help: QueryHelp): IndexAnswer {
    this.#check();
    return answerFromPostings(plan, help, this.#source(plan, help.isOver));
  }

  fieldsOf(key: ChunkKey): ChunkFields | null {
    return this.#find(key)?.fields ?? null;
  }

  sessionInfo(session: string): SessionInfo | null {
    return this.#sessions.get(session) ?? null;
  }

  *newestFirst(): Iterable<ChunkKey> {
    const live = this.#chunks.filter(({ superseded, isGone }) => superseded === null && !isGone);
    const fieldsAt = (place: number): ChunkFields => held(live[place]).fields;
    const order = lazyOrder(live.length, (left, right) => newerFirst(fieldsAt(left), fieldsAt(right)));
    for (const place of order) yield fieldsAt(place);
  }

  close(): void {
    this.#isClosed = true;
  }

  #check(): void {
    if (this.#isClosed) throw new TurnlogError('TURNLOG_CLOSED', { details: { engine: this.name } });
  }

  #find(key: ChunkKey): HeldChunk | null {
    return this.#chunks[this.#places.get(formatChunkId(key)) ?? -1] ?? null;
  }

  #itemsOf(session: string): Map<string, number> {
    const items = this.#items.get(session) ?? new Map<string, number>();
    this.#items.set(session, items);
    return items;
  }

  #count({ len, terms }: IndexedChunk, by: 1 | -1): void {
    this.#chunkCount += by;
    this.#tokenCount += by * len;
    for (const token of terms.keys()) {
      const df = this.#dfs.get(token);
      if (df === undefined) this.#sortedTokens = null;
      this.#dfs.set(token, (df ?? 0) + by);
    }
  }

  #source({ asOf, filters }: QueryPlan, isOver: () => boolean = neverOver): PostingSource {
    const chunk = (place: number): HeldChunk => this.#held(place);
    const infoOf = (place: number): SessionInfo => this.#infoOf(chunk(place).fields.session);
    const table: ChunkTable = {
      len: (place) => chunk(place).len,
      tsMs: (place) => chunk(place).fields.tsMs,
      key: (place) => chunk(place).fields,
      fields: (place) => chunk(place).fields,
      judge: (place) => judgeFields(filters, chunk(place).fields, infoOf(place)),
      workspaces: (place) => infoOf(place).workspaces,
    };
    return {
      table,
      statistics: () => this.#statistics(asOf),
      postings: (token) => this.#postings(token, isOver),
      tokensFrom: (prefix) => this.#tokensFrom(prefix),
      presence: (place) => presenceIn(asOf, chunk(place)),
    };
  }

  #held(place: number): HeldChunk {
    return held(this.#chunks[place]);
  }

  #infoOf(session: string): SessionInfo {
    return this.#sessions.get(session) ?? { session, workspaces: [], agent: 'primary' };
  }

  #statistics(asOf: AsOf | null): CorpusStats {
    if (asOf === null) return { chunkCount: this.#chunkCount, tokenCount: this.#tokenCount };
    let [chunkCount, tokenCount] = [0, 0];
    for (const chunk of this.#chunks) {
      if (presenceIn(asOf, chunk) !== 'there') continue;
      chunkCount += 1;
      tokenCount += chunk.len;
    }
    return { chunkCount, tokenCount };
  }

  /** Some of them when the time is over, for a query that ends there. */
  #postings(token: string, isOver: () => boolean): Postings {
    const found = new Map<number, number>();
    const note = (place: number): void => {
      const tf = this.#chunks[place]?.terms.get(token) ?? 0;
      if (tf > 0) found.set(place, tf);
    };
    for (const [number, segment] of this.#segments.entries()) {
      if (isOver()) break;
      for (const id of segment.holding(token)) note(number * winkSegmentChunks + id);
    }
    for (let place = this.#segments.length * winkSegmentChunks; place < this.#chunks.length; place += 1) {
      note(place);
    }
    return found;
  }

  *#tokensFrom(prefix: string): Iterable<string> {
    this.#sortedTokens ??= [...this.#dfs.keys()].sort(compareBytes);
    for (const token of this.#sortedTokens) if (token.startsWith(prefix)) yield token;
  }
}

function held(chunk: HeldChunk | undefined): HeldChunk {
  assert(chunk !== undefined, 'a place is that of a chunk');
  return chunk;
}

function presenceIn(asOf: AsOf | null, { fields, superseded, isGone }: HeldChunk): Presence {
  if (isGone) return 'no';
  if (asOf === null) return superseded === null ? 'there' : 'no';
  return presenceAt(asOf, fields.session, fields, superseded);
}

function newerFirst(left: ChunkFields, right: ChunkFields): number {
  const [leftMs, rightMs] = [left.tsMs ?? Number.NEGATIVE_INFINITY, right.tsMs ?? Number.NEGATIVE_INFINITY];
  return leftMs === rightMs ? compareChunkKeys(left, right) : rightMs - leftMs;
}
