/// <reference path="./wink-bm25-text-search.d.ts" />
import createWink from 'wink-bm25-text-search';

/** The character before every token: no token becomes a name that objects have by themselves. */
const privateMark = '\ue000';

/** How many chunks a segment has: never so few that the package refuses to search them. */
export const winkSegmentChunks = 4_096;

/** Tokens of one chunk, as often as they occur. */
export type ChunkTerms = ReadonlyMap<string, number>;

/**
 * Chunks that no longer change, in a wink-bm25-text-search index. It is asked for all chunks that hold one token, and
 * for nothing else: its scores are rounded, its order is its own, it takes a limit of 0 for 10, counts what is asked
 * twice twice, and cannot be searched with fewer than three documents (SE-27).
 */
export class WinkSegment {
  readonly #index: ReturnType<typeof createWink> = createWink();
  readonly #chunkCount: number;

  /** Chunks are named by their place in `chunks`, of which there must be three or more. */
  constructor(chunks: readonly ChunkTerms[]) {
    this.#chunkCount = chunks.length;
    this.#index.defineConfig({ fldWeights: { tokens: 1 } });
    this.#index.definePrepTasks([tokensIn]);
    for (const [id, terms] of chunks.entries()) this.#index.addDoc({ tokens: textOf(terms) }, id);
    this.#index.consolidate(9);
  }

  /** The chunks that hold a token, in no order. */
  holding(token: string): readonly number[] {
    return this.#index.search(marked(token), this.#chunkCount).map(([id]) => Number(id));
  }
}

function marked(token: string): string {
  return privateMark + token;
}

/** No token holds a 0x0A: it is a separator to the tokenizer. */
function textOf(terms: ChunkTerms): string {
  const tokens: string[] = [];
  for (const [token, count] of terms) for (let left = count; left > 0; left -= 1) tokens.push(marked(token));
  return tokens.join('\n');
}

function tokensIn(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n');
}
