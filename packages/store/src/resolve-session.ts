import { resolve } from 'node:path';
import { type SessionId, TurnlogError } from '@turnlog/kernel';
import { sessionOrder } from './session-filter.js';
import { isSessionId, parseSessionId } from './session-id.js';
import type { SessionSummary } from './session-summary.js';

/** The fewest characters that may stand for an id that begins with them. */
const prefixCharactersMin = 4;

const lastForm = /^@last(?::(?<workspace>.+))?$/su;

/** A title has words; what has none must be an id, so that hostile ids are refused before anything is read. */
const titleForm = /\S \S/u;

/** What a text that names a session can be, by its looks alone. */
export type SessionReference =
  | { readonly kind: 'last'; readonly workspace: string | null }
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'id'; readonly id: SessionId };

/**
 * Reads a reference without looking anything up.
 *
 * @throws TURNLOG_INVALID_SESSION_ID
 */
export function parseSessionReference(text: string): SessionReference {
  const last = lastForm.exec(text);
  if (last !== null) return { kind: 'last', workspace: last.groups?.['workspace'] ?? null };
  if (titleForm.test(text)) return { kind: 'title', title: text };
  return { kind: 'id', id: parseSessionId(text) };
}

/** What there is to choose from, looked up when it is needed. */
export interface KnownSessions {
  ids(): readonly string[];
  summaries(): readonly SessionSummary[];
}

/**
 * The session that a reference names: its id, the first characters of one id, the title of one session, `@last`
 * for the one with the newest event, or `@last:WORKSPACE` for the newest of a workspace, taken from `cwd`. A whole
 * id always means itself, and an id's beginning goes before a title.
 *
 * @throws TURNLOG_AMBIGUOUS_ID with all `candidates`; TURNLOG_NOT_FOUND.
 */
export function resolveSession(sessions: KnownSessions, reference: SessionReference, cwd: string): SessionId {
  switch (reference.kind) {
    case 'last':
      return newest(sessions, reference.workspace === null ? null : resolve(cwd, reference.workspace));
    case 'title':
      return theOne(reference.title, withTitle(sessions, reference.title));
    case 'id':
      return byId(sessions, reference.id);
  }
}

function byId(sessions: KnownSessions, id: SessionId): SessionId {
  const ids = sessions.ids();
  if (ids.includes(id)) return id;
  const byPrefix = id.length < prefixCharactersMin ? [] : ids.filter((known) => known.startsWith(id));
  return theOne(id, byPrefix.length > 0 ? byPrefix : withTitle(sessions, id));
}

function withTitle(sessions: KnownSessions, title: string): readonly string[] {
  return sessions
    .summaries()
    .filter((summary) => summary.title === title)
    .map(({ id }) => id);
}

function newest(sessions: KnownSessions, workspace: string | null): SessionId {
  const candidates = sessions
    .summaries()
    .filter(
      ({ error, events, workspaces }) =>
        error === null && events > 0 && (workspace === null || workspaces.includes(workspace)),
    );
  const [first] = candidates.sort(sessionOrder('newest'));
  return theOne(workspace === null ? '@last' : `@last:${workspace}`, first === undefined ? [] : [first.id]);
}

function theOne(text: string, candidates: readonly string[]): SessionId {
  const [first] = candidates;
  if (candidates.length > 1) {
    throw new TurnlogError('TURNLOG_AMBIGUOUS_ID', {
      details: { id: text, candidates },
      message: `more than one session fits: ${candidates.join(', ')}`,
    });
  }
  if (first !== undefined && isSessionId(first)) return first;
  throw new TurnlogError('TURNLOG_NOT_FOUND', {
    details: { sessionId: text },
    message: `there is no session ${JSON.stringify(text)}`,
  });
}
