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

/** Two mirrors, by what they say. */
export interface MirrorComparison {
  readonly publishedDigest: string;
  readonly digest: string;
  /** Null when both say the same. */
  readonly difference: MirrorDifference | null;
}

/**
 * Compares what two mirrors say by their logical digests (SE-45): SHA-256 over their tables in order, rows by primary
 * key, each a JSON array line. Mirrors of the same logs have the same, however their files came about. Each is read
 * once.
 */
export function compareMirrors(published: SqliteDatabase, rebuilt: SqliteDatabase): MirrorComparison {
  const [left, right] = [new RunningSha256(), new RunningSha256()];
  let difference: MirrorDifference | null = null;
  for (const table of mirrorTables) {
    const name = encoder.encode(`${table.name}\n`);
    left.update(name);
    right.update(name);
    const found = differenceIn(table, digested(published, table, left), digested(rebuilt, table, right));
    difference ??= found;
  }
  return { publishedDigest: left.digestHex(), digest: right.digestHex(), difference };
}

function* digested(
  database: SqliteDatabase,
  table: MirrorTable,
  digest: RunningSha256,
): Generator<RowLine, void, void> {
  for (const row of rowsOf(database, table)) {
    digest.update(encoder.encode(`${row.line}\n`));
    yield row;
  }
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

/** Goes through both to their ends, whatever it finds. */
function differenceIn(
  table: MirrorTable,
  published: Generator<RowLine, void, void>,
  rebuilt: Generator<RowLine, void, void>,
): MirrorDifference | null {
  let difference: MirrorDifference | null = null;
  for (;;) {
    const [left, right] = [published.next(), rebuilt.next()];
    if (left.done === true && right.done === true) return difference;
    const here = left.done === true ? null : left.value;
    const there = right.done === true ? null : right.value;
    if (difference === null && here?.line !== there?.line) difference = describe(table, here, there);
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
