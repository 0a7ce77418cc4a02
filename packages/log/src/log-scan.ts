import { isCount, isSha256Hex } from './checked-json.js';
import { DamageCollector, type DamageReport } from './damage-report.js';
import { parseTreeHead } from './eviction-record.js';
import { type UsedKey, usedKey } from './idempotency.js';
import { raiseTurnCount } from './lifecycle.js';
import type { ByteSource } from './line-framer.js';
import { isBeforeFirstRecord } from './log-fold.js';
import { emptyLogState, type LogState } from './log-state.js';
import { emptyTree, leafHash, MerkleFrontier, type TreeHead } from './merkle-frontier.js';
import { PublishQueue } from './publish-queue.js';
import { type Scanned, type ScannedDamage, type ScannedRecord, Scanner } from './scanner.js';
import { isPlainObject } from './session-facts.js';

export interface LogScanOptions {
  /** What a manifest says of the bytes before; by default the scan begins at 0. */
  readonly from?: { readonly state: LogState; readonly tree: TreeHead };
  /** `hashed` also computes the hash tree, which costs about as much as reading. */
  readonly tree: 'hashed' | 'none';
  /** Number of the first turn where the log itself does not say it. */
  readonly turnBase?: number;
  readonly lineBytesMax?: number;
  /** Told of each record, the header included, before the next one is read. */
  readonly onRecord?: (record: ScannedRecord) => void;
  /** Told of each leaf of the hash tree, as 64 hex digits; only where the tree is hashed. */
  readonly onLeaf?: (leaf: string) => void;
}

/** The last line of a log when no 0x0A ends it: a record still without its newline, or bytes that are cut short. */
export interface UnendedLine {
  /** Damage behind the last record of the line; null when the line ends with a record. */
  readonly fragment: {
    readonly kind: ScannedDamage['kind'];
    readonly offset: number;
    readonly length: number;
  } | null;
}

/** Where a scan stood before a line, to go back to. */
interface LinePlace {
  readonly state: LogState;
  readonly tree: TreeHead;
  readonly queue: number;
  readonly keys: number;
  readonly line: number;
}

/**
 * One reading of a log from the start, or from what a manifest covers, to its end, with everything that is
 * derived from the records on the way.
 */
export class LogScan {
  readonly queue: PublishQueue = new PublishQueue();
  readonly tree: MerkleFrontier;
  readonly keys: UsedKey[] = [];
  /** Number that the newest report of a missing prefix gives to the first turn; null without one. */
  prefixTurnBase: number | null = null;
  /** Seq of the first record of the first turn in the file; null when it holds none. */
  firstTurnSeq: number | null = null;
  unended: UnendedLine | null = null;

  readonly #source: ByteSource;
  readonly #options: LogScanOptions;
  readonly #damage = new DamageCollector();
  #state: LogState;
  #lines = 0;
  #lastLine: LinePlace | null = null;

  constructor(source: ByteSource, options: LogScanOptions) {
    this.#source = source;
    this.#options = options;
    this.#state = options.from?.state ?? numberedFrom(options.turnBase ?? 1);
    this.tree = new MerkleFrontier(options.from?.tree ?? emptyTree);
  }

  get state(): LogState {
    return this.#state;
  }

  /** Reads on to `to`, a position in the file. */
  run(to: number): this {
    this.slices(to, Number.POSITIVE_INFINITY).next();
    return this;
  }

  /** As `run`, with a pause for the caller behind each `sliceBytes` bytes or so. */
  *slices(to: number, sliceBytes: number): Generator<void, void, void> {
    const { lineBytesMax } = this.#options;
    let pausedAt = this.#state.length;
    const scanner = new Scanner(this.#source, {
      state: this.#state,
      to,
      linesBefore: this.#lines,
      ...(lineBytesMax === undefined ? {} : { lineBytesMax }),
    });
    this.unended = null;
    this.#lastLine = null;
    for (;;) {
      const before = scanner.state;
      const piece = scanner.next();
      if (piece === null) break;
      if (!piece.isLineEnded) this.#noteUnended(before, piece);
      this.#state = scanner.state;
      this.#lines = piece.line;
      this.#note(before, piece);
      if (this.#state.length - pausedAt < sliceBytes) continue;
      pausedAt = this.#state.length;
      yield;
    }
  }

