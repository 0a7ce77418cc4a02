import type { LogRemovedEvent } from '@turnlog/events';
import { checkDirectory } from '@turnlog/fs';
import { type HeldLock, isTurnlogError, limits, type SessionId } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { sessionPath, sessionsPath, trashEntryPath } from './layout.js';
import { Ledger } from './ledger.js';
import { type LedgerFacts, newestRemoval, removalKey } from './ledger-facts.js';
import { ensureTrash, moveLocked, whileLocked } from './move-session.js';
import {
  generationOf,
  isRemovalOf,
  readSessionState,
  removedEvent,
  type SessionState,
} from './session-state.js';
import { parseTrashName, trashName } from './trash-name.js';

/** A session that is to be moved to the trash. */
export interface RemovalRequest<Refusal> {
  readonly sessionId: SessionId;
  readonly reason: LogRemovedEvent['reason'];
  /** Asked with the lock held, and again whenever the ledger has grown: why it stays after all; null to go on. */
  readonly judge: (state: SessionState, facts: LedgerFacts) => Refusal | null;
}

export type RemovalOutcome<Refusal> =
  | { readonly kind: 'removed'; readonly trash: string; readonly state: SessionState }
  | { readonly kind: 'stays'; readonly why: Refusal };

/**
 * Moves a session to the trash: lock, judge again, `log.removed` in the ledger, rename, sync both directories, unlock.
 * A crash after any of these leaves it whole, here or there; the next removal of a session that was not moved goes on
 * with the record that is there.
 *
 * @throws TURNLOG_LOCKED when somebody holds it; TURNLOG_UNSAFE_PATH, STALE_HEAD (the ledger never rests), IO.
 */
export async function removeSession<Refusal>(
  env: LogEnvironment,
  root: string,
  request: RemovalRequest<Refusal>,
): Promise<RemovalOutcome<Refusal>> {
  const { sessionId } = request;
  const directory = sessionPath(root, sessionId);
  checkDirectory(env.fs, directory, env.ownership.uid);
  return await whileLocked(env, directory, (lock) => new Removal(env, root, request).run(lock));
}

class Removal<Refusal> {
  readonly #env: LogEnvironment;
  readonly #root: string;
  readonly #request: RemovalRequest<Refusal>;
  readonly #ledger: Ledger;

  constructor(env: LogEnvironment, root: string, request: RemovalRequest<Refusal>) {
    this.#env = env;
    this.#root = root;
    this.#request = request;
    this.#ledger = new Ledger(env, root);
  }

  async run(lock: HeldLock): Promise<RemovalOutcome<Refusal>> {
    const { sessionId, judge } = this.#request;
    const directory = sessionPath(this.#root, sessionId);
    // Nobody else appends while the lock is held.
    const state = readSessionState(this.#env.fs, directory, sessionId, 'hashed');
    for (let attempt = 1; ; attempt += 1) {
      const facts = this.#ledger.facts();
      const why = judge(state, facts);
      if (why !== null) return { kind: 'stays', why };
      const parent = ensureTrash(this.#env, this.#root);
      const trash = await this.#record(state, facts, attempt);
      if (trash === null) continue;
      moveLocked(
        this.#env,
        lock,
        { parent: sessionsPath(this.#root), name: sessionId },
        { parent, name: trash },
      );
      return { kind: 'removed', trash, state };
    }
  }

  /** The name in the trash, once the ledger has it; null when the ledger has grown since it was read. */
  async #record(state: SessionState, facts: LedgerFacts, attempt: number): Promise<string | null> {
    const { sessionId, reason } = this.#request;
    const recorded = this.#unfinished(state, facts);
    if (recorded !== null) return recorded;
    const { clock, ids } = this.#env;
    const trash = trashName(sessionId, clock.now(), ids.randomHex(4));
    const key = removalKey(facts, sessionId, generationOf(state));
    try {
      const event = removedEvent(sessionId, state, reason, trash);
      await this.#ledger.append(event, { key, expectLast: facts.lastSeq });
      return trash;
    } catch (error) {
      if (!isTurnlogError(error, 'TURNLOG_STALE_HEAD') || attempt >= limits.rejudgingsMax) throw error;
      return null;
    }
  }

  /**
   * The name that a removal has recorded which was cut short before it moved anything. One of long ago is not taken
   * up: the session would be purged for the time it did not spend in the trash.
   */
  #unfinished(state: SessionState, facts: LedgerFacts): string | null {
    const { sessionId } = this.#request;
    const removal = newestRemoval(facts, sessionId);
    if (removal === null || removal.fate !== 'removed' || !isRemovalOf(removal, state)) return null;
    const named = parseTrashName(removal.trash);
    if (named === null || named.sessionId !== sessionId) return null;
    if (Math.abs(this.#env.clock.now() - named.removedMs) > limits.removalResumeMs) return null;
    return this.#env.fs.status(trashEntryPath(this.#root, named.name)) === null ? named.name : null;
  }
}
