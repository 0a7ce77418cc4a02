import { type Clock, errnoOf, type FileSystem, isTurnlogError, limits } from '@turnlog/kernel';
import { codeOf } from './file-errors.js';

export interface WatchWarning {
  readonly path: string;
  /** `watch-limit`: the system watches no more files for this user or process. `unavailable`: anything else. */
  readonly reason: 'watch-limit' | 'unavailable';
  /** One sentence for people. */
  readonly message: string;
  readonly cause: unknown;
}

export interface WatchRequest {
  readonly fs: FileSystem;
  readonly clock: Clock;
  /** A file, or a directory whose children are meant; it need not exist yet. */
  readonly path: string;
  /** Something may have changed: look again. Must not throw. */
  readonly onWake: () => void;
  /** Called at most once, when watching is not possible and looking again and again takes its place. */
  readonly onWarning: (warning: WatchWarning) => void;
  /** How many levels of directories below `path` are watched; by default 0, its own children. */
  readonly depth?: number;
  /** Which paths below `path` matter; by default all. */
  readonly accepts?: (path: string) => boolean;
  /** Where the watching library comes from; by default chokidar, loaded when first needed. */
  readonly load?: () => Promise<WatchLibrary>;
}

/** The part of chokidar that is used. */
export interface WatchLibrary {
  watch(path: string, options: WatchLibraryOptions): LibraryWatcher;
}

export interface WatchLibraryOptions {
  readonly persistent: boolean;
  readonly ignoreInitial: boolean;
  readonly followSymlinks: boolean;
  readonly depth: number;
  readonly ignored: (path: string) => boolean;
}

export interface LibraryWatcher {
  on(event: 'all', listener: () => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  close(): Promise<void>;
}

export interface Watch {
  /** No wake and no warning comes after the call; resolves when nothing is watched any more. */
  close(): Promise<void>;
}

/**
 * Calls `onWake` when `path` may have changed. A wake carries no facts: it may come twice, late, or for nothing
 * that matters, and what the library misses is found by looking at the file every `limits.followPollMs`. A wake
 * for a file comes only when its size, time or inode differ from the last look.
 *
 * Changes from the call on are noticed, so read once after it. Keeps no process alive.
 */
export function watchPath(request: WatchRequest): Watch {
  const watch = new PathWatch(request);
  watch.start();
  return { close: () => watch.close() };
}

class PathWatch {
  readonly #request: WatchRequest;
  #seen: string;
  #library: LibraryWatcher | null = null;
  #starting: Promise<void> = Promise.resolve();
  #closing: Promise<void> = Promise.resolve();
  #cancelTimer: () => void = () => undefined;
  #state: 'watching' | 'polling' | 'closed' = 'watching';

  constructor(request: WatchRequest) {
    this.#request = request;
    this.#seen = this.#look();
  }

  start(): void {
    this.#schedule();
    this.#starting = this.#startLibrary();
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    this.#cancelTimer();
    await this.#starting;
    await this.#closing;
    await this.#closeLibrary();
  }

  async #startLibrary(): Promise<void> {
    const { load = loadChokidar, path, depth = 0, accepts = () => true } = this.#request;
    try {
      const library = await load();
      if (this.#state === 'closed') return;
      const ignored = (candidate: string): boolean => candidate !== path && !accepts(candidate);
      const options = { persistent: false, ignoreInitial: true, followSymlinks: false, depth, ignored };
      this.#library = library.watch(path, options);
      this.#library.on('all', () => this.#lookAgain('event'));
      this.#library.on('error', (error) => this.#fallBack(error));
    } catch (error) {
      this.#fallBack(error);
    }
  }

  /** Errors of the library come by the dozen; the first one ends watching. */
  #fallBack(cause: unknown): void {
    if (this.#state !== 'watching') return;
    this.#state = 'polling';
    this.#closing = this.#closeLibrary();
    this.#request.onWarning(describe(this.#request.path, cause));
  }

  async #closeLibrary(): Promise<void> {
    const library = this.#library;
    this.#library = null;
    if (library === null) return;
    try {
      const closed = library.close();
      // Closing takes all listeners off, but an error may still be on its way, and would end the process.
      library.on('error', () => undefined);
      await closed;
    } catch (error) {
      this.#fallBack(error);
    }
  }

  #schedule(): void {
    this.#cancelTimer = this.#request.clock.after(limits.followPollMs, () => {
      this.#lookAgain('timer');
      if (this.#state !== 'closed') this.#schedule();
    });
  }

  #lookAgain(reason: 'event' | 'timer'): void {
    if (this.#state === 'closed') return;
    const present = this.#look();
    // Of a directory one look does not show what happened to its children.
    const isBlind = present.startsWith('directory') && (reason === 'event' || this.#state === 'polling');
    if (present === this.#seen && !isBlind) return;
    this.#seen = present;
    this.#request.onWake();
  }

  /** Whatever a look shows, as text that differs when it does; also that it failed, for whoever looks closer. */
  #look(): string {
    try {
      const status = this.#request.fs.status(this.#request.path);
      if (status === null) return 'missing';
      return `${status.kind} ${status.size} ${status.modifiedMs} ${status.device} ${status.inode}`;
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      return `failed ${errnoOf(error) ?? error.code}`;
    }
  }
}

function loadChokidar(): Promise<WatchLibrary> {
  return import('chokidar');
}

function describe(path: string, cause: unknown): WatchWarning {
  const errno = codeOf(cause);
  if (errno === 'ENOSPC' || errno === 'EMFILE') {
    const message = `the watch limit of the system is reached (${errno}): looking every ${limits.followPollMs} ms instead`;
    return { path, reason: 'watch-limit', message, cause };
  }
  const message = `files cannot be watched here: looking every ${limits.followPollMs} ms instead`;
  return { path, reason: 'unavailable', message, cause };
}
