import {
  type AuditEvent,
  checkKey,
  type EncodedEvent,
  encodeEvent,
  encodeRawEvent,
  formatTimestamp,
  isEngineEventName,
  type OrderFlag,
  type TurnlogOwnEvent,
} from '@turnlog/events';
import { type Clock, sha256Hex, TurnlogError } from '@turnlog/kernel';
import { type KeyIndex, type UsedKey, usedKey } from './idempotency.js';
import { turnOfLast } from './lifecycle.js';
import { foldRecord } from './log-fold.js';
import type { LogState } from './log-state.js';
import type { OpenedLog } from './opened-log.js';
import type { PublishQueue } from './publish-queue.js';
import { recordLeaf } from './record-leaf.js';
import type { Salting } from './salting.js';
import { WriteBuffer } from './write-buffer.js';

/** Where one accepted event went. */
export interface Accepted {
  readonly seq: number;
  /** The turn it belongs to; null outside turns. */
  readonly turn: number | null;
}

/** A place to go back to when what was accepted since cannot be written. */
export interface AppenderMark {
  readonly state: LogState;
  readonly bufferBytes: number;
  readonly queue: number;
  readonly keys: number;
}

const encoder = new TextEncoder();
const inOrder: readonly OrderFlag[] = [];

/**
 * Takes events into memory: numbers them, keeps the lines and moves the state on. No file is touched here, so
 * going back to a mark undoes everything.
 */
export class Appender {
  readonly buffer: WriteBuffer = new WriteBuffer();
  state: LogState;

  readonly #clock: Clock;
  readonly #queue: PublishQueue;
  readonly #keys: KeyIndex;
  /** The next seq is above this one even where the log ends before it. */
  #seqFloor: number;
  readonly #salting: Salting;

  constructor(
    clock: Clock,
    { state, queue, keys }: Pick<OpenedLog, 'state' | 'queue' | 'keys'>,
    salting: Salting,
    seqFloor: number,
  ) {
    this.#clock = clock;
    this.#salting = salting;
    this.state = state;
    this.#queue = queue;
    this.#keys = keys;
    this.#seqFloor = seqFloor;
  }

  get lastSeq(): number {
    return Math.max(this.state.order.highestSeq, this.#seqFloor);
  }

  mark(): AppenderMark {
    return {
      state: this.state,
      bufferBytes: this.buffer.length,
      queue: this.#queue.mark(),
      keys: this.#keys.mark(),
    };
  }

  /** Undoes everything accepted since `mark`. */
  rollBack(mark: AppenderMark): void {
    this.state = mark.state;
    this.buffer.cutTo(mark.bufferBytes);
    this.#queue.cutTo(mark.queue);
    this.#keys.cutTo(mark.keys);
  }

  /**
   * Takes one event. Throws before anything has changed.
   *
   * @param statedMs when it was; null when nobody knows, undefined for now.
   */
  accept(event: EncodedEvent, key: string | null, statedMs?: number | null): Accepted {
    const seq = this.lastSeq + 1;
    const tsMs = this.#timeOf(statedMs);
    const ts = tsMs === null ? null : formatTimestamp(tsMs);
    const salt = this.#salting.next();
    const keyed = key === null ? {} : { key };
    const length = this.buffer.add({ seq, ts, ...keyed, ...(salt === null ? {} : { salt }) }, event);
    const before = this.state;
    const start = before.length;
    const end = start + length;
    const readEvent = (): unknown => JSON.parse(event.text);
    this.state = foldRecord(before, {
      type: event.type,
      kind: event.kind,
      hasKey: key !== null,
      start,
      end,
      line: { offset: start, length: length - 1 },
      ordered: {
        seq,
        tsMs,
        flags: inOrder,
        state: {
          highestSeq: seq,
          lastTsMs: tsMs ?? before.order.lastTsMs,
          recordCount: before.order.recordCount + 1,
        },
      },
      readEvent,
      leaf: () => {
        const lines = this.buffer.view();
        return recordLeaf(event.type, lines, lines.length - length, lines.length - 1, readEvent);
      },
    });
    this.#queue.note(before, this.state);
    if (key !== null) this.#keys.add(usedKey(key, seq, encoder.encode(event.text), end));
    return { seq, turn: turnOfLast(this.state.lifecycle, end) };
  }

  /** Times of a log never run backwards. */
  #timeOf(statedMs: number | null = this.#clock.now()): number | null {
    return statedMs === null ? null : Math.max(statedMs, this.state.newestTsMs ?? 0);
  }

  /**
   * Looks whether a record of the kept log has used `key`: null when none has, its seq when it holds the same
   * event.
   *
   * @throws TURNLOG_KEY_CONFLICT when it holds another one.
   */
  findDuplicate(key: string, event: EncodedEvent): UsedKey | null {
    const used = this.#keys.find(key);
    if (used === null) return null;
    if (used.eventSha256 === sha256Hex(encoder.encode(event.text))) return used;
    throw new TurnlogError('TURNLOG_KEY_CONFLICT', { details: { key, seq: used.seq } });
  }
}

/** An event's own text, to be stored as it stands. */
export interface RawEvent {
  readonly raw: string;
}

/** An event as a value of whatever members. */
interface EventValue {
  readonly type: string;
  readonly raw?: never;
  readonly [member: string]: unknown;
}

/**
 * An event that only Turnlog itself writes (`log.*`, and what stands around a frame), for the packages that own it:
 * the store's ledger, audits. Whoever makes one promises that what it says has happened.
 */
export class EngineEvent {
  readonly event: TurnlogOwnEvent | AuditEvent;

  constructor(event: TurnlogOwnEvent | AuditEvent) {
    this.event = event;
  }
}

/** An event of a known type or any other, or its text. The first kind is for values whose type is an interface. */
export type EventInput = { readonly type: string } | EventValue | RawEvent | EngineEvent;

/** Checks and serialises what a caller gave. Families that the engine writes itself are refused. */
export function encodeInput(input: unknown): EncodedEvent {
  if (input instanceof EngineEvent) return encodeEvent(input.event);
  if (isRaw(input)) {
    const event = encodeRawEvent(input.raw);
    refuseReserved(event.type);
    return event;
  }
  if (typeof input === 'object' && input !== null && 'type' in input) refuseReserved(input.type);
  return encodeEvent(input);
}

function refuseReserved(type: unknown): void {
  if (typeof type !== 'string' || !isEngineEventName(type)) return;
  throw new TurnlogError('TURNLOG_RESERVED_RECORD', { details: { type } });
}

/** Refuses what `append` would refuse the event or key for, whatever log it is for. Errors as `append`. */
export function checkEvent(input: EventInput, key?: string): void {
  checkedKey(key);
  encodeInput(input);
}

function isRaw(input: unknown): input is RawEvent {
  return typeof input === 'object' && input !== null && 'raw' in input && !('type' in input);
}

/** Checks a key that a caller gave; undefined means none. */
export function checkedKey(key: string | undefined): string | null {
  if (key === undefined) return null;
  checkKey(key);
  return key;
}

/** Whether an event ends a turn or the thread: then the class `turn` makes the log durable. */
export function isBoundary(event: EncodedEvent): boolean {
  return event.kind === 'turn-completed' || event.kind === 'turn-failed' || event.kind === 'thread-completed';
}
