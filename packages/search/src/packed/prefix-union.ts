import { limits } from '@turnlog/kernel';
import { type BlockCursor, PostingBuffer } from './block-cursor.js';
import type { ChunkSource } from './chunk-source.js';
import { ListCursor } from './list-cursor.js';
import { mergedTerms } from './merged-terms.js';
import { presences, type SourceView } from './source-view.js';

/**
 * What a prefix stands for, in each of some sources. Whoever asks until `isOver` gets some of it, which is right only
 * for a query that ends there.
 */
export interface Expansion {
  /** For each source the terms that are searched. */
  readonly terms: readonly (readonly number[])[];
  /** Whether there are more than are searched. */
  readonly isCapped: boolean;
}

/** The first so many tokens, in byte order, that begin with a prefix and that any chunk of the state holds. */
export function expandPrefix(views: readonly SourceView[], prefix: string, isOver: () => boolean): Expansion {
  const terms: number[][] = views.map(() => []);
  let count = 0;
  for (const found of mergedTerms(views.map(({ source }) => source.termsFrom(prefix)))) {
    if (isOver()) break;
    if (!views.some((view, at) => view.isHeld(found.terms[at] ?? -1))) continue;
    if (count === limits.prefixExpansionsMax) return { terms, isCapped: true };
    count += 1;
    for (const [at, term] of found.terms.entries()) if (term !== -1) terms[at]?.push(term);
  }
  return { terms, isCapped: false };
}

/** The chunks of a source that hold any of some terms, as the postings of one: tf is the sum. */
export function uniteTerms(
  view: SourceView,
  terms: readonly number[],
  isOver: () => boolean,
): { readonly cursor: () => BlockCursor; readonly df: number } {
  const sums = sumsOf(view.source, terms, isOver);
  let count = 0;
  for (const sum of sums) if (sum > 0) count += 1;
  const [ordinals, tfs] = [new Uint32Array(count), new Uint32Array(count)];
  let [next, df] = [0, 0];
  for (const [ordinal, sum] of sums.entries()) {
    if (sum === 0) continue;
    ordinals[next] = ordinal;
    tfs[next] = sum;
    next += 1;
    if (view.presence === null || view.presence[ordinal] === presences.there) df += 1;
  }
  return { cursor: () => new ListCursor(ordinals, tfs), df };
}

/** By ordinal: how often a chunk holds any of the terms. */
function sumsOf(source: ChunkSource, terms: readonly number[], isOver: () => boolean): Uint32Array {
  const sums = new Uint32Array(source.chunkCount);
  const held = new PostingBuffer();
  for (const term of terms) {
    if (isOver()) break;
    const df = source.df(term);
    held.reserve(df);
    const { ordinals, tfs } = held;
    source.readPostings(term, ordinals, tfs, 0);
    for (let at = 0; at < df; at += 1) {
      const ordinal = ordinals[at] ?? 0;
      sums[ordinal] = (sums[ordinal] ?? 0) + (tfs[at] ?? 0);
    }
  }
  return sums;
}
