/**
 * A pull tokenizer for one JSON text (RFC 8259) in bytes.
 *
 * It says exactly what `JSON.parse` would accept, without building values: so a line of a log can be judged,
 * its members located and its numbers read as written, in one pass and in memory that does not depend on
 * nesting. Bytes from 0x80 on are taken inside strings only and not decoded; a byte that is not UTF-8 there
 * reads as U+FFFD, which changes no structure.
 */

/** What the last call of `next` found. */
export type JsonToken =
  | 'object-start'
  | 'object-end'
  | 'array-start'
  | 'array-end'
  | 'key'
  | 'string'
  | 'number'
  | 'literal'
  | 'end'
  | 'error';

const tab = 0x09;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const blank = 0x20;
const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** What may stand at the present place. */
type Expectation = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'comma-or-end' | 'end';

const literals: readonly Uint8Array[] = ['true', 'false', 'null'].map((text) =>
  new TextEncoder().encode(text),
);

/** 1 where a byte may follow a backslash inside a string (but `u`, which needs four digits). */
const simpleEscapes = new Uint8Array(256);
for (const character of '"\\/bfnrt') simpleEscapes[character.charCodeAt(0)] = 1;

const hexDigits = new Uint8Array(256);
for (const character of '0123456789abcdefABCDEF') hexDigits[character.charCodeAt(0)] = 1;

/** 1 where a byte ends or interrupts the plain run of a string: control characters, quote, backslash, 0x80 on. */
const stringStops = new Uint8Array(256);
stringStops.fill(1, 0x00, 0x20);
stringStops.fill(1, 0x80);
stringStops[quote] = 1;
stringStops[backslash] = 1;

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Whether none of the four bytes at `at` ends or interrupts a plain run. */
function isPlainAt(bytes: Uint8Array, at: number): boolean {
  return (
    stringStops[bytes[at] as number] === 0 &&
    stringStops[bytes[at + 1] as number] === 0 &&
    stringStops[bytes[at + 2] as number] === 0 &&
    stringStops[bytes[at + 3] as number] === 0
  );
}

/** The first place from `start` on that ends or interrupts a plain run, or `limit`. Most of a log is such runs. */
function plainRunEnd(bytes: Uint8Array, start: number, limit: number): number {
  let at = start;
  while (at + 4 <= limit && isPlainAt(bytes, at)) at += 4;
  while (at < limit && stringStops[bytes[at] as number] === 0) at += 1;
  return at;
}

export class JsonTokenizer {
  /** Start of the last token; of a string or key, its opening quote. */
  start = 0;
  /** End of the last token, exclusive. */
  end = 0;
  /** How many objects and arrays are open, the one that a start token has just opened included. */
  depth = 0;
  /** The greatest `depth` since `reset`. */
  deepest = 0;
  /** Whether the last string or key holds neither a backslash nor a byte from 0x80 on. */
  isPlain = true;
  /** Whether a string or a key since `reset` was the word that is looked out for, written without escapes. */
  hasMetWord = false;

  readonly #word: Uint8Array;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #limit = 0;
  #expected: Expectation = 'value';
  /** One entry per open container: 1 for an object, 0 for an array. */
  #containers = new Uint8Array(64);

  /** `word`: what is looked out for, which costs next to nothing here. */
  constructor(word = '') {
    this.#word = new TextEncoder().encode(word);
  }

  /** Begins with the text in `bytes` from `start` to `limit`, exclusive. */
  reset(bytes: Uint8Array, start: number, limit: number): void {
    this.#bytes = bytes;
    this.#at = start;
    this.#limit = limit;
    this.#expected = 'value';
    this.depth = 0;
    this.deepest = 0;
    this.hasMetWord = false;
    this.start = start;
    this.end = start;
  }

  /** The next token; after `end` or `error` always the same again. On `error`, `start` is the place. */
  next(): JsonToken {
    this.#skipBlanks();
    this.start = this.#at;
    if (this.#at >= this.#limit) return this.#expected === 'end' ? this.#finish('end') : this.#fail();
    const byte = this.#bytes[this.#at] as number;
    switch (this.#expected) {
      case 'comma-or-end':
        return this.#afterValue(byte);
      case 'key':
      case 'key-or-end':
        return this.#keyOrEnd(byte);
      case 'value':
      case 'value-or-end':
        return this.#value(byte);
      case 'end':
        return this.#fail();
    }
  }

  /** Passes over the container that a start token has just opened; false when the text is broken inside. */
  skipContainer(): boolean {
    const outer = this.depth - 1;
    while (this.depth > outer) {
      if (this.next() === 'error') return false;
    }
    return true;
  }

  #finish(token: JsonToken): JsonToken {
    this.end = this.#at;
    return token;
  }

