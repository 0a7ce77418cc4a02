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
  /** What is worth least is left out first where there is no room; without one a column always stays. */
  readonly worth?: number;
}

const gap = 2;

/**
 * A table of at most `widthMax` columns: cells are one line each, long ones are cut, and where that is not enough
 * columns are left out.
 */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { widthMax, isColoured }: { readonly widthMax: number; readonly isColoured: boolean },
): readonly Shown[] {
  const { kept, widths, cells } = layOut(rows, columns, widthMax);
  const lineOf = (texts: readonly string[], styleOf: (column: Column<Row>) => Style | null): Shown =>
    joinShown(
      kept.map((column, index) =>
        styled(
          isColoured ? styleOf(column) : null,
          cellText(column, texts[index] ?? '', widths[index] ?? 0, index === kept.length - 1),
        ),
      ),
      ' '.repeat(gap),
    );
  const titles = kept.map(({ title }) => title);
  return [
    lineOf(titles, () => 'strong'),
    ...rows.map((row, position) => lineOf(cells[position] ?? [], (column) => column.style?.(row) ?? null)),
  ];
}

interface Layout<Row> {
  readonly kept: readonly Column<Row>[];
  readonly widths: readonly number[];
  readonly cells: readonly (readonly string[])[];
}

function layOut<Row>(rows: readonly Row[], columns: readonly Column<Row>[], widthMax: number): Layout<Row> {
  const cells = rows.map((row) => columns.map((column) => safeLine(column.value(row))));
  const widths = columns.map((column, index) =>
    Math.max(textWidth(column.title), ...cells.map((line) => textWidth(line[index] ?? ''))),
  );
  shrink(widths, columns, widthMax);
  if (totalWidth(widths) <= widthMax || columns.length === 1) return { kept: columns, widths, cells };
  const worth = (column: Column<Row>): number => column.worth ?? Number.POSITIVE_INFINITY;
  const least = columns.reduce((lowest, column) => (worth(column) < worth(lowest) ? column : lowest));
  const fewer = columns.filter((column) => column !== least);
  return layOut(rows, fewer, widthMax);
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));
}

function cellText<Row>(column: Column<Row>, text: string, width: number, isLast: boolean): string {
  const fitted = fitText(text, width);
  if (column.align === 'right') return ' '.repeat(Math.max(width - textWidth(fitted), 0)) + fitted;
  return isLast ? fitted : padText(fitted, width);
}

/** Takes what is too much from the columns that may shrink, the widest first. */
function shrink<Row>(widths: number[], columns: readonly Column<Row>[], widthMax: number): void {
  let excess = totalWidth(widths) - widthMax;
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
