import { isKnownEventName, isOwnWords, messageText } from '@turnlog/events';
import { ownMember, ownText } from '../internal/members.js';
import { note } from './block-of-item.js';
import type { Block, BlockPlace } from './blocks.js';
import type { ShownEvent } from './session-entries.js';
import { shownAssets } from './shown-assets.js';
import { compactJson, memberBytes, prettyJson } from './stored-json.js';

/** What an event means to a person who reads the session; null for the bookkeeping that says nothing to them. */
export function blockOfEvent(event: ShownEvent): Block | null {
  const place: BlockPlace = { seq: event.seq, ts: event.ts };
  if (event.value === null) return note(place, 'plain', event.type, 'nested too deep to be shown');
  return spokenBlock(place, event) ?? failureBlock(place, event) ?? factBlock(place, event);
}

/** An event that nobody knows: shown by its type, with what it holds. */
export function unknownBlock(event: ShownEvent): Block | null {
  if (isKnownEventName(event.type)) return null;
  const place: BlockPlace = { seq: event.seq, ts: event.ts };
  const panes = [{ label: 'Event', language: 'json', text: prettyJson(event.bytes) }];
  return note(place, 'plain', `event ${event.type}`, '', panes);
}

function spokenBlock(place: BlockPlace, { type, value }: ShownEvent): Block | null {
  if (type === 'user.message') {
    const origin = ownText(value, 'origin') ?? 'unknown';
    const isOwn = isOwnWords(origin);
    return {
      ...place,
      kind: 'speech',
      voice: isOwn ? 'user' : 'context',
      label:
        isOwn && origin === 'prompt'
          ? 'User'
          : `${isOwn ? 'User' : 'Context'} · ${origin.replaceAll('_', ' ')}`,
      text: messageText(ownMember(value, 'content')),
      assets: shownAssets(value),
    };
  }
  if (type !== 'interjected') return null;
  const text = ownText(value, 'text') ?? '';
  return { ...place, kind: 'speech', voice: 'user', label: 'User · interjected', text, assets: [] };
}

function failureBlock(place: BlockPlace, { type, value }: ShownEvent): Block | null {
  const message = ownText(value, 'message') ?? '';
  switch (type) {
    case 'turn.failed':
      return note(place, 'bad', 'Turn failed', message);
    case 'turn.blocked':
      return note(place, 'bad', 'Turn blocked', message);
    case 'error':
      return note(place, 'bad', 'Error', message);
    case 'log.recovered':
      return note(place, 'bad', 'Log recovered', (ownText(value, 'reason') ?? '').replaceAll('_', ' '));
    case 'permission.resolved': {
      const decision = ownText(value, 'decision') ?? 'unknown';
      const tool = ownText(value, 'tool_name') ?? '';
      return note(place, decision === 'deny' ? 'bad' : 'plain', `Permission · ${decision}`, tool);
    }
    default:
      return null;
  }
}

function factBlock(place: BlockPlace, event: ShownEvent): Block | null {
  const { type, value, bytes } = event;
  const number = (...names: readonly string[]): string => {
    const found = memberBytes(bytes, ...names);
    return found === null ? '?' : compactJson(found);
  };
  switch (type) {
    case 'log.evicted':
      return note(
        place,
        'plain',
        'Earlier records have left the log',
        `up to #${number('to_seq')}: ${number('total_events')} events in ${number('total_turns')} turns`,
      );
    case 'log.redacted':
      return note(place, 'plain', 'Redacted record', redactedText(value));
    case 'log.summary':
      return note(place, 'plain', 'Summary', ownText(value, 'text') ?? '');
    case 'thread.compact_boundary':
      return note(
        place,
        'plain',
        'Context compacted',
        `${number('original_message_count')} messages became ${number('compacted_message_count')}`,
      );
    case 'context.reset':
      return note(place, 'plain', 'Context reset', ownText(value, 'trigger') ?? '');
    case 'plan.approval.resolved':
      return note(place, 'plain', 'Plan approval', ownText(value, 'decision') ?? '');
    case 'thread.completed':
      return threadBlock(place, value);
    default:
      return null;
  }
}

/** What was taken out, and why, as far as that was said. */
function redactedText(value: unknown): string {
  const type = ownText(value, 'original_type') ?? '';
  const reason = ownText(value, 'reason') ?? '';
  return reason === '' ? type : `${type}, reason ${reason}`;
}

function threadBlock(place: BlockPlace, value: unknown): Block {
  const subtype = ownText(value, 'subtype') ?? 'unknown';
  const tone = subtype.startsWith('error') ? 'bad' : 'plain';
  return note(place, tone, `Session ended · ${subtype.replaceAll('_', ' ')}`, ownText(value, 'result') ?? '');
}
