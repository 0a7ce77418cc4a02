import { compareBytes } from '../chunk-id.js';
import type { NumberedTerm } from './dictionary.js';

/** A term with its number in each source, -1 where a source does not hold it. */
export interface MergedTerm {
  readonly text: string;
  readonly terms: readonly number[];
}

/** The terms of several sources, each of which gives them in the order of their bytes, in that order, each once. */
export function* mergedTerms(sources: readonly Iterable<NumberedTerm>[]): Iterable<MergedTerm> {
  const [only] = sources;
  if (only !== undefined && sources.length === 1) {
    for (const { text, term } of only) yield { text, terms: [term] };
    return;
  }
  const walks = sources.map((terms) => terms[Symbol.iterator]());
  const heads: (NumberedTerm | null)[] = walks.map(advance);
  for (let text = leastOf(heads); text !== null; text = leastOf(heads)) {
    const terms = heads.map((head) => (head?.text === text ? head.term : -1));
    yield { text, terms };
    for (const [at, walk] of walks.entries()) if (terms[at] !== -1) heads[at] = advance(walk);
  }
}

function leastOf(heads: readonly (NumberedTerm | null)[]): string | null {
  let least: string | null = null;
  for (const head of heads) {
    if (head !== null && (least === null || compareBytes(head.text, least) < 0)) least = head.text;
  }
  return least;
}

function advance(walk: Iterator<NumberedTerm>): NumberedTerm | null {
  const step = walk.next();
  return step.done === true ? null : step.value;
}
