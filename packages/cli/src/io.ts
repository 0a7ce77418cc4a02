import type { HashWorkers } from '@turnlog/audit';
import type { LogEnvironment } from '@turnlog/log';
import type { AgentOutcome, AgentRequest } from '@turnlog/replay';
import type { Variables } from '@turnlog/store';
import type { GitRunner } from './git.js';

/** Signals that end a command after the record in hand. */
export type StopSignal = 'SIGINT' | 'SIGTERM';

/** Where bytes go. */
export interface Sink {
  /**
   * Resolves when the bytes were handed over.
   *
   * @throws TURNLOG_IO; details: path (`stdout`, `stderr`), errno: EPIPE when nobody reads any more.
   */
  write(chunk: string | Uint8Array): Promise<void>;
}

/**
 * Runs code of the user against a fixture. What it prints goes to `onText`.
 *
 * @throws TURNLOG_NETWORK_USED when it opened a socket; TURNLOG_INVALID_FIXTURE, TURNLOG_TURN_NOT_FOUND.
 */
export type AgentRunner = (
  request: AgentRequest,
  onText: (text: string) => void,
  stop: AbortSignal,
) => Promise<AgentOutcome>;

/** Everything a command may use of its process. Nothing below `run` touches the process itself. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Variables;
  /** Absolute path of the directory the program was started in. */
  readonly cwd: string;
  readonly isTty: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Width of the terminal; null when there is none. */
  readonly columns: number | null;
  /** Parts of the machine that a test replaces. */
  readonly environment?: Partial<LogEnvironment>;
  /** Runs code under test in a process of its own that has no network. */
  readonly runAgent?: AgentRunner;
  /** Runs git, for the search through the commits of code under test. */
  readonly runGit?: GitRunner;
  /** What starts this program anew, the words in front of the verb. */
  readonly self?: readonly string[];
  /** Threads that hash long logs; without them one does everything. */
  readonly hashWorkers?: HashWorkers;
  /** Calls `listener` for the first signal to stop; returns how to take that back. */
  onStop(listener: (signal: StopSignal) => void): () => void;
}
