import { RunningSha256 } from '@turnlog/kernel';
import type { ChunkSource } from './chunk-source.js';
import { type MergeOrder, mergeOrder } from './merge-order.js';
import { mergedTerms } from './merged-terms.js';
import type { PackedIndex } from './packed-index.js';
import { fieldsOf } from './query-table.js';

/** How many chunks are turned from postings back into what they hold at once; all postings are read for each. */
const batchChunks = 131_072;

/**
 * The logical content of an index (SE-61): of each chunk that counts, in the order of ids, a JSON array of its fields,
 * its length, and its tokens with their counts in the order of their bytes. How chunks lie in segments leaves no trace.
 */
export function* indexLines(index: PackedIndex): Iterable<string> {
  const sources = index.sources();
  const order = finished(mergeOrder(sources));
  for (let from = 0; from < order.chunkCount; from += batchChunks) {
    const to = Math.min(from + batchChunks, order.chunkCount);
    const held = tokensBetween(sources, order, from, to);
    for (let at = from; at < to; at += 1) {
      const source = sources[order.sources[at] ?? 0];
      const ordinal = order.ordinals[at] ?? 0;
      if (source === undefined || source.tombstones.isDead(ordinal)) continue;
      yield lineOf(source, ordinal, held[at - from] ?? []);
    }
  }
}

/** SHA-256 of such lines, each ended by 0x0A: equal for indexes that answer alike. */
export function digestOfLines(lines: Iterable<string>): string {
  const digest = new RunningSha256();
  for (const line of lines) digest.update(Buffer.from(`${line}\n`));
  return digest.digestHex();
}

function lineOf(source: ChunkSource, ordinal: number, tokens: readonly (string | number)[]): string {
  const { session, seq, n, turn, tsMs, role, kind, tool, paths } = fieldsOf(source, ordinal);
  return JSON.stringify([session, seq, n, turn, tsMs, role, kind, tool, paths, source.len(ordinal), tokens]);
}

/** For each chunk of `[from, to)` its tokens and their counts, one after the other. */
function tokensBetween(
  sources: readonly ChunkSource[],
  order: MergeOrder,
  from: number,
  to: number,
): readonly (readonly (string | number)[])[] {
  const held: (string | number)[][] = Array.from({ length: to - from }, () => []);
  for (const { text, terms } of mergedTerms(sources.map((source) => source.allTerms()))) {
    for (const [number, term] of terms.entries()) {
      const [source, places] = [sources[number], order.places[number]];
      if (term === -1 || source === undefined || places === undefined) continue;
      for (const [ordinal, tf] of postingsOf(source, term))
        held[(places[ordinal] ?? -1) - from]?.push(text, tf);
    }
  }
  return held;
}

function* postingsOf(source: ChunkSource, term: number): Iterable<readonly [ordinal: number, tf: number]> {
  const df = source.df(term);
  const [ordinals, tfs] = [new Uint32Array(df), new Uint32Array(df)];
  source.readPostings(term, ordinals, tfs, 0);
  for (let at = 0; at < df; at += 1) yield [ordinals[at] ?? 0, tfs[at] ?? 0];
}

function finished<Result>(work: Generator<void, Result, void>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
