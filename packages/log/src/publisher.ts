import { ensurePrivateDirectory, type Ownership, publish } from '@turnlog/fs';
import { type FileSystem, type Generation, type Ids, limits, sha256Hex } from '@turnlog/kernel';
import { DerivedLines } from './derived-lines.js';
import type { KeyIndex } from './idempotency.js';
import { type ByteSource, LineFramer } from './line-framer.js';
import type { LogPaths } from './log-layout.js';
import { type LineSpan, type LogState, turnBaseOf } from './log-state.js';
import { encodeManifest, type LineProof } from './manifest.js';
import { leafHash, type MerkleFrontier, type TreeHead } from './merkle-frontier.js';
import type { PublishQueue } from './publish-queue.js';
import { readFully } from './read-fully.js';
import { encodeIndexHeader } from './turn-index.js';

/** `turn`: a turn ended, the manifest may wait; `whole`: the manifest must describe all that is durable. */
export type PublishExtent = 'turn' | 'whole';

export interface PublisherOptions {
  readonly fs: FileSystem;
  readonly ids: Ids;
  readonly ownership: Ownership;
  readonly paths: LogPaths;
  readonly sessionId: string;
  readonly generation: Generation;
  readonly source: ByteSource;
  readonly queue: PublishQueue;
  readonly keys: KeyIndex;
  /** The hash tree over what was scanned at open; it grows with what is published. */
  readonly tree: MerkleFrontier;
  /** Bytes of the log that the tree covers. */
  readonly treeBytes: number;
  /** Trusted bytes of the turn index; null when it must be written anew. */
  readonly indexBytes: number | null;
  /** Bytes of the log that the present manifest describes; null when it is not to be believed. */
  readonly publishedBytes: number | null;
  /** All lines of the turn index for a state, found by reading the log. */
  readonly scanIndexLines: (state: LogState) => string;
}

const encoder = new TextEncoder();

/**
 * Brings the derived files up to what is durable: turn index and keys by one appended line each, then the
 * manifest. Nothing here is synced, because open believes only what the log confirms.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #index: DerivedLines;
  #publishedBytes: number | null;
  #treeBytes: number;
  #head: LineProof | null = null;
  /** Whether the queue still holds every line of the index, as after a full scan. */
  #isQueueWhole: boolean;
  #hasIndexDirectory = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#index = new DerivedLines(options.fs, options.ids, options.paths.turns, options.indexBytes);
    this.#publishedBytes = options.publishedBytes;
    this.#treeBytes = options.treeBytes;
    this.#isQueueWhole = options.indexBytes === null;
  }

  /** @throws TURNLOG_IO; what is published then is old but right, and the next call makes up for it. */
  publish(state: LogState, extent: PublishExtent): void {
    if (state.length === 0 && this.#publishedBytes === null) return;
    this.#publishIndex(state);
    this.#options.keys.publish(state.length);
    const isDue =
      extent === 'whole' ? this.#publishedBytes !== state.length : this.#isWorthWhile(state.length);
    if (isDue) this.#publishManifest(state);
  }

  /** Whether enough is new to replace the manifest at the end of a turn. */
  #isWorthWhile(length: number): boolean {
    const wanted = Math.min(length / limits.manifestPublishPart, limits.manifestPublishBytesMax);
    return length - (this.#publishedBytes ?? 0) >= Math.max(wanted, limits.manifestPublishBytes);
  }

  /**
   * The hash tree over the first `length` bytes, which are durable; they never become fewer. What was appended since
   * the last call is read back and hashed here, so that an append pays for no hash.
   */
  treeOver(length: number): TreeHead {
    const { source, tree } = this.#options;
    const framer = new LineFramer(source, { from: this.#treeBytes, to: length });
    while (framer.next()) {
      tree.add(leafHash(framer.bytes, framer.start, framer.end));
      this.#treeBytes = framer.nextOffset;
    }
    return tree.head();
  }

  /** Others may have published for the same log: everything is written anew at the next publish. */
  distrust(): void {
    this.#index.distrust();
    this.#options.keys.distrust();
    this.#isQueueWhole = false;
    this.#publishedBytes = null;
  }

  close(): void {
    try {
      this.#index.close();
    } finally {
      this.#options.keys.close();
    }
  }

  #publishIndex(state: LogState): void {
    const { queue } = this.#options;
    const { text, count } = queue.peek(state.length);
    if (!this.#index.mustBeReplaced && count === 0) return;
    this.#makeIndexDirectory();
    if (this.#index.mustBeReplaced) this.#replaceIndex(state, text);
    else this.#index.append(text);
    queue.drop(count);
  }

  #replaceIndex(state: LogState, queued: string): void {
    const { sessionId, generation } = this.#options;
    const header = encodeIndexHeader({ sessionId, generation, turnBase: turnBaseOf(state) });
    const lines = this.#isQueueWhole ? queued : this.#options.scanIndexLines(state);
    this.#index.replace(header + lines);
    this.#isQueueWhole = false;
  }

  #makeIndexDirectory(): void {
    if (this.#hasIndexDirectory) return;
    ensurePrivateDirectory(this.#options.fs, this.#options.paths.index, this.#options.ownership);
    this.#hasIndexDirectory = true;
  }

  #publishManifest(state: LogState): void {
    const { fs, ids, paths, sessionId, generation } = this.#options;
    this.#head ??= this.#proofOf(state.head);
    const text = encodeManifest({
      sessionId,
      generation,
      state,
      head: this.#head,
      tail: this.#proofOf(state.tail),
      tree: this.treeOver(state.length),
      indexBytes: this.#index.length,
    });
    publish(fs, ids, paths.manifest, encoder.encode(text), { durability: 'visible' });
    this.#publishedBytes = state.length;
  }

  #proofOf(line: LineSpan | null): LineProof | null {
    if (line === null) return null;
    const bytes = new Uint8Array(line.length);
    readFully(this.#options.source, bytes, line.offset);
    return { offset: line.offset, length: line.length, sha256: sha256Hex(bytes) };
  }
}
