import { limits } from '@turnlog/kernel';
import type { ChunkFields, ChunkKey } from './chunk.js';
import type { ChunkTexts } from './chunk-texts.js';
import { judgeFields } from './filters.js';
import type { LexicalIndex } from './lexical-index.js';
import type { QueryPlan } from './query-plan.js';

/** What a look through the texts themselves found. */
export interface SubstringHits {
  readonly hits: readonly ChunkFields[];
  /** Whether there were more chunks than are looked through, or than there was time for. */
  readonly isCut: boolean;
  readonly hasMore: boolean;
  readonly hiddenCount: number;
}

/** Whether a text shows anything: one that does not cannot be meant. */
export function isVisible(text: string): boolean {
  return /[^\s\p{C}]/u.test(text);
}

/**
 * Looks for a text that has no token, as `=>`, in the texts of the chunks that the filters let through, the newest
 * first (SE-20).
 */
export function searchSubstring(
  text: string,
  plan: QueryPlan,
  index: LexicalIndex,
  texts: ChunkTexts,
  isOver: () => boolean,
): SubstringHits {
  const found = new Found(plan);
  let looked = 0;
  for (const key of index.newestFirst()) {
    if (isOver()) return found.end('cut');
    const candidate = candidateOf(key, plan, index);
    if (candidate === null) continue;
    looked += 1;
    if (looked > limits.substringChunksMax) return found.end('cut');
    const { fields, isHidden } = candidate;
    if (texts.text(fields)?.includes(text) !== true) continue;
    if (found.take(fields, isHidden) === 'full') return found.end('more');
  }
  return found.end('all');
}

interface Candidate {
  readonly fields: ChunkFields;
  readonly isHidden: boolean;
}

/** A chunk that the filters let through, a hidden one too, because it is counted; null for any other. */
function candidateOf(key: ChunkKey, plan: QueryPlan, index: LexicalIndex): Candidate | null {
  const fields = index.fieldsOf(key);
  const info = index.sessionInfo(key.session);
  if (fields === null || info === null) return null;
  const verdict = judgeFields(plan.filters, fields, info);
  return verdict === 'match' || verdict === 'hidden' ? { fields, isHidden: verdict === 'hidden' } : null;
}

/** Hits of one page. */
class Found {
  readonly #plan: QueryPlan;
  readonly #hits: ChunkFields[] = [];
  #hiddenCount = 0;
  #isBehindCursor: boolean;

  constructor(plan: QueryPlan) {
    this.#plan = plan;
    this.#isBehindCursor = plan.after === null;
  }

  take(fields: ChunkFields, isHidden: boolean): 'full' | 'taken' {
    if (isHidden) this.#hiddenCount += 1;
    else if (!this.#isBehindCursor) this.#isBehindCursor = isSame(fields, this.#plan.after);
    else if (this.#hits.length >= this.#plan.limit) return 'full';
    else this.#hits.push(fields);
    return 'taken';
  }

  end(how: 'all' | 'more' | 'cut'): SubstringHits {
    return {
      hits: this.#hits,
      isCut: how === 'cut',
      hasMore: how === 'more',
      hiddenCount: this.#hiddenCount,
    };
  }
}

function isSame(key: ChunkKey, other: ChunkKey | null): boolean {
  return other !== null && key.session === other.session && key.seq === other.seq && key.n === other.n;
}
