import { DigestSet } from './digest-set.js';

/** A key as imports make it: 128 bits. */
const keyForm = /^im1:[\w-]{22}$/;
const digitsFrom = 'im1:'.length;

const values = new Uint8Array(128);
for (const [value, digit] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
].entries()) {
  values[digit.charCodeAt(0)] = value;
}

/** Keys of imported events, held by the first bits of their digests. Other keys are held as they are. */
export class KeySet {
  readonly #digests = new DigestSet();
  readonly #others = new Set<string>();

  add(key: string): void {
    if (keyForm.test(key)) this.#digests.addWords(highOf(key), lowOf(key));
    else this.#others.add(key);
  }

  has(key: string): boolean {
    return keyForm.test(key) ? this.#digests.hasWords(highOf(key), lowOf(key)) : this.#others.has(key);
  }
}

/** What the `n`-th digit of a key says, six bits. */
function bitsAt(key: string, n: number): number {
  return values[key.charCodeAt(digitsFrom + n)] ?? 0;
}

/** The number of all whole digits from `from` on, before `to`. */
function numberIn(key: string, from: number, to: number): number {
  let number = 0;
  for (let n = from; n < to; n += 1) number = number * 64 + bitsAt(key, n);
  return number;
}

/** The first 32 bits: five digits and two bits of the sixth. */
function highOf(key: string): number {
  return numberIn(key, 0, 5) * 4 + (bitsAt(key, 5) >> 4);
}

/** The next 32 bits: four bits of the sixth digit, four digits, four bits of the eleventh. */
function lowOf(key: string): number {
  return ((bitsAt(key, 5) & 0x0f) * 0x1000000 + numberIn(key, 6, 10)) * 16 + (bitsAt(key, 10) >> 2);
}
