import { limits, TurnlogError } from '@turnlog/kernel';
import type { Phrase, QueryTerm } from './query-plan.js';
import { leavesOf, readQueryText } from './token-views.js';

/**
 * What a person typed, in one of two syntaxes (SE-16). In the literal one, which is the default everywhere, all of it
 * is text. In the query syntax these have a meaning, and anything else is text as well:
 *
 * | form | meaning |
 * |---|---|
 * | `word` | optional, adds to the score |
 * | `+word`, `"some words"` | required, its parts side by side |
 * | `-word`, `-"some words"` | chunks that hold it are left out |
 * | `word*` | everything that begins with it, from two characters on |
 * | `session:` `role:` `kind:` `tool:` `path:` `workspace:` `agent:` `since:` `until:` | filters |
 */
export type QuerySyntax = 'literal' | 'query';

export const filterFields = [
  'session',
  'role',
  'kind',
  'tool',
  'path',
  'workspace',
  'agent',
  'since',
  'until',
] as const;

export type FilterField = (typeof filterFields)[number];

/** A query as it was meant, before anything is looked up. */
export interface ParsedQuery {
  /** Scored terms in the order of their first appearance, each once. */
  readonly terms: readonly QueryTerm[];
  /** The identifier that the query is, and nothing else; null for any other query. */
  readonly whole: string | null;
  readonly required: readonly Phrase[];
  readonly excluded: readonly Phrase[];
  /** Values of filters as they were written. */
  readonly filters: ReadonlyMap<FilterField, readonly string[]>;
  /** The text without operators and filters, for a search of text that has no token. */
  readonly text: string;
}

/**
 * @throws TURNLOG_QUERY_TOO_LONG; TURNLOG_NOTHING_TO_SEARCH when the query only excludes.
 */
export function parseQuery(text: string, syntax: QuerySyntax): ParsedQuery {
  checkLength(text);
  const builder = new QueryBuilder();
  if (syntax === 'literal') builder.word(text);
  else for (const element of elementsOf(text)) builder.take(element);
  return builder.build();
}

function checkLength(text: string): void {
  // No fewer units than code points, so that most texts need not be counted.
  if (text.length <= limits.queryCodePointsMax) return;
  const codePoints = Array.from(text).length;
  if (codePoints <= limits.queryCodePointsMax) return;
  throw new TurnlogError('TURNLOG_QUERY_TOO_LONG', {
    details: { codePoints, codePointsMax: limits.queryCodePointsMax },
    message: `a query has at most ${limits.queryCodePointsMax} characters, this one has ${codePoints}`,
  });
}

type Element =
  | { readonly kind: 'word' | 'required' | 'excluded' | 'prefix'; readonly text: string }
  | { readonly kind: 'filter'; readonly field: FilterField; readonly value: string };

/** One element of a query at a time: a quoted text, or all up to the next white space. */
const elementForm =
  /(?<sign>[+-]?)"(?<quoted>[^"]*)"|(?<field>[a-z]+):(?:"(?<quotedValue>[^"]*)"|(?<value>[^\s"]+))|(?<bare>\S+)/gu;

function* elementsOf(text: string): Iterable<Element> {
  for (const { groups = {}, 0: whole } of text.matchAll(elementForm)) {
    const { sign, quoted, field, bare } = groups;
    const value = groups['quotedValue'] ?? groups['value'];
    if (quoted !== undefined) yield { kind: sign === '-' ? 'excluded' : 'required', text: quoted };
    else if (field !== undefined && value !== undefined) yield filterOr(field, value, whole);
    else if (bare !== undefined) yield bareElement(bare);
  }
}

function filterOr(field: string, value: string, whole: string): Element {
  const known = filterFields.find((name) => name === field);
  return known === undefined ? bareElement(whole) : { kind: 'filter', field: known, value };
}

function bareElement(text: string): Element {
  const [first, rest] = [text.charAt(0), text.slice(1)];
  if (first === '+' && leavesOf(rest).length > 0) return { kind: 'required', text: rest };
  if (first === '-' && leavesOf(rest).length > 0) return { kind: 'excluded', text: rest };
  const start = text.endsWith('*') ? text.slice(0, -1) : '';
  if (Array.from(start).length >= 2 && leavesOf(start).length > 0) return { kind: 'prefix', text: start };
  return { kind: 'word', text };
}

class QueryBuilder {
  readonly #terms = new Map<string, QueryTerm>();
  readonly #required: Phrase[] = [];
  readonly #excluded: Phrase[] = [];
  readonly #filters = new Map<FilterField, string[]>();
  readonly #words: string[] = [];
  /** Elements that are more than plain words: beside them nothing is one identifier by itself. */
  #hasOthers = false;

  take(element: Element): void {
    if (element.kind === 'filter') {
      this.#filters.set(element.field, [...(this.#filters.get(element.field) ?? []), element.value]);
    } else if (element.kind === 'word') {
      this.word(element.text);
    } else {
      this.#hasOthers = true;
      if (element.kind === 'excluded') this.#phrase(this.#excluded, element.text);
      else if (element.kind === 'prefix') this.#prefix(element.text);
      else this.#require(element.text);
    }
  }

  word(text: string): void {
    this.#words.push(text);
    this.#score(text);
  }

  build(): ParsedQuery {
    const text = this.#words.join(' ');
    const whole = this.#hasOthers ? null : readQueryText(text).identifier;
    if (this.#terms.size === 0 && this.#excluded.length > 0) {
      throw new TurnlogError('TURNLOG_NOTHING_TO_SEARCH', {
        details: {},
        message: 'the query says only what is not wanted',
      });
    }
    return {
      terms: [...this.#terms.values()],
      whole,
      required: this.#required,
      excluded: this.#excluded,
      filters: this.#filters,
      text,
    };
  }

  #require(text: string): void {
    this.#phrase(this.#required, text);
    this.#score(text);
  }

  #prefix(text: string): void {
    const [first] = readQueryText(text).tokens;
    if (first !== undefined) this.#add({ kind: 'prefix', text: first.text });
  }

  #phrase(phrases: Phrase[], text: string): void {
    const leaves = leavesOf(text);
    if (leaves.length > 0) phrases.push(leaves);
  }

  #score(text: string): void {
    for (const { text: token, form } of readQueryText(text).tokens) {
      this.#add({ kind: form === 'prefix' ? 'prefix' : 'token', text: token });
    }
  }

  #add(term: QueryTerm): void {
    const name = `${term.kind}:${term.text}`;
    if (!this.#terms.has(name)) this.#terms.set(name, term);
  }
}
