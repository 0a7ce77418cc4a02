import { type DamageKind, parseEvent } from '@turnlog/events';
import { type FileHandle, limits, RunningSha256 } from '@turnlog/kernel';
import { type Scanned, type ScannedRecord, Scanner } from '@turnlog/log';
import { type Ledger, LedgerBook } from './ledger.js';
import { isMembers, type Members, textMember } from './source-object.js';
import type { Refusal } from './stream-types.js';

/** Damaged places listed by name; further ones are counted only. */
const refusalsListedMax = limits.damageReportsMax;
/** Bytes of a source that are hashed or handed on at a time. */
const copyBlockBytes = 1_048_576;
/** Versions listed; a log that names more is not one of VT Code's. */
const versionsMax = 64;

/** What one reading of a foreign log found. */
export interface LogSurvey {
  /** Bytes that were read: the length of the file when it was opened. */
  readonly bytes: number;
  readonly sha256: string;
  readonly records: number;
  readonly damageCount: number;
  readonly schemaVersions: readonly string[];
  /** Of the first `thread.started`. */
  readonly threadId: string | undefined;
  /** Where the bytes of the records begin (behind a byte-order mark) and end (before a torn tail). */
  readonly from: number;
  readonly to: number;
  /** Whether the bytes up to `to` end with a 0x0A. */
  readonly isLineEnded: boolean;
  /** Calls that never got a result. */
  readonly unansweredCount: number;
  readonly ledger: Ledger;
  readonly refused: readonly Refusal[];
}

/** Reads a log of the contract from its first byte to `bytes`, in blocks. */
export function surveyLog(file: FileHandle, bytes: number): LogSurvey {
  const survey = new Survey(file);
  const scanner = new Scanner(file, { to: bytes });
  for (let piece = scanner.next(); piece !== null; piece = scanner.next()) survey.note(piece);
  return survey.read(bytes, scanner.state.damage.count);
}

/** SHA-256 of `[from, to)` of a file; null when the file ends before. */
export function digestOf(file: FileHandle, from: number, to: number): string | null {
  const hash = new RunningSha256();
  const isWhole = copyBytes(file, from, to, (block) => hash.update(block));
  return isWhole ? hash.digestHex() : null;
}

/** Hands `[from, to)` of a file on, a block at a time; false when the file ends before. */
export function copyBytes(
  file: FileHandle,
  from: number,
  to: number,
  take: (block: Uint8Array) => void,
): boolean {
  const block = new Uint8Array(Math.max(1, Math.min(copyBlockBytes, to - from)));
  for (let offset = from; offset < to; ) {
    const count = file.read(block.subarray(0, Math.min(block.length, to - offset)), offset);
    if (count === 0) return false;
    take(block.subarray(0, count));
    offset += count;
  }
  return true;
}

class Survey {
  readonly #file: FileHandle;
  readonly #book = new LedgerBook();
  readonly #versions = new Set<string>();
  readonly #openCalls = new Set<string>();
  readonly #refused: Refusal[] = [];
  #records = 0;
  #accounted = 0;
  #threadId: string | undefined;
  #from = 0;
  #tornFrom: number | null = null;
  #isLineEnded = true;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  note(piece: Scanned): void {
    const isTorn = piece.verdict === 'damage' && !piece.isLineEnded;
    if (!isTorn) this.#isLineEnded = piece.isLineEnded;
    if (piece.verdict === 'record') {
      this.#tornFrom = null;
      this.#noteRecord(piece);
    } else {
      if (isTorn) this.#tornFrom ??= piece.offset;
      this.#noteDamage(piece.kind, piece);
    }
  }

  read(bytes: number, damageCount: number): LogSurvey {
    this.#book.addFraming(bytes - this.#accounted);
    return {
      bytes,
      sha256: digestOf(this.#file, 0, bytes) ?? '',
      records: this.#records,
      damageCount,
      schemaVersions: [...this.#versions],
      threadId: this.#threadId,
      from: this.#from,
      to: this.#tornFrom ?? bytes,
      isLineEnded: this.#isLineEnded,
      unansweredCount: this.#openCalls.size,
      ledger: this.#book.read(),
      refused: this.#refused,
    };
  }

  #noteRecord(piece: ScannedRecord): void {
    const { type, schemaVersion } = piece.record;
    this.#records += 1;
    this.#accounted += piece.length;
    this.#book.add('mapped', type, piece.length);
    if (piece.flags.includes('bom')) this.#from = piece.offset;
    if (this.#versions.size < versionsMax) this.#versions.add(schemaVersion);
    if (type === 'thread.started') this.#threadId ??= textMember(eventOf(piece), 'thread_id');
    if (type === 'item.started' || type === 'item.completed') this.#noteCall(type, eventOf(piece)['item']);
  }

  #noteCall(type: string, item: unknown): void {
    const id = isMembers(item) ? textMember(item, 'id') : undefined;
    if (id === undefined) return;
    const isCall = isMembers(item) && callTypes.has(textMember(item, 'type') ?? '');
    if (type === 'item.completed') this.#openCalls.delete(id);
    else if (isCall) this.#openCalls.add(id);
  }

  #noteDamage(kind: DamageKind, place: Extract<Scanned, { verdict: 'damage' }>): void {
    if (kind === 'blank') return;
    const { line, offset, length } = place;
    this.#accounted += length;
    this.#book.add('refused', kind, length);
    if (this.#refused.length >= refusalsListedMax) return;
    const sha256 = digestOf(this.#file, offset, offset + length) ?? '';
    this.#refused.push({ line, reason: kind, offset, length, sha256 });
  }
}

const callTypes: ReadonlySet<string> = new Set([
  'command_execution',
  'tool_invocation',
  'mcp_tool_call',
  'web_search',
]);

function eventOf(piece: ScannedRecord): Members {
  const { eventStart, eventEnd } = piece;
  const event: unknown = parseEvent(piece.bytes, eventStart, eventEnd);
  return isMembers(event) ? event : {};
}
