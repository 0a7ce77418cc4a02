import type { LogReader } from '@turnlog/log';
import type { Store } from '@turnlog/store';
import { compareBytes } from './chunk-id.js';
import { type LineBefore, lineBefore } from './line-origin.js';
import { wholeOf } from './packed/slices.js';
import { type PathOp, type PathRef, type PathTouch, pathRefsOf } from './path-refs.js';
import { comparablePath, isAbsolutePath, type PlacedPath } from './path-text.js';
import { findTouching, type TouchingRecord } from './touching-records.js';

/** What is asked about a path. */
export interface BlameQuery {
  /** Absolute, or as seen from the top directory of a workspace. */
  readonly path: string;
  /** Those that count; by default what changes a file. */
  readonly ops?: readonly PathOp[];
  /** Whether names that the file had before, as diffs state them, are gone through too. */
  readonly renames?: 'followed' | 'not-followed';
}

export const changingOps: readonly PathOp[] = ['add', 'update', 'delete'];

/** A record that touched the path. */
export interface BlameRow extends Omit<TouchingRecord, 'touches'> {
  readonly refs: readonly PathRef[];
}

/** Why nobody can be named for a line. */
export type BlameGap =
  /** The record changed the file without saying all that it changed. */
  | 'incomplete-diff'
  /** The record gave the file its name, and names are not followed. */
  | 'renamed'
  /** The record removed the file. */
  | 'deleted'
  /** The record made the file, without such a line. */
  | 'no-such-line'
  /** The line is older than the record, which is the first one of this file. */
  | 'not-recorded';

/** Who wrote a line. */
export type LineOrigin =
  | { readonly status: 'added'; readonly record: BlameRow; readonly line: number; readonly text: string }
  /** `record` is where the chain breaks; null when no record touched the file. */
  | { readonly status: 'unknown'; readonly record: BlameRow | null; readonly reason: BlameGap };

/** The records of a session that touched a path, newest first (SE-38). */
export function blameSession(reader: LogReader, query: BlameQuery): readonly BlameRow[] {
  return rowsOf(wholeOf(findHistory(() => [reader], query)), query);
}

/** The record of a session that wrote a line of a path, counted from 1 in its newest version (SE-40). */
export function blameLineInSession(reader: LogReader, query: BlameQuery, line: number): LineOrigin {
  return originOf(wholeOf(findHistory(() => [reader], query)), query, line);
}

/**
 * As `blameSession`, over sessions of a store, in the order of their times; a record without one is as old as the
 * one before it.
 *
 * @throws what a reader throws for a session that cannot be read: an answer without it would name somebody else.
 */
export function blameStore(
  store: Pick<Store, 'read'>,
  sessions: readonly string[],
  query: BlameQuery,
): readonly BlameRow[] {
  return rowsOf(wholeOf(findHistory(() => readersOf(store, sessions), query)), query);
}

/** As `blameLineInSession`, over sessions of a store in the order of their times. */
export function blameLineInStore(
  store: Pick<Store, 'read'>,
  sessions: readonly string[],
  query: BlameQuery,
  line: number,
): LineOrigin {
  return originOf(wholeOf(findHistory(() => readersOf(store, sessions), query)), query, line);
}

/** One at a time, and none open behind it. */
export function* readersOf(store: Pick<Store, 'read'>, sessions: readonly string[]): Iterable<LogReader> {
  for (const session of sessions) {
    const reader = store.read(session);
    try {
      yield reader;
    } finally {
      reader.close();
    }
  }
}

/**
 * What touched the path, or a name it may have had, newest first. Pauses behind each record that is read, and gives what
 * was found when `isStopped` ends the work.
 */
export function* findHistory(
  readers: () => Iterable<LogReader>,
  query: BlameQuery,
  isStopped: () => boolean = () => false,
): Generator<void, readonly TouchingRecord[], void> {
  const isFollowed = query.renames === 'followed';
  const names = isFollowed ? yield* formerNames(readers(), query, isStopped) : new Set([wanted(query)]);
  const isWanted = ({ path, absolute }: PathTouch): boolean =>
    names.has(path) || (absolute !== null && names.has(absolute));
  const histories: (readonly TouchingRecord[])[] = [];
  for (const reader of readers()) {
    if (isStopped()) break;
    histories.push(yield* findTouching(reader.history(), reader.sessionId, isWanted, isStopped));
  }
  return newestFirst(histories);
}

function wanted({ path }: BlameQuery): string {
  return comparablePath(path);
}

