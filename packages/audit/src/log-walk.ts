import { parseEvent, type RecordPiece } from '@turnlog/events';
import { limits } from '@turnlog/kernel';
import {
  type ByteSource,
  DamageCollector,
  type DamageReport,
  type EvictionHeader,
  emptyLogState,
  emptyTree,
  type LogState,
  PieceReader,
  parseEvictionHeader,
  recordLeaf,
  type TreeHead,
} from '@turnlog/log';
import { HashingSource } from './hashing-source.js';
import type { BlocksFound } from './leaf-block.js';
import { type HashWorkers, LeafHasher } from './leaf-hasher.js';
import { LeafTree, type Leaves, type LeavesFound, type LeavesWanted } from './leaf-tree.js';

/** The record behind a leaf, as it stands in what was read: gone as soon as the walk goes on. */
export interface LeafRecord {
  readonly type: string;
  readonly seq: number;
  /** Whether it may name blobs. */
  readonly hasAssetWord: boolean;
  readEvent(): ReturnType<typeof parseEvent>;
}

/** A record as a leaf of the tree. One object serves a whole walk. */
export interface Leaf {
  readonly index: number;
  readonly record: LeafRecord;
  hash(): string;
}

export interface WalkOptions {
  readonly source: ByteSource;
  /** End of what is read, exclusive. */
  readonly to: number;
  /** What is known of the bytes before; by default the walk begins at the start of the file. */
  readonly from?: { readonly state: LogState; readonly tree: TreeHead };
  readonly wanted?: Omit<LeavesWanted, 'tree'>;
  /** How many bytes, from the start of the file on, are hashed as a whole; by default none. */
  readonly digestTo?: number;
  readonly onLeaf?: (leaf: Leaf) => void;
  /** Told of the header that the file begins with, before any leaf. */
  readonly onHeader?: (header: EvictionHeader | null) => void;
}

/** What one reading of a log found. */
export interface Walked extends BlocksFound {
  /** Records of the file, a header not counted. */
  readonly recordCount: number;
  readonly highestSeq: number;
  /** How many leaves the header that the file begins with stands for. */
  readonly evicted: number;
  /** Whether the file begins with a header that cannot be read: then its tree is not known. */
  readonly isHeaderBroken: boolean;
  readonly damage: readonly DamageReport[];
}

/** The root over the first `size` leaves, if it was asked for and could be had. */
export function rootIn({ roots }: LeavesFound, size: number): string | null {
  return roots.find((root) => root.size === size)?.root ?? null;
}

/**
 * Reads a log once, from its start or from a known place on, and tells of each leaf. Memory: a block, a line, and what
 * the listener keeps.
 */
export function walkLog(options: WalkOptions): Walked {
  const { source, digestTo } = options;
  const tree = new LeafTree(wantedOf(options));
  const digest = digestTo === undefined ? null : new HashingSource(source, digestTo);
  const walk = new LogWalk(options, digest ?? source, tree);
  while (walk.step());
  return walk.result({ ...tree.found(), sha256: digest?.digestHex() ?? null });
}

/** As `walkLog`; the hashing of a long log goes on in another thread meanwhile, where there can be one. */
export async function walkLongLog(options: WalkOptions, workers: HashWorkers | undefined): Promise<Walked> {
  const { source, digestTo = null } = options;
  const from = options.from?.state.length ?? 0;
  const bytes = options.to - from;
  if (workers === undefined || bytes < (workers.bytesMin ?? limits.hashWorkerBytesMin))
    return walkLog(options);
  const hasher = new LeafHasher(workers, wantedOf(options), { from, digestTo });
  try {
    const walk = new LogWalk(options, hasher.watch(source), hasher);
    while (walk.step()) if (hasher.isDue) await hasher.pass();
    return walk.result(await hasher.end());
  } finally {
    await hasher.close();
  }
}

function wantedOf({ wanted, from }: WalkOptions): LeavesWanted {
  return { ...wanted, tree: from?.tree ?? emptyTree };
}

