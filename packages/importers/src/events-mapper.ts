import { checkKey, encodeRawEvent, isEngineEventName } from '@turnlog/events';
import { isTurnlogError, sha256Hex } from '@turnlog/kernel';
import { isMembers, type SourceObject, textMember } from './source-object.js';
import type { StepBuilder } from './step-builder.js';
import type { Mapping, StreamMapper } from './stream-mapper.js';
import type { StreamOptions } from './stream-types.js';

/** Whether `value` is one of our own lines. */
export function isOwnLine(value: Readonly<Record<string, unknown>>): boolean {
  const event = value['event'];
  return isMembers(event) && textMember(event, 'type') !== undefined;
}

/**
 * Our own lines: `{"event":{…},"key"?}`. The event is passed on as it was written. `schema_version`, `seq` and
 * `ts` may stand there, as in an exported log; they are given anew. A bare event is taken as well, so the kind
 * must have been asked for when the first line is one.
 */
export class EventsMapper implements StreamMapper {
  readonly kind = 'events' as const;
  readonly unansweredCount = 0;
  readonly #now: () => number;
  #hasSuggested = false;

  constructor(options: StreamOptions) {
    this.#now = options.now;
  }

  map(object: SourceObject, step: StepBuilder): Mapping {
    const isOwn = isOwnLine(object.value) && textMember(object.value, 'type') === undefined;
    const path = isOwn ? ['event'] : [];
    const event = isOwn ? object.value['event'] : object.value;
    const type = isMembers(event) ? textMember(event, 'type') : undefined;
    if (type === undefined) return { place: 'refused', kind: 'not-a-record' };
    const text = textAt(object, path);
    const reason = refusalOf(text, type, isOwn ? object.value['key'] : undefined);
    if (reason !== null) return { place: 'refused', kind: reason };
    const key = isOwn ? textMember(object.value, 'key') : undefined;
    step.add({ event: { raw: text }, ...(key === undefined ? {} : { key }) });
    this.#suggest(object, step);
    return { place: 'mapped', kind: type };
  }

  continueFrom(): void {
    // Own lines carry their own keys: nothing depends on what the session holds.
  }

  end(): 'complete' {
    return 'complete';
  }

  #suggest(object: SourceObject, step: StepBuilder): void {
    if (this.#hasSuggested) return;
    this.#hasSuggested = true;
    const now = this.#now();
    const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
    step.suggest(`${day}-${sha256Hex(new TextEncoder().encode(`${now}\0${object.text}`)).slice(0, 8)}`);
  }
}

function textAt(object: SourceObject, path: readonly string[]): string {
  return object.at(...path)?.text ?? object.text;
}

/** Why a log would not take the event; null when it would. */
function refusalOf(text: string, type: string, key: unknown): string | null {
  if (isEngineEventName(type)) return 'reserved-record';
  try {
    if (key !== undefined && key !== null) checkKey(String(key));
    encodeRawEvent(text);
  } catch (error) {
    if (!isTurnlogError(error)) throw error;
    return error.code.slice('TURNLOG_'.length).toLowerCase().replaceAll('_', '-');
  }
  return typeof key === 'string' || key === undefined || key === null ? null : 'invalid-event';
}
