import { TurnlogError } from '@turnlog/kernel';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Collects numbers and texts as bytes, growing as it goes. */
export class ByteWriter {
  #bytes = new Uint8Array(1_024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was written; shares its memory with the writer, so it is used before more is written. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** A whole number up to 2^53 in as many bytes of 7 bits as it needs, the lowest first. */
  number(value: number): void {
    this.#need(8);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#length] = (rest % 0x80) | 0x80;
      this.#length += 1;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length] = rest;
    this.#length += 1;
  }

  /** Any number, 8 bytes. */
  double(value: number): void {
    this.#need(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  bytes(bytes: Uint8Array): void {
    this.#need(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** A text with its length before it. */
  text(text: string): void {
    const bytes = encoder.encode(text);
    this.number(bytes.length);
    this.bytes(bytes);
  }

  /** A text or nothing. */
  optionalText(text: string | null): void {
    this.number(text === null ? 0 : 1);
    if (text !== null) this.text(text);
  }

  /** Zeros up to the next multiple of `alignment`, counted from `base` bytes before the start. */
  align(alignment: number, base: number): void {
    while ((base + this.#length) % alignment !== 0) {
      this.#need(1);
      this.#bytes[this.#length] = 0;
      this.#length += 1;
    }
  }

  #need(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** Reads what a `ByteWriter` wrote. Bytes that end too early are damage, wherever they came from. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #path: string;
  #at = 0;

  /** `path` names the file in errors. */
  constructor(bytes: Uint8Array, path: string) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#path = path;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw damagedFile(this.#path, 'it ends too early');
      this.#at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw damagedFile(this.#path, 'a number is too long');
  }

  double(): number {
    const bytes = this.bytes(8);
    return this.#view.getFloat64(bytes.byteOffset - this.#bytes.byteOffset, true);
  }

  bytes(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw damagedFile(this.#path, 'it ends too early');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  text(): string {
    return decoder.decode(this.bytes(this.number()));
  }

  optionalText(): string | null {
    return this.number() === 0 ? null : this.text();
  }
}

/** A derived file does not hold what was written to it: it is left aside, and what it said is read again. */
export function damagedFile(path: string, reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_IO', {
    details: { operation: 'check', path, reason },
    message: `a file of the search index is damaged: ${path}: ${reason}`,
  });
}
