import { type Fact, plainWords } from './fact.js';

/** Which queries a text answers. A word that every answer must hold leads to the needs that are looked at. */
export class NeedIndex {
  readonly #byWord = new Map<string, number[]>();
  readonly #byPrefix = new Map<string, number[]>();
  readonly #byTail = new Map<string, number[]>();
  readonly #facts: readonly Fact[];
  /** Lengths of the prefixes that are asked for. */
  readonly #lengths: readonly number[];

  constructor(facts: readonly Fact[]) {
    this.#facts = facts;
    const lengths = new Set<number>();
    for (const [at, { need }] of facts.entries()) {
      if ('prefix' in need) {
        lengths.add(need.prefix.length);
        put(this.#byPrefix, need.prefix, at);
      } else if ('tail' in need) put(this.#byTail, need.tail, at);
      else put(this.#byWord, anchorOf(need.words), at);
    }
    this.#lengths = [...lengths];
  }

  /** Numbers of the facts whose need the text meets. */
  answered(text: string): readonly number[] {
    const words = new Set(plainWords(text));
    const found = new Set([...words].flatMap((word) => this.#answeredBy(word, words)));
    return [...found].sort((left, right) => left - right);
  }

  #answeredBy(word: string, words: ReadonlySet<string>): readonly number[] {
    const starts = this.#lengths.map((length) => word.slice(0, length));
    return [
      ...(this.#byWord.get(word) ?? []).filter((at) => this.#isMet(at, words)),
      ...(this.#byTail.get(tailOf(word)) ?? []),
      ...starts.flatMap((start) => this.#byPrefix.get(start) ?? []),
    ];
  }

  #isMet(at: number, words: ReadonlySet<string>): boolean {
    const need = this.#facts[at]?.need;
    if (need === undefined || !('words' in need)) return false;
    const { oneOf } = need;
    return (
      need.words.every((word) => words.has(word)) &&
      (oneOf === undefined || oneOf.some((word) => words.has(word)))
    );
  }
}

/** The last two parts of a path, without a line. */
function tailOf(word: string): string {
  return word.replace(/:\d+$/, '').split('/').slice(-2).join('/');
}

/** The longest word: the rarest of them, as a rule. */
function anchorOf(words: readonly string[]): string {
  const [longest = ''] = [...words].sort(
    (left, right) => right.length - left.length || (left < right ? -1 : 1),
  );
  return longest;
}

function put<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

/** Proves of a whole world that the chunks which answer a query are its gold, and no others. */
export class WorldCheck {
  readonly #index: NeedIndex;
  readonly #found = new Map<number, string[]>();

  constructor(facts: readonly Fact[]) {
    this.#index = new NeedIndex(facts);
  }

  /** Takes one line of a log, as it was written. */
  take(session: string, line: string): void {
    const record = JSON.parse(line);
    for (const at of this.#index.answered(stringsOf(record.event).join('\n'))) {
      put(this.#found, at, `${session}:${record.seq}`);
    }
  }

  /** @throws where a fact is answered by other chunks than its gold. */
  finish(golds: readonly (readonly string[])[]): void {
    for (const [at, gold] of golds.entries()) {
      const found = (this.#found.get(at) ?? []).sort().join(' ');
      const expected = [...gold].sort().join(' ');
      if (found !== expected) throw new Error(`query ${at} is answered by ${found}, not by ${expected}`);
    }
  }
}

/** Every text in a value. */
export function stringsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsOf);
}
