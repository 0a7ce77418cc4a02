import type { RetentionPolicy } from './retention-policy.js';

/** Why a session is removed by itself. */
export type RetentionReason = 'empty' | 'count' | 'age';

/**
 * Why a session stays: `kept` the caller named it, as its own or for another reason; `pinned`; `live` somebody holds
 * it; `unsafe` it is no directory of ours, or something in it is no file of ours; `unreadable`; `fork` another session
 * that stays was forked from it; `active` its thread has not ended, and it is not old; `within-limits`.
 */
export type StayReason =
  | 'kept'
  | 'pinned'
  | 'live'
  | 'unsafe'
  | 'unreadable'
  | 'fork'
  | 'active'
  | 'within-limits';

/** What is known of one entry of `sessions/`. */
export interface RetentionSession {
  readonly id: string;
  /** Why it stays whatever its age; null when that is to be judged. */
  readonly hold: 'kept' | 'pinned' | 'live' | 'unsafe' | 'unreadable' | null;
  readonly status: 'active' | 'completed';
  /** The last known event; null when no time is known: such a session is never old. */
  readonly lastTsMs: number | null;
  /** What the log held, by which it is known again. */
  readonly lastSeq: number;
  readonly bytes: number;
  /** No records, no damage, nothing in archive and derived. */
  readonly isEmpty: boolean;
  /** When the directory of an empty one was made; null where the system does not tell. */
  readonly madeMs: number | null;
  /** The session that it was forked from. */
  readonly forkedFrom: string | null;
}

export interface GoingSession {
  readonly session: RetentionSession;
  readonly reason: RetentionReason;
}

export interface StayingSession {
  readonly session: RetentionSession;
  readonly why: StayReason;
  /** For `fork`: one that stays and came from it. */
  readonly fork: string | null;
}

export interface RetentionPlan {
  /** In the order of removal: a fork before its parent. */
  readonly going: readonly GoingSession[];
  readonly staying: readonly StayingSession[];
}

/**
 * Who goes and why: empty ones; then the oldest until no more than `maxSessions` are left; then those that are older
 * than `maxAgeMs`. All that exist count for the number. Pure: what is asked twice is answered alike.
 */
export function planRetention(
  sessions: readonly RetentionSession[],
  policy: RetentionPolicy,
  nowMs: number,
): RetentionPlan {
  const planner = new Planner(sessions, policy, nowMs);
  planner.takeEmpty();
  planner.takeByCount();
  planner.takeByAge();
  return planner.plan();
}

class Planner {
  readonly #sessions: readonly RetentionSession[];
  readonly #policy: RetentionPolicy;
  readonly #nowMs: number;
  readonly #going = new Map<string, GoingSession>();
  /** How many sessions that stay so far were forked from the named one. */
  readonly #forks = new Map<string, number>();
  /** What would have gone but for a fork. */
  readonly #held = new Set<string>();

  constructor(sessions: readonly RetentionSession[], policy: RetentionPolicy, nowMs: number) {
    this.#sessions = sessions;
    this.#policy = policy;
    this.#nowMs = nowMs;
    for (const session of sessions) this.#countFork(session, 1);
  }

  takeEmpty(): void {
    const isDue = (session: RetentionSession): boolean => this.#isDueEmpty(session);
    this.#takeInOrder(this.#sessions.filter(isDue).sort(byId), 'empty', () => true);
  }

  takeByCount(): void {
    const { maxSessions } = this.#policy;
    if (maxSessions === null) return;
    const isNeeded = (): boolean => this.#sessions.length - this.#going.size > maxSessions;
    this.#takeInOrder(this.#candidates(), 'count', isNeeded);
  }

  takeByAge(): void {
    const aged = this.#candidates().filter((session) => this.#isAged(session));
    this.#takeInOrder(aged, 'age', () => true);
  }

  plan(): RetentionPlan {
    const staying = this.#sessions
      .filter(({ id }) => !this.#going.has(id))
      .map((session): StayingSession => {
        const why = this.#whyStaying(session);
        return { session, why, fork: why === 'fork' ? this.#stayingForkOf(session) : null };
      });
    return { going: [...this.#going.values()], staying };
  }

  /** Those that may be removed by count or age, the oldest first. */
  #candidates(): readonly RetentionSession[] {
    return this.#sessions
      .filter((session) => this.#mayAge(session))
      .sort((left, right) => (left.lastTsMs ?? 0) - (right.lastTsMs ?? 0) || byId(left, right));
  }

  #mayAge(session: RetentionSession): boolean {
    if (session.hold !== null || session.isEmpty || session.lastTsMs === null) return false;
    return session.status === 'completed' || this.#isAged(session);
  }

  #isAged({ lastTsMs }: RetentionSession): boolean {
    const { maxAgeMs } = this.#policy;
    return maxAgeMs !== null && lastTsMs !== null && this.#nowMs - lastTsMs > maxAgeMs;
  }

  #isDueEmpty({ hold, isEmpty, madeMs }: RetentionSession): boolean {
    const { emptyAfterMs } = this.#policy;
    if (hold !== null || !isEmpty || madeMs === null) return false;
    return emptyAfterMs !== null && this.#nowMs - madeMs >= emptyAfterMs;
  }

  /**
   * Takes from the front while more are needed. A parent is passed over while a fork of it stays; when its last fork
   * goes it is the next, since all that is older has been looked at.
   */
  #takeInOrder(ordered: readonly RetentionSession[], reason: RetentionReason, isNeeded: () => boolean): void {
    const places = new Map(ordered.map((session, place) => [session.id, place]));
    for (const [place, first] of ordered.entries()) {
      for (let next: RetentionSession | undefined = first; next !== undefined && isNeeded(); ) {
        if (!this.#take(next, reason)) break;
        const parentPlace: number | undefined = places.get(next.forkedFrom ?? '');
        next = parentPlace === undefined || parentPlace > place ? undefined : ordered[parentPlace];
      }
    }
  }

  #take(session: RetentionSession, reason: RetentionReason): boolean {
    const { id } = session;
    if (this.#going.has(id)) return false;
    if ((this.#forks.get(id) ?? 0) > 0) {
      this.#held.add(id);
      return false;
    }
    this.#held.delete(id);
    this.#going.set(id, { session, reason });
    this.#countFork(session, -1);
    return true;
  }

  #countFork({ id, forkedFrom }: RetentionSession, change: number): void {
    if (forkedFrom === null || forkedFrom === id) return;
    this.#forks.set(forkedFrom, (this.#forks.get(forkedFrom) ?? 0) + change);
  }

  #whyStaying(session: RetentionSession): StayReason {
    if (session.hold !== null) return session.hold;
    if (this.#held.has(session.id)) return 'fork';
    const isOff = this.#policy.maxSessions === null && this.#policy.maxAgeMs === null;
    return session.status === 'active' && !session.isEmpty && !isOff ? 'active' : 'within-limits';
  }

  #stayingForkOf({ id }: RetentionSession): string | null {
    const fork = this.#sessions.find((other) => other.forkedFrom === id && !this.#going.has(other.id));
    return fork?.id ?? null;
  }
}

function byId(left: RetentionSession, right: RetentionSession): number {
  if (left.id === right.id) return 0;
  return left.id < right.id ? -1 : 1;
}
