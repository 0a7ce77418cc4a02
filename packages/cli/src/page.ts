import { sha256Hex, TurnlogError } from '@turnlog/kernel';
import type { Arguments } from './arguments.js';
import type { Flag } from './flag.js';
import * as flags from './flags.js';

/** A part of a list, and where the next one begins. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Rows behind this page. */
  readonly left: number;
  /** For --cursor; null behind the last page. */
  readonly next: string | null;
}

const digestCharacters = 8;

/** The flags that decide what is in a list and in which order. */
type Query = readonly Flag<unknown>[];

/**
 * The page that --limit and --cursor ask for. A cursor names the last row that was listed, so rows that come or go
 * before it shift nothing; it holds for the flags it was made with.
 *
 * @throws TURNLOG_CURSOR_MISMATCH when it was made by another query, or its row has left the list.
 */
export function pageOf<Row>(
  args: Arguments,
  query: Query,
  rows: readonly Row[],
  identityOf: (row: Row) => string,
): Page<Row> {
  const listed = listedLast(args, query);
  const found = listed === null ? -1 : rows.findIndex((row) => identityOf(row) === listed);
  if (listed !== null && found === -1) throw mismatch(args);
  const start = found + 1;
  const end = Math.min(start + (args.get(flags.limitFlag) ?? rows.length), rows.length);
  const last = rows[end - 1];
  const isCut = end < rows.length && last !== undefined;
  return {
    rows: rows.slice(start, end),
    left: rows.length - end,
    next: isCut ? cursorBehind(args, query, identityOf(last)) : null,
  };
}

/**
 * What the page before ended with, by --cursor; null without one.
 *
 * @throws TURNLOG_CURSOR_MISMATCH when the cursor was made by another query.
 */
export function listedLast(args: Arguments, query: Query): string | null {
  const cursor = args.get(flags.cursorFlag);
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!text.startsWith(markOf(args, query))) throw mismatch(args);
  return text.slice(digestCharacters);
}

/** The cursor of a page that ends with `identity`. */
export function cursorBehind(args: Arguments, query: Query, identity: string): string {
  return Buffer.from(`${markOf(args, query)}${identity}`).toString('base64url');
}

function markOf(args: Arguments, query: Query): string {
  const digest = sha256Hex(Buffer.from(JSON.stringify(query.map((flag) => args.get(flag) ?? null))));
  return digest.slice(0, digestCharacters);
}

function mismatch(args: Arguments): TurnlogError {
  return new TurnlogError('TURNLOG_CURSOR_MISMATCH', { details: { cursor: args.get(flags.cursorFlag) } });
}
