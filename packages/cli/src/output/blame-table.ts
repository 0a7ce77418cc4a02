import type { BlameGap, BlameRow, LineOrigin, LineRange } from '@turnlog/search';
import type { Output } from './output.js';
import type { Shown } from './shown.js';
import { type Column, formatTable } from './table.js';

/** A line for each record that touched a path, the newest first. */
export function blameTable(rows: readonly BlameRow[], output: Output): readonly Shown[] {
  const columns: readonly Column<BlameRow>[] = [
    {
      title: 'RECORD',
      value: ({ session, seq }) => `${session}:${seq}`,
      widthMin: 20,
      style: () => 'strong',
    },
    { title: 'TURN', value: ({ turn }) => String(turn ?? ''), align: 'right', worth: 1 },
    {
      title: `TIME (${output.wallClock.zone})`,
      value: ({ ts }) => output.wallClock.dateTime(ts),
      worth: 3,
    },
    { title: 'DID', value: ({ refs }) => distinct(refs.map(({ op }) => op)), worth: 5, widthMin: 6 },
    { title: 'LINES', value: linesOf, worth: 2, widthMin: 5 },
    {
      title: 'PATH',
      value: ({ refs }) => distinct(refs.map(({ path }) => path)),
      worth: 4,
      widthMin: 12,
    },
  ];
  return formatTable(rows, columns, output);
}

/** What shows that records are in their logs: whoever knows the root can reckon it from the leaf and the path. */
export function proofLines(
  rows: readonly BlameRow[],
  proofs: { readonly of: (row: BlameRow) => Readonly<Record<string, unknown>> | null },
  { shown }: Output,
): readonly Shown[] {
  return rows.flatMap((row) => {
    const proof = proofs.of(row);
    if (proof === null) return [];
    const { index, size, leaf, root } = proof;
    return [
      shown`${row.session}:${row.seq} is leaf ${String(index)} of ${String(size)}`,
      shown`  leaf ${String(leaf)}`,
      shown`  root ${String(root)}`,
    ];
  });
}

function distinct(values: readonly string[]): string {
  return [...new Set(values)].join(', ');
}

/** Where the record changed the file, in the lines that it left behind. */
function linesOf({ refs }: BlameRow): string {
  return refs.flatMap(({ newRange }) => (newRange === null ? [] : [rangeText(newRange)])).join(' ');
}

function rangeText({ start, count }: LineRange): string {
  if (count === 0) return `-${start}`;
  return count === 1 ? String(start) : `${start}..${start + count - 1}`;
}

const gaps: Readonly<Record<BlameGap, string>> = {
  'incomplete-diff': 'the record does not say all that it changed',
  renamed: 'the file had another name before; say --follow',
  deleted: 'the record removed the file',
  'no-such-line': 'the record made the file, without such a line',
  'not-recorded': 'the line is older than the records',
};

/** Who wrote a line, or where the trace of it ends. */
export function originLines(origin: LineOrigin, output: Output): readonly Shown[] {
  const { shown, words, wallClock } = output;
  const { record } = origin;
  const place =
    record === null
      ? shown`no record touched the file`
      : shown`${output.paint('strong', `${record.session}:${record.seq}`)}  ${wallClock.dateTime(record.ts)}`;
  if (origin.status === 'added') return [place, shown`  ${origin.line}: ${words.line(origin.text)}`];
  return [place, shown`  unknown: ${gaps[origin.reason]}`];
}
