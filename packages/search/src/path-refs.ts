import {
  type DiffFile,
  type DiffHunk,
  ownList,
  ownMember,
  ownText,
  pathArguments,
  readUnifiedDiff,
} from '@turnlog/events';
import { limits } from '@turnlog/kernel';
import { isAbsolutePath, type PlacedPath, placePath, type WorkingPlace } from './path-text.js';
import { pathWords } from './path-words.js';

/** What a record does to a path; only the first three change it. */
export type PathOp = 'add' | 'update' | 'delete' | 'read' | 'mention';

/** Where that is taken from. */
export type PathBasis = 'file_change' | 'tool_args' | 'command' | 'diff';

/** Lines of a file, counted from 1; with a count of 0 the place behind `start`. */
export interface LineRange {
  readonly start: number;
  readonly count: number;
}

/** A path that a record refers to (SE-38). */
export interface PathRef extends PlacedPath {
  readonly op: PathOp;
  readonly basis: PathBasis;
  readonly oldRange: LineRange | null;
  readonly newRange: LineRange | null;
}

/** A path with all that a record says of it. */
export interface PathTouch extends PlacedPath {
  readonly op: PathOp;
  readonly basis: PathBasis;
  readonly hunks: readonly DiffHunk[];
  /** Whether the hunks are all that was changed. */
  readonly isWhole: boolean;
  /** The path's name before, where the diff says that it had another one. */
  readonly renamedFrom: PlacedPath | null;
}

/** The references of an item, a row for each place that its diff shows. */
export function pathRefsOf(touches: readonly PathTouch[]): readonly PathRef[] {
  return touches.flatMap(({ hunks, isWhole: _, renamedFrom: __, ...ref }): readonly PathRef[] => {
    if (hunks.length === 0) return [{ ...ref, oldRange: null, newRange: null }];
    return hunks.map(({ oldStart, oldCount, newStart, newCount }) => ({
      ...ref,
      oldRange: { start: oldStart, count: oldCount },
      newRange: { start: newStart, count: newCount },
    }));
  });
}

/** The paths that an item touches. A change that failed touched none. */
export function pathTouchesOf(item: unknown, place: WorkingPlace): readonly PathTouch[] {
  const type = ownText(item, 'type');
  const touches =
    type === 'file_change'
      ? changedPaths(item, place)
      : [...argumentPaths(item, place), ...commandPaths(item, type, place)];
  return touches.slice(0, limits.itemPathsMax);
}

/** Paths that an item names, as it names them: without those that a command only mentions. */
export function namedPaths(item: unknown): readonly string[] {
  const changed = ownList(item, 'changes').map((change) => ownMember(change, 'path'));
  const named = ownText(item, 'type') === 'file_change' ? changed : pathValues(ownMember(item, 'arguments'));
  return [...new Set(named.filter(isPath))].slice(0, limits.itemPathsMax);
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= limits.pathCodeUnitsMax;
}

function pathValues(given: unknown): readonly unknown[] {
  return pathArguments.flatMap((name): readonly unknown[] => {
    const value = ownMember(given, name);
    return Array.isArray(value) ? value : [value];
  });
}

const untold = { hunks: [], isWhole: false, renamedFrom: null } as const;

function argumentPaths(item: unknown, place: WorkingPlace): readonly PathTouch[] {
  const isMutation = ownText(ownMember(item, 'context'), 'activity') === 'mutation';
  const op = isMutation ? 'update' : 'read';
  return namedPaths(item).map((path) => ({ ...placePath(path, place), op, basis: 'tool_args', ...untold }));
}

function commandPaths(item: unknown, type: string | null, place: WorkingPlace): readonly PathTouch[] {
  const given = ownMember(ownMember(item, 'arguments'), 'command');
  const own = type === 'command_execution' ? [ownMember(item, 'command')] : [];
  const commands = [...own, ...(Array.isArray(given) ? given : [given])];
  const words = commands.flatMap((command) => (typeof command === 'string' ? pathWords(command) : []));
  const paths = [...new Set(words)].filter(isPath);
  return paths.map((path) => ({ ...placePath(path, place), op: 'mention', basis: 'command', ...untold }));
}

