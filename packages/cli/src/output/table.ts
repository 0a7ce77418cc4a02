import type { Output } from './output.js';
import { fitShown, joinShown, padShown, type Shown, type Style } from './shown.js';
import { textWidth } from './width.js';

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
 * A table that fits the output: cells are one line each, long ones are cut, and where that is not enough
 * columns are left out.
 */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  output: Output,
): readonly Shown[] {
  const { words } = output;
  const { kept, widths, cells } = layOut(rows, columns, output);
  const nothing = words.line('');
  const lineOf = (texts: readonly Shown[], styleOf: (column: Column<Row>) => Style | null): Shown =>
    joinShown(
      kept.map((column, index) =>
        output.paint(
          styleOf(column),
          cellText(column, texts[index] ?? nothing, widths[index] ?? 0, index === kept.length - 1),
        ),
      ),
      ' '.repeat(gap),
    );
  const titles = kept.map(({ title }) => words.line(title));
  return [
    lineOf(titles, () => 'strong'),
    ...rows.map((row, position) => lineOf(cells[position] ?? [], (column) => column.style?.(row) ?? null)),
  ];
}

interface Layout<Row> {
  readonly kept: readonly Column<Row>[];
  readonly widths: readonly number[];
  readonly cells: readonly (readonly Shown[])[];
}

function layOut<Row>(rows: readonly Row[], columns: readonly Column<Row>[], output: Output): Layout<Row> {
  const widthMax = output.columns;
  const cells = rows.map((row) => columns.map((column) => output.words.line(column.value(row))));
  const widths = columns.map((column, index) =>
    cells.reduce(
      (width, line) => Math.max(width, textWidth(line[index]?.text ?? '')),
      textWidth(column.title),
    ),
  );
  shrink(widths, columns, widthMax);
  if (totalWidth(widths) <= widthMax) return { kept: columns, widths, cells };
  // The last column gives up its least width before a line runs over the edge.
  if (columns.length === 1) return { kept: columns, widths: [widthMax], cells };
  const worth = (column: Column<Row>): number => column.worth ?? Number.POSITIVE_INFINITY;
  const least = columns.reduce((lowest, column) => (worth(column) < worth(lowest) ? column : lowest));
  const fewer = columns.filter((column) => column !== least);
  return layOut(rows, fewer, output);
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));
}

function cellText<Row>(column: Column<Row>, cell: Shown, width: number, isLast: boolean): Shown {
  const fitted = fitShown(cell, width);
  if (column.align === 'right') return padShown(fitted, width, 'right');
  return isLast ? fitted : padShown(fitted, width);
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
