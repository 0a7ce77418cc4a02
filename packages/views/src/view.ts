import { parseTimestamp, type ThreadEvent, type TurnlogOwnEvent, type UnknownEvent } from '@turnlog/events';
import type { JsonObject } from '@turnlog/kernel';
import type { LogRecord } from '@turnlog/log';
import { ownText } from './internal/members.js';

/** What a view is told of a record. */
export interface ViewRecord {
  readonly seq: number;
  /** Milliseconds since the epoch; null when the time is unknown. */
  readonly tsMs: number | null;
  /** The turn it belongs to; null outside turns. */
  readonly turn: number | null;
  readonly type: string;
  /** The event's value, built once for all views; null when it is nested too deep to be built. */
  readEvent(): ThreadEvent | TurnlogOwnEvent | UnknownEvent | null;
  /** The bytes of the event object, for exact numbers. */
  eventBytes(): Uint8Array;
}

/**
 * A pure fold over a session's records. `evolve` never changes the state it is given: what has been published may
 * be older than what has been read. Members of a frame without commit are never given.
 */
export interface View<State> {
  /** Also the name of its file, `derived/<name>.json`. */
  readonly name: string;
  /** Rises with every change of the fold or of what is published: older files are then folded anew. */
  readonly version: number;
  readonly initial: (sessionId: string) => State;
  readonly evolve: (state: State, record: ViewRecord) => State;
  /** All of the state. The same records give the same value, however often it was published in between. */
  readonly toJson: (state: State) => JsonObject;
  /** What `toJson` gave; throws `WrongShape` for anything else. */
  readonly fromJson: (json: unknown) => State;
  /** What others read in the file, where that is not the state itself. */
  readonly toDocument?: (state: State) => JsonObject;
}

/** A record as views see it. */
export function viewRecord(record: LogRecord): ViewRecord {
  return new RecordOnce(record);
}

type Event = ReturnType<LogRecord['readEvent']>;

class RecordOnce implements ViewRecord {
  readonly seq: number;
  readonly tsMs: number | null;
  readonly turn: number | null;
  readonly type: string;
  readonly #record: LogRecord;
  #event: { readonly value: Event } | null = null;

  constructor(record: LogRecord) {
    this.seq = record.seq;
    this.tsMs = record.ts === null ? null : parseTimestamp(record.ts);
    this.turn = record.turn;
    this.type = record.type;
    this.#record = record;
  }

  readEvent(): Event {
    this.#event ??= { value: this.#record.readEvent() };
    return this.#event.value;
  }

  eventBytes(): Uint8Array {
    return this.#record.eventBytes();
  }
}

/** The type a record counts as in a turn: a redacted one stands for what it was. */
export function countedType(record: ViewRecord): string {
  if (record.type !== 'log.redacted') return record.type;
  return ownText(record.readEvent(), 'original_type') ?? record.type;
}
