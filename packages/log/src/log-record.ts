import {
  type Inspection,
  inspectRecord,
  parseEvent,
  recordSalt,
  type ThreadEvent,
  type TurnlogOwnEvent,
  type UnknownEvent,
} from '@turnlog/events';
import type { PlaceFlag } from './piece-reader.js';
import { recordLeaf } from './record-leaf.js';
import type { ScannedRecord } from './scanner.js';
import { formatTime } from './turn-index.js';

/** Small records share blocks of memory: an array of its own costs more than all else that is done to a record. */
const sharedBlockBytes = 16_384;
let sharedBlock = new Uint8Array(0);
let sharedEnd = 0;

function ownBytes(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  if (length * 8 > sharedBlockBytes) return bytes.slice();
  if (sharedEnd + length > sharedBlock.length) {
    sharedBlock = new Uint8Array(sharedBlockBytes);
    sharedEnd = 0;
  }
  const own = sharedBlock.subarray(sharedEnd, sharedEnd + length);
  own.set(bytes);
  sharedEnd += length;
  return own;
}

/** One record of a log, with bytes of its own. */
export class LogRecord {
  readonly seq: number;
  /** Milliseconds since the epoch; null when the time is unknown. */
  readonly tsMs: number | null;
  /** The turn it belongs to; null outside turns. */
  readonly turn: number | null;
  readonly type: string;
  readonly key: string | null;
  /** Name of the archived part that it was read from; null for the log's file. */
  readonly archive: string | null;
  /** Position in bytes from the start of the file, or of what was archived, and length without the 0x0A. */
  readonly offset: number;
  readonly length: number;
  /** Position behind the record and its 0x0A. */
  readonly end: number;
  /** What is odd about its place. */
  readonly flags: readonly PlaceFlag[];
  /** The stored bytes, without the 0x0A. */
  readonly bytes: Uint8Array;
  readonly #eventStart: number;
  readonly #eventEnd: number;
  readonly #nestingLevels: number;

  constructor(scanned: ScannedRecord, archive: string | null = null) {
    this.archive = archive;
    this.seq = scanned.seq;
    this.tsMs = scanned.tsMs;
    this.turn = scanned.turn;
    this.type = scanned.record.type;
    this.key = scanned.record.key;
    this.offset = scanned.offset;
    this.length = scanned.length;
    this.end = scanned.end;
    this.flags = scanned.flags;
    this.bytes = ownBytes(scanned.bytes);
    this.#eventStart = scanned.eventStart;
    this.#eventEnd = scanned.eventEnd;
    this.#nestingLevels = scanned.record.nestingLevels;
  }

  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`, made anew at each call; null when the time is unknown. */
  get ts(): string | null {
    return formatTime(this.tsMs);
  }

  /** The event's value, built anew at each call; null when it is nested too deep to be built. */
  readEvent(): ThreadEvent | TurnlogOwnEvent | UnknownEvent | null {
    return parseEvent(this.bytes, this.#eventStart, this.#eventEnd, this.#nestingLevels);
  }

  /** The bytes of the event object as they are stored. */
  eventBytes(): Uint8Array {
    return this.bytes.subarray(this.#eventStart, this.#eventEnd);
  }

  /**
   * Its leaf in the hash tree of the log, 64 hex digits; of a redacted record that of the line that stood there. The
   * header of an eviction is none.
   */
  leaf(): string {
    return recordLeaf(this.type, this.bytes, 0, this.bytes.length, () => this.readEvent());
  }

  /** What makes its leaf unguessable; null when it has none. */
  salt(): string | null {
    return recordSalt(this.bytes, 0, this.bytes.length);
  }

  /** What the full level of the contract says of it; nothing of that makes damage. */
  inspect(): Inspection {
    return inspectRecord(this.bytes, 0, this.bytes.length, this.offset === 0);
  }
}
