import { emptyTree, leafHash, MerkleFrontier, type TreeHead, treeRoot } from '@turnlog/log/tree';
import { MarkBuilder } from './mark-builder.js';
import type { TreeRoot } from './tree.js';

/** Which marks are made of the leaves that pass by. */
export interface MarksWanted {
  readonly each: number;
  /** The first index that has none; infinite where all have. */
  readonly until: number;
  /** Those of the leaves before; the last one must be whole. */
  readonly before?: Uint8Array;
}

/** What is wanted of the leaves of a log. Plain data: it goes to another thread. */
export interface LeavesWanted {
  /** What stands before the first leaf; by default nothing. */
  readonly tree?: TreeHead;
  /** Sizes whose roots are wanted on the way, in rising order. */
  readonly rootsAt?: readonly number[];
  readonly marks?: MarksWanted;
}

/** What the leaves gave. */
export interface LeavesFound {
  readonly tree: TreeHead;
  /** Roots that were asked for and could be had. */
  readonly roots: readonly TreeRoot[];
  readonly marks: Uint8Array;
}

/** Takes the leaves of a log in their order. */
export interface Leaves {
  /** Goes on from a header, forgetting all leaves so far. */
  restart(head: TreeHead): void;
  /** Takes bytes[start, end) = one line without its 0x0A, which stands at `offset` of the log. */
  addLine(bytes: Uint8Array, start: number, end: number, offset: number): void;
  /** Takes a leaf hash, 64 hex digits. */
  add(hash: string): void;
}

/** Hashes leaves as they come. */
export class LeafTree implements Leaves {
  readonly #tree: MerkleFrontier;
  readonly #roots: TreeRoot[] = [];
  readonly #wanted: number[];
  readonly #marks: MarkBuilder;
  readonly #marksUntil: number;

  constructor({ tree = emptyTree, rootsAt = [], marks }: LeavesWanted) {
    this.#tree = new MerkleFrontier(tree);
    this.#wanted = [...rootsAt];
    this.#marks = new MarkBuilder(marks?.each ?? 1, marks?.before);
    this.#marksUntil = marks?.until ?? 0;
    this.#noteRoot();
  }

  restart(head: TreeHead): void {
    this.#tree.restart(head);
    this.#noteRoot();
  }

  addLine(bytes: Uint8Array, start: number, end: number): void {
    this.add(leafHash(bytes, start, end));
  }

  add(hash: string): void {
    if (this.#tree.size < this.#marksUntil) this.#marks.add(hash);
    this.#tree.add(hash);
    this.#noteRoot();
  }

  found(): LeavesFound {
    return { tree: this.#tree.head(), roots: this.#roots, marks: this.#marks.end() };
  }

  #noteRoot(): void {
    const { size } = this.#tree;
    while (this.#wanted[0] !== undefined && this.#wanted[0] < size) this.#wanted.shift();
    if (this.#wanted[0] !== size) return;
    this.#roots.push({ size, root: treeRoot(this.#tree.head()) });
    this.#wanted.shift();
  }
}
