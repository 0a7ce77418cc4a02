import { DigestSet } from './digest-set.js';

const keyPrefix = 'im1:';

/** Keys of imported events, held by the first bits of their digests. Other keys are held as they are. */
export class KeySet {
  readonly #digests = new DigestSet();
  readonly #others = new Set<string>();

  add(key: string): void {
    if (key.startsWith(keyPrefix)) this.#digests.add(digestIn(key));
    else this.#others.add(key);
  }

  has(key: string): boolean {
    return key.startsWith(keyPrefix) ? this.#digests.has(digestIn(key)) : this.#others.has(key);
  }
}

function digestIn(key: string): Uint8Array {
  return Buffer.from(key.slice(keyPrefix.length), 'base64url');
}
