import {
  type EncodedEvent,
  encodeEvent,
  encodeRawEvent,
  isLooseObject,
  ownMember,
  ownText,
} from '@turnlog/events';
import { checkEvent, type EventInput } from '@turnlog/log';

/** The text of an event as a log would take it. @throws TURNLOG_INVALID_EVENT and others, as `append` */
export function encodeInput(event: EventInput): EncodedEvent {
  checkEvent(event);
  const raw = isLooseObject(event) && ownMember(event, 'type') === undefined ? ownText(event, 'raw') : null;
  return raw === null ? encodeEvent(event) : encodeRawEvent(raw);
}
