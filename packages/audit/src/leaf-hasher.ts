import { Worker } from 'node:worker_threads';
import { limits, TurnlogError } from '@turnlog/kernel';
import type { ByteSource, TreeHead } from '@turnlog/log';
import { type HashAnswer, type HashRequest, HashService } from './hash-service.js';
import { type BlocksFound, LeafBlock } from './leaf-block.js';
import type { Leaves, LeavesWanted } from './leaf-tree.js';

/** A thread that hashes leaves, and where it comes from. */
export interface HashWorkers {
  /** The module that it runs: where `@turnlog/audit/hash-worker` lies, as a path or a URL. */
  readonly module: string | URL;
  /** From how many bytes on it is worth its start. */
  readonly bytesMin?: number;
}

/**
 * Hashes a long log and its leaves in another thread while this one reads on. What is read goes over in blocks, whose
 * memory is used again, so that a long log takes no more of it than a short one. Where no thread can be had, the same is
 * done here.
 */
export class LeafHasher implements Leaves {
  readonly #worker: Worker | null;
  /** Who answers: nobody knows before the thread has said that it is there. */
  #server: 'unknown' | 'thread' | HashService = 'unknown';
  #failure: unknown = null;
  /** What has not been sent yet. */
  #waiting: HashRequest[];
  /** What was read last, to which lines are still added. */
  #filling: LeafBlock | null = null;
  readonly #free: SharedArrayBuffer[] = [];
  #blockCount = 0;
  /** How far the log has been read. */
  #readTo: number;
  #isDue = false;
  #found: BlocksFound | null = null;
  #wake: () => void = () => undefined;

  /** `from`: where the reading begins; `digestTo`: how many bytes of the log are hashed as a whole, if any. */
  constructor(
    { module }: HashWorkers,
    wanted: LeavesWanted,
    { from, digestTo }: { readonly from: number; readonly digestTo: number | null },
  ) {
    this.#waiting = [{ kind: 'begin', wanted, digestTo }];
    this.#readTo = from;
    this.#worker = this.#start(module);
  }

  /** The source, of which everything that is read is hashed; reading back changes nothing. */
  watch(source: ByteSource): ByteSource {
    return {
      read: (into, offset) => {
        const count = source.read(into, offset);
        if (offset <= this.#readTo && offset + count > this.#readTo) {
          this.#begin(into.subarray(this.#readTo - offset, count));
        }
        return count;
      },
    };
  }

  /** Whether `pass` has to be called before more is read. */
  get isDue(): boolean {
    return this.#isDue;
  }

  restart(head: TreeHead): void {
    // A header stands before all leaves.
    this.#waiting.push({ kind: 'restart', head });
  }

  addLine(_bytes: Uint8Array, start: number, end: number, offset: number): void {
    this.#filling?.addLine(offset, offset + end - start);
  }

  add(hash: string): void {
    this.#filling?.addHash(hash);
  }

  /** Sends what is full, and waits until there is room again. */
  async pass(): Promise<void> {
    this.#isDue = false;
    // What the thread has said comes in meanwhile.
    await new Promise(setImmediate);
    this.#send();
    while (this.#free.length === 0 && this.#blockCount >= limits.hashBlocksMax) await this.#answer();
  }

  /** What all of it gave. @throws TURNLOG_INTERNAL when the thread came to an end before. */
  async end(): Promise<BlocksFound> {
    this.#close();
    this.#waiting.push({ kind: 'end' });
    this.#send();
    while (this.#found === null) await this.#answer();
    return this.#found;
  }

  /** Ends the thread, whatever it is doing. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** Lines that end in what was read before have all been added by now. */
  #begin(bytes: Uint8Array): void {
    this.#close();
    const memory = this.#free.pop();
    if (memory === undefined) this.#blockCount += 1;
    this.#filling = new LeafBlock(
      memory ?? new SharedArrayBuffer(limits.hashBlockBytes),
      bytes,
      this.#readTo,
    );
    this.#readTo += bytes.length;
    this.#isDue = true;
  }

  #close(): void {
    if (this.#filling !== null) this.#waiting.push({ kind: 'block', block: this.#filling.pass() });
    this.#filling = null;
  }

  #start(module: string | URL): Worker | null {
    try {
      const worker = new Worker(module);
      worker.on('message', (answer: HashAnswer) => this.#take(answer));
      worker.on('error', (error) => this.#fail(error));
      worker.on('exit', (code) => this.#fail(new Error(`the thread that hashes ended with ${code}`)));
      return worker;
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  #take(answer: HashAnswer): void {
    if (answer.kind === 'ready') this.#server = 'thread';
    else if (answer.kind === 'done') this.#free.push(answer.memory);
    else this.#found = answer.found;
    this.#wake();
  }

  /** One that never came is replaced, and tells so twice; what one that was at work had in its hands is lost. */
  #fail(error: unknown): void {
    if (this.#server === 'unknown') this.#server = new HashService();
    else if (this.#server === 'thread') this.#failure ??= error;
    this.#wake();
  }

  #send(): void {
    if (this.#server === 'unknown') return;
    for (const request of this.#waiting) {
      if (this.#server === 'thread') {
        this.#worker?.postMessage(request);
        continue;
      }
      const answer = this.#server.answer(request);
      if (answer !== null) this.#take(answer);
    }
    this.#waiting = [];
  }

  /** Waits for one answer. */
  async #answer(): Promise<void> {
    if (this.#failure === null) await this.#news();
    if (this.#failure !== null) {
      throw new TurnlogError('TURNLOG_INTERNAL', {
        details: {},
        message: 'the thread that hashes was lost',
        cause: this.#failure,
      });
    }
    this.#send();
  }

  async #news(): Promise<void> {
    const silence = setTimeout(
      () => this.#fail(new Error('the thread that hashes says nothing')),
      limits.hashWorkerWaitMs,
    );
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    clearTimeout(silence);
  }
}
