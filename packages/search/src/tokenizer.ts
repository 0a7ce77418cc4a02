import { limits } from '@turnlog/kernel';
import { copyOf, expandCompound } from './expand-compound.js';
import type { Token, TokenGroup } from './token.js';
import { TokenScanner } from './token-scanner.js';

/** Stored with every index: tokens of another name mean that it is to be built again. */
export const tokenizerName = 'tl-1';

/** One for all texts: most are short, and arrays of its own for each would cost more than looking through it. */
const scanner = new TokenScanner();

/**
 * The tokens of a text, by the rules that `tokenizerName` stands for (SE-8 to SE-14), for documents and queries.
 * Equal texts, also in other normal forms, give equal tokens, in time that grows with the length of the text alone.
 * No token keeps the text alive.
 */
export function tokenize(text: string): readonly TokenGroup[] {
  const groups: TokenGroup[] = [];
  for (scanner.begin(text); scanner.next(); ) {
    const group = groupAt(scanner);
    if (group.tokens.length > 0) groups.push(group);
  }
  return groups;
}

/** Where a scan found something: see `TokenScanner`. */
export type FoundPlace = Pick<TokenScanner, 'text' | 'kind' | 'start' | 'end' | 'suffixWidth'>;

/** The tokens of what a scan found; none where it has neither letter nor digit. */
export function groupAt({ text, kind, start, end, suffixWidth }: FoundPlace): TokenGroup {
  const found = text.slice(start, end);
  if (kind === 'compound') return groupOf(found, suffixWidth);
  if (kind === 'run') return unspacedGroup(Array.from(found));
  return { kind, tokens: [{ text: found, form: 'whole' }], leaves: [found] };
}

function unspacedGroup(leaves: readonly string[]): TokenGroup {
  const [first = '', ...others] = leaves;
  if (others.length === 0) return { kind: 'run', tokens: [{ text: first, form: 'single' }], leaves };
  const tokens: Token[] = [];
  let before = first;
  for (const leaf of others) {
    tokens.push({ text: before + leaf, form: 'part' });
    before = leaf;
  }
  tokens.push({ text: before, form: 'tail' });
  return { kind: 'run', tokens, leaves };
}

/** The group of a compound whose last units are the suffix of a name such as C++; it is made anew at each call. */
export function compoundGroup(text: string, suffixWidth: number): TokenGroup {
  const wordEnds = text.length - suffixWidth;
  return expandCompound(text.slice(0, wordEnds), text.slice(wordEnds));
}

/**
 * Groups by the text that they were made of, because most of what a text holds was met before: those that were asked
 * for lately, and, until as many others have been, those that were before.
 */
let known = new Map<string, TokenGroup>();
let knownBefore = new Map<string, TokenGroup>();

function groupOf(text: string, suffixWidth: number): TokenGroup {
  const found = known.get(text);
  if (found !== undefined) return found;
  const own = copyOf(text);
  const before = knownBefore.get(own);
  if (before !== undefined) return remember(own, before);
  const group = compoundGroup(own, suffixWidth);
  return text.length > limits.knownTokenUnitsMax ? group : remember(own, group);
}

function remember(text: string, group: TokenGroup): TokenGroup {
  if (known.size >= limits.knownTokensMax) {
    knownBefore = known;
    known = new Map();
  }
  known.set(text, group);
  return group;
}