class LogWalk implements Leaf, LeafRecord {
  readonly #options: WalkOptions;
  readonly #pieces: PieceReader;
  readonly #leaves: Leaves;
  readonly #damage = new DamageCollector();
  readonly #onLeaf: ((leaf: Leaf) => void) | undefined;
  #size: number;
  #recordCount = 0;
  #evicted = 0;
  #isHeaderBroken = false;
  #isFirst: boolean;
  #present: RecordPiece | null = null;
  #hash: string | null = null;

  constructor(options: WalkOptions, source: ByteSource, leaves: Leaves) {
    const { to, from, onLeaf } = options;
    const state = from?.state ?? emptyLogState;
    this.#options = options;
    this.#onLeaf = onLeaf;
    this.#pieces = new PieceReader(source, {
      from: state.length,
      to,
      order: state.order,
      previous: state.tail,
      isFirst: from === undefined,
      blockBytes: limits.hashBlockBytes,
    });
    this.#leaves = leaves;
    this.#size = from?.tree.size ?? 0;
    this.#isFirst = from === undefined;
  }

  /** Takes one piece; false when there is none left. */
  step(): boolean {
    const piece = this.#pieces.next();
    if (piece === null) return false;
    if (piece.verdict === 'damage') {
      const { offset, end, line, isLineEnded } = this.#pieces;
      const length = piece.end - piece.start;
      this.#damage.note({ verdict: 'damage', kind: piece.kind, offset, length, end, line, isLineEnded });
      return true;
    }
    this.#present = piece;
    if (this.#isFirst && piece.record.type === 'log.evicted') this.#takeHeader();
    else this.#takeRecord(piece);
    this.#isFirst = false;
    return true;
  }

  result(found: BlocksFound): Walked {
    return {
      ...found,
      recordCount: this.#recordCount,
      highestSeq: this.#pieces.ordered.state.highestSeq,
      evicted: this.#evicted,
      isHeaderBroken: this.#isHeaderBroken,
      damage: this.#damage.reports(this.#options.source),
    };
  }

  get index(): number {
    return this.#size;
  }

  get record(): LeafRecord {
    return this;
  }

  get type(): string {
    return this.#present?.record.type ?? '';
  }

  get seq(): number {
    return this.#pieces.ordered.seq;
  }

  get hasAssetWord(): boolean {
    return this.#present?.record.hasAssetWord ?? false;
  }

  readEvent(): ReturnType<typeof parseEvent> {
    const { eventStart = 0, eventEnd = 0 } = this.#present?.record ?? {};
    return parseEvent(this.#pieces.bytes, eventStart, eventEnd);
  }

  hash(): string {
    const { start = 0, end = 0 } = this.#present ?? {};
    this.#hash ??= recordLeaf(this.type, this.#pieces.bytes, start, end, () => this.readEvent());
    return this.#hash;
  }

  #takeHeader(): void {
    const header = parseEvictionHeader(this.readEvent());
    this.#isHeaderBroken = header === null;
    if (header !== null) {
      this.#leaves.restart(header.tree);
      this.#size = header.tree.size;
      this.#evicted = header.tree.size;
    }
    this.#options.onHeader?.(header);
  }

  #takeRecord({ start, end, record }: RecordPiece): void {
    const leaves = this.#leaves;
    this.#hash = null;
    // A redacted record says its leaf itself.
    if (record.type === 'log.redacted') leaves.add(this.hash());
    else leaves.addLine(this.#pieces.bytes, start, end, this.#pieces.offset);
    this.#onLeaf?.(this);
    this.#size += 1;
    this.#recordCount += 1;
  }
}

/**
 * A walk over nothing, which lives as long as the program. What the machine has learnt about objects of a kind is lost
 * with the last one of them, and each walk of a program that makes many would begin by learning it again.
 */
export const idle: LogWalk = new LogWalk(
  { source: { read: () => 0 }, to: 0 },
  new HashingSource({ read: () => 0 }, 0),
  new LeafTree({}),
);
idle.step();
