import {
  type EncodedEvent,
  encodeEvent,
  encodeRawEvent,
  isLooseObject,
  ownMember,
  ownText,
} from '@turnlog/events';
import { checkEvent, type EventInput } from '@turnlog/log';
import { storedOf } from './live-value.js';
import { readStored, type StoredValue } from './stored-value.js';

/** The text of an event as a log would take it. @throws TURNLOG_INVALID_EVENT and others, as `append` */
export function encodeInput(event: EventInput): EncodedEvent {
  checkEvent(event);
  const raw = rawText(event);
  return raw === null ? encodeEvent(event) : encodeRawEvent(raw);
}

/** The value of an event as it was given, without what a log adds. */
export function givenValue(event: EventInput): StoredValue {
  const raw = rawText(event);
  return raw === null ? storedOf(event) : readStored(Buffer.from(raw));
}

function rawText(event: EventInput): string | null {
  return isLooseObject(event) && ownMember(event, 'type') === undefined ? ownText(event, 'raw') : null;
}
