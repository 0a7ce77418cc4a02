import { cursorBehindRow, type ListPage, pageOfRows, rowBehindCursor } from '@turnlog/store';
import type { Arguments } from './arguments.js';
import type { Flag } from './flag.js';
import * as flags from './flags.js';

/** The flags that decide what is in a list and in which order. */
type Query = readonly Flag<unknown>[];

/**
 * The page that --limit and --cursor ask for; a cursor holds for the flags it was made with.
 *
 * @throws TURNLOG_CURSOR_MISMATCH, see `pageOfRows`.
 */
export function pageOf<Row>(
  args: Arguments,
  query: Query,
  rows: readonly Row[],
  identityOf: (row: Row) => string,
): ListPage<Row> {
  const [cursor, limit] = [args.get(flags.cursorFlag) ?? null, args.get(flags.limitFlag) ?? null];
  return pageOfRows(rows, { query: valuesOf(args, query), cursor, limit, identityOf });
}

/**
 * What the page before ended with, by --cursor; null without one.
 *
 * @throws TURNLOG_CURSOR_MISMATCH when the cursor was made by another query.
 */
export function listedLast(args: Arguments, query: Query): string | null {
  const cursor = args.get(flags.cursorFlag);
  return cursor === undefined ? null : rowBehindCursor(valuesOf(args, query), cursor);
}

/** The cursor of a page that ends with `identity`. */
export function cursorBehind(args: Arguments, query: Query, identity: string): string {
  return cursorBehindRow(valuesOf(args, query), identity);
}

/** With the arguments: a blame of another path is another list. */
function valuesOf(args: Arguments, query: Query): unknown {
  const values = query.map((flag) => args.get(flag) ?? null);
  return args.positionals.length === 0 ? values : [...values, args.positionals];
}
