import type { LogRecord, ScannedDamage } from '@turnlog/log';
import { documentsOf, type EarlierItems, type RecordDocument } from '@turnlog/search';

/** A record, or a damaged place of the file, as it is read. */
export type ReadPiece =
  | { readonly kind: 'record'; readonly record: LogRecord }
  | { readonly kind: 'damage'; readonly damage: ScannedDamage };

/** What is taken in together: behind its last piece a cursor can stand. */
export interface SettledGroup {
  /** All records, in file order; those of a frame that came to nothing are among them. */
  readonly records: readonly LogRecord[];
  /** Those that have an effect, with what a search sees of them. */
  readonly documents: readonly RecordDocument[];
  readonly damage: readonly ScannedDamage[];
  readonly last: ReadPiece;
}

/**
 * Puts together what a cursor must not part: a line, and the records of a frame with its commit. What is behind the
 * last place where a cursor can stand is not given: an open frame, a line that no 0x0A ends yet.
 */
export function* settledGroups(
  pieces: Iterable<ReadPiece>,
  session: string,
  earlier: EarlierItems,
): Iterable<SettledGroup> {
  let pending: ReadPiece[] = [];
  let documents: RecordDocument[] = [];
  function* records(): Iterable<LogRecord> {
    for (const piece of pieces) {
      pending.push(piece);
      if (piece.kind === 'record') yield piece.record;
    }
  }
  for (const document of documentsOf(records(), { session, earlier })) {
    documents.push(document);
    const last = pending.at(-1);
    if (!document.isSettled || last === undefined || !endsLine(last)) continue;
    yield groupOf(pending, documents, last);
    pending = [];
    documents = [];
  }
  // Damage behind the last record concerns no frame.
  const last = pending.at(-1);
  if (last !== undefined && pending.every(({ kind }) => kind === 'damage') && endsLine(last)) {
    yield groupOf(pending, documents, last);
  }
}

/** Whether a 0x0A follows right behind the piece: several may stand on one line, and a cursor stands behind all. */
export function endsLine(piece: ReadPiece): boolean {
  const { offset, length, end } = piece.kind === 'record' ? piece.record : piece.damage;
  return end > offset + length;
}

function groupOf(
  pieces: readonly ReadPiece[],
  documents: readonly RecordDocument[],
  last: ReadPiece,
): SettledGroup {
  return {
    records: pieces.flatMap((piece) => (piece.kind === 'record' ? [piece.record] : [])),
    damage: pieces.flatMap((piece) => (piece.kind === 'damage' ? [piece.damage] : [])),
    documents,
    last,
  };
}
