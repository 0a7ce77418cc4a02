import { asciiText, utf8Bytes } from './text-codec.js';

/** A fixed list of ASCII names that are looked for in bytes, without making a text of the bytes first. */
export class NameTable {
  readonly #names: readonly string[];
  /** Positions in the list by length of the name. */
  readonly #byLength: number[][] = [];
  readonly #bytes: readonly Uint8Array[];

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#bytes = names.map(utf8Bytes);
    const longest = Math.max(...names.map((name) => name.length));
    for (let length = 0; length <= longest; length += 1) {
      this.#byLength.push(names.flatMap((name, position) => (name.length === length ? [position] : [])));
    }
  }

  /** The position of the name that `bytes` hold from `start` to `end`, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const candidates = this.#byLength[end - start];
    if (candidates === undefined) return -1;
    for (const position of candidates) {
      if (isSame(bytes, start, this.#bytes[position] as Uint8Array)) return position;
    }
    return -1;
  }

  /** The text from `start` to `end`, ASCII; names of the list are not made anew. */
  text(bytes: Uint8Array, start: number, end: number): string {
    const position = this.find(bytes, start, end);
    return this.#names[position] ?? asciiText(bytes, start, end);
  }
}

function isSame(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let index = name.length - 1; index >= 0; index -= 1) {
    if (bytes[start + index] !== name[index]) return false;
  }
  return true;
}
