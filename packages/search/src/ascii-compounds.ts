import { asciiLetterBit, colon, hash, joinerBit, asciiKinds as kinds, plus, wordBit } from './ascii-kinds.js';

/** No character takes more bytes for each of its units. */
const unitBytesMax = 3;
/** Bytes behind a text that may be looked at as if they were of it; they are zeros. */
const behindBytes = 16;

const encoder = new TextEncoder();

/**
 * What `TokenScanner` finds in texts that are all ASCII, as most are: by the same rules, but nothing is asked of a
 * character than what its byte is, and there is nothing but compounds. All are found at once.
 */
export class AsciiCompounds {
  bytes: Uint8Array = new Uint8Array(0);
  view: DataView = new DataView(this.bytes.buffer);
  /** Of each compound where it begins and ends, side by side. */
  places: Uint32Array = new Uint32Array(0);
  count = 0;

  /** Finds all compounds of a text; false, and nothing is found, when it is not in ASCII. */
  scan(text: string): boolean {
    const { length } = text;
    this.count = 0;
    this.#reserve(length);
    const { bytes } = this;
    if (encoder.encodeInto(text, bytes).written !== length) return false;
    bytes.fill(0, length, length + behindBytes);
    let count = 0;
    for (let at = 0; at < length; ) {
      if (((kinds[bytes[at] ?? 0] ?? 0) & wordBit) === 0) {
        at += 1;
        continue;
      }
      const start = at;
      at = wordEnd(bytes, at);
      if (kinds[bytes[at] ?? 0] === joinerBit) at = compoundEnd(bytes, start, at);
      this.places[count] = start;
      this.places[count + 1] = at;
      count += 2;
    }
    this.count = count / 2;
    return true;
  }

  /** How many of the last bytes of a compound are the suffix of a name such as C++: nothing else ends with a joiner. */
  suffixWidth(end: number): number {
    const last = this.bytes[end - 1];
    return last === hash ? 1 : last === plus ? 2 : 0;
  }

  #reserve(length: number): void {
    const wanted = unitBytesMax * length + behindBytes;
    if (wanted > this.bytes.length) {
      this.bytes = new Uint8Array(2 * wanted);
      this.view = new DataView(this.bytes.buffer);
    }
    // Between two compounds there is a byte at least.
    if (length + 2 > this.places.length) this.places = new Uint32Array(2 * length);
  }
}

function wordEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (((kinds[bytes[at] ?? 0] ?? 0) & wordBit) !== 0) at += 1;
  return at;
}

/** The end of a compound whose first word ends at a joiner. */
function compoundEnd(bytes: Uint8Array, start: number, firstEnd: number): number {
  let wordStart = start;
  let end = firstEnd;
  while (kinds[bytes[end] ?? 0] === joinerBit) {
    const next = end + (bytes[end] === colon && bytes[end + 1] === colon ? 2 : 1);
    if (!isWord(bytes, next)) return suffixEnd(bytes, wordStart, end);
    wordStart = next;
    end = wordEnd(bytes, next);
  }
  return end;
}

function isWord(bytes: Uint8Array, at: number): boolean {
  return ((kinds[bytes[at] ?? 0] ?? 0) & wordBit) !== 0;
}

/** Behind the `++` or `#` that belongs to a name of one or two letters; `end` when there is none. */
function suffixEnd(bytes: Uint8Array, wordStart: number, end: number): number {
  const byte = bytes[end];
  const width = byte === hash ? 1 : byte === plus && bytes[end + 1] === plus ? 2 : 0;
  if (width === 0 || end - wordStart > 2 || isWord(bytes, end + width)) return end;
  for (let at = wordStart; at < end; at += 1) {
    if (((kinds[bytes[at] ?? 0] ?? 0) & asciiLetterBit) === 0) return end;
  }
  return end + width;
}
