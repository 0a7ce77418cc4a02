import type { Token, TokenGroup } from './token.js';
import { tokenize } from './tokenizer.js';

/** A text as an index counts it. */
export interface CountedTokens {
  /** All tokens, tails included. */
  readonly len: number;
  /** How often each occurs. */
  readonly terms: ReadonlyMap<string, number>;
}

/** The index side of the tokenizer. */
export function countTokens(text: string): CountedTokens {
  const terms = new Map<string, number>();
  let len = 0;
  for (const { tokens } of tokenize(text)) {
    len += tokens.length;
    for (const token of tokens) terms.set(token.text, (terms.get(token.text) ?? 0) + 1);
  }
  return { len, terms };
}

/** What splits no further, in the order of the text: a phrase is in a chunk when its leaves follow each other there. */
export function leavesOf(text: string): readonly string[] {
  return tokenize(text).flatMap(({ leaves }) => leaves);
}

/** A token of a query; `prefix` means any indexed token that starts with it. */
export interface QueryToken {
  readonly text: string;
  readonly form: 'whole' | 'part' | 'prefix';
}

/** A text as a query means it. */
export interface QueryText {
  /** Distinct, in the order of their first appearance. */
  readonly tokens: readonly QueryToken[];
  readonly leaves: readonly string[];
  /**
   * The whole form when the text is exactly one identifier of two leaves or more: chunks that hold it come before
   * those that hold only its parts (SE-22). Null for any other text.
   */
  readonly identifier: string | null;
}

/** The query side of the tokenizer. */
export function readQueryText(text: string): QueryText {
  const groups = tokenize(text);
  const tokens = new Map<string, QueryToken>();
  for (const token of groups.flatMap((group) => group.tokens)) {
    const asked = queryToken(token);
    if (asked !== null && !tokens.has(asked.text)) tokens.set(asked.text, asked);
  }
  const leaves = groups.flatMap((group) => group.leaves);
  return { tokens: [...tokens.values()], leaves, identifier: identifierOf(groups) };
}

function queryToken({ text, form }: Token): QueryToken | null {
  if (form === 'tail') return null;
  return { text, form: form === 'single' ? 'prefix' : form };
}

function identifierOf(groups: readonly TokenGroup[]): string | null {
  const [group] = groups;
  if (group === undefined || groups.length > 1 || group.kind !== 'compound') return null;
  const [first] = group.tokens;
  return group.leaves.length >= 2 && first?.form === 'whole' ? first.text : null;
}
