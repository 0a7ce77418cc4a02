import { isTurnlogError, limits, sha256Hex } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import type { ChunkKey } from '../chunk.js';
import { formatChunkId } from '../chunk-id.js';
import { ChunkTexts } from '../chunk-texts.js';
import { judgeFields } from '../filters.js';
import type { LexicalIndex } from '../lexical-index.js';
import type { QueryPlan } from '../query-plan.js';
import type { Degraded } from '../search-answer.js';
import type { Encoder, EncoderProvider, OpenedEncoder } from './encoder.js';
import { VectorFiles } from './vector-files.js';
import { mostAlike, type VectorEntry, VectorTable, wholeNumbers } from './vector-table.js';

/** What a list is made for. */
export interface VectorQuestion {
  /** Text without operators and filters. */
  readonly text: string;
  readonly plan: QueryPlan;
  readonly index: LexicalIndex;
  readonly texts: ChunkTexts;
  /** Whether a chunk holds what the plan requires and nothing that it excludes. */
  readonly textVerdict: (key: ChunkKey) => boolean;
  /** Whether no more chunks are to be encoded for this answer; some are in any case. */
  readonly isWaitOver: () => boolean;
  /** Whether the time is over that the answer may take. */
  readonly isOver: () => boolean;
}

export interface VectorAnswer {
  /** At most 50 chunks that the filters let through, the most alike first; null when there is no list. */
  readonly chunks: readonly ChunkKey[] | null;
  /** What the list lacks, or why there is none. */
  readonly degraded: readonly Degraded[];
  /** Names the state that the list was made from. */
  readonly revision: string;
}

/** The vectors of one encoder, as far as they are known. */
interface Held {
  readonly encoder: Encoder;
  readonly table: VectorTable;
  /** Files that were read. */
  readonly read: Set<string>;
  /** Encoded and in no file yet. */
  readonly pending: VectorEntry[];
}

/** A chunk that counts now. */
interface LiveChunk {
  readonly key: ChunkKey;
  readonly id: string;
}

/**
 * The list of chunks that are most like a query, by exact cosine over the vectors of all chunks that count now. Vectors
 * are made when they are first wanted, the newest chunks first, and kept in files below `search/`.
 */
export class VectorLists {
  readonly #store: Store;
  readonly #files: VectorFiles;
  readonly #providers: readonly EncoderProvider[];
  readonly #opened = new Map<string, OpenedEncoder>();
  readonly #held = new Map<string, Held>();

  /** `providers` in the order in which they are asked. */
  constructor(store: Store, providers: readonly EncoderProvider[]) {
    this.#store = store;
    this.#files = new VectorFiles(store.environment, store.root);
    this.#providers = providers;
  }

