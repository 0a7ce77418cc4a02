import { type FileStatus, isTurnlogError, type TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import { fileStatus, freshnessOf } from '../freshness.js';
import type { Freshness } from '../lexical-index.js';
import type { PackedIndex } from './packed-index.js';
import type { Sealing } from './sealing.js';
import { isSomeLost, SessionReading } from './session-reading.js';
import { turnOfTheLoop } from './slices.js';

/** What catching up came to. */
export interface CaughtUp {
  /** Whether every session was looked at to its end. */
  readonly isComplete: boolean;
  readonly behind: Freshness;
  /** Sessions that could not be read; what the index holds of them stays, and they are tried again. */
  readonly failed: readonly { readonly session: string; readonly error: TurnlogError }[];
}

/** How long a call may take in what is new. */
interface CatchUpWait {
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** File systems may keep times no finer than this. */
const coarseTimeMs = 2_000;

/**
 * Brings an index up to the logs of a store: of each session the records behind its cursor, which moves with them.
 * Sessions take turns from one call to the next, so that calls which may not take long bring each of them on.
 */
export class CatchUp {
  readonly #store: Store;
  readonly #index: PackedIndex;
  readonly #sealing: Sealing;
  /** Of logs that were read to their end: what their file was then. */
  readonly #ends = new Map<string, string>();
  readonly #failed = new Map<string, TurnlogError>();
  /** By session the bytes of its file, as this call has seen them. */
  readonly #seen = new Map<string, number>();
  #next = '';
  /** Whether this call has read any session: it brings on at least one. */
  #hasRead = false;

  constructor(store: Store, index: PackedIndex, sealing: Sealing) {
    this.#store = store;
    this.#index = index;
    this.#sealing = sealing;
  }

  /**
   * Takes in what is new for up to `waitMs` milliseconds, or until `signal` ends that, at least one piece of it. What is due is written on the
   * way; where that is not possible no more is taken in than memory holds.
   *
   * @throws TURNLOG_CLOSED; TURNLOG_IO, TURNLOG_UNSAFE_PATH when the store cannot be listed.
   */
  async run({ waitMs, signal }: CatchUpWait): Promise<CaughtUp> {
    this.#index.check();
    const { clock } = this.#index.environment;
    const deadlineMs = clock.monotonicMs() + waitMs;
    const isOver = (): boolean => signal?.aborted === true || clock.monotonicMs() >= deadlineMs;
    const sessions = this.#store.ids();
    this.#removeMissing(new Set(sessions));
    this.#seen.clear();
    const from = sessions.findIndex((session) => session >= this.#next);
    let isComplete = true;
    this.#hasRead = false;
    for (let turn = 0; isComplete && turn < sessions.length; turn += 1) {
      const at = (Math.max(from, 0) + turn) % sessions.length;
      this.#next = sessions[at] ?? '';
      isComplete = await this.#bringUp(this.#next, isOver);
      if (isComplete) this.#next = sessions[(at + 1) % sessions.length] ?? '';
    }
    this.#index.forgetItems();
    // A call that came to its end has looked at every file.
    const behind = isComplete ? freshnessOf(this.#store, this.#offsetOf, this.#seen) : this.behind();
    return { isComplete, behind, failed: this.#failures() };
  }

  /** False when time or memory is over before the session has been read to its end. */
  async #bringUp(session: string, isOver: () => boolean): Promise<boolean> {
    try {
      if (!this.#isChanged(session)) return true;
      // Reading a short one never pauses: without this look any number of them would be read.
      if (this.#hasRead && isOver()) return false;
      this.#hasRead = true;
      const isDone = await this.#read(session, isOver);
      if (isDone) this.#failed.delete(session);
      return isDone;
    } catch (error) {
      if (!isTurnlogError(error) || error.code === 'TURNLOG_CLOSED') throw error;
      this.#failed.set(session, error);
      return true;
    }
  }

  async #read(session: string, isOver: () => boolean): Promise<boolean> {
    const status = fileStatus(this.#store, session);
    const reader = this.#store.read(session, { unreadable: 'show', tree: 'hashed' });
    try {
      for (const _pausing of new SessionReading(this.#index, reader).run()) {
        if (isOver() || !(await this.#makeRoom())) return false;
      }
    } finally {
      reader.close();
    }
    if (status !== null) this.#ends.set(session, nameOf(status));
    this.#seen.set(session, reader.length);
    return true;
  }

  /** False when memory is full and cannot be written down, or others have written: then all is looked at anew. */
  async #makeRoom(): Promise<boolean> {
    await turnOfTheLoop();
    this.#index.check();
    if (!this.#sealing.isFull) return true;
    const { kind } = await this.#sealing.maintain();
    this.#index.check();
    return kind === 'written';
  }

  /** Whether there may be anything of a session that the index lacks. */
  #isChanged(session: string): boolean {
    const entry = this.#index.sessionEntry(session);
    const status = fileStatus(this.#store, session);
    this.#seen.set(session, status?.size ?? 0);
    if (entry === null || status === null || status.size !== entry.taken.offset) return true;
    if (isSomeLost(entry)) return true;
    const end = this.#ends.get(session);
    // Without having read it in this process: it was not touched since the list was published.
    return end === undefined
      ? status.modifiedMs + coarseTimeMs >= this.#index.listedAtMs
      : end !== nameOf(status);
  }

  #removeMissing(present: ReadonlySet<string>): void {
    for (const session of this.#index.sessionIds()) {
      if (present.has(session)) continue;
      this.#index.removeSession(session);
      this.#ends.delete(session);
      this.#failed.delete(session);
    }
  }

  #failures(): CaughtUp['failed'] {
    return [...this.#failed].map(([session, error]) => ({ session, error }));
  }

  /** How far the index is behind the logs now. */
  behind(): Freshness {
    return freshnessOf(this.#store, this.#offsetOf);
  }

  readonly #offsetOf = (session: string): number => this.#index.sessionEntry(session)?.taken.offset ?? 0;
}

/** What tells one state of a file from another. */
function nameOf({ device, inode, size, modifiedMs }: FileStatus): string {
  return `${device}:${inode}:${size}:${modifiedMs}`;
}