interface Change {
  readonly path: string;
  readonly op: PathOp;
  /** The name that the file is given, where the change itself says so. */
  readonly movePath: string | null;
}

function changeOf(change: unknown): readonly Change[] {
  const path = ownMember(change, 'path');
  if (!isPath(path)) return [];
  const kind = ownText(change, 'kind');
  const op = kind === 'add' || kind === 'delete' ? kind : 'update';
  return [{ path, op, movePath: ownText(change, 'move_path') }];
}

function changedPaths(item: unknown, place: WorkingPlace): readonly PathTouch[] {
  if (ownText(item, 'status') === 'failed') return [];
  const isCut = ownMember(item, 'diff_incomplete') === true;
  const files = readUnifiedDiff(ownText(item, 'unified_diff') ?? '').map((file) => ({
    ...file,
    isWhole: file.isWhole && !isCut,
  }));
  const changes = ownList(item, 'changes').slice(0, limits.itemPathsMax).flatMap(changeOf);
  const isOne = changes.length === 1 && files.length === 1;
  const taken = new Set<DiffFile>();
  const listed = changes.flatMap((change): readonly PathTouch[] => {
    const file = files.find((known) => !taken.has(known) && (isOne || isOf(known, change.path)));
    if (file === undefined) {
      return [{ ...placePath(change.path, place), op: change.op, basis: 'file_change', ...untold }];
    }
    taken.add(file);
    return touchesOfFile(file, change, 'file_change', place);
  });
  const unlisted = files.filter((file) => !taken.has(file)).flatMap((file) => unlistedTouches(file, place));
  return [...listed, ...unlisted];
}

/** Of a file that only the diff names. */
function unlistedTouches(file: DiffFile, place: WorkingPlace): readonly PathTouch[] {
  const path = file.newPath ?? file.oldPath;
  if (!isPath(path)) return [];
  const op = file.newPath === null ? 'delete' : file.oldPath === null ? 'add' : 'update';
  return touchesOfFile(file, { path, op, movePath: null }, 'diff', place);
}

function touchesOfFile(
  file: DiffFile,
  change: Change,
  basis: PathBasis,
  place: WorkingPlace,
): readonly PathTouch[] {
  const { hunks, isWhole } = file;
  const renamed = renameOf(file, change);
  if (renamed === null) {
    return [{ ...placePath(change.path, place), op: change.op, basis, hunks, isWhole, renamedFrom: null }];
  }
  const renamedFrom = placePath(renamed.from, place);
  return [
    { ...placePath(renamed.to, place), op: 'update', basis, hunks, isWhole, renamedFrom },
    { ...renamedFrom, op: 'delete', basis: 'diff', hunks: [], isWhole, renamedFrom: null },
  ];
}

/** Both names of a file that has been given another one; null where the diff states nothing of that. */
function renameOf(file: DiffFile, { path, movePath }: Change): { from: string; to: string } | null {
  const { oldPath, newPath } = file;
  const isStated = file.isRenamed || (movePath !== null && movePath === newPath);
  if (!isStated || oldPath === null || newPath === null || oldPath === newPath) return null;
  // Diffs name files from their top directory on, changes often by their whole path.
  if (endsWithPath(path, newPath)) return { from: besides(path, newPath, oldPath), to: path };
  if (endsWithPath(path, oldPath)) return { from: path, to: besides(path, oldPath, newPath) };
  return { from: oldPath, to: newPath };
}

function besides(path: string, ending: string, other: string): string {
  return isAbsolutePath(other) ? other : path.slice(0, path.length - ending.length) + other;
}

function isOf({ oldPath, newPath }: DiffFile, path: string): boolean {
  return [newPath, oldPath].some(
    (named) => named !== null && (endsWithPath(path, named) || endsWithPath(named, path)),
  );
}

function endsWithPath(path: string, ending: string): boolean {
  const [whole, end] = [path.replaceAll('\\', '/'), ending.replaceAll('\\', '/')];
  return whole === end || whole.endsWith(`/${end}`);
}
