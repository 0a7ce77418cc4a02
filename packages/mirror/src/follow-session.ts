import { type LogReader, type LogRecord, MerkleFrontier, type ScannedDamage, treeRoot } from '@turnlog/log';
import { type MirrorRows, SessionIntake } from './apply-records.js';
import {
  cursorBehind,
  type MirrorCursor,
  mirrorStart,
  piecesBehind,
  placeOf,
  treeBefore,
} from './mirror-cursor.js';
import { endsLine, type ReadPiece, type SettledGroup, settledGroups } from './settled-groups.js';

/** How much one transaction takes in; a frame and a line are never parted, so it may be more. */
export const transactionRecordsMax = 1_000;
export const transactionBytesMax = 4_194_304;

/** `read-again` drops the rows and reads the log from its start; `leave` is for whoever looks for contradictions. */
export type Contradicted = 'read-again' | 'leave';

/** Brings one session of the mirror up to its log, and lets go after every transaction. */
export class SessionFollower {
  readonly #rows: MirrorRows;
  readonly #reader: LogReader;
  readonly #contradicted: Contradicted;

  constructor(rows: MirrorRows, reader: LogReader, contradicted: Contradicted = 'read-again') {
    this.#contradicted = contradicted;
    this.#rows = rows;
    this.#reader = reader;
  }

  /** Each step is one transaction. After any of them the mirror holds whole records, and a cursor behind them. */
  *steps(): Iterable<void> {
    const { sessionId } = this.#reader;
    const known = this.#rows.sessions.cursor(sessionId);
    let cursor = known ?? mirrorStart;
    const place = placeOf(this.#reader, cursor);
    const isSameFile = cursor.file === this.#reader.fileIdentity;
    if (place !== 'there' && isSameFile && this.#contradicted === 'leave') return;
    if (place !== 'there') {
      const moved = place === 'moved' ? yield* this.#renewPlaces(cursor) : null;
      if (moved === null) this.#drop();
      cursor = moved ?? mirrorStart;
      yield;
    }
    yield* this.#takeIn(cursor, known === null);
  }

  #drop(): void {
    this.#rows.transaction(() => this.#rows.sessions.drop(this.#reader.sessionId));
  }

  *#takeIn(cursor: MirrorCursor, isNew: boolean): Iterable<void> {
    const intake = new SessionIntake(this.#rows, this.#reader, cursor);
    const pieces = piecesBehind(this.#reader, cursor);
    const groups = settledGroups(pieces, this.#reader.sessionId, intake.earlier);
    let isFirst = isNew;
    for (const batch of batchesOf(groups)) {
      this.#rows.transaction(() => {
        for (const group of batch) intake.apply(group);
        intake.putDown();
      });
      isFirst = false;
      yield;
    }
    // A session without a record is known as well.
    if (isFirst) this.#rows.transaction(() => intake.putDown());
  }

  /**
   * Writes down where the records lie now that were taken in before. The cursor moves last: until then the old one
   * says that it is still to be done.
   *
   * @returns the new cursor; null when not all of them are what they were, so that the session is to be read again.
   */
  *#renewPlaces(cursor: MirrorCursor): Generator<void, MirrorCursor | null, void> {
    const tree = treeBefore(this.#reader, mirrorStart);
    if (tree === null || cursor.tree === null) return null;
    const renewal = new MerkleFrontier(tree);
    const positions = new Map<number, number>();
    const damage: ScannedDamage[] = [];
    let moves: Move[] = [];
    let last: ReadPiece | null = null;
    for (const piece of piecesBehind(this.#reader, mirrorStart)) {
      if (piece.kind === 'damage') damage.push(piece.damage);
      else {
        const move = this.#moveOf(piece.record, positions);
        if (move === null) return null;
        moves.push(move);
        renewal.add(piece.record.leaf());
      }
      last = piece;
      if (renewal.size === cursor.tree.size) break;
      if (moves.length < transactionRecordsMax) continue;
      this.#carryOut(moves);
      moves = [];
      yield;
    }
    if (last === null || !endsLine(last) || treeRoot(renewal.head()) !== treeRoot(cursor.tree)) return null;
    return this.#endRenewal(moves, damage, cursorBehind(this.#reader, last, cursor.seq, renewal.head()));
  }

  /** Null when another record, or none, was taken in as this one. */
  #moveOf(record: LogRecord, positions: Map<number, number>): Move | null {
    const { seq, type } = record;
    const pos = positions.get(seq) ?? 0;
    positions.set(seq, pos + 1);
    return this.#rows.records.typeOf(this.#reader.sessionId, seq, pos) === type ? { record, pos } : null;
  }

  #carryOut(moves: readonly Move[]): void {
    this.#rows.transaction(() => this.#move(moves));
  }

  #endRenewal(moves: readonly Move[], damage: readonly ScannedDamage[], cursor: MirrorCursor): MirrorCursor {
    const { sessionId } = this.#reader;
    const { records, sessions } = this.#rows;
    this.#rows.transaction(() => {
      this.#move(moves);
      records.dropDamage(sessionId);
      for (const place of damage) records.addDamage(sessionId, place);
      sessions.putCursor(sessionId, cursor);
      sessions.put(this.#reader, sessions.fold(sessionId));
    });
    return cursor;
  }

  #move(moves: readonly Move[]): void {
    const { sessionId, generation } = this.#reader;
    for (const { record, pos } of moves) {
      const { seq, archive, offset, length } = record;
      this.#rows.records.move(sessionId, seq, pos, { generation, archive, offset, length });
    }
  }
}

interface Move {
  readonly record: LogRecord;
  readonly pos: number;
}

/** As many groups as one transaction takes. */
function* batchesOf(groups: Iterable<SettledGroup>): Iterable<readonly SettledGroup[]> {
  let batch: SettledGroup[] = [];
  let [recordCount, byteCount] = [0, 0];
  for (const group of groups) {
    batch.push(group);
    recordCount += group.records.length + group.damage.length;
    byteCount += group.records.reduce((sum, { length }) => sum + length, 0);
    if (recordCount < transactionRecordsMax && byteCount < transactionBytesMax) continue;
    yield batch;
    batch = [];
    [recordCount, byteCount] = [0, 0];
  }
  if (batch.length > 0) yield batch;
}
