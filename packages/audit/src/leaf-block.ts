import { limits, RunningSha256 } from '@turnlog/kernel';
import type { TreeHead } from '@turnlog/log/tree';
import { LeafTree, type LeavesFound, type LeavesWanted } from './leaf-tree.js';

/**
 * What one reading of a log brought, as it goes from one thread to another. Both see the same memory: moving it would
 * make all arrays of the thread that it leaves slower.
 */
export interface PassedBlock {
  readonly memory: SharedArrayBuffer;
  /** Where its bytes stand in the log, and how many there are. */
  readonly offset: number;
  readonly length: number;
  /** Where each line that ends in it begins and ends; a beginning that is negative stands for the next of `hashes`. */
  readonly spans: Float64Array;
  /** Leaf hashes of lines that say them themselves, 64 hex digits each. */
  readonly hashes: readonly string[];
}

/** A block while it is filled. Whoever has passed its memory leaves it alone until it comes back. */
export class LeafBlock {
  readonly #memory: SharedArrayBuffer;
  readonly #offset: number;
  readonly #length: number;
  readonly #spans: number[] = [];
  readonly #hashes: string[] = [];

  constructor(memory: SharedArrayBuffer, bytes: Uint8Array, offset: number) {
    this.#memory = memory;
    this.#offset = offset;
    this.#length = bytes.length;
    new Uint8Array(memory).set(bytes);
  }

  /** Notes the line from `start` to `end` of the log, without its 0x0A. */
  addLine(start: number, end: number): void {
    this.#spans.push(start, end);
  }

  addHash(hash: string): void {
    this.#spans.push(-1, -1);
    this.#hashes.push(hash);
  }

  pass(): PassedBlock {
    const spans = Float64Array.from(this.#spans);
    return { memory: this.#memory, offset: this.#offset, length: this.#length, spans, hashes: this.#hashes };
  }
}

/** What blocks gave. */
export interface BlocksFound extends LeavesFound {
  /** Digest of the first bytes, as many as were asked for or are there; null where it was not asked for. */
  readonly sha256: string | null;
}

/** Takes the blocks of a log in their order. */
export class BlockReader {
  readonly #tree: LeafTree;
  readonly #digest = new RunningSha256();
  readonly #digestTo: number | null;
  /** Copies of the bytes behind the last line, which the next one may begin in, and where they begin. */
  #held: Buffer[] = [];
  #heldFrom = 0;

  constructor(wanted: LeavesWanted, digestTo: number | null) {
    this.#tree = new LeafTree(wanted);
    this.#digestTo = digestTo;
  }

  restart(head: TreeHead): void {
    this.#tree.restart(head);
  }

  take({ memory, offset, length, spans, hashes }: PassedBlock): void {
    const bytes = Buffer.from(memory, 0, length);
    const digested = Math.min(length, (this.#digestTo ?? 0) - offset);
    if (digested > 0) this.#digest.update(bytes.subarray(0, digested));
    let hashesTaken = 0;
    let behind = this.#held.length === 0 ? offset : this.#heldFrom;
    for (let at = 0; at < spans.length; at += 2) {
      const [start, end] = [spans[at] ?? 0, spans[at + 1] ?? 0];
      if (start < 0) {
        this.#tree.add(hashes[hashesTaken] ?? '');
        hashesTaken += 1;
        continue;
      }
      if (start >= offset) this.#tree.addLine(bytes, start - offset, end - offset);
      else this.#addHeld(start, end, bytes.subarray(0, Math.max(end - offset, 0)));
      behind = end;
    }
    this.#hold(bytes, offset, behind);
  }

  found(): BlocksFound {
    return { ...this.#tree.found(), sha256: this.#digestTo === null ? null : this.#digest.digestHex() };
  }

  /** Adds a line that begins in what is held. */
  #addHeld(start: number, end: number, rest: Uint8Array): void {
    const bytes = Buffer.concat([...this.#held, rest]);
    this.#tree.addLine(bytes, start - this.#heldFrom, end - this.#heldFrom);
  }

  /** Keeps what lies behind the last line, as far as a line can reach back. */
  #hold(bytes: Buffer, offset: number, behind: number): void {
    if (behind >= offset || this.#held.length === 0) {
      this.#held = [];
      this.#heldFrom = Math.max(behind, offset);
    }
    this.#held.push(Buffer.from(bytes.subarray(Math.max(behind - offset, 0))));
    let heldBytes = offset + bytes.length - this.#heldFrom;
    for (let [first] = this.#held; first !== undefined; [first] = this.#held) {
      if (heldBytes - first.length <= limits.readerLineBytesMax) return;
      this.#held.shift();
      this.#heldFrom += first.length;
      heldBytes -= first.length;
    }
  }
}
