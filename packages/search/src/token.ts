/**
 * How a token stands in its group: all of it, a piece of it, or, of a run written without spaces, its last code
 * point (documents only) and the only one it has (in a query: any token that starts with it).
 */
export type TokenForm = 'whole' | 'part' | 'tail' | 'single';

export interface Token {
  readonly text: string;
  readonly form: TokenForm;
}

/** An identifier or word, a run written without spaces, or an emoji, with all that it is found by. */
export interface TokenGroup {
  readonly kind: 'compound' | 'run' | 'emoji';
  /** In the order of the table: the whole, then what it is made of. */
  readonly tokens: readonly Token[];
  /** What splits no further, in the order of the text: phrases are sequences of these. */
  readonly leaves: readonly string[];
}
