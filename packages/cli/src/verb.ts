import type { Command } from './command.js';
import type { Flag } from './flag.js';

/** An argument that is no flag. */
export interface Positional {
  readonly name: string;
  readonly presence: 'required' | 'optional' | 'repeated';
  readonly choices: readonly string[] | null;
  /** Whether it names a session, for those who look at all verbs that take one. */
  readonly isSession: boolean;
  /** Refuses a text by its looks. @throws TURNLOG_BAD_FLAG, TURNLOG_INVALID_SESSION_ID */
  check(text: string): void;
}

/** One verb, with all that help, completion, capabilities and the parser need of it. */
export interface Verb {
  readonly name: string;
  readonly summary: string;
  readonly positionals: readonly Positional[];
  /** Words that may stand before the arguments and make something else of them, as `bisect` of `replay DIR`. */
  readonly variants?: readonly string[];
  readonly flags: readonly Flag<unknown>[];
  /** Loads what does the work; looking at the table loads nothing. */
  load(): Promise<Command>;
}

/** A verb and its arguments, as in `append ID`. */
export function usageOf(verb: Verb): string {
  const parts = verb.positionals.map(({ name, presence }) => {
    if (presence === 'required') return name;
    return presence === 'repeated' ? `[${name}…]` : `[${name}]`;
  });
  const variants = verb.variants === undefined ? [] : [`[${verb.variants.join('|')}]`];
  return [verb.name, ...variants, ...parts].join(' ');
}

/** Words that are offered where arguments stand. */
export function wordsOf({ positionals, variants = [] }: Verb): readonly string[] {
  return [...variants, ...positionals.flatMap(({ choices }) => choices ?? [])];
}

/** What stands behind a verb that does several things, as `rename` behind `session`; empty for other verbs. */
export function subVerbsOf({ positionals: [first] }: Verb): readonly string[] {
  const choices = first?.choices ?? [];
  return choices.length > 0 && first?.name === choices.join('|') ? choices : [];
}
