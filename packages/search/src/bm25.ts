/**
 * The score of a chunk for a query (SE-21): BM25 with k1 = 1.2 and b = 0.75, from whole numbers only, so that every
 * engine that finds the same chunk gives it the same score to the last bit.
 *
 * @see Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); the idf is Lucene's,
 *   which is never negative.
 */

/** Sums over all live chunks of the store; filters never change them. */
export interface CorpusStats {
  /** Live chunks. */
  readonly chunkCount: number;
  /** Tokens of all of them. */
  readonly tokenCount: number;
}

/** What a rare token is worth more than a frequent one. `df`: live chunks that hold it. */
export function idf(df: number, chunkCount: number): number {
  return Math.log(1 + (chunkCount - df + 0.5) / (df + 0.5));
}

/** What one token adds to the score of a chunk of `len` tokens that holds it `tf` times. */
export function termPart(tokenIdf: number, tf: number, len: number, averageLen: number): number {
  return normedPart(tokenIdf, tf, lengthNorm(len, averageLen));
}

/** What the length of a chunk does to its score, the same for all of its tokens. */
export function lengthNorm(len: number, averageLen: number): number {
  return 1.2 * (0.25 + (0.75 * len) / averageLen);
}

/** `termPart` of a chunk whose `lengthNorm` is known. */
export function normedPart(tokenIdf: number, tf: number, norm: number): number {
  return (tokenIdf * tf * 2.2) / (tf + norm);
}

/** What all tokens of a chunk add to its score, in the order of the query: another order would round otherwise. */
export function lexicalScore(
  idfs: readonly number[],
  tfs: ArrayLike<number>,
  len: number,
  averageLen: number,
): number {
  const norm = lengthNorm(len, averageLen);
  let sum = 0;
  for (let at = 0; at < idfs.length; at += 1) {
    const tf = tfs[at] ?? 0;
    if (tf > 0) sum += normedPart(idfs[at] ?? 0, tf, norm);
  }
  return sum;
}

/** Tokens of a chunk at the mean; 1 in an empty corpus, which scores nothing. */
export function averageLen({ chunkCount, tokenCount }: CorpusStats): number {
  return chunkCount === 0 ? 1 : tokenCount / chunkCount;
}

/**
 * No chunk with at most `tfMax` of a token and at least `lenMin` tokens gets more for it. Holds for every corpus, so
 * that it need not be stored with blocks of postings.
 */
export function partBound(tokenIdf: number, tfMax: number, lenMin: number, average: number): number {
  return termPart(tokenIdf, tfMax, lenMin, average);
}
