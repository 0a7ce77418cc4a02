import { sha256Hex, TurnlogError } from '@turnlog/kernel';

/** A part of a list, and where the next one begins. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Rows behind this page. */
  readonly left: number;
  /** Where to go on; null behind the last page. */
  readonly next: string | null;
}

export interface ListPageRequest<Row> {
  /** All that decides which rows there are, and in which order. */
  readonly query: unknown;
  readonly cursor: string | null;
  /** Without one, everything behind the cursor. */
  readonly limit: number | null;
  /** What a cursor names a row by. It is printed: no secret stands in it. */
  readonly identityOf: (row: Row) => string;
}

const digestCharacters = 8;

/**
 * A page of a list that is at hand as a whole. A cursor names the last row that was listed, so rows that come or go
 * before it shift nothing; it holds for the query it was made with.
 *
 * @throws TURNLOG_CURSOR_MISMATCH when it was made by another query, or its row has left the list.
 */
export function pageOfRows<Row>(rows: readonly Row[], request: ListPageRequest<Row>): ListPage<Row> {
  const { query, cursor, limit, identityOf } = request;
  const listed = cursor === null ? null : rowBehindCursor(query, cursor);
  const found = listed === null ? -1 : rows.findIndex((row) => identityOf(row) === listed);
  if (listed !== null && found === -1) throw mismatch(cursor);
  const start = found + 1;
  const end = Math.min(start + (limit ?? rows.length), rows.length);
  const last = rows[end - 1];
  const isCut = end < rows.length && last !== undefined;
  return {
    rows: rows.slice(start, end),
    left: rows.length - end,
    next: isCut ? cursorBehindRow(query, identityOf(last)) : null,
  };
}

/** The identity of the row that a page ended with. @throws TURNLOG_CURSOR_MISMATCH for a cursor of another query. */
export function rowBehindCursor(query: unknown, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!text.startsWith(markOf(query))) throw mismatch(cursor);
  return text.slice(digestCharacters);
}

/** The cursor of a page that ends with the row of that identity. */
export function cursorBehindRow(query: unknown, identity: string): string {
  return Buffer.from(`${markOf(query)}${identity}`).toString('base64url');
}

function markOf(query: unknown): string {
  return sha256Hex(Buffer.from(JSON.stringify(query))).slice(0, digestCharacters);
}

function mismatch(cursor: string | null): TurnlogError {
  return new TurnlogError('TURNLOG_CURSOR_MISMATCH', { details: { cursor } });
}
