import { limits, TurnlogError } from '@turnlog/kernel';

/**
 * The chunks of a source until `stop` is aborted. What is being waited for then is left alone: a source in the
 * middle of a read cannot be closed.
 */
export async function* chunksUntil(
  source: AsyncIterable<Uint8Array>,
  stop: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  const stopped = new Promise<null>((resolve) => {
    if (stop.aborted) resolve(null);
    else stop.addEventListener('abort', () => resolve(null), { once: true });
  });
  while (!stop.aborted) {
    const next = await Promise.race([iterator.next(), stopped]);
    if (next === null || next.done === true) return;
    yield next.value;
  }
}

/** One line of an input, or the length of one that is longer than a reader takes. */
export type CutLine =
  | { readonly kind: 'line'; readonly bytes: Uint8Array; readonly ending: 'line-feed' | 'unended' }
  | { readonly kind: 'too-long'; readonly byteCount: number };

const lineFeed = 0x0a;

/** Cuts chunks into lines at 0x0A and nowhere else. Holds one line at most, and of a too long one only its length. */
export class LineCutter {
  readonly #lineBytesMax: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #isTooLong = false;

  constructor(lineBytesMax: number = limits.readerLineBytesMax) {
    this.#lineBytesMax = lineBytesMax;
  }

  /** The lines that end in `chunk`. */
  *push(chunk: Uint8Array): Iterable<CutLine> {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      this.#hold(chunk.subarray(start, end));
      yield this.#take('line-feed');
      start = end + 1;
    }
    // What is held must survive the chunk, whose memory its source may use again.
    if (start < chunk.length) this.#hold(chunk.slice(start));
  }

  /** Bytes of the line that has not ended yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The last line, when no 0x0A ended it; null when there is none. */
  end(): CutLine | null {
    return this.#heldBytes === 0 ? null : this.#take('unended');
  }

  #hold(bytes: Uint8Array): void {
    this.#heldBytes += bytes.length;
    this.#isTooLong ||= this.#heldBytes > this.#lineBytesMax;
    if (this.#isTooLong) this.#held = [];
    else this.#held.push(bytes);
  }

  #take(ending: 'line-feed' | 'unended'): CutLine {
    const held = this.#held;
    const byteCount = this.#heldBytes;
    const isTooLong = this.#isTooLong;
    this.#held = [];
    this.#heldBytes = 0;
    this.#isTooLong = false;
    if (isTooLong) return { kind: 'too-long', byteCount };
    const [first] = held;
    return {
      kind: 'line',
      bytes: held.length === 1 && first !== undefined ? first : Buffer.concat(held),
      ending,
    };
  }
}

/** All of an input as text. @throws TURNLOG_RECORD_TOO_LARGE beyond `byteCountMax`. */
export async function readWholeInput(
  source: AsyncIterable<Uint8Array>,
  stop: AbortSignal,
  byteCountMax: number,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of chunksUntil(source, stop)) {
    byteCount += chunk.length;
    if (byteCount > byteCountMax) {
      throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', { details: { byteCountMax } });
    }
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(chunks));
}
