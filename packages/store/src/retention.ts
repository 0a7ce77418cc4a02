import { checkDirectory } from '@turnlog/fs';
import { type DirectoryEntry, isTurnlogError, type SessionId, type TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { sessionEntries } from './catalog.js';
import { isLive, parentOf } from './delete-session.js';
import { sessionPath, trashEntryPath } from './layout.js';
import { Ledger } from './ledger.js';
import type { LedgerFacts } from './ledger-facts.js';
import { isHeldByOthers } from './move-session.js';
import { pinOf } from './pins.js';
import { removeSession } from './removal.js';
import {
  type GoingSession,
  planRetention,
  type RetentionPlan,
  type RetentionReason,
  type RetentionSession,
  type StayReason,
} from './retention-plan.js';
import type { RetentionPolicy } from './retention-policy.js';
import { isSessionId, parseSessionId } from './session-id.js';
import { readSessionState, type SessionState } from './session-state.js';
import { findSettling, type SettlingStep, settle } from './settle-trash.js';
import type { Store } from './store.js';
import { duePurges, purgeSession, readTrash, type TrashEntry } from './trash.js';

export interface CleanUpOptions {
  readonly policy: RetentionPolicy;
  /** Sessions that stay whatever their age: the caller's own, and others. */
  readonly keep?: readonly string[];
  /** `everything` purges whatever lies in the trash; by default what the policy says. */
  readonly purge?: 'everything';
}

/** All that a clean-up is going to do. Asked again without a change in between, it is the same. */
export interface CleanUpPlan {
  readonly options: CleanUpOptions;
  /** What earlier runs left unfinished in the trash. */
  readonly settling: readonly SettlingStep[];
  readonly sessions: RetentionPlan;
  readonly purging: readonly TrashEntry[];
}

/** Looks at everything and changes nothing. @throws TURNLOG_INVALID_SESSION_ID; TURNLOG_UNSAFE_PATH, IO */
export function planCleanUp(store: Store, options: CleanUpOptions): CleanUpPlan {
  const { environment: env, root } = store;
  const keep = new Set((options.keep ?? []).map(parseSessionId));
  const nowMs = env.clock.now();
  const facts = new Ledger(env, root).facts();
  const found = sessionEntries(env, root).map((entry) => lookAt(env, root, entry, facts, keep));
  const trash = readTrash(env, root, facts);
  const trashMs = options.purge ?? options.policy.trashMs;
  return {
    options,
    settling: findSettling(store, trash),
    sessions: planRetention(found, options.policy, nowMs),
    purging: duePurges(trash.entries, trashMs, nowMs),
  };
}

const nothingKnown: Omit<RetentionSession, 'id' | 'hold'> = {
  status: 'active',
  lastTsMs: null,
  lastSeq: 0,
  bytes: 0,
  isEmpty: false,
  madeMs: null,
  forkedFrom: null,
};

/** What is known of an entry of `sessions/`. Whatever is wrong with it keeps it where it is, and nobody else. */
function lookAt(
  env: LogEnvironment,
  root: string,
  { name, kind }: DirectoryEntry,
  facts: LedgerFacts,
  keep: ReadonlySet<string>,
): RetentionSession {
  if (kind !== 'directory' || !isSessionId(name)) return { ...nothingKnown, id: name, hold: 'unsafe' };
  try {
    const directory = sessionPath(root, name);
    checkDirectory(env.fs, directory, env.ownership.uid);
    const state = readSessionState(env.fs, directory, name, 'none');
    const hold = keep.has(name) ? 'kept' : holdOf(env, root, name, state, facts);
    return {
      ...knownOf(env, directory, state),
      id: name,
      hold: hold ?? (isLive(env, directory) ? 'live' : null),
    };
  } catch (error) {
    if (!isTurnlogError(error)) throw error;
    const hold = error.code === 'TURNLOG_UNSAFE_PATH' ? 'unsafe' : 'unreadable';
    return { ...nothingKnown, id: name, hold: keep.has(name) ? 'kept' : hold };
  }
}

function knownOf(
  { fs }: LogEnvironment,
  directory: string,
  state: SessionState,
): Omit<RetentionSession, 'id' | 'hold'> {
  const { status, lastTsMs, lastSeq, bytes, isEmpty, forkedFrom } = state;
  const birthMs = Math.floor(Number(fs.status(directory)?.birthNs ?? 0) / 1_000_000);
  const madeMs = isEmpty && birthMs > 0 ? birthMs : null;
  return { status, lastTsMs, lastSeq, bytes, isEmpty, madeMs, forkedFrom };
}

function holdOf(
  env: LogEnvironment,
  root: string,
  id: SessionId,
  state: SessionState,
  facts: LedgerFacts,
): 'pinned' | 'unreadable' | null {
  if (pinOf(env, sessionPath(root, id), id, facts) !== null) return 'pinned';
  return state.isUnreadable ? 'unreadable' : null;
}

/** Why a session stayed although the plan was to remove it. */
export type ChangeReason = StayReason | 'changed' | 'gone';

export interface RemovedSession {
  readonly id: string;
  readonly reason: RetentionReason;
  readonly trash: string;
  readonly bytes: number;
}

export interface CleanUpReport {
  readonly settled: readonly SettlingStep[];
  readonly removed: readonly RemovedSession[];
  /** Judged again at the last moment, and left where they are. */
  readonly stayed: readonly { readonly id: string; readonly why: ChangeReason }[];
  readonly purged: readonly { readonly name: string; readonly bytes: number }[];
  /** What ended the run before its end; null when nothing did. */
  readonly failure: { readonly at: string; readonly error: TurnlogError } | null;
  /** Steps of the plan that were not come to, the failed one included. */
  readonly leftCount: number;
}

export interface CarryOutOptions {
  /** Ends the run after the step in hand. */
  readonly signal?: AbortSignal;
  readonly onStep?: (done: number, total: number) => void;
}

/** Carries out a plan, in its order. The first error stops it; the report says what was done by then. */
export async function carryOutCleanUp(
  store: Store,
  plan: CleanUpPlan,
  options: CarryOutOptions = {},
): Promise<CleanUpReport> {
  return await new CleanUp(store, plan, options).run();
}

class CleanUp {
  readonly #store: Store;
  readonly #plan: CleanUpPlan;
  readonly #options: CarryOutOptions;
  readonly #keep: ReadonlySet<string>;
  /** What was there when the plan was made, but for what held nothing: that may have become a fork since. */
  readonly #known: ReadonlySet<string>;
  readonly #settled: SettlingStep[] = [];
  readonly #removed: RemovedSession[] = [];
  readonly #stayed: { readonly id: string; readonly why: ChangeReason }[] = [];
  readonly #purged: { readonly name: string; readonly bytes: number }[] = [];

  constructor(store: Store, plan: CleanUpPlan, options: CarryOutOptions) {
    this.#store = store;
    this.#plan = plan;
    this.#options = options;
    this.#keep = new Set(plan.options.keep ?? []);
    const { going, staying } = plan.sessions;
    const all = [...going, ...staying].map(({ session }) => session);
    this.#known = new Set(all.filter(({ lastSeq }) => lastSeq > 0).map(({ id }) => id));
  }

  async run(): Promise<CleanUpReport> {
    const { settling, sessions, purging } = this.#plan;
    const steps: readonly (readonly [at: string, make: () => Promise<void>])[] = [
      ...settling.map((step) => [step.name, () => this.#settle(step)] as const),
      ...sessions.going.map((going) => [going.session.id, () => this.#remove(going)] as const),
      ...purging.map((entry) => [entry.name, () => this.#purge(entry)] as const),
    ];
    for (const [done, [at, make]] of steps.entries()) {
      if (this.#options.signal?.aborted === true) return this.#report(null, steps.length - done);
      this.#options.onStep?.(done, steps.length);
      try {
        await make();
      } catch (error) {
        if (!isTurnlogError(error)) throw error;
        return this.#report({ at, error }, steps.length - done);
      }
    }
    return this.#report(null, 0);
  }

  #report(failure: CleanUpReport['failure'], leftCount: number): CleanUpReport {
    return {
      settled: this.#settled,
      removed: this.#removed,
      stayed: this.#stayed,
      purged: this.#purged,
      failure,
      leftCount,
    };
  }

  async #settle(step: SettlingStep): Promise<void> {
    await settle(this.#store, step);
    this.#settled.push(step);
  }

  async #purge(entry: TrashEntry): Promise<void> {
    const { environment: env, root } = this.#store;
    try {
      const bytes = await purgeSession(env, root, entry);
      if (bytes !== null) this.#purged.push({ name: entry.name, bytes });
    } catch (error) {
      // Somebody is purging or restoring it.
      if (!isHeldByOthers(error, trashEntryPath(root, entry.name))) throw error;
    }
  }

  async #remove({ session, reason }: GoingSession): Promise<void> {
    const { environment: env, root } = this.#store;
    const { id } = session;
    const sessionId = parseSessionId(id);
    const directory = sessionPath(root, sessionId);
    if (env.fs.status(directory) === null) {
      this.#stayed.push({ id, why: 'gone' });
      return;
    }
    try {
      const judge = (state: SessionState, facts: LedgerFacts): ChangeReason | null =>
        this.#judge(sessionId, session, state, facts);
      const outcome = await removeSession(env, root, { sessionId, reason, judge });
      if (outcome.kind === 'stays') this.#stayed.push({ id, why: outcome.why });
      else this.#removed.push({ id, reason, trash: outcome.trash, bytes: outcome.state.bytes });
    } catch (error) {
      if (!isHeldByOthers(error, directory)) throw error;
      this.#stayed.push({ id, why: 'live' });
    }
  }

  /** What was true when the plan was made must be true now that nobody else can change it. */
  #judge(
    id: SessionId,
    planned: RetentionSession,
    state: SessionState,
    facts: LedgerFacts,
  ): ChangeReason | null {
    const { environment: env, root } = this.#store;
    if (this.#keep.has(id)) return 'kept';
    if (pinOf(env, sessionPath(root, id), id, facts) !== null) return 'pinned';
    const isSame =
      state.lastSeq === planned.lastSeq &&
      state.bytes === planned.bytes &&
      state.isEmpty === planned.isEmpty &&
      state.lastTsMs === planned.lastTsMs;
    if (!isSame) return 'changed';
    return this.#hasNewFork(id) ? 'fork' : null;
  }

  #hasNewFork(id: SessionId): boolean {
    const { environment: env, root } = this.#store;
    return sessionEntries(env, root).some(({ name, kind }) => {
      const isNew = kind === 'directory' && name !== id && !this.#known.has(name);
      return isNew && isSessionId(name) && parentOf(env, root, name) === id;
    });
  }
}
