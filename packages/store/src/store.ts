import { checkDirectory } from '@turnlog/fs';
import { errnoOf, isTurnlogError, limits, type SessionId, TurnlogError } from '@turnlog/kernel';
import {
  type LogCursor,
  type LogEnvironment,
  LogFollower,
  type LogReader,
  type OwnedLog,
  openLogReader,
  openOwnedLog,
  type ReaderOptions,
  type SharedHandle,
  type TransactionOptions,
  transaction,
  type WriterOptions,
} from '@turnlog/log';
import { checkCollision, checkLedgerName, sessionIds, summarizeAll } from './catalog.js';
import { sessionPath, sessionsPath } from './layout.js';
import { completeEnvironment, processPlace } from './machine.js';
import { type KnownSessions, parseSessionReference, resolveSession } from './resolve-session.js';
import { chooseRoot, createRoot, hasSessions, openRoot, type Variables } from './root.js';
import { parseSessionId } from './session-id.js';
import { type ListOptions, pageOfSessions, type SessionPage } from './session-page.js';
import { type SessionSummary, summarizeSession } from './session-summary.js';

export interface StoreOptions {
  /** The root; without one it is found, see `chooseRoot`. */
  readonly root?: string;
  /** Parts of the machine to work on; by default this one. */
  readonly environment?: Partial<LogEnvironment>;
  /** Directory and variables of the caller; by default those of the process. */
  readonly cwd?: string;
  readonly env?: Variables;
}

/** A session that is held for writing, from `open` to `close`. */
export type Session = OwnedLog & { readonly id: SessionId };

/**
 * Opens a store. A root that does not exist yet is made by the first write; until then it holds no session.
 *
 * @throws TURNLOG_UNSAFE_PATH when the root is no directory of the user's own that only the user can write to;
 *   TURNLOG_BAD_CONFIG, TURNLOG_IO.
 */
export async function openStore(options: StoreOptions = {}): Promise<Store> {
  const environment = completeEnvironment(options.environment);
  const place = options.cwd === undefined || options.env === undefined ? processPlace() : null;
  const cwd = options.cwd ?? place?.cwd ?? '/';
  const env = options.env ?? place?.env ?? {};
  const { path } = chooseRoot(environment.fs, { given: options.root, cwd, env });
  return new Store(environment, path, cwd);
}

/** Many sessions below one root. Ids are checked before anything is looked up. */
export class Store {
  readonly environment: LogEnvironment;
  readonly #cwd: string;
  #root: string;
  #isThere: boolean;

  constructor(environment: LogEnvironment, path: string, cwd: string) {
    const found = openRoot(environment.fs, path, environment.ownership.uid);
    this.environment = environment;
    this.#cwd = cwd;
    this.#root = found ?? path;
    this.#isThere = found !== null;
  }

  /** Absolute path of the root, without links as soon as it exists. */
  get root(): string {
    return this.#root;
  }

