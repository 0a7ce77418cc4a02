import { isCount, isSha256Hex, isText } from '@turnlog/log';

/** What a `log.redaction` says of one record. */
export interface StatedLeaf {
  readonly index: number;
  readonly leaf: string;
  /** Index and seq of the statement itself. */
  readonly at: number;
  readonly seq: number;
  readonly reason: string;
  readonly actor: string;
}

/**
 * What the `log.redaction` that is leaf `at` says; nothing when it lacks a member. Of a record that comes behind the
 * statement nothing can be said.
 */
export function readStatement(
  at: number,
  record: { readonly seq: number; readEvent(): object | null },
): readonly StatedLeaf[] {
  const event: Readonly<Record<string, unknown>> = { ...record.readEvent() };
  const { indexes, leaves, reason, actor } = event;
  if (!Array.isArray(indexes) || !Array.isArray(leaves) || !isText(reason) || !isText(actor)) return [];
  return indexes.flatMap((index: unknown, position): readonly StatedLeaf[] => {
    const leaf: unknown = leaves[position];
    if (!isCount(index) || index >= at || !isSha256Hex(leaf)) return [];
    return [{ index, leaf, at, seq: record.seq, reason, actor }];
  });
}
