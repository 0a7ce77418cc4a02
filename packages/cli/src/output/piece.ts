import type { SessionId } from '@turnlog/kernel';
import type { MissingPart } from '@turnlog/store';
import { shownCode } from '../exit-codes.js';
import { recordJson } from './record-json.js';
import type { RecordView } from './record-lines.js';
import type { Shown, Wording } from './shown.js';

/** What a conversation is printed from: a record of a session, or a part of another one that cannot be shown. */
export type Piece =
  | { readonly kind: 'record'; readonly sessionId: SessionId; readonly view: RecordView }
  | MissingPart;

/** A piece as programs see it. Records of another session than `ownId` name theirs. */
export function pieceJson(piece: Piece, ownId: string, words: Wording): Shown {
  if (piece.kind === 'missing') return words.json({ kind: 'missing', missing: missingJson(piece) });
  return recordJson(piece.view, words, piece.sessionId === ownId ? undefined : piece.sessionId);
}

function missingJson(part: MissingPart): Readonly<Record<string, unknown>> {
  return {
    reason: part.reason,
    named_by: part.namedBy,
    session: part.parent,
    thread_id: part.threadId,
    from_seq: part.fromSeq,
    to_seq: part.toSeq,
    code: part.code === null ? null : shownCode(part.code),
  };
}

const reasons: Readonly<Record<MissingPart['reason'], string>> = {
  unnamed: 'the fork does not name its session',
  'no-end': 'the fork does not say where it began',
  absent: 'there is no such session',
  unreadable: 'it cannot be read',
  gone: 'its records have left the log',
  short: 'its log ends before the fork',
  loop: 'the forks lead back to a session that they came from',
  'too-long': 'there are more forks than are followed',
};

/** What is missing, in words. */
export function describeMissing(part: MissingPart): string {
  const whose = part.parent ?? (part.threadId === null ? 'another session' : `thread ${part.threadId}`);
  const { fromSeq, toSeq } = part;
  const which = toSeq === null ? '' : `, seq ${fromSeq ?? 1} to ${toSeq}`;
  return `missing: a part of ${whose}${which}, named by ${part.namedBy}: ${reasons[part.reason]}`;
}
