import { isKnownEventName, isOwnWords, messageText, ownList, ownMember, ownText } from '@turnlog/events';
import { limits } from '@turnlog/kernel';
import type { Kind } from './chunk.js';
import { beginningOf } from './chunker.js';
import { type DocumentText, spoken } from './document-text.js';
import { stringLeaves } from './string-leaves.js';

type Reading = (event: unknown) => DocumentText | null;

/** The table of SE-3, but for items. Known types that are not in it are not searched. */
const readings: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ['user.message', userMessage],
  ['interjected', (event) => spoken('user', 'message', ownText(event, 'text'))],
  ['error', failure],
  ['turn.failed', failure],
  ['turn.blocked', failure],
  ['turn.started', (event) => spoken('user', 'goal', ownText(ownMember(event, 'context'), 'goal'))],
  ['thread.completed', (event) => spoken('agent', 'result', ownText(event, 'result'))],
  ['log.summary', (event) => spoken('system', 'summary', ...texts(event, 'facts'), ownText(event, 'text'))],
  ['journal.summary', (event) => spoken('system', 'summary', ownText(ownMember(event, 'summary'), 'text'))],
  ['memory.saved', (event) => spoken('memory', 'memory', ...claims(event))],
  ['memory.revised', (event) => spoken('memory', 'memory', ...claims(event))],
  ['memory.consolidated', (event) => spoken('memory', 'memory', ...ownList(event, 'ops').flatMap(claims))],
  ['memory.noted', remembered('memory', 'summary', 'detail')],
  ['knowledge.versioned', remembered('knowledge', 'key', 'content')],
  ['chronicle.summarized', remembered('chronicle', 'title', 'text')],
  ['wiki.revised', remembered('wiki', 'title', 'content')],
  ['skill.revised', remembered('skill', 'name', 'body')],
]);

/**
 * What an event that is no item says; null when it is not searched.
 *
 * @param bytes of the event object, as they are stored.
 */
export function eventText(type: string, event: unknown, bytes: Uint8Array): DocumentText | null {
  const reading = readings.get(type);
  if (reading !== undefined) return reading(event);
  return isKnownEventName(type) ? null : unknownText(bytes, { start: 0, end: bytes.length });
}

/** What anything of an unknown type says: its strings, as far as they are not too many or too deep. */
export function unknownText(bytes: Uint8Array, span: { start: number; end: number }): DocumentText {
  const rule = { numbers: 'left-out', levelsMax: limits.unknownTextLevelsMax } as const;
  const text = stringLeaves(bytes, span, rule)
    .filter((leaf) => leaf !== '')
    .join('\n');
  return spoken('unknown', 'unknown', beginningOf(text, limits.unknownTextBytesMax));
}

function userMessage(event: unknown): DocumentText {
  const origin = ownText(event, 'origin') ?? '';
  const content = ownMember(event, 'content');
  const names = ownList(event, 'content').map((part) =>
    ownText(part, 'type') === 'asset' ? ownText(part, 'name') : null,
  );
  const parts = [messageText(content), ...names];
  if (isOwnWords(origin)) return spoken('user', 'message', ...parts);
  return origin === 'subagent_prompt'
    ? spoken('agent', 'message', ...parts)
    : spoken('system', 'context', ...parts);
}

function failure(event: unknown): DocumentText {
  return spoken('system', 'error', ownText(event, 'message'));
}

function remembered(kind: Kind, ...members: readonly string[]): Reading {
  return (event) => spoken('memory', kind, ...members.map((member) => ownText(event, member)));
}

function claims(value: unknown): readonly (string | null)[] {
  return ownList(value, 'claims').map((claim) => ownText(claim, 'text'));
}

/** The strings of a list. */
export function texts(value: unknown, name: string): readonly string[] {
  return ownList(value, name).filter((text): text is string => typeof text === 'string');
}
