import {
  dollars,
  type Measures,
  type StatsDimension,
  type StatsKey,
  type StatsReport,
  unknownDay,
} from '@turnlog/views';
import type { Output } from './output.js';
import type { Shown } from './shown.js';
import { type Column, formatTable } from './table.js';

interface Row {
  readonly key: StatsKey | 'total';
  readonly sessionCount: number;
  readonly measures: Measures;
}

/** The rows of a report and their total, with the zone that days and times are of. */
export function statsTable(report: StatsReport, output: Output): readonly Shown[] {
  const { by, rows, total, sessionCount } = report;
  const all: readonly Row[] = [...rows, { key: 'total', sessionCount, measures: total }];
  const columns = [...by.map(keyColumn), ...measureColumns(by, total)];
  return [output.words.line(spanText(report, output)), ...formatTable(all, columns, output)];
}

function spanText({ by, zone, since, until }: StatsReport, { wallClock }: Output): string {
  const what = by.length === 0 ? 'all' : `by ${by.join(', ')}`;
  const from = since === null ? '' : ` from ${wallClock.instant(since)}`;
  const to = until === null ? '' : ` until ${wallClock.instant(until)}`;
  return `${what}${from}${to} (${zone})`;
}

function keyColumn(name: StatsDimension, position: number): Column<Row> {
  return {
    title: name.toUpperCase(),
    value: ({ key }) => {
      if (key === 'total') return position === 0 ? 'total' : '';
      return key[name] ?? (name === 'day' ? unknownDay : '-');
    },
    widthMin: 10,
    style: ({ key }) => (key === 'total' ? 'strong' : null),
  };
}

function measureColumns(by: readonly StatsDimension[], total: Measures): readonly Column<Row>[] {
  const calls = [
    count('CALLS', 4, ({ measures }) => measures.callCount),
    count('FAILED', 3, ({ measures }) => measures.failedCallCount),
  ];
  if (by.includes('tool')) return [count('SESSIONS', 2, ({ sessionCount }) => sessionCount), ...calls];
  const usage = [
    count('ANSWERS', 5, ({ measures }) => measures.answerCount),
    count('IN', 9, ({ measures }) => measures.usage?.input ?? null),
    count('CACHED', 6, ({ measures }) => measures.usage?.cached ?? null),
    count('OUT', 9, ({ measures }) => measures.usage?.output ?? null),
    cost(),
  ];
  const isByModel = by.includes('model');
  const unknown = count('NO USAGE', 7, ({ measures }) => measures.turnsWithoutUsage);
  return [
    count('SESSIONS', 6, ({ sessionCount }) => sessionCount),
    ...(isByModel ? [] : [count('TURNS', 8, ({ measures }) => measures.turnCount)]),
    ...(isByModel || total.turnsWithoutUsage === 0 ? [] : [unknown]),
    ...usage,
    ...(isByModel ? [] : calls),
  ];
}

/** What is not known is a dash, which is not 0. */
function count(title: string, worth: number, of: (row: Row) => number | bigint | null): Column<Row> {
  return { title, worth, align: 'right', value: (row) => grouped(of(row)) };
}

function grouped(value: number | bigint | null): string {
  return value === null ? '-' : String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Each figure names its source. */
function cost(): Column<Row> {
  return {
    title: 'COST',
    worth: 8,
    align: 'right',
    value: ({ measures: { cost: spent } }) => {
      if (spent.picodollars === null) return '-';
      const rest = spent.unpricedCount === 0 ? '' : `, ${spent.unpricedCount} unknown`;
      return `$${dollars(spent.picodollars).toFixed(4)} (${spent.sources.join(', ')}${rest})`;
    },
  };
}
