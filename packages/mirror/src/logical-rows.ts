import { RunningSha256 } from '@turnlog/kernel';
import { compareBytes } from '@turnlog/search';
import { type MirrorTable, mirrorTables } from './schema.js';
import type { SqliteDatabase } from './sqlite-port.js';

/** A row as text: SQLite writes the arrays, so that no number passes through one of JavaScript. */
interface RowLine {
  readonly key: string;
  readonly line: string;
}

/** Where two mirrors differ first. */
export interface MirrorDifference {
  readonly table: string;
  /** The key of the row, as a JSON array. */
  readonly key: string;
  /** Null when one of them has no such row. */
  readonly column: string | null;
  /** What stands there, as JSON; null where there is nothing. */
  readonly published: string | null;
  readonly rebuilt: string | null;
}

const encoder = new TextEncoder();

/**
 * SHA-256 over what a mirror says (SE-45): its tables in their order, rows by primary key, each a JSON array line. Two
 * mirrors of the same logs have the same, however their files came about.
 */
export function mirrorDigest(database: SqliteDatabase): string {
  const digest = new RunningSha256();
  for (const table of mirrorTables) {
    digest.update(encoder.encode(`${table.name}\n`));
    for (const { line } of rowsOf(database, table)) digest.update(encoder.encode(`${line}\n`));
  }
  return digest.digestHex();
}

/** Null when both say the same. */
export function firstMirrorDifference(
  published: SqliteDatabase,
  rebuilt: SqliteDatabase,
): MirrorDifference | null {
  for (const table of mirrorTables) {
    const difference = differenceIn(table, rowsOf(published, table), rowsOf(rebuilt, table));
    if (difference !== null) return difference;
  }
  return null;
}

function rowsOf(
  database: SqliteDatabase,
  { name, key, columns, from }: MirrorTable,
): IterableIterator<RowLine> {
  const order = key.join(', ');
  const all = [...key, ...columns].join(', ');
  return database
    .prepare<RowLine>(
      `SELECT json_array(${order}) AS key, json_array(${all}) AS line FROM ${from ?? name} ORDER BY ${order}`,
    )
    .iterate();
}

function differenceIn(
  table: MirrorTable,
  published: IterableIterator<RowLine>,
  rebuilt: IterableIterator<RowLine>,
): MirrorDifference | null {
  try {
    for (;;) {
      const [left, right] = [published.next(), rebuilt.next()];
      const [here, there] = [
        left.done === true ? null : left.value,
        right.done === true ? null : right.value,
      ];
      if (here === null && there === null) return null;
      if (here?.line !== there?.line) return describe(table, here, there);
    }
  } finally {
    // A statement that is still being read keeps its connection from doing anything else.
    published.return?.();
    rebuilt.return?.();
  }
}

function describe(table: MirrorTable, here: RowLine | null, there: RowLine | null): MirrorDifference {
  const { name } = table;
  if (here !== null && (there === null || isBefore(here.key, there.key))) {
    return { table: name, key: here.key, column: null, published: here.line, rebuilt: null };
  }
  if (there !== null && (here === null || isBefore(there.key, here.key))) {
    return { table: name, key: there.key, column: null, published: null, rebuilt: there.line };
  }
  const [left, right] = [valuesIn(here?.line), valuesIn(there?.line)];
  const names = [...table.key, ...table.columns];
  const at = names.findIndex((_, position) => textOf(left[position]) !== textOf(right[position]));
  return {
    table: name,
    key: here?.key ?? '',
    column: names[at] ?? null,
    published: textOf(left[at]),
    rebuilt: textOf(right[at]),
  };
}

function isBefore(left: string, right: string): boolean {
  const [first, second] = [valuesIn(left), valuesIn(right)];
  for (const [position, value] of first.entries()) {
    const other = second[position];
    if (value === other) continue;
    if (typeof value === 'number' && typeof other === 'number') return value < other;
    return compareBytes(String(value), String(other)) < 0;
  }
  return false;
}

function valuesIn(line: string | undefined): readonly unknown[] {
  const values: unknown = JSON.parse(line ?? '[]');
  return Array.isArray(values) ? values : [];
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
