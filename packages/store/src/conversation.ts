import { type ErrorCode, isTurnlogError, limits, type SessionId } from '@turnlog/kernel';
import { effectiveRecords, type LogReader, type LogRecord } from '@turnlog/log';
import { parseSessionId } from './session-id.js';
import type { Store } from './store.js';

/** A record of a conversation, read from the log of the session that it belongs to. */
export interface ConversationRecord {
  readonly kind: 'record';
  readonly sessionId: SessionId;
  readonly record: LogRecord;
}

/**
 * Why a part is missing: `unnamed` when the fork names no session, `no-end` when it does not say up to which seq
 * they share it, `absent` when there is no such session, `unreadable` when it cannot be read, `gone` when the first
 * records have left its log, `short` when its log ends before the fork, `loop` when the forks lead back to a
 * session that they came from, `too-long` when there are more of them than are followed.
 */
export type MissingReason =
  | 'unnamed'
  | 'no-end'
  | 'absent'
  | 'unreadable'
  | 'gone'
  | 'short'
  | 'loop'
  | 'too-long';

/** A part of a conversation that cannot be shown. It stands where its records would. */
export interface MissingPart {
  readonly kind: 'missing';
  readonly reason: MissingReason;
  /** The session whose record names the part. */
  readonly namedBy: SessionId;
  /** The name of the parent as that record has it, a text of any form; null when it has none. */
  readonly parent: string | null;
  /** The parent's thread, likewise. */
  readonly threadId: string | null;
  /** Seqs of the parent that are missing; null where nobody knows. */
  readonly fromSeq: number | null;
  readonly toSeq: number | null;
  /** What reading it failed with; null when it was not tried, or went well as far as it went. */
  readonly code: ErrorCode | null;
}

export type ConversationPiece = ConversationRecord | MissingPart;

/** What a session shares with the one it was forked from. */
interface SharedPart {
  readonly namedBy: SessionId;
  readonly parent: SessionId;
  readonly threadId: string | null;
  readonly toSeq: number;
}

interface Lineage {
  /** The shared parts, the oldest first. */
  readonly parts: readonly SharedPart[];
  /** What would stand before them; null when nothing is missing there. */
  readonly missing: MissingPart | null;
}

type Forked = LogReader['state']['facts']['forkedFrom'];

/**
 * The conversation of a session (C-61): a fork begins with what it shares with its parent, up to and including the
 * seq that it was forked at, and so on upwards; then come the session's own records. A fork holds no copies, so each
 * part is read from its own log, as it is now. A part that cannot be read is named and nothing is put in its place.
 *
 * Records of frames that have no effect are none of it.
 *
 * Reading begins with the first piece that is asked for.
 *
 * @throws TURNLOG_INVALID_SESSION_ID, NOT_FOUND, LOG_UNREADABLE, UNSAFE_PATH, IO, of the session itself; what is
 *   wrong with another becomes a piece.
 */
export function* conversation(store: Store, id: string): Generator<ConversationPiece, void, void> {
  const sessionId = parseSessionId(id);
  const own = store.read(sessionId);
  try {
    const { parts, missing } = lineageOf(store, sessionId, own.state.facts.forkedFrom);
    if (missing !== null) yield missing;
    for (const part of parts) yield* sharedPieces(store, part);
    for (const { record } of effectiveRecords(own.history())) yield { kind: 'record', sessionId, record };
  } finally {
    own.close();
  }
}

/** Goes from fork to fork upwards, as far as there are any. */
function lineageOf(store: Store, id: SessionId, forked: Forked): Lineage {
  const parts: SharedPart[] = [];
  const seen = new Set<string>([id]);
  let namedBy = id;
  for (let from = forked; from !== undefined; ) {
    const part = sharedPart(namedBy, from);
    if (part.kind === 'missing') return { parts, missing: part };
    const { shared } = part;
    if (seen.has(shared.parent)) return { parts, missing: missingPart(shared, 'loop') };
    if (parts.length >= limits.forksFollowedMax) return { parts, missing: missingPart(shared, 'too-long') };
    const parent = forkOf(store, shared);
    if (parent.kind === 'missing') return { parts, missing: parent };
    parts.unshift(shared);
    seen.add(shared.parent);
    namedBy = shared.parent;
    from = parent.forked;
  }
  return { parts, missing: null };
}

