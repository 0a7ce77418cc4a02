import { limits } from '@turnlog/kernel';
import { isCount, isSha256Hex, isText, type ScannedRecord } from '@turnlog/log';
import type { Leaf } from './log-walk.js';
import type { RedactedLeaf } from './pack.js';

/**
 * Which records are gone from a log and who says so. A redacted record keeps the leaf hash of its line, and a
 * `log.redaction` at a later place must name its index with that hash; otherwise somebody else took it out.
 */
export class RedactedLeaves {
  readonly #redacted = new Map<
    number,
    { readonly seq: number; readonly leaf: string; statementSeq: number | null }
  >();
  #isOverLimit = false;

  /** Takes a leaf; called in their order. */
  note({ index, hash, record }: Leaf): void {
    const { type } = record.record;
    if (type === 'log.redaction') this.#noteStatement(index, record);
    if (type !== 'log.redacted') return;
    if (this.#redacted.size >= limits.redactedRecordsMax) this.#isOverLimit = true;
    else this.#redacted.set(index, { seq: record.seq, leaf: hash, statementSeq: null });
  }

  /** Whether there were more than are kept, so that nothing can be said of all of them. */
  get isOverLimit(): boolean {
    return this.#isOverLimit;
  }

  /** In the order of the leaves; those below `size` only, where one is given. */
  list(size: number = Number.POSITIVE_INFINITY): readonly RedactedLeaf[] {
    return [...this.#redacted]
      .filter(([index]) => index < size)
      .map(([index, { seq, statementSeq }]) => ({ index, seq, statementSeq }));
  }

  #noteStatement(at: number, record: ScannedRecord): void {
    const event: Readonly<Record<string, unknown>> = { ...record.readEvent() };
    const { indexes, leaves, reason, actor } = event;
    if (!Array.isArray(indexes) || !Array.isArray(leaves) || !isText(reason) || !isText(actor)) return;
    for (const [position, index] of indexes.entries()) {
      const leaf: unknown = leaves[position];
      if (!isCount(index) || index >= at || !isSha256Hex(leaf)) continue;
      const known = this.#redacted.get(index);
      if (known?.leaf === leaf) known.statementSeq ??= record.seq;
    }
  }
}
