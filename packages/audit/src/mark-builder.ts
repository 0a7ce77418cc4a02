import { MerkleFrontier, treeRoot } from '@turnlog/log/tree';

/** How many bytes a mark has. */
export const markBytes = 4;
const markDigits = 2 * markBytes;

/** Makes marks as the leaves go by. */
export class MarkBuilder {
  readonly #each: number;
  #bytes: Buffer = Buffer.alloc(1_024 * markBytes);
  #length = 0;
  #group: MerkleFrontier = new MerkleFrontier();

  /** `before`: marks of the leaves before, to go on from; the last one must be whole. */
  constructor(each: number, before: Uint8Array = new Uint8Array(0)) {
    this.#each = each;
    if (before.length > 0) {
      this.#bytes = Buffer.from(before);
      this.#length = before.length;
    }
  }

  add(leaf: string): void {
    if (this.#each === 1) {
      this.#push(leaf);
      return;
    }
    this.#group.add(leaf);
    if (this.#group.size === this.#each) this.#endGroup();
  }

  /** The marks, that of a last group which is not full included. */
  end(): Uint8Array {
    if (this.#group.size > 0) this.#endGroup();
    return this.#bytes.subarray(0, this.#length);
  }

  #endGroup(): void {
    this.#push(treeRoot(this.#group.head()));
    this.#group = new MerkleFrontier();
  }

  #push(hash: string): void {
    if (this.#length + markBytes > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    }
    for (let digit = 0; digit < markDigits; digit += 2) {
      this.#bytes[this.#length] = hexDigit(hash, digit) * 16 + hexDigit(hash, digit + 1);
      this.#length += 1;
    }
  }
}

/** The value of a lower-case hex digit: `0` is 0x30, `a` is 0x61. */
function hexDigit(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit < 0x40 ? unit - 0x30 : unit - 0x57;
}
