/** A change of a file's content that no sync has made durable yet. */
export type FileChange =
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly length: number };

export interface NodeFacts {
  readonly inode: number;
  readonly birthNs: string;
  readonly uid: number | null;
  mode: number;
  modifiedMs: number;
}

/**
 * A file in two layers: what programs see, and what a disk holds for certain: the image of the last sync, and
 * the changes since then in their order, of which a crash may keep any.
 *
 * Both layers share one buffer, because a scenario is replayed thousands of times: bytes once handed to the
 * durable layer are never overwritten, the buffer is copied instead.
 */
export class ModelFile {
  readonly kind = 'file';
  readonly facts: NodeFacts;
  /** How many names and open handles keep the content alive. */
  useCount = 0;
  #buffer: Uint8Array;
  #length: number;
  #sharedLength: number;
  #durable: Uint8Array;
  #pending: FileChange[] = [];

  /** A file whose content `image` is durable. The image is shared, not copied. */
  constructor(facts: NodeFacts, image: Uint8Array) {
    this.facts = facts;
    this.#buffer = image;
    this.#length = image.length;
    this.#sharedLength = image.length;
    this.#durable = image;
  }

  get length(): number {
    return this.#length;
  }

  /** What programs read. Not to be written to. */
  get visible(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  get durable(): Uint8Array {
    return this.#durable;
  }

  get pending(): readonly FileChange[] {
    return this.#pending;
  }

  append(bytes: Uint8Array): void {
    const offset = this.#length;
    const end = offset + bytes.length;
    if (end > this.#buffer.length || offset < this.#sharedLength) this.#moveToOwnBuffer(end);
    this.#buffer.set(bytes, offset);
    this.#length = end;
    this.#sharedLength = end;
    this.#pending.push({ kind: 'write', offset, bytes: this.#buffer.subarray(offset, end) });
  }

  truncate(length: number): void {
    if (length > this.#length) this.#extend(length);
    this.#length = length;
    this.#pending.push({ kind: 'truncate', length });
  }

  sync(): void {
    this.#durable = this.visible;
    this.#sharedLength = Math.max(this.#sharedLength, this.#length);
    this.#pending = [];
  }

  #extend(length: number): void {
    this.#moveToOwnBuffer(length);
    this.#buffer.fill(0, this.#length, length);
    this.#sharedLength = length;
  }

  #moveToOwnBuffer(neededLength: number): void {
    const buffer = new Uint8Array(Math.max(256, neededLength * 2));
    buffer.set(this.visible);
    this.#buffer = buffer;
    this.#sharedLength = 0;
  }
}
