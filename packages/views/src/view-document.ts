import { type JsonObject, logicalDigest } from '@turnlog/kernel';
import type { LogCursor } from '@turnlog/log';
import { isPlainObject } from './internal/members.js';
import { member, number, text, WrongShape } from './internal/stored-value.js';
import type { View } from './view.js';
import { cursorFrom, cursorJson } from './view-cursor.js';

/**
 * The format of `derived/<name>.json`, one line: the members of the view, then ours, then the seal of every
 * derived file. `state` is there where the view shows others something else than its state.
 *
 *     {…,"turnlog":{"v":1,"view":"usage","version":1,"session_id":"s-7",
 *      "cursor":{"generation":"<32 hex>","offset":13615,"sha256":"<64 hex>","seq":86},"state":{…}},"turnlog_seal":{…}}
 */

/** A state and how far the log had been read for it. */
export interface ViewPoint<State> {
  readonly state: State;
  readonly cursor: LogCursor;
}

export function encodeViewDocument<State>(
  view: View<State>,
  sessionId: string,
  point: ViewPoint<State>,
): string {
  const { state, cursor } = point;
  const json = view.toJson(state);
  const own = {
    v: 1,
    view: view.name,
    version: view.version,
    session_id: sessionId,
    cursor: cursorJson(cursor),
  };
  const document =
    view.toDocument === undefined
      ? { ...json, turnlog: own }
      : { ...view.toDocument(state), turnlog: { ...own, state: json } };
  return JSON.stringify(document);
}

/** The state in a document of this view and session; null when it is another's, or of another version. */
export function parseViewDocument<State>(
  view: View<State>,
  sessionId: string,
  document: string,
): ViewPoint<State> | null {
  try {
    const parsed: unknown = JSON.parse(document);
    const own = member(parsed, 'turnlog');
    const isOurs =
      number(member(own, 'v')) === 1 &&
      text(member(own, 'view')) === view.name &&
      number(member(own, 'version')) === view.version &&
      text(member(own, 'session_id')) === sessionId;
    if (!isOurs || !isPlainObject(parsed)) return null;
    const json = view.toDocument === undefined ? parsed : member(own, 'state');
    return { state: view.fromJson(json), cursor: cursorFrom(member(own, 'cursor')) };
  } catch (error) {
    // What carries a right seal was written by us, so this is an older or younger program's.
    if (error instanceof WrongShape || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** What a view says, without how far it has come: equal states have equal digests. */
export function viewDigest<State>(view: View<State>, state: State): string {
  return logicalDigest(digestedValue(view, state));
}

export function digestedValue<State>(view: View<State>, state: State): JsonObject {
  return { view: view.name, version: view.version, state: view.toJson(state) };
}
