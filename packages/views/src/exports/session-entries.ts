import { parseEvent, parseTimestamp, peekRecord, turnUsageOf, type UsageCounts } from '@turnlog/events';
import type { LogReader, LogRecord } from '@turnlog/log';
import type { Egress } from '@turnlog/store';
import { ownMember, ownText } from '../internal/members.js';
import type { UsageState } from '../usage-view.js';
import {
  type PlannedItem,
  placeKey,
  type RecordPlace,
  recordsUpTo,
  type SessionPlan,
} from './session-plan.js';

/** The event of a record as it leaves the redactor. */
export interface ShownEvent {
  readonly seq: number;
  /** Null when the time is unknown. */
  readonly ts: string | null;
  readonly tsMs: number | null;
  readonly turn: number | null;
  readonly type: string;
  /** Null when it is nested too deep to be built. */
  readonly value: unknown;
  /** The JSON text of the event, for numbers as they are written. */
  readonly bytes: Uint8Array;
}

export type TurnEnd = 'completed' | 'failed' | 'interrupted' | 'open';

export interface TurnEntry {
  readonly kind: 'turn';
  readonly turn: number;
  readonly status: TurnEnd;
  /** Null when it is unknown. */
  readonly usage: UsageCounts | null;
  /** The record that it begins with, whatever its type is. */
  readonly event: ShownEvent;
}

export interface TurnEndEntry {
  readonly kind: 'turn-end';
  readonly turn: number;
  readonly firstSeq: number;
  readonly status: TurnEnd;
  readonly startMs: number | null;
  readonly endMs: number | null;
}

/** An item, once, where it was first said, as it was last said. */
export interface ItemEntry {
  readonly kind: 'item';
  /** Place and time of its first record, with the event of its last. */
  readonly event: ShownEvent;
  readonly item: unknown;
  readonly type: string;
  readonly plan: PlannedItem;
  readonly lastMs: number | null;
  readonly outputs: readonly ShownEvent[];
}

export interface EventEntry {
  readonly kind: 'event';
  readonly event: ShownEvent;
}

export type Entry = TurnEntry | TurnEndEntry | ItemEntry | EventEntry;

const itemEvents: ReadonlySet<string> = new Set(['item.started', 'item.updated', 'item.completed']);

/** The records of a log as a document needs them, in the order of the file. All of it has passed the redactor. */
export function sessionEntries(
  reader: LogReader,
  plan: SessionPlan,
  egress: Egress,
  toSeq: number | null,
): Iterable<Entry> {
  return new SessionReading(reader, plan, egress).entries(toSeq);
}

/** How a turn ended, or that it has not. */
export function turnEnd(usage: UsageState, { state }: LogReader, turn: number): TurnEnd {
  const closedBy = usage.turns.get(turn)?.usage.closedBy ?? null;
  if (closedBy === 'turn.completed') return 'completed';
  if (closedBy === 'turn.failed') return 'failed';
  return state.lifecycle.open?.turn === turn ? 'open' : 'interrupted';
}

interface RunningTurn {
  readonly turn: number;
  readonly firstSeq: number;
  readonly startMs: number | null;
  endMs: number | null;
}

class SessionReading {
  readonly #reader: LogReader;
  readonly #plan: SessionPlan;
  readonly #egress: Egress;
  #running: RunningTurn | null = null;

  constructor(reader: LogReader, plan: SessionPlan, egress: Egress) {
    this.#reader = reader;
    this.#plan = plan;
    this.#egress = egress;
  }

