import { parseSessionReference } from '@turnlog/store';
import { badFlag } from './flag.js';

/** A session and which of its records, as in `ID`, `ID:12`, `ID:12..20`, `ID:12..`. */
export interface RangeReference {
  /** What names the session, not looked up yet. */
  readonly session: string;
  /** Null stands for all records. */
  readonly range: { readonly from: number; readonly to: number } | null;
}

const rangeForm = /^(?<session>.+):(?<from>\d{1,15})(?:(?<dots>\.\.)(?<to>\d{1,15})?)?$/su;

/**
 * Reads `ID[:SEQ[..SEQ]]` without looking anything up.
 *
 * @throws TURNLOG_INVALID_SESSION_ID, TURNLOG_BAD_FLAG for a range that ends before it begins.
 */
export function parseRangeReference(text: string): RangeReference {
  const groups = rangeForm.exec(text)?.groups;
  const session = groups?.['session'] ?? text;
  parseSessionReference(session);
  if (groups === undefined) return { session, range: null };
  const from = Number(groups['from']);
  const openEnd = groups['dots'] === undefined ? from : Number.MAX_SAFE_INTEGER;
  const to = groups['to'] === undefined ? openEnd : Number(groups['to']);
  if (to < from) throw badFlag(`the range ${from}..${to} ends before it begins`, { from, to });
  return { session, range: { from, to } };
}
