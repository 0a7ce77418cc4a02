import { isTurnlogError, sha256Hex } from '@turnlog/kernel';
import {
  type EvictionHeader,
  emptyTree,
  headerIn,
  type LogReader,
  LogRecord,
  partsToFile,
  readFully,
  Scanner,
  type TreeHead,
  treeRoot,
} from '@turnlog/log';
import type { ReadPiece } from './settled-groups.js';

/** How far a session was taken in. It stands in the mirror and moves in the transaction of the rows it stands for. */
export interface MirrorCursor {
  readonly generation: string | null;
  /** Behind the last line that was read; 0 while only archives were. */
  readonly offset: number;
  readonly seq: number;
  /** Where that line begins, and its SHA-256 without the 0x0A; null while none was read. */
  readonly lastLine: { readonly offset: number; readonly sha256: string } | null;
  /** Head of the hash tree over the records that were read; null when earlier ones had left before. */
  readonly tree: TreeHead | null;
  /** Device and inode of the file that was read. */
  readonly file: string;
}

export const mirrorStart: MirrorCursor = {
  generation: null,
  offset: 0,
  seq: 0,
  lastLine: null,
  tree: emptyTree,
  file: '',
};

/**
 * How the log stands to what was read of it:
 *
 * - `there`: it still begins with that. `moved`: it was rewritten and its records are the same, but some lie elsewhere.
 * - `other`: neither is certain; what was read is dropped, and the log read again.
 */
export type CursorPlace = 'there' | 'moved' | 'other';

export function placeOf(reader: LogReader, cursor: MirrorCursor): CursorPlace {
  if (cursor.seq === 0 && cursor.offset === 0) return 'there';
  const isRewritten =
    cursor.generation !== null && reader.generation !== null && cursor.generation !== reader.generation;
  if (!isRewritten && isLastLineThere(reader, cursor)) return 'there';
  return isTreeThere(reader, cursor.tree) ? 'moved' : 'other';
}

function isLastLineThere(reader: LogReader, { offset, lastLine, tree }: MirrorCursor): boolean {
  if (lastLine === null) return isTreeThere(reader, tree);
  if (offset > reader.length) return false;
  const line = new Uint8Array(offset - lastLine.offset - 1);
  return readFully(reader.source, line, lastLine.offset) && sha256Hex(line) === lastLine.sha256;
}

function isTreeThere(reader: LogReader, tree: TreeHead | null): boolean {
  if (tree === null || tree.size === 0) return false;
  try {
    return reader.root(tree.size).root === treeRoot(tree);
  } catch (error) {
    // The log never had so many records, or nobody can say any more which they were.
    if (isTurnlogError(error, 'TURNLOG_NOT_FOUND') || isTurnlogError(error, 'TURNLOG_GONE')) return false;
    throw error;
  }
}

/** What lies behind the cursor, in file order, archived records first. */
export function* piecesBehind(reader: LogReader, { offset, seq }: MirrorCursor): Iterable<ReadPiece> {
  const isCut = reader.state.evicted !== null;
  if (offset === 0 && isCut) {
    for (const record of archivedBehind(reader, seq)) yield { kind: 'record', record };
  }
  const state = reader.stateAtLine(offset, seq);
  const scanner = new Scanner(reader.source, { state, to: reader.length });
  const isHeaderSpare = isCut && partsToFile(reader.archives(), headerOf(reader)).length > 0;
  for (let piece = scanner.next(); piece?.isLineEnded; piece = scanner.next()) {
    if (piece.verdict === 'damage') yield { kind: 'damage', damage: piece };
    // The header of a log that was cut stands for records that were given already.
    else if (!isHeaderSpare || piece.offset > 0) {
      yield { kind: 'record', record: new LogRecord(piece) };
    }
  }
}

/**
 * The tree over the records before the cursor. At the start there are none, unless records have left the log for good:
 * then nothing is known of it, which is null.
 */
export function treeBefore(reader: LogReader, cursor: MirrorCursor): TreeHead | null {
  if (cursor.seq > 0 || cursor.offset > 0) return cursor.tree;
  if (reader.state.isPrefixMissing) return null;
  if (reader.state.evicted === null) return emptyTree;
  const [oldest] = partsToFile(reader.archives(), headerOf(reader));
  return oldest?.begins === null ? emptyTree : null;
}

function headerOf(reader: LogReader): EvictionHeader | null {
  return reader.state.evicted === null ? null : headerIn(reader.source, reader.length);
}

function* archivedBehind(reader: LogReader, seq: number): Iterable<LogRecord> {
  for (const record of reader.history()) {
    if (record.archive === null) return;
    if (record.seq > seq) yield record;
  }
}

/** The cursor behind a group of pieces, of which `leaves` are the leaf hashes. */
export function cursorBehind(
  reader: LogReader,
  last: ReadPiece,
  seq: number,
  tree: TreeHead | null,
): MirrorCursor {
  const { generation, fileIdentity: file } = reader;
  if (last.kind === 'record' && last.record.archive !== null) {
    return { generation, offset: 0, seq, lastLine: null, tree, file };
  }
  const { offset, length, end } = last.kind === 'record' ? last.record : last.damage;
  const bytes = new Uint8Array(length);
  readFully(reader.source, bytes, offset);
  return { generation, offset: end, seq, lastLine: { offset, sha256: sha256Hex(bytes) }, tree, file };
}