  /**
   * Creates a session or opens it for writing, and holds it until `close`.
   *
   * @throws TURNLOG_INVALID_SESSION_ID, TURNLOG_ID_COLLISION; TURNLOG_LOCKED when another writer holds it;
   *   TURNLOG_READ_ONLY on a disk that takes no writes; TURNLOG_LOG_UNREADABLE, UNSAFE_PATH, IO.
   */
  async open(id: string, options?: WriterOptions): Promise<Session> {
    return await this.#writing(id, async (checked, directory) => {
      const log = await openOwnedLog(this.environment, directory, checked, options);
      return Object.assign(log, { id: checked });
    });
  }

  /**
   * Appends to a session that several processes write to; see `transaction` of the log. The session is created
   * when it does not exist.
   */
  async transaction<Result>(
    id: string,
    work: (log: SharedHandle) => Result,
    options?: TransactionOptions,
  ): Promise<Result> {
    let hasBegun = false;
    const workOnce = (log: SharedHandle): Result => {
      hasBegun = true;
      return work(log);
    };
    return await this.#writing(
      id,
      (checked, directory) => transaction(this.environment, directory, checked, workOnce, options),
      () => !hasBegun,
    );
  }

  /**
   * Opens a session for reading, as it is now; nothing is created, locked or changed.
   *
   * @throws TURNLOG_INVALID_SESSION_ID; TURNLOG_NOT_FOUND when there is none, and only then.
   */
  read(id: string, options?: ReaderOptions): LogReader {
    const checked = parseSessionId(id);
    return openLogReader(this.environment.fs, this.#existing(checked), checked, options);
  }

  /** Reads a session as it grows, from its start or from a stored cursor on. */
  follower(id: string, from?: LogCursor): LogFollower {
    const checked = parseSessionId(id);
    return new LogFollower(this.environment.fs, this.#existing(checked), checked, from);
  }

  /** All sessions. One that cannot be read is listed with its error and hides no other. */
  async list(options?: ListOptions): Promise<readonly SessionSummary[]> {
    return (await this.page(options)).sessions;
  }

  /** As `list`, with counts of what is not on the page; see `pageOfSessions`. */
  async page(options?: ListOptions): Promise<SessionPage> {
    // A root that nobody has made yet holds no names.
    this.#isPresent();
    return await pageOfSessions(this.environment, this.#root, options);
  }

  /** The summary of one session, as `list` gives it. @throws TURNLOG_NOT_FOUND and others as `read` */
  summarize(id: string): SessionSummary {
    const checked = parseSessionId(id);
    return summarizeSession(this.environment, checked, this.#existing(checked));
  }

  /** The ids of all sessions, in byte order; nothing of them is read. */
  ids(): readonly string[] {
    return this.#isPresent() ? sessionIds(this.environment, this.#root) : [];
  }

  /** Whether a session of exactly this id exists. */
  has(id: string): boolean {
    const checked = parseSessionId(id);
    return this.#isPresent() && sessionIds(this.environment, this.#root).includes(checked);
  }

  /** The session that a text means; see `resolveSession`. */
  resolve(text: string): SessionId {
    const reference = parseSessionReference(text);
    const sessions: KnownSessions = {
      ids: () => this.ids(),
      summaries: () => (this.#isPresent() ? summarizeAll(this.environment, this.#root) : []),
    };
    return resolveSession(sessions, reference, this.#cwd);
  }

  /** Makes root and `sessions/` where they are missing; returns the path of the latter. */
  ensureSessionsDirectory(): string {
    this.#root = createRoot(this.environment.fs, this.#root, this.environment.ownership);
    this.#isThere = true;
    return sessionsPath(this.#root);
  }

  /** Where a session lies, or would lie. Nothing is looked up. */
  sessionDirectory(id: SessionId): string {
    return sessionPath(this.#root, parseSessionId(id));
  }

  /** Whether there is a root by now; another process may have made it. */
  #isPresent(): boolean {
    if (this.#isThere) return true;
    const found = openRoot(this.environment.fs, this.#root, this.environment.ownership.uid);
    this.#root = found ?? this.#root;
    this.#isThere = found !== null;
    return this.#isThere;
  }

  /** The directory of a session that exists. */
  #existing(id: SessionId): string {
    const { fs, ownership } = this.environment;
    const isThere =
      this.#isPresent() &&
      hasSessions(fs, this.#root, ownership.uid) &&
      fs.status(this.sessionDirectory(id)) !== null;
    if (!isThere) {
      throw new TurnlogError('TURNLOG_NOT_FOUND', {
        details: { sessionId: id },
        message: `there is no session ${id}`,
      });
    }
    checkDirectory(fs, this.sessionDirectory(id), ownership.uid);
    return this.sessionDirectory(id);
  }

  async #writing<Result>(
    id: string,
    work: (id: SessionId, directory: string) => Promise<Result>,
    mayRepeat: () => boolean = () => true,
  ): Promise<Result> {
    const checked = parseSessionId(id);
    checkLedgerName(checked);
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.ensureSessionsDirectory();
        checkCollision(sessionIds(this.environment, this.#root), checked);
        return await work(checked, this.sessionDirectory(checked));
      } catch (error) {
        const isLast = attempt >= limits.reopeningsMax || !mayRepeat();
        if (isLast || !this.#wasRemoved(checked, error)) throw readOnlyDisk(error, checked);
      }
    }
  }

  /**
   * Whether opening failed because the session was removed between looking at its directory and taking its lock: then
   * whoever opens it came a moment later than the removal, and makes a new one.
   */
  #wasRemoved(id: SessionId, error: unknown): boolean {
    return errnoOf(error) === 'ENOENT' && this.environment.fs.status(this.sessionDirectory(id)) === null;
  }
}

function readOnlyDisk(error: unknown, id: SessionId): unknown {
  if (errnoOf(error) !== 'EROFS' || !isTurnlogError(error)) return error;
  return new TurnlogError('TURNLOG_READ_ONLY', {
    details: { ...error.details, sessionId: id },
    cause: error,
    message: 'the file system allows reading only',
  });
}
