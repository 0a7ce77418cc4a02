import { isCount } from './checked-json.js';
import { DamageCollector, type DamageReport } from './damage-report.js';
import { parseTreeHead } from './eviction-record.js';
import { isFault } from './frame-step.js';
import { type UsedKey, usedKey } from './idempotency.js';
import { raiseTurnCount } from './lifecycle.js';
import type { ByteSource } from './line-framer.js';
import { isBeforeFirstRecord } from './log-fold.js';
import { emptyLogState, type LogState } from './log-state.js';
import { emptyTree, MerkleFrontier, type TreeHead } from './merkle-frontier.js';
import { PublishQueue } from './publish-queue.js';
import { recordLeaf } from './record-leaf.js';
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
  readonly heldKeys: readonly UsedKey[];
  readonly line: number;
}

/**
 * One reading of a log from the start, or from what a manifest covers, to its end, with everything that is
 * derived from the records on the way.
 */
export class LogScan {
  readonly queue: PublishQueue = new PublishQueue();
  readonly tree: MerkleFrontier;
  /** Keys of the records that have an effect: one whose frame came to nothing can be used again. */
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
  /** Keys of a frame that is open. */
  #heldKeys: UsedKey[] = [];
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
    this.#heldKeys = [...place.heldKeys];
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
      heldKeys: [...this.#heldKeys],
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
    this.#noteKey(piece);
    if (record.type === 'log.recovered') this.#notePrefixReport(piece);
    this.#options.onRecord?.(piece);
    if (this.#options.tree === 'hashed') this.#addLeaf(before, piece);
  }

  /** A key counts when its record does: that of a member of a frame with the commit, or never. */
  #noteKey(piece: ScannedRecord): void {
    const { place } = this.#state.frames;
    if (place === 'commit') this.keys.push(...this.#heldKeys);
    if (place !== 'member') this.#heldKeys = [];
    const { key } = piece.record;
    if (key === null || isFault(place)) return;
    const event = piece.bytes.subarray(piece.eventStart, piece.eventEnd);
    const keys = this.#state.frames.open === null || place === 'alone' ? this.keys : this.#heldKeys;
    keys.push(usedKey(key, piece.seq, event, piece.end));
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
    const { bytes } = piece;
    const leaf = recordLeaf(type, bytes, 0, bytes.length, () => piece.readEvent());
    this.tree.add(leaf);
    this.#options.onLeaf?.(leaf);
  }
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
