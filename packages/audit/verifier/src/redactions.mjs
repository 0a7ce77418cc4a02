// Records that were taken out, and what is said of them.

import { isCount, isHash } from './bytes.mjs';
import { fits } from './shapes.mjs';

/** What is said of records: each with the hash of its line, and where that was said. */
export const statementsIn = (records) =>
  records
    .filter(({ event }) => event.type === 'log.redaction' && fits('statement', event))
    .flatMap(({ index: at, seq, event }) => event.indexes.map((index, place) => ({ index, leaf: event.leaves[place], at, seq })))
    .filter(({ index, leaf, at }) => isCount(index) && index < at && isHash(leaf));

/** Redacted records, each with the first later record that says so by index and leaf. */
export function redactionsIn(records) {
  const keyOf = (index, leaf) => JSON.stringify([index, leaf]);
  const said = new Map(statementsIn(records.toReversed()).map(({ index, leaf, seq }) => [keyOf(index, leaf), seq]));
  const redacted = records.filter(({ event }) => event.type === 'log.redacted');
  return redacted.map(({ index, seq, event }) => ({ index, seq, statement_seq: said.get(keyOf(index, event.leaf)) ?? null }));
}