  async list(question: VectorQuestion): Promise<VectorAnswer> {
    if (question.plan.asOf !== null) return missing('vectors are there for the present state only');
    if (question.isOver()) return missing('the time was over before');
    const { encoder, degraded } = await this.#choose(question.text);
    if (encoder === null) {
      return missing('no encoder can make anything of the query', degraded);
    }
    const held = this.#heldFor(encoder);
    try {
      const live = Array.from(question.index.newestFirst(), (key) => ({ key, id: formatChunkId(key) }));
      const kept = new Set(live.map(({ id }) => id));
      const damaged = this.#load(held, kept);
      const unsaved = await this.#encodeMissing(held, question, { live, kept });
      const chunks = await this.#rank(held, question, live);
      return {
        chunks,
        degraded: [
          ...degraded,
          ...named(encoder.id, [...damaged, ...unsaved]),
          ...named('vector', behindOf(held, live)),
        ],
        revision: `${encoder.id}:${held.table.chunkCount}`,
      };
    } catch (error) {
      // A store that cannot be read is the failure of the search. All else is the model's, and the rest answers.
      if (isTurnlogError(error)) throw error;
      return missing(`${encoder.id} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** The first encoder that supports the text; those that are not there are named. */
  async #choose(
    text: string,
  ): Promise<{ readonly encoder: Encoder | null; readonly degraded: readonly Degraded[] }> {
    const degraded: Degraded[] = [];
    for (const provider of this.#providers) {
      const opened = this.#opened.get(provider.name) ?? (await provider.open());
      this.#opened.set(provider.name, opened);
      if (opened.kind === 'absent') degraded.push({ name: provider.name, reason: opened.reason });
      else if (opened.encoder.supports(text)) return { encoder: opened.encoder, degraded };
    }
    return { encoder: null, degraded };
  }

  #heldFor(encoder: Encoder): Held {
    const known = this.#held.get(encoder.id);
    if (known !== undefined) return known;
    const held: Held = { encoder, table: new VectorTable(), read: new Set(), pending: [] };
    this.#held.set(encoder.id, held);
    return held;
  }

  /** Takes in files that were not read yet; says which are damaged. */
  #load({ encoder, table, read }: Held, kept: ReadonlySet<string>): readonly string[] {
    const names = this.#files.names();
    if (names.every((name) => read.has(name))) return [];
    const { files, damaged } = this.#files.read();
    for (const file of files) {
      if (file.encoder !== encoder.id || file.dims !== encoder.dims) continue;
      for (const entry of file.entries) {
        const id = formatChunkId(entry.key);
        if (kept.has(id) && table.get(id) === null) table.put(entry);
      }
    }
    for (const name of names) read.add(name);
    return damaged.length === 0
      ? []
      : [`${damaged.length} damaged files of vectors; their chunks are encoded again`];
  }

  /** Encodes chunks that have no vectors yet until the time is over; says why they could not be stored, if so. */
  async #encodeMissing(
    held: Held,
    question: VectorQuestion,
    { live, kept }: { readonly live: readonly LiveChunk[]; readonly kept: ReadonlySet<string> },
  ): Promise<readonly string[]> {
    const lacking = live.filter(({ id }) => held.table.get(id) === null).map(({ key }) => key);
    for (let at = 0; at < lacking.length; at += limits.encodedChunksAtOnce) {
      if (held.table.vectorCount >= limits.searchVectorsMax) break;
      await this.#encode(held, question.texts, lacking.slice(at, at + limits.encodedChunksAtOnce));
      if (question.isWaitOver() || question.isOver()) break;
      // What took long to make is not lost with the process.
      if (held.pending.length >= limits.vectorsUnsavedMax) await this.#save(held, kept);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return await this.#save(held, kept);
  }

  async #encode(held: Held, texts: ChunkTexts, keys: readonly ChunkKey[]): Promise<void> {
    const { encoder, table } = held;
    const parts = keys.map((key) => {
      const text = texts.text(key) ?? '';
      return { key, textHash: hashOf(text), segments: encoder.segments(text) };
    });
    const vectors = await encoder.encode(parts.flatMap(({ segments }) => segments));
    let at = 0;
    const made = parts.map(({ key, textHash, segments }): VectorEntry => {
      const own = vectors.slice(at, at + segments.length);
      at += segments.length;
      return {
        key,
        textHash,
        vectors: own.flatMap((vector) => (vector === null ? [] : [wholeNumbers(vector)])),
      };
    });
    for (const entry of made) table.put(entry);
    held.pending.push(...made);
  }

  /** Writes what is in no file yet; says why that could not be done. */
  async #save(held: Held, kept: ReadonlySet<string>): Promise<readonly string[]> {
    const { encoder, pending } = held;
    if (pending.length === 0) return [];
    // Encoding takes long, and logs that are open are read as they were: these are opened anew.
    const texts = new ChunkTexts(this.#store);
    try {
      const outcome = await this.#files.write(
        { encoder: encoder.id, dims: encoder.dims, entries: pending },
        (key) => kept.has(formatChunkId(key)),
        ({ key, textHash }) => {
          const text = texts.text(key);
          return text !== null && hashOf(text) === textHash;
        },
      );
      if (outcome === 'written') pending.length = 0;
      return [];
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      return [`what is new stays in memory: ${error.message}`];
    } finally {
      texts.close();
    }
  }

  async #rank(
    held: Held,
    question: VectorQuestion,
    live: readonly LiveChunk[],
  ): Promise<readonly ChunkKey[]> {
    const { encoder, table } = held;
    const asked = await encoder.encode(encoder.segments(question.text));
    const query = asked.flatMap((vector) => (vector === null ? [] : [wholeNumbers(vector)]));
    for (;;) {
      const entries = live.flatMap(({ id }) => table.get(id) ?? []);
      const { chunks, stale } = this.#accept(held, question, mostAlike(query, entries, encoder.floor));
      if (stale.length === 0 || question.isOver()) return chunks;
      // Each round makes vectors of at least one chunk those of its text, so there are no more rounds than chunks.
      await this.#encode(held, question.texts, stale);
    }
  }

  /** The first of them that the filters let through, and those whose text is another than was encoded. */
  #accept(
    { table }: Held,
    question: VectorQuestion,
    alike: ReturnType<typeof mostAlike>,
  ): { readonly chunks: readonly ChunkKey[]; readonly stale: readonly ChunkKey[] } {
    const chunks: ChunkKey[] = [];
    const stale: ChunkKey[] = [];
    for (const { key } of alike) {
      if (chunks.length + stale.length >= limits.fusedListChunksMax || question.isOver()) break;
      if (!isLetThrough(question, key)) continue;
      const text = question.texts.text(key);
      if (text === null) continue;
      if (table.get(formatChunkId(key))?.textHash === hashOf(text)) chunks.push(key);
      else stale.push(key);
    }
    return { chunks, stale };
  }
}

function isLetThrough({ plan, index, textVerdict }: VectorQuestion, key: ChunkKey): boolean {
  const fields = index.fieldsOf(key);
  const info = index.sessionInfo(key.session);
  if (fields === null || info === null || judgeFields(plan.filters, fields, info) !== 'match') return false;
  return plan.required.length + plan.excluded.length === 0 || textVerdict(key);
}

function behindOf({ table }: Held, live: readonly LiveChunk[]): readonly string[] {
  const lacking = live.filter(({ id }) => table.get(id) === null).length;
  if (lacking === 0) return [];
  return [
    `${lacking} of ${live.length} chunks are not encoded yet; each search encodes more, for as long as it waits`,
  ];
}

function hashOf(text: string): string {
  return sha256Hex(Buffer.from(text)).slice(0, 16);
}

function named(name: string, reasons: readonly string[]): readonly Degraded[] {
  return reasons.map((reason) => ({ name, reason }));
}

function missing(reason: string, others: readonly Degraded[] = []): VectorAnswer {
  return { chunks: null, degraded: [...others, { name: 'vector', reason }], revision: 'none' };
}
