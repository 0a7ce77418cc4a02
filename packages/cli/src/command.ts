import type { Clock } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import type { Arguments } from './arguments.js';
import type { Io } from './io.js';
import type { Output } from './output/output.js';
import type { Settings } from './settings.js';
import type { Verb } from './verb.js';

/** What a command gets to work with. */
export interface Context {
  readonly io: Io;
  readonly args: Arguments;
  /** All verbs, for commands that speak of the program itself. */
  readonly verbs: readonly Verb[];
  readonly settings: Settings;
  readonly output: Output;
  readonly clock: Clock;
  /** The directory the command works in: `-C`, else that of the process. */
  readonly cwd: string;
  /** Aborted by SIGINT and SIGTERM: end after the record in hand. */
  readonly stop: AbortSignal;
  openStore(): Promise<Store>;
}

/** Does the work of a verb; returns the exit code. Errors are thrown. */
export type Command = (context: Context) => Promise<number>;