/** Every name that renames can lead to, whenever they were made. */
function* formerNames(
  readers: Iterable<LogReader>,
  query: BlameQuery,
  isStopped: () => boolean,
): Generator<void, ReadonlySet<string>, void> {
  const names = new Set([wanted(query)]);
  const before = new Map<string, string[]>();
  const note = (touch: PathTouch): boolean => {
    noteRename(before, touch);
    return false;
  };
  for (const reader of readers) {
    if (isStopped()) break;
    yield* findTouching(reader.history(), reader.sessionId, note, isStopped);
  }
  // A set goes on with what is added to it meanwhile.
  for (const name of names) for (const former of before.get(name) ?? []) names.add(former);
  return names;
}

function noteRename(before: Map<string, string[]>, { renamedFrom, path, absolute }: PathTouch): void {
  if (renamedFrom === null) return;
  for (const name of [path, absolute ?? path]) {
    const known = before.get(name) ?? [];
    known.push(renamedFrom.path, renamedFrom.absolute ?? renamedFrom.path);
    before.set(name, known);
  }
}

/** By time, sessions by their ids where it is the same; within a session always by seq. */
function newestFirst(histories: readonly (readonly TouchingRecord[])[]): readonly TouchingRecord[] {
  const timed = histories.flatMap((records) => {
    let newest = '';
    return records.map((record) => {
      newest = record.ts !== null && record.ts > newest ? record.ts : newest;
      return { record, time: newest };
    });
  });
  timed.sort((left, right) => {
    if (left.time !== right.time) return left.time < right.time ? 1 : -1;
    return compareBytes(right.record.session, left.record.session) || right.record.seq - left.record.seq;
  });
  return timed.map(({ record }) => record);
}

interface Step {
  readonly record: TouchingRecord;
  /** Those of the file under the name that it had then, the newest first. */
  readonly touches: readonly PathTouch[];
}

/** The records of one file, newest first, under the name that it had at each. */
function* stepsBack(history: readonly TouchingRecord[], query: BlameQuery): Iterable<Step> {
  let name = wanted(query);
  const isAbsolute = isAbsolutePath(name);
  for (const record of history) {
    const touches = record.touches
      .filter(({ path, absolute }) => path === name || absolute === name)
      .reverse();
    if (touches.length === 0) continue;
    yield { record, touches };
    const former = touches.find(({ renamedFrom }) => renamedFrom !== null)?.renamedFrom ?? null;
    if (former !== null && query.renames === 'followed') name = nameOf(former, isAbsolute);
  }
}

function nameOf({ path, absolute }: PlacedPath, isAbsolute: boolean): string {
  return isAbsolute ? (absolute ?? path) : path;
}

export function rowsOf(history: readonly TouchingRecord[], query: BlameQuery): readonly BlameRow[] {
  const ops = new Set(query.ops ?? changingOps);
  return [...stepsBack(history, query)].flatMap(({ record, touches }) => {
    const counted = touches.filter(({ op }) => ops.has(op));
    return counted.length === 0 ? [] : [rowOf(record, counted)];
  });
}

function rowOf({ session, seq, turn, ts }: TouchingRecord, touches: readonly PathTouch[]): BlameRow {
  return { session, seq, turn, ts, refs: pathRefsOf([...touches].reverse()) };
}

export function originOf(history: readonly TouchingRecord[], query: BlameQuery, line: number): LineOrigin {
  let present = line;
  let oldest: BlameRow | null = null;
  for (const { record, touches } of stepsBack(history, query)) {
    // What a tool was given as an argument says nothing of what became of the file.
    const changes = touches.filter(({ basis }) => basis === 'file_change' || basis === 'diff');
    if (changes.length === 0) continue;
    const row = rowOf(record, changes);
    for (const touch of changes) {
      const before = stepBack(touch, present, query);
      if (before.kind === 'gap') return { status: 'unknown', record: row, reason: before.reason };
      if (before.kind === 'added') return { status: 'added', record: row, line: present, text: before.text };
      present = before.line;
    }
    oldest = row;
  }
  return { status: 'unknown', record: oldest, reason: 'not-recorded' };
}

type StepBack = LineBefore | { readonly kind: 'gap'; readonly reason: BlameGap };

function stepBack(touch: PathTouch, line: number, { renames }: BlameQuery): StepBack {
  const { op, hunks, isWhole, renamedFrom } = touch;
  if (op === 'delete') return { kind: 'gap', reason: 'deleted' };
  if (!isWhole) return { kind: 'gap', reason: 'incomplete-diff' };
  const before = lineBefore(hunks, line);
  if (before.kind === 'added') return before;
  if (op === 'add') return { kind: 'gap', reason: 'no-such-line' };
  if (renamedFrom !== null && renames !== 'followed') return { kind: 'gap', reason: 'renamed' };
  return before;
}