  #fail(): JsonToken {
    // The place stays where it is and nothing is expected any more: every further call fails again.
    this.#expected = 'end';
    this.#limit = this.#at + 1;
    return this.#finish('error');
  }

  #skipBlanks(): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < this.#limit) {
      const byte = bytes[at] as number;
      if (byte > blank) break;
      if (byte !== blank && byte !== tab && byte !== carriageReturn && byte !== lineFeed) break;
      at += 1;
    }
    this.#at = at;
  }

  #afterValue(byte: number): JsonToken {
    if (byte !== comma) return this.#closeContainer(byte);
    this.#at += 1;
    this.#expected = this.#containers[this.depth - 1] === 1 ? 'key' : 'value';
    return this.next();
  }

  #closeContainer(byte: number): JsonToken {
    const isObject = this.#containers[this.depth - 1] === 1;
    if (byte !== (isObject ? closeBrace : closeBracket)) return this.#fail();
    this.#at += 1;
    this.depth -= 1;
    this.#endOfValue();
    return this.#finish(isObject ? 'object-end' : 'array-end');
  }

  #endOfValue(): void {
    this.#expected = this.depth === 0 ? 'end' : 'comma-or-end';
  }

  #keyOrEnd(byte: number): JsonToken {
    if (byte === closeBrace && this.#expected === 'key-or-end') return this.#closeContainer(byte);
    if (byte !== quote || !this.#string()) return this.#fail();
    this.#finish('key');
    this.#skipBlanks();
    if (this.#at >= this.#limit || this.#bytes[this.#at] !== colon) return this.#fail();
    this.#at += 1;
    this.#expected = 'value';
    return 'key';
  }

  #value(byte: number): JsonToken {
    if (byte === quote) return this.#scalar(this.#string(), 'string');
    if (byte === openBrace) return this.#openContainer(true);
    if (byte === openBracket) return this.#openContainer(false);
    if (byte === closeBracket && this.#expected === 'value-or-end') return this.#closeContainer(byte);
    if (byte === minus || isDigit(byte)) return this.#scalar(this.#number(), 'number');
    return this.#scalar(this.#literal(), 'literal');
  }

  #scalar(isWhole: boolean, token: JsonToken): JsonToken {
    if (!isWhole) return this.#fail();
    this.#endOfValue();
    return this.#finish(token);
  }

  #openContainer(isObject: boolean): JsonToken {
    if (this.depth === this.#containers.length) {
      const grown = new Uint8Array(this.#containers.length * 2);
      grown.set(this.#containers);
      this.#containers = grown;
    }
    this.#containers[this.depth] = isObject ? 1 : 0;
    this.depth += 1;
    if (this.depth > this.deepest) this.deepest = this.depth;
    this.#at += 1;
    this.#expected = isObject ? 'key-or-end' : 'value-or-end';
    return this.#finish(isObject ? 'object-start' : 'array-start');
  }

  #string(): boolean {
    const bytes = this.#bytes;
    const limit = this.#limit;
    let at = this.#at + 1;
    let isPlain = true;
    for (;;) {
      at = plainRunEnd(bytes, at, limit);
      if (at >= limit) break;
      const byte = bytes[at] as number;
      if (byte === quote) {
        if (at - this.#at - 1 === this.#word.length) this.#lookAt(this.#at + 1);
        this.#at = at + 1;
        this.isPlain = isPlain;
        return true;
      }
      if (byte < blank) break;
      isPlain = false;
      const length = byte === backslash ? this.#escapeLength(at) : 1;
      if (length === 0) break;
      at += length;
    }
    this.#at = at;
    return false;
  }

  /** Whether what begins behind its quote at `start`, as long as the word, is the word. */
  #lookAt(start: number): void {
    const word = this.#word;
    for (let index = 0; index < word.length; index += 1) {
      if (this.#bytes[start + index] !== word[index]) return;
    }
    this.hasMetWord = true;
  }

  /** How many bytes the escape at `at` takes; 0 when it is none. */
  #escapeLength(at: number): number {
    if (at + 1 >= this.#limit) return 0;
    const byte = this.#bytes[at + 1] as number;
    if (simpleEscapes[byte] === 1) return 2;
    if (byte !== 0x75 || at + 5 >= this.#limit) return 0;
    for (let digit = at + 2; digit < at + 6; digit += 1) {
      if (hexDigits[this.#bytes[digit] as number] !== 1) return 0;
    }
    return 6;
  }

  #digits(): boolean {
    const from = this.#at;
    while (this.#at < this.#limit && isDigit(this.#bytes[this.#at] as number)) this.#at += 1;
    return this.#at > from;
  }

  #is(byte: number): boolean {
    return this.#at < this.#limit && this.#bytes[this.#at] === byte;
  }

  #number(): boolean {
    if (this.#is(minus)) this.#at += 1;
    if (this.#is(0x30)) this.#at += 1;
    else if (!this.#digits()) return false;
    if (this.#is(dot)) {
      this.#at += 1;
      if (!this.#digits()) return false;
    }
    if (this.#is(0x65) || this.#is(0x45)) {
      this.#at += 1;
      if (this.#is(0x2b) || this.#is(minus)) this.#at += 1;
      return this.#digits();
    }
    return true;
  }

  #literal(): boolean {
    for (const text of literals) {
      if (this.#at + text.length > this.#limit) continue;
      if (text.every((byte, index) => this.#bytes[this.#at + index] === byte)) {
        this.#at += text.length;
        return true;
      }
    }
    return false;
  }
}
