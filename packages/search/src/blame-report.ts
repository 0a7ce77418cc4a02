import { type ErrorCode, type JsonObject, TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import {
  type BlameQuery,
  type BlameRow,
  findHistory,
  type LineOrigin,
  originOf,
  readersOf,
  rowsOf,
} from './blame.js';
import { runInSlices } from './packed/slices.js';
import type { LineRange } from './path-refs.js';
import { pathWithoutSecrets } from './path-text.js';

/** What is asked about a path, or about one line of it. */
export interface BlameRequest extends BlameQuery {
  /** Counted from 1 in the newest version. */
  readonly line: number | null;
  /** Ends the work when it is aborted. */
  readonly signal?: AbortSignal;
}

export interface BlameReport {
  readonly request: BlameRequest;
  /** What touched the path, newest first; empty where a line is asked for. */
  readonly records: readonly BlameRow[];
  /** Who wrote the line; null where none is asked for. */
  readonly origin: LineOrigin | null;
  /** Sessions that could not be read: what they did is not in the answer. */
  readonly unread: readonly {
    readonly session: string;
    readonly code: ErrorCode;
    readonly message: string;
  }[];
  /** Whether it was stopped before all sessions had been read: records may lack, and for a line there is no answer. */
  readonly partial: boolean;
}

/**
 * Blame over all sessions of a store, those of programs and sub-agents too. `redact` takes secrets out of a text: the
 * paths of the answer have passed it, its other texts have not. Others of the process have their turn meanwhile.
 *
 * @throws the error of a session that cannot be read where a line is asked for: the answer would name somebody else.
 */
export async function blame(
  store: Store,
  request: BlameRequest,
  redact: (text: string) => string,
): Promise<BlameReport> {
  const listed = await store.list();
  const sessions = listed.filter(({ error }) => error === null).map(({ id }) => id);
  const unread = listed.flatMap(({ id, error }) => (error === null ? [] : [{ session: id, ...error }]));
  const { line, signal } = request;
  const [first] = unread;
  if (line !== null && first !== undefined) {
    throw new TurnlogError(first.code, {
      details: { sessionId: first.session, errno: first.errno },
      message: `${first.session} cannot be read, and may have written the line: ${first.message}`,
    });
  }
  let partial = false;
  const isStopped = (): boolean => {
    partial ||= signal?.aborted === true;
    return partial;
  };
  const work = findHistory(() => readersOf(store, sessions), request, isStopped);
  const history = await runInSlices(store.environment.clock, work);
  if (line === null) {
    const records = rowsOf(history, request).map((row) => rowWithoutSecrets(row, redact));
    return { request, records, origin: null, unread, partial };
  }
  // Of some of the records another one would be named.
  const origin = partial ? null : originWithoutSecrets(originOf(history, request, line), redact);
  return { request, records: [], origin, unread, partial };
}

function rowWithoutSecrets(row: BlameRow, redact: (text: string) => string): BlameRow {
  return { ...row, refs: row.refs.map((ref) => ({ ...ref, ...pathWithoutSecrets(ref, redact) })) };
}

function originWithoutSecrets(origin: LineOrigin, redact: (text: string) => string): LineOrigin {
  if (origin.status === 'added') return { ...origin, record: rowWithoutSecrets(origin.record, redact) };
  return origin.record === null ? origin : { ...origin, record: rowWithoutSecrets(origin.record, redact) };
}

/** The members of a record that touched a path, for JSON output. */
export function blameRowJson({ session, seq, turn, ts, refs }: BlameRow): JsonObject {
  return {
    session,
    seq,
    turn,
    ts,
    refs: refs.map(({ path, absolute, op, basis, oldRange, newRange }) => ({
      path,
      absolute,
      op,
      basis,
      old_range: rangeJson(oldRange),
      new_range: rangeJson(newRange),
    })),
  };
}

function rangeJson(range: LineRange | null): JsonObject | null {
  return range === null ? null : { start: range.start, count: range.count };
}

/** The same of who wrote a line. */
export function lineOriginJson(origin: LineOrigin | null): JsonObject | null {
  if (origin === null) return null;
  const { status, record } = origin;
  const row = record === null ? null : blameRowJson(record);
  return status === 'added'
    ? { status, reason: null, line: origin.line, text: origin.text, record: row }
    : { status, reason: origin.reason, line: null, text: null, record: row };
}
