import { limits } from '@turnlog/kernel';
import {
  type ByteSource,
  DamageCollector,
  type DamageReport,
  type EvictionHeader,
  emptyTree,
  type LogState,
  MerkleFrontier,
  parseEvictionHeader,
  recordLeaf,
  type ScannedRecord,
  Scanner,
  type TreeHead,
  treeRoot,
} from '@turnlog/log';
import type { TreeRoot } from './tree.js';

/** A record as a leaf of the tree. */
export interface Leaf {
  readonly index: number;
  readonly hash: string;
  readonly record: ScannedRecord;
}

export interface WalkOptions {
  readonly source: ByteSource;
  /** End of what is read, exclusive. */
  readonly to: number;
  /** What is known of the bytes before; by default the walk begins at the start of the file. */
  readonly from?: { readonly state: LogState; readonly tree: TreeHead };
  /** Sizes whose roots are wanted on the way, in rising order. */
  readonly rootsAt?: readonly number[];
  readonly onLeaf?: (leaf: Leaf) => void;
  /** Told of the header that the file begins with, before any leaf. */
  readonly onHeader?: (header: EvictionHeader | null) => void;
}

/** What one reading of a log found. */
export interface Walked {
  readonly state: LogState;
  readonly tree: TreeHead;
  /** How many leaves the header that the file begins with stands for. */
  readonly evicted: number;
  /** Whether the file begins with a header that cannot be read: then its tree is not known. */
  readonly isHeaderBroken: boolean;
  /** Roots that were asked for and could be had. */
  readonly roots: ReadonlyMap<number, TreeRoot>;
  readonly damage: readonly DamageReport[];
}

/**
 * Reads a log once, from its start or from a known place on, and tells of each leaf. Memory: a block, a line, and what
 * the listener keeps.
 */
export function walkLog(options: WalkOptions): Walked {
  const walk = new LogWalk(options);
  walk.run();
  return walk.result();
}

class LogWalk {
  readonly #options: WalkOptions;
  readonly #scanner: Scanner;
  readonly #tree: MerkleFrontier;
  readonly #damage = new DamageCollector();
  readonly #roots = new Map<number, TreeRoot>();
  readonly #wanted: number[];
  #evicted = 0;
  #isHeaderBroken = false;
  #isFirst: boolean;

  constructor(options: WalkOptions) {
    const { source, to, from, rootsAt = [] } = options;
    this.#options = options;
    this.#scanner = new Scanner(source, {
      to,
      blockBytes: limits.hashBlockBytes,
      ...(from === undefined ? {} : { state: from.state }),
    });
    this.#tree = new MerkleFrontier(from?.tree ?? emptyTree);
    this.#wanted = [...rootsAt];
    this.#isFirst = from === undefined;
    this.#noteRoot();
  }

  run(): void {
    for (let piece = this.#scanner.next(); piece !== null; piece = this.#scanner.next()) {
      if (piece.verdict === 'damage') this.#damage.note(piece);
      else if (this.#isFirst && piece.record.type === 'log.evicted') this.#takeHeader(piece);
      else this.#takeRecord(piece);
      if (piece.verdict === 'record') this.#isFirst = false;
    }
  }

  result(): Walked {
    return {
      state: this.#scanner.state,
      tree: this.#tree.head(),
      evicted: this.#evicted,
      isHeaderBroken: this.#isHeaderBroken,
      roots: this.#roots,
      damage: this.#damage.reports(this.#options.source),
    };
  }

  #takeHeader(piece: ScannedRecord): void {
    const header = parseEvictionHeader(piece.readEvent());
    this.#isHeaderBroken = header === null;
    if (header !== null) {
      this.#tree.restart(header.tree);
      this.#evicted = header.tree.size;
    }
    this.#options.onHeader?.(header);
    this.#noteRoot();
  }

  #takeRecord(piece: ScannedRecord): void {
    const { bytes } = piece;
    const hash = recordLeaf(piece.record.type, bytes, 0, bytes.length, () => piece.readEvent());
    const index = this.#tree.size;
    this.#tree.add(hash);
    this.#options.onLeaf?.({ index, hash, record: piece });
    this.#noteRoot();
  }

  #noteRoot(): void {
    while (this.#wanted[0] !== undefined && this.#wanted[0] < this.#tree.size) this.#wanted.shift();
    if (this.#wanted[0] !== this.#tree.size) return;
    const { size } = this.#tree;
    this.#roots.set(size, { size, root: treeRoot(this.#tree.head()) });
    this.#wanted.shift();
  }
}
