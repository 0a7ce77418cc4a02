import { safeLine } from '@turnlog/store';
import { joinShown, type Shown, type Style, styled } from './shown.js';
import { fitText, padText, textWidth } from './width.js';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** Columns it may shrink to when the line is too long; without one it never shrinks. */
  readonly widthMin?: number;
  readonly style?: (row: Row) => Style | null;
}

const gap = 2;

/** A table of at most `widthMax` columns where that is possible; cells are one line each. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { widthMax, isColoured }: { readonly widthMax: number; readonly isColoured: boolean },
): readonly Shown[] {
  const cells = rows.map((row) => columns.map((column) => safeLine(column.value(row))));
  const widths = columns.map((column, index) =>
    Math.max(textWidth(column.title), ...cells.map((line) => textWidth(line[index] ?? ''))),
  );
  shrink(widths, columns, widthMax);
  const head = lineOf(
    columns,
    columns.map((column) =>
      styled(isColoured ? 'strong' : null, cell(column, column.title, widths, columns)),
    ),
  );
  return [
    head,
    ...rows.map((row, position) =>
      lineOf(
        columns,
        columns.map((column, index) =>
          styled(
            isColoured ? (column.style?.(row) ?? null) : null,
            cell(column, cells[position]?.[index] ?? '', widths, columns),
          ),
        ),
      ),
    ),
  ];
}

function lineOf<Row>(_columns: readonly Column<Row>[], cells: readonly Shown[]): Shown {
  return joinShown(cells, ' '.repeat(gap));
}

function cell<Row>(
  column: Column<Row>,
  text: string,
  widths: readonly number[],
  columns: readonly Column<Row>[],
): string {
  const index = columns.indexOf(column);
  const width = widths[index] ?? 0;
  const fitted = fitText(text, width);
  if (column.align === 'right') return ' '.repeat(Math.max(width - textWidth(fitted), 0)) + fitted;
  return index === columns.length - 1 ? fitted : padText(fitted, width);
}

/** Takes what is too much from the columns that may shrink, the widest first. */
function shrink<Row>(widths: number[], columns: readonly Column<Row>[], widthMax: number): void {
  let excess = widths.reduce((sum, width) => sum + width, gap * (columns.length - 1)) - widthMax;
  const order = columns
    .map((column, index) => ({ index, widthMin: column.widthMin }))
    .filter(({ widthMin }) => widthMin !== undefined)
    .sort((left, right) => (widths[right.index] ?? 0) - (widths[left.index] ?? 0));
  for (const { index, widthMin = 0 } of order) {
    if (excess <= 0) return;
    const width = widths[index] ?? 0;
    const taken = Math.min(excess, Math.max(width - widthMin, 0));
    widths[index] = width - taken;
    excess -= taken;
  }
}
