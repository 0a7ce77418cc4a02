import { limits } from '@turnlog/kernel';
import type { RedactedLeaf } from './pack.js';
import { readStatement, type StatedLeaf } from './redaction-statement.js';

/** What has to be known of a leaf to tell. */
export interface NotedLeaf {
  readonly index: number;
  readonly record: { readonly type: string; readonly seq: number; readEvent(): object | null };
  hash(): string;
}

/**
 * Which records are gone from a log and who says so. A redacted record keeps the leaf hash of its line, and a
 * `log.redaction` at a later place must name its index with that hash; otherwise somebody else took it out.
 */
export class RedactedLeaves {
  readonly #redacted = new Map<number, { readonly seq: number; readonly leaf: string }>();
  /** What was said of each. */
  readonly #stated = new Map<number, StatedLeaf[]>();
  #statedCount = 0;
  #isOverLimit = false;

  /** Takes a leaf; parts of a log may come in any order. */
  note(leaf: NotedLeaf): void {
    const { index, record } = leaf;
    const { type } = record;
    if (type === 'log.redaction') for (const stated of readStatement(index, record)) this.#noteStated(stated);
    if (type !== 'log.redacted') return;
    if (this.#redacted.size >= limits.redactedRecordsMax) this.#isOverLimit = true;
    else this.#redacted.set(index, { seq: record.seq, leaf: leaf.hash() });
  }

  /** Whether there were more than are kept, so that nothing can be said of all of them. */
  get isOverLimit(): boolean {
    return this.#isOverLimit;
  }

  /** In the order of the leaves; those below `size` only, where one is given. */
  list(size: number = Number.POSITIVE_INFINITY): readonly RedactedLeaf[] {
    return [...this.#redacted]
      .filter(([index]) => index < size)
      .sort(([one], [other]) => one - other)
      .map(([index, { seq, leaf }]) => ({ index, seq, statementSeq: this.#statementOf(index, leaf) }));
  }

  /** Whether something was said of a record before leaf `to`, in leaf `since` or later. */
  isStatedBefore(to: number, since = 0): boolean {
    for (const [index, said] of this.#stated) {
      if (index < to && said.some(({ at }) => at >= since)) return true;
    }
    return false;
  }

  #statementOf(index: number, leaf: string): number | null {
    const said = (this.#stated.get(index) ?? []).filter((stated) => stated.leaf === leaf);
    return said.length === 0 ? null : Math.min(...said.map(({ seq }) => seq));
  }

  #noteStated(stated: StatedLeaf): void {
    if (this.#statedCount >= limits.redactedRecordsMax) {
      this.#isOverLimit = true;
      return;
    }
    this.#statedCount += 1;
    const known = this.#stated.get(stated.index);
    if (known === undefined) this.#stated.set(stated.index, [stated]);
    else known.push(stated);
  }
}
