import { parseEvent, parseTimestamp, peekRecord, turnUsageOf, type UsageCounts } from '@turnlog/events';
import type { LogReader, LogRecord } from '@turnlog/log';
import type { Egress } from '@turnlog/store';
import { ownMember, ownText } from '../internal/members.js';
import type { UsageState } from '../usage-view.js';
import { type PlannedItem, type RecordPlace, recordsUpTo, type SessionPlan } from './session-plan.js';

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
      const event = this.#shown(record, record.eventBytes());
      yield* this.#turnChange(event);
      if (this.#running !== null && event.tsMs !== null) this.#running.endMs = event.tsMs;
      if (itemEvents.has(record.type)) yield* this.#item(record, event);
      else yield { kind: 'event', event };
    }
    yield* this.#endOfTurn();
  }

  *#turnChange(event: ShownEvent): Iterable<Entry> {
    const { turn, seq, tsMs } = event;
    if (turn === (this.#running?.turn ?? null)) return;
    yield* this.#endOfTurn();
    if (turn === null) return;
    this.#running = { turn, firstSeq: seq, startMs: tsMs, endMs: tsMs };
    const known = this.#plan.usage.turns.get(turn);
    const usage = known === undefined ? null : turnUsageOf(known.usage).usage;
    yield { kind: 'turn', turn, status: this.#statusOf(turn), usage, event };
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

  *#item(record: LogRecord, event: ShownEvent): Iterable<Entry> {
    if (event.value === null || ownText(ownMember(event.value, 'item'), 'id') === null) {
      yield { kind: 'event', event };
      return;
    }
    const plan = this.#plan.items.get(record.offset);
    if (plan === undefined) return;
    const last = plan.last.offset === record.offset ? event : this.#read(plan.last);
    const { seq, ts, tsMs, turn } = event;
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

  /** A record elsewhere in the file. */
  #read({ offset, length, seq }: RecordPlace): ShownEvent {
    const blocks = [...this.#reader.bytes(offset, offset + length)].map((block) => block.slice());
    const bytes = Buffer.concat(blocks);
    const peeked = peekRecord(bytes, 0, bytes.length);
    if (typeof peeked === 'string') {
      return { seq, ts: null, tsMs: null, turn: null, type: '', value: null, bytes };
    }
    const { type, ts, eventStart, eventEnd } = peeked;
    return this.#shown({ seq, ts, turn: null, type }, bytes.subarray(eventStart, eventEnd));
  }

  #shown(
    { seq, ts, turn, type }: Pick<LogRecord, 'seq' | 'ts' | 'turn' | 'type'>,
    stored: Uint8Array,
  ): ShownEvent {
    const { bytes } = this.#egress.jsonBytes(stored);
    const value = parseEvent(bytes, 0, bytes.length);
    // The name of an event of somebody else's can hold anything.
    const shownType = this.#egress.text(type);
    return { seq, ts, tsMs: ts === null ? null : parseTimestamp(ts), turn, type: shownType, value, bytes };
  }
}