/** What the member `forked_from` of a record says. It is data: nothing of it has been checked. */
function sharedPart(
  namedBy: SessionId,
  forked: NonNullable<Forked>,
): MissingPart | { readonly kind: 'shared'; readonly shared: SharedPart } {
  const parent = textOrNull(forked['session']);
  const threadId = textOrNull(forked['thread_id']);
  const toSeq = seqOrNull(forked['seq']);
  const named = { namedBy, parent, threadId, toSeq };
  if (parent === null) return missingPart(named, 'unnamed');
  if (toSeq === null) return missingPart(named, 'no-end');
  try {
    return { kind: 'shared', shared: { namedBy, parent: parseSessionId(parent), threadId, toSeq } };
  } catch (error) {
    return failedPart(named, error);
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function seqOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : null;
}

function forkOf(
  store: Store,
  shared: SharedPart,
): MissingPart | { readonly kind: 'fork'; readonly forked: Forked } {
  try {
    const reader = store.read(shared.parent);
    try {
      return { kind: 'fork', forked: reader.state.facts.forkedFrom };
    } finally {
      reader.close();
    }
  } catch (error) {
    return failedPart(shared, error);
  }
}

function* sharedPieces(store: Store, shared: SharedPart): Generator<ConversationPiece, void, void> {
  let reader: LogReader;
  try {
    reader = store.read(shared.parent);
  } catch (error) {
    yield failedPart(shared, error);
    return;
  }
  try {
    yield* readShared(reader, shared);
  } finally {
    reader.close();
  }
}

function* readShared(reader: LogReader, shared: SharedPart): Generator<ConversationPiece, void, void> {
  const { parent: sessionId, toSeq } = shared;
  const firstSeq = reader.firstReadableSeq;
  const { highestSeq } = reader.state.order;
  if (firstSeq > 1) yield { ...missingPart(shared, 'gone'), toSeq: Math.min(firstSeq - 1, toSeq) };
  let nextSeq = firstSeq;
  try {
    for (const record of sharedRecords(reader, toSeq)) {
      nextSeq = Math.max(nextSeq, record.seq + 1);
      yield { kind: 'record', sessionId, record };
    }
  } catch (error) {
    yield { ...failedPart(shared, error), fromSeq: nextSeq };
    return;
  }
  if (highestSeq < toSeq) yield { ...missingPart(shared, 'short'), fromSeq: highestSeq + 1 };
}

/** Those up to a seq. It may lie inside of a frame: whether that has an effect is said behind it. */
function* sharedRecords(reader: LogReader, toSeq: number): Iterable<LogRecord> {
  const isOrdered = reader.state.unorderedCount === 0;
  const records = reader.readRange(reader.firstReadableSeq, Number.MAX_SAFE_INTEGER, { archived: true });
  for (const { record } of effectiveRecords(records)) {
    if (record.seq <= toSeq) yield record;
    else if (isOrdered) return;
  }
}

/** A part of which all is missing. */
function missingPart(
  { namedBy, parent, threadId, toSeq }: Pick<MissingPart, 'namedBy' | 'parent' | 'threadId' | 'toSeq'>,
  reason: MissingReason,
): MissingPart {
  const fromSeq = toSeq === null ? null : 1;
  return { kind: 'missing', reason, namedBy, parent, threadId, fromSeq, toSeq, code: null };
}

/** Errors of Turnlog become a piece; anything else is a defect and goes on its way. */
function failedPart(
  named: Pick<MissingPart, 'namedBy' | 'parent' | 'threadId' | 'toSeq'>,
  error: unknown,
): MissingPart {
  if (!isTurnlogError(error)) throw error;
  const reason = error.code === 'TURNLOG_NOT_FOUND' ? 'absent' : 'unreadable';
  return { ...missingPart(named, reason), code: error.code };
}
