import * as crypto from 'node:crypto';
import { createHash } from 'node:crypto';

/** SHA-256 of `bytes`, 32 bytes. One call into the system for short inputs, where Node offers it (20.12 on). */
export function sha256(bytes: Uint8Array): Uint8Array {
  if (typeof crypto.hash === 'function') return crypto.hash('sha256', bytes, 'buffer');
  return createHash('sha256').update(bytes).digest();
}

/** SHA-256 of `bytes` as 64 lower-case hex digits. */
export function sha256Hex(bytes: Uint8Array): string {
  if (typeof crypto.hash === 'function') return crypto.hash('sha256', bytes, 'hex');
  return createHash('sha256').update(bytes).digest('hex');
}

/** SHA-256 of the UTF-8 bytes of a text; half a surrogate pair counts as U+FFFD. A digest as text is made at once. */
export function sha256Text(text: string, encoding: 'hex' | 'base64url'): string {
  if (typeof crypto.hash === 'function') return crypto.hash('sha256', text, encoding);
  return createHash('sha256').update(text, 'utf8').digest(encoding);
}

/** A digest over bytes that come in pieces. */
export class RunningSha256 {
  readonly #hash = createHash('sha256');

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  /** The digest so far, as 64 lower-case hex digits; more may follow. */
  digestHex(): string {
    return this.#hash.copy().digest('hex');
  }
}
