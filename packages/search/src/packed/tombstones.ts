import { ByteReader, ByteWriter, damagedFile } from './byte-codec.js';
import { GrowingNumbers } from './growing-numbers.js';

/** What took the place of a chunk: a later snapshot of its item; null where it has left the corpus. */
export type Superseder = { readonly seq: number; readonly tsMs: number | null } | null;

const magic = 'TLDEAD1';
const isLive = 0;
const isGone = -1;

/** How many chunks are written down before the work may pause. */
const sliceChunks = 32_768;

/**
 * Which chunks of a segment do not count any more. A superseded one still counts for the past; one that is gone,
 * because it was redacted or dropped or its session removed, counts never and leaves with the next merge.
 */
export class Tombstones {
  readonly #chunkCount: number;
  /** By ordinal: 0 for a live chunk, -1 for one that is gone, else the seq that superseded it. */
  #seqs: Float64Array | null = null;
  #times: Float64Array | null = null;
  readonly #voidLogs = new Set<number>();
  /** Ordinals in the order in which something became of them. */
  readonly #burials = new GrowingNumbers(Uint32Array);
  #deadCount = 0;
  #deadTokens = 0;
  #goneCount = 0;
  /** Rises with each change. */
  version = 0;

  constructor(chunkCount: number) {
    this.#chunkCount = chunkCount;
  }

  /** Chunks that do not count now, and their tokens. */
  get deadCount(): number {
    return this.#deadCount;
  }

  get deadTokens(): number {
    return this.#deadTokens;
  }

  /** Those of them that count never. */
  get goneCount(): number {
    return this.#goneCount;
  }

  get isEmpty(): boolean {
    return this.#deadCount === 0 && this.#voidLogs.size === 0;
  }

  /** Bytes of the arrays that it holds. */
  get byteLength(): number {
    const held = (this.#seqs?.byteLength ?? 0) + (this.#times?.byteLength ?? 0);
    return held === 0 ? 0 : held + this.#burials.byteLength;
  }

  isDead(ordinal: number): boolean {
    return this.#seqs !== null && this.#seqs[ordinal] !== isLive;
  }

  isGone(ordinal: number): boolean {
    return this.#seqs !== null && this.#seqs[ordinal] === isGone;
  }

  /** What superseded a chunk; null for one that is live or gone. */
  supersederOf(ordinal: number): Superseder {
    const seq = this.#seqs?.[ordinal] ?? isLive;
    if (seq <= isLive) return null;
    const tsMs = this.#times?.[ordinal] ?? Number.NaN;
    return { seq, tsMs: Number.isNaN(tsMs) ? null : tsMs };
  }

  /**
   * Notes what took the place of a chunk of `len` tokens. What is gone stays gone, and of several snapshots the first
   * is the one that superseded it.
   */
  bury(ordinal: number, len: number, superseder: Superseder): void {
    const seqs = this.#seqs ?? new Float64Array(this.#chunkCount);
    const times = this.#times ?? new Float64Array(this.#chunkCount);
    this.#seqs = seqs;
    this.#times = times;
    const present = seqs[ordinal] ?? isLive;
    if (present === isGone) return;
    if (superseder !== null && present !== isLive && present <= superseder.seq) return;
    if (present === isLive) {
      this.#deadCount += 1;
      this.#deadTokens += len;
    }
    if (superseder === null) this.#goneCount += 1;
    seqs[ordinal] = superseder?.seq ?? isGone;
    times[ordinal] = superseder?.tsMs ?? Number.NaN;
    this.#burials.push(ordinal);
    this.version += 1;
  }

  /** How often something became of a chunk, and of which: who has followed up to one number goes on behind it. */
  get burialCount(): number {
    return this.#burials.length;
  }

  burialAt(number: number): number {
    return this.#burials.at(number);
  }

  /** The segment says nothing any more about how far this log of it was taken in. */
  voidLog(log: number): void {
    this.#voidLogs.add(log);
    this.version += 1;
  }

  isVoid(log: number): boolean {
    return this.#voidLogs.has(log);
  }

  get voidCount(): number {
    return this.#voidLogs.size;
  }

  /**
   * All of them as bytes, in parts that belong one behind the other. What is buried during a pause may be among them or
   * not.
   */
  *encode(): Generator<void, readonly Uint8Array[], void> {
    const dead: Uint8Array[] = [];
    const out = new ByteWriter();
    let count = 0;
    for (let from = 0; from < this.#chunkCount; from += sliceChunks) {
      out.clear();
      count += this.#encodeSlice(out, from, Math.min(from + sliceChunks, this.#chunkCount));
      dead.push(out.written().slice());
      yield;
    }
    const [head, voids] = [new ByteWriter(), new ByteWriter()];
    head.text(magic);
    head.number(this.#chunkCount);
    head.number(count);
    voids.number(this.#voidLogs.size);
    for (const log of this.#voidLogs) voids.number(log);
    return [head.written(), ...dead, voids.written()];
  }

  #encodeSlice(out: ByteWriter, from: number, to: number): number {
    let count = 0;
    for (let ordinal = from; ordinal < to; ordinal += 1) {
      if (!this.isDead(ordinal)) continue;
      out.number(ordinal);
      out.double(this.#seqs?.[ordinal] ?? isGone);
      out.double(this.#times?.[ordinal] ?? Number.NaN);
      count += 1;
    }
    return count;
  }

  /** `lenOf` gives the tokens of a chunk. @throws TURNLOG_IO when these are tombstones of something else. */
  static decode(bytes: Uint8Array, path: string, chunkCount: number, lenOf: LenOf): Tombstones {
    const input = new ByteReader(bytes, path);
    if (input.text() !== magic) throw damagedFile(path, 'it is of another format');
    if (input.number() !== chunkCount) throw damagedFile(path, 'it belongs to another segment');
    const tombstones = new Tombstones(chunkCount);
    for (let left = input.number(); left > 0; left -= 1) {
      const ordinal = input.number();
      const [seq, tsMs] = [input.double(), input.double()];
      const superseder = seq === isGone ? null : { seq, tsMs: Number.isNaN(tsMs) ? null : tsMs };
      tombstones.bury(ordinal, lenOf(ordinal), superseder);
    }
    for (let left = input.number(); left > 0; left -= 1) tombstones.voidLog(input.number());
    tombstones.version = 0;
    return tombstones;
  }
}

type LenOf = (ordinal: number) => number;
