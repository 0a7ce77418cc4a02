import { TurnlogError } from '@turnlog/kernel';
import {
  type Accepted,
  type Appender,
  checkedKey,
  type EventInput,
  encodeInput,
  isBoundary,
} from './append.js';
import { leafHash } from './merkle-frontier.js';

/** Adds events to a batch one by one, so that later ones may depend on earlier ones. */
export interface BatchBuilder {
  /** Takes one event; returns its seq, its turn and the leaf hash of its line, 64 hex digits. */
  add(event: EventInput, options?: { readonly key?: string }): Accepted & { readonly leaf: string };
}

/** The events of one batch on their way into an appender. */
export class Batch implements BatchBuilder {
  readonly seqs: number[] = [];
  hasBoundary = false;
  readonly #appender: Appender;
  readonly #beforeFirst: () => void;
  #hasBegun = false;

  constructor(appender: Appender, beforeFirst: () => void) {
    this.#appender = appender;
    this.#beforeFirst = beforeFirst;
  }

  add(input: EventInput, options: { readonly key?: string } = {}): Accepted & { readonly leaf: string } {
    const key = checkedKey(options.key);
    const event = encodeInput(input);
    // A batch is one fact: a part of it that is already in the log makes it another batch.
    const duplicate = key === null ? null : this.#appender.findDuplicate(key, event);
    if (key !== null && duplicate !== null) {
      throw new TurnlogError('TURNLOG_KEY_CONFLICT', { details: { key, seq: duplicate.seq } });
    }
    if (!this.#hasBegun) this.#beforeFirst();
    this.#hasBegun = true;
    const from = this.#appender.buffer.length;
    const accepted = this.#appender.accept(event, key);
    const lines = this.#appender.buffer.view();
    this.seqs.push(accepted.seq);
    this.hasBoundary ||= isBoundary(event);
    return { ...accepted, leaf: leafHash(lines, from, lines.length - 1) };
  }
}
