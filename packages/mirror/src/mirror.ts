import { type FilesystemKind, filesystemKind } from '@turnlog/fs';
import { isTurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import { createMirrorFile, inDatabase, rebuildMirror, removeLeftOvers } from './build-mirror.js';
import { type CatchUpLimits, catchUpStore, type FailedSession } from './catch-up.js';
import { checkMirror, type MirrorCheck } from './check-mirror.js';
import { FtsIndex } from './fts-index.js';
import {
  fileStatus,
  isOfThisFormat,
  type MirrorPlace,
  mirrorPath,
  tightenMirror,
  walBytesOf,
} from './mirror-file.js';
import { type MirrorHealth, mirrorHealth } from './mirror-health.js';
import { withMirrorLock } from './mirror-lock.js';
import { walBytesMax } from './pragmas.js';
import { SessionRest } from './session-rest.js';
import { isCorruption, loadSqlite, type SqliteLibrary, sqliteCodeOf } from './sqlite-port.js';

export interface MirrorOptions {
  /** Where SQLite comes from; by default better-sqlite3, loaded now. */
  readonly load?: () => Promise<SqliteLibrary>;
  /** What a directory lies on; by default the system is asked. */
  readonly filesystemKind?: (path: string) => FilesystemKind;
}

export type OpenedMirror =
  | { readonly kind: 'available'; readonly mirror: Mirror }
  /** Everything else works without it. `reason`: one sentence for people. */
  | { readonly kind: 'off'; readonly reason: string };

/**
 * What became of bringing the mirror up to the logs. It never fails: whatever went wrong is named in `degraded`, and
 * the logs are not touched.
 */
export interface MirrorCatchUp {
  /** Whether the mirror holds all that the logs held when it was looked. */
  readonly isComplete: boolean;
  readonly failed: readonly FailedSession[];
  /** Why it is not, or not wholly, to be relied on, one sentence each. */
  readonly degraded: readonly string[];
  /** Whether only building it anew helps. */
  readonly needsRebuild: boolean;
}

export interface MirrorWait {
  /** How long to go on at most, in milliseconds; what was taken in by then stays. By default until all is done. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/** The mirror of a store. Nothing is opened or made before it is asked for something. */
export async function openMirror(store: Store, options: MirrorOptions = {}): Promise<OpenedMirror> {
  const { load = loadSqlite, filesystemKind: kindOf = filesystemKind } = options;
  try {
    const sqlite = await load();
    const { environment: env, root } = store;
    if (env.fs.status(root) === null) return { kind: 'off', reason: 'there is no store yet' };
    const place = { env, root, path: mirrorPath(root), sqlite, filesystem: kindOf(root) };
    return { kind: 'available', mirror: new Mirror(store, place) };
  } catch (error) {
    return {
      kind: 'off',
      reason: `the mirror needs better-sqlite3, which cannot be loaded: ${messageOf(error)}`,
    };
  }
}

export class Mirror {
  readonly #store: Store;
  readonly #place: MirrorPlace;
  readonly #rest: SessionRest;
  readonly #index: FtsIndex;

  constructor(store: Store, place: MirrorPlace) {
    this.#store = store;
    this.#place = place;
    this.#rest = new SessionRest(place.env.clock);
    this.#index = new FtsIndex(place);
  }

  /** The engine that it is for searches. It reads, and sees what was committed before each of its answers. */
  get index(): FtsIndex {
    return this.#index;
  }

  /** Where its database is, for whoever opens it for reading by other means. */
  get path(): string {
    return this.#place.path;
  }

  /** What can be said of it without reading it whole. */
  health(): MirrorHealth {
    return mirrorHealth(this.#place);
  }

  /** Takes in what the logs have that it lacks; a mirror that is missing is begun. */
  async catchUp({ waitMs, signal }: MirrorWait = {}): Promise<MirrorCatchUp> {
    const limits = this.#limits(waitMs, signal);
    try {
      return await withMirrorLock(this.#place, waitMs ?? 0, () => this.#catchUpHeld(limits));
    } catch (error) {
      return incomplete(this.#describe(error), isCorruption(error));
    }
  }

  /**
   * Builds it anew in another file, which then takes its name.
   *
   * @throws TURNLOG_LOCKED, TURNLOG_IO; the old one stays
   */
  async rebuild({ signal }: Pick<MirrorWait, 'signal'> = {}): Promise<MirrorCatchUp> {
    const limits = this.#limits(undefined, signal);
    return await withMirrorLock(this.#place, 0, async () => {
      const { isComplete, failed } = await rebuildMirror(this.#place, this.#store, limits);
      return { isComplete, failed, degraded: failed.map(describeFailed), needsRebuild: false };
    });
  }

  /** Compares it with one built anew; it is not written to. @throws TURNLOG_LOCKED, TURNLOG_IO */
  async check({ signal }: Pick<MirrorWait, 'signal'> = {}): Promise<MirrorCheck> {
    const limits = this.#limits(undefined, signal);
    return await withMirrorLock(this.#place, 0, () => checkMirror(this.#place, this.#store, limits));
  }

  close(): void {
    this.#index.close();
  }

  async #catchUpHeld(limits: CatchUpLimits): Promise<MirrorCatchUp> {
    const { env, path } = this.#place;
    const walBytes = walBytesOf(this.#place);
    // Reading it would take as long as it is large, and building anew takes no longer.
    if (walBytes > walBytesMax) return incomplete(`its write-ahead log has ${walBytes} bytes`, true);
    removeLeftOvers(this.#place);
    tightenMirror(this.#place);
    if (fileStatus(env, path) === null) createMirrorFile(this.#place);
    return await inDatabase(this.#place, path, async (database) => {
      if (!isOfThisFormat(database)) return incomplete('the mirror is of another format', true);
      const { isComplete, failed: tried } = await catchUpStore(database, this.#store, limits);
      const failed = this.#rest.note(tried);
      return { isComplete, failed, degraded: failed.map(describeFailed), needsRebuild: false };
    });
  }

  #limits(waitMs: number | undefined, signal: AbortSignal | undefined): CatchUpLimits {
    const { clock } = this.#place.env;
    const endMs = waitMs === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() + waitMs;
    return {
      isOver: () => signal?.aborted === true || clock.monotonicMs() > endMs,
      isResting: (session) => this.#rest.isResting(session),
    };
  }

  #describe(error: unknown): string {
    const code = sqliteCodeOf(error);
    if (code !== null) {
      return `the mirror is off (${code}, on ${this.#place.filesystem.name}): ${messageOf(error)}`;
    }
    if (!isTurnlogError(error)) throw error;
    return error.code === 'TURNLOG_LOCKED' ? 'another process is writing to the mirror' : error.message;
  }
}

function incomplete(reason: string, needsRebuild: boolean): MirrorCatchUp {
  return { isComplete: false, failed: [], degraded: [reason], needsRebuild };
}

function describeFailed({ session, error }: FailedSession): string {
  return `${session}: ${error.message}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
