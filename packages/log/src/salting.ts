import { recordSalt } from '@turnlog/events';
import type { Ids } from '@turnlog/kernel';
import type { ByteSource } from './line-framer.js';
import type { LineSpan } from './log-state.js';
import { readFully } from './read-fully.js';

/**
 * Whether records get a salt, which makes the leaf hash of each unguessable, so that nothing is left of one that is
 * redacted later: `each` from now on, or as the log has been written so far.
 */
export type SaltMode = 'each' | 'as-before';

/** Bytes of a salt; it is written as twice as many hex digits. */
const saltBytes = 16;

/** Gives the records of a redactable log their salts. A log is one when its last record is salted. */
export class Salting {
  readonly #ids: Ids;
  readonly #source: ByteSource;
  readonly #tail: LineSpan | null;
  /** Null before anybody has asked. */
  #isSalted: boolean | null;

  /** `tail` is the last line of the log in `source`; null in an empty one. */
  constructor(ids: Ids, source: ByteSource, tail: LineSpan | null, mode: SaltMode) {
    this.#ids = ids;
    this.#source = source;
    this.#tail = tail;
    this.#isSalted = mode === 'each' ? true : null;
  }

  /** The salt of the next record; null when it gets none. */
  next(): string | null {
    this.#isSalted ??= this.#isTailSalted();
    return this.#isSalted ? this.#ids.randomHex(saltBytes) : null;
  }

  #isTailSalted(): boolean {
    if (this.#tail === null) return false;
    const { offset, length } = this.#tail;
    const line = new Uint8Array(length);
    return readFully(this.#source, line, offset) && recordSalt(line, 0, length) !== null;
  }
}
