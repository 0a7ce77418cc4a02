import { cursorBehindRow, type ListPage } from '@turnlog/store';
import { fitItems, outputBytes } from './output-limits.js';
import type { ToolAnswer } from './tool.js';

export interface CutPageParts<Row> {
  /** All members but for the list and its end, redacted. */
  readonly head: Readonly<Record<string, unknown>>;
  /** The member that the list is. */
  readonly name: string;
  readonly page: Pick<ListPage<Row>, 'rows' | 'left'>;
  /** What is told of a row, redacted. */
  readonly itemOf: (row: Row) => unknown;
  /** As the page was made with. */
  readonly query: unknown;
  readonly identityOf: (row: Row) => string;
  readonly maxBytes: number | undefined;
}

/**
 * A page as a document that keeps within its bytes. The cursor stands behind the last row that is told; a first row
 * that fits nowhere is passed over, so that whoever goes on comes to an end.
 */
export function cutPage<Row>(parts: CutPageParts<Row>): ToolAnswer {
  const { head, name, page, itemOf, query, identityOf } = parts;
  const maxBytes = outputBytes(parts.maxBytes);
  const { items, isCapped } = fitItems(page.rows.map(itemOf), head, maxBytes);
  const toldCount = Math.max(items.length, 1);
  const last = page.rows[toldCount - 1];
  const isMore = last !== undefined && (page.left > 0 || page.rows.length > toldCount);
  const next = isMore ? cursorBehindRow(query, identityOf(last)) : null;
  return { ...head, [name]: items, next_cursor: next, capped: isCapped };
}