  *entries(toSeq: number | null): Iterable<Entry> {
    for (const record of recordsUpTo(this.#reader, toSeq)) {
      const reading = new RecordReading(record, this.#egress);
      yield* this.#turnChange(reading);
      if (this.#running !== null && reading.tsMs !== null) this.#running.endMs = reading.tsMs;
      if (itemEvents.has(record.type)) yield* this.#item(reading);
      else yield { kind: 'event', event: reading.shown() };
    }
    yield* this.#endOfTurn();
  }

  *#turnChange(reading: RecordReading): Iterable<Entry> {
    const { tsMs, record } = reading;
    const { turn, seq } = record;
    if (turn === (this.#running?.turn ?? null)) return;
    yield* this.#endOfTurn();
    if (turn === null) return;
    this.#running = { turn, firstSeq: seq, startMs: tsMs, endMs: tsMs };
    const known = this.#plan.usage.turns.get(turn);
    const usage = known === undefined ? null : turnUsageOf(known.usage).usage;
    yield { kind: 'turn', turn, status: this.#statusOf(turn), usage, event: reading.shown() };
  }

  *#endOfTurn(): Iterable<Entry> {
    if (this.#running === null) return;
    const { turn } = this.#running;
    yield { kind: 'turn-end', status: this.#statusOf(turn), ...this.#running };
    this.#running = null;
  }

  #statusOf(turn: number): TurnEnd {
    return turnEnd(this.#plan.usage, this.#reader, turn);
  }

  *#item(reading: RecordReading): Iterable<Entry> {
    const { record, tsMs } = reading;
    const plan = this.#plan.items.get(placeKey(record));
    if (plan === undefined) {
      // A later record of an item, or an output: shown where its item is, so it need not pass the redactor here.
      if (!isNamedItem(record)) yield { kind: 'event', event: reading.shown() };
      return;
    }
    const last = placeKey(plan.last) === placeKey(record) ? reading.shown() : this.#read(plan.last);
    const { seq, ts, turn } = record;
    const item = ownMember(last.value, 'item');
    const type = ownText(item, 'type') ?? '';
    const outputs = (plan.call?.outputs ?? []).map((place) => this.#read(place));
    yield {
      kind: 'item',
      event: { ...last, seq, ts, tsMs, turn },
      item,
      type,
      plan:
        plan.call === null
          ? plan
          : { ...plan, call: { ...plan.call, callId: this.#egress.text(plan.call.callId) } },
      lastMs: [last, ...outputs].reduce<number | null>((latest, { tsMs: at }) => at ?? latest, tsMs),
      outputs,
    };
  }

  /** A record elsewhere in the log. */
  #read(place: RecordPlace): ShownEvent {
    const { seq } = place;
    const bytes = this.#reader.bytesOf(place);
    const peeked = peekRecord(bytes, 0, bytes.length);
    if (typeof peeked === 'string') {
      return { seq, ts: null, tsMs: null, turn: null, type: '', value: null, bytes };
    }
    const { type, ts, eventStart, eventEnd } = peeked;
    const tsMs = ts === null ? null : parseTimestamp(ts);
    return shownEvent(
      { seq, ts, turn: null, type, tsMs },
      bytes.subarray(eventStart, eventEnd),
      this.#egress,
    );
  }
}

function isNamedItem(record: LogRecord): boolean {
  const event = record.readEvent();
  return event !== null && ownText(ownMember(event, 'item'), 'id') !== null;
}

/** A record that is looked at; what is to be shown of it is made when it is asked for, and once. */
class RecordReading {
  readonly record: LogRecord;
  readonly tsMs: number | null;
  readonly #egress: Egress;
  #event: ShownEvent | null = null;

  constructor(record: LogRecord, egress: Egress) {
    this.record = record;
    this.tsMs = record.ts === null ? null : parseTimestamp(record.ts);
    this.#egress = egress;
  }

  shown(): ShownEvent {
    const { seq, ts, turn, type } = this.record;
    const place = { seq, ts, turn, type, tsMs: this.tsMs };
    this.#event ??= shownEvent(place, this.record.eventBytes(), this.#egress);
    return this.#event;
  }
}

function shownEvent(
  place: Omit<ShownEvent, 'value' | 'bytes'>,
  stored: Uint8Array,
  egress: Egress,
): ShownEvent {
  const { bytes } = egress.jsonBytes(stored);
  const value = parseEvent(bytes, 0, bytes.length);
  // The name of an event of somebody else's can hold anything.
  return { ...place, type: egress.text(place.type), value, bytes };
}
