/** 64 bits of a digest; whoever makes it takes all of them from the same place. */
const entryBytes = 8;
const firstSlots = 16;

/**
 * A set of digests by their first 64 bits, in a table beside the heap: a thread may have millions of records. Two
 * different digests that agree in these bits are taken for one, once in some 10^10 threads of a million records.
 */
export class DigestSet {
  #slots: Uint32Array = new Uint32Array(firstSlots * 2);
  #size = 0;
  #hasZero = false;

  get size(): number {
    return this.#size;
  }

  /** Adds a digest, given in hex digits; false when it was there. */
  add(hex: string): boolean {
    return this.addWords(hexWordAt(hex, 0), hexWordAt(hex, 8));
  }

  has(hex: string): boolean {
    return this.hasWords(hexWordAt(hex, 0), hexWordAt(hex, 8));
  }

  /** As `add`, of the first 32 bits and the next. */
  addWords(high: number, low: number): boolean {
    if (high === 0 && low === 0) return this.#addZero();
    if ((this.#size + 1) * 4 > this.#slots.length) this.#grow();
    const at = this.#slotOf(high, low);
    if (this.#slots[at] !== 0 || this.#slots[at + 1] !== 0) return false;
    this.#slots[at] = high;
    this.#slots[at + 1] = low;
    this.#size += 1;
    return true;
  }

  hasWords(high: number, low: number): boolean {
    if (high === 0 && low === 0) return this.#hasZero;
    const at = this.#slotOf(high, low);
    return this.#slots[at] !== 0 || this.#slots[at + 1] !== 0;
  }

  addAll(other: DigestSet): void {
    if (other.#hasZero) this.#addZero();
    for (let slot = 0; slot < other.#slots.length; slot += 2) {
      const high = other.#slots[slot] ?? 0;
      const low = other.#slots[slot + 1] ?? 0;
      if (high !== 0 || low !== 0) this.addWords(high, low);
    }
  }

  /** How many of these digests are not in `other`. */
  countMissingIn(other: DigestSet): number {
    let count = this.#hasZero && !other.#hasZero ? 1 : 0;
    for (let slot = 0; slot < this.#slots.length; slot += 2) {
      const high = this.#slots[slot] ?? 0;
      const low = this.#slots[slot + 1] ?? 0;
      if ((high !== 0 || low !== 0) && !other.hasWords(high, low)) count += 1;
    }
    return count;
  }

  copy(): DigestSet {
    const copy = new DigestSet();
    copy.#slots = this.#slots.slice();
    copy.#size = this.#size;
    copy.#hasZero = this.#hasZero;
    return copy;
  }

  /** All entries, 8 bytes each, in no order. */
  toBytes(): Uint8Array {
    const bytes = new Uint8Array(this.#size * entryBytes);
    const view = new DataView(bytes.buffer);
    let at = this.#hasZero ? entryBytes : 0;
    for (let slot = 0; slot < this.#slots.length; slot += 2) {
      const high = this.#slots[slot] ?? 0;
      const low = this.#slots[slot + 1] ?? 0;
      if (high === 0 && low === 0) continue;
      view.setUint32(at, high);
      view.setUint32(at + 4, low);
      at += entryBytes;
    }
    return bytes;
  }

  static fromBytes(bytes: Uint8Array): DigestSet {
    const set = new DigestSet();
    for (let at = 0; at + entryBytes <= bytes.length; at += entryBytes) {
      set.addWords(wordAt(bytes, at), wordAt(bytes, at + 4));
    }
    return set;
  }

  #addZero(): boolean {
    if (this.#hasZero) return false;
    this.#hasZero = true;
    this.#size += 1;
    return true;
  }

  /** Where the entry stands, or would. */
  #slotOf(high: number, low: number): number {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    let at = low & mask;
    for (;;) {
      const foundHigh = slots[at * 2];
      const foundLow = slots[at * 2 + 1];
      if ((foundHigh === high && foundLow === low) || (foundHigh === 0 && foundLow === 0)) return at * 2;
      at = (at + 1) & mask;
    }
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += 2) {
      const high = before[at] ?? 0;
      const low = before[at + 1] ?? 0;
      if (high === 0 && low === 0) continue;
      const to = this.#slotOf(high, low);
      this.#slots[to] = high;
      this.#slots[to + 1] = low;
    }
  }
}

/** The 32 bits that eight lower-case hex digits say. */
function hexWordAt(hex: string, at: number): number {
  let word = 0;
  for (let index = at; index < at + 8; index += 1) {
    const code = hex.charCodeAt(index);
    word = word * 16 + (code < 0x61 ? code - 0x30 : code - 0x57);
  }
  return word;
}

function wordAt(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return (a * 0x1000000 + b * 0x10000 + c * 0x100 + d) >>> 0;
}
