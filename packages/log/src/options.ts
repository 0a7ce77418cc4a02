import type { Ownership } from '@turnlog/fs';
import type { Clock, FileSystem, Host, Ids, WriterLocks } from '@turnlog/kernel';
import type { CapOptions } from './cap.js';

/**
 * When an append is on the disk.
 *
 * - `buffered`: handed to the operating system every 64 KiB and at `flush`; durable at `sync`, `commit`, `close`.
 * - `turn`: written and made durable when a turn ends, and every 64 KiB.
 * - `event`: written and made durable before `append` returns.
 */
export type Durability = 'buffered' | 'turn' | 'event';

export const durabilities: readonly Durability[] = ['buffered', 'turn', 'event'];

/** The machine that a log works on. */
export interface LogEnvironment {
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly host: Host;
  readonly locks: WriterLocks;
  readonly ownership: Ownership;
}

/** What a reader needs of it. */
export type ReaderEnvironment = Pick<LogEnvironment, 'fs' | 'clock'>;

export interface WriterOptions {
  /** By default `turn`. */
  readonly durability?: Durability;
  /** Writes an idle buffer after so many milliseconds; by default never. */
  readonly flushAfterMs?: number;
  /** How long to wait for a busy lock, in milliseconds; by default an owned writer fails at once. */
  readonly waitMs?: number;
  /** How long the log may become; by default there is no limit. */
  readonly cap?: CapOptions;
  /** `each`: every record gets a salt from now on, and the log is one that can be redacted without a trace of it. */
  readonly salt?: 'each';
  /** `displace` takes the lock from a holder that may be alive. Only an operator says so. */
  readonly force?: 'displace';
}

export interface AppendOptions {
  /** Idempotency key: a retry with the same key and event is stored once. 1 to 256 bytes. */
  readonly key?: string;
  /** Append only if the last seq of the log is this one; 0 for an empty log. */
  readonly expectLast?: number;
  /** May raise the class of this call, never lower it. */
  readonly durability?: Durability;
  /**
   * For events of the past, which importers bring: when it was, in milliseconds since the epoch. Null: nobody knows,
   * and the record gets no `ts`. By default it is now. A time before that of an earlier record becomes that one.
   */
  readonly tsMs?: number | null;
}