  /** Goes back to before the last line, which had no 0x0A and has been mended, and reads it again. */
  rereadLastLine(to: number): this {
    const place = this.#lastLine;
    if (place === null) return this;
    this.#state = place.state;
    this.#lines = place.line;
    this.tree.restart(place.tree);
    this.queue.cutTo(place.queue);
    this.keys.length = place.keys;
    return this.run(to);
  }

  /**
   * Whether the log holds bytes but no record: that is no empty session. A lone fragment is one: a first write
   * that was cut short.
   */
  isUnreadable(): boolean {
    const { lifecycle, evicted, damage } = this.#state;
    if (lifecycle.eventCount > 0 || evicted !== null || damage.count === 0) return false;
    return this.unended?.fragment?.offset !== 0;
  }

  damage(): readonly DamageReport[] {
    return this.#damage.reports(this.#source);
  }

  #noteUnended(before: LogState, piece: Scanned): void {
    this.#lastLine ??= {
      state: before,
      tree: this.tree.head(),
      queue: this.queue.mark(),
      keys: this.keys.length,
      line: this.#lines,
    };
    if (piece.verdict === 'record') {
      this.unended = { fragment: null };
      return;
    }
    const offset = this.unended?.fragment?.offset ?? piece.offset;
    const kind = this.unended?.fragment?.kind ?? piece.kind;
    this.unended = { fragment: { kind, offset, length: piece.offset + piece.length - offset } };
  }

  #note(before: LogState, piece: Scanned): void {
    if (piece.verdict === 'damage') {
      this.#damage.note(piece);
      return;
    }
    this.queue.note(before, this.#state);
    if (before.firstTurn === null && this.#state.firstTurn !== null) this.firstTurnSeq = piece.seq;
    const { record } = piece;
    if (record.key !== null) {
      const event = piece.bytes.subarray(piece.eventStart, piece.eventEnd);
      this.keys.push(usedKey(record.key, piece.seq, event, piece.end));
    }
    if (record.type === 'log.recovered') this.#notePrefixReport(piece);
    this.#options.onRecord?.(piece);
    if (this.#options.tree === 'hashed') this.#addLeaf(before, piece);
  }

  #notePrefixReport(piece: ScannedRecord): void {
    const event = eventOf(piece);
    if (event['reason'] !== 'prefix_missing') return;
    if (isCount(event['turn_base']) && event['turn_base'] >= 1) this.prefixTurnBase = event['turn_base'];
  }

  #addLeaf(before: LogState, piece: ScannedRecord): void {
    const { type } = piece.record;
    if (type === 'log.evicted' && isBeforeFirstRecord(before)) {
      const head = parseTreeHead(eventOf(piece)['tree']);
      if (head !== null) this.tree.restart(head);
      return;
    }
    const leaf = leafOf(type, piece);
    this.tree.add(leaf);
    this.#options.onLeaf?.(leaf);
  }
}

/** A redacted record stands for the line it replaced, so that the tree stays the same. */
function leafOf(type: string, piece: ScannedRecord): string {
  if (type === 'log.redacted') {
    const leaf = eventOf(piece)['leaf'];
    if (isSha256Hex(leaf)) return leaf;
  }
  return leafHash(piece.bytes, 0, piece.bytes.length);
}

function numberedFrom(turnBase: number): LogState {
  return { ...emptyLogState, lifecycle: raiseTurnCount(emptyLogState.lifecycle, turnBase - 1) };
}

function eventOf(piece: ScannedRecord): Readonly<Record<string, unknown>> {
  const event: unknown = piece.readEvent();
  return isPlainObject(event) ? event : {};
}

export interface FullScanOptions {
  readonly tree: 'hashed' | 'none';
  /** What an old turn index calls the turn that begins at this seq; asked only when the log's beginning is lost. */
  readonly oldTurnNumber?: (firstSeq: number) => number | null;
  readonly lineBytesMax?: number;
}

/**
 * Reads all of a log. One whose beginning is lost is numbered from the old turn index, or from what the newest
 * `log.recovered` in it says, which is known at its end only: then it is read a second time.
 */
export function scanWholeLog(source: ByteSource, to: number, options: FullScanOptions): LogScan {
  const { oldTurnNumber, ...rest } = options;
  const scan = new LogScan(source, rest).run(to);
  if (!scan.state.isPrefixMissing) return scan;
  const indexed = scan.firstTurnSeq === null ? null : (oldTurnNumber?.(scan.firstTurnSeq) ?? null);
  const turnBase = indexed ?? scan.prefixTurnBase ?? 1;
  return turnBase === 1 ? scan : new LogScan(source, { ...rest, turnBase }).run(to);
}
