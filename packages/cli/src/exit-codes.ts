import type { ErrorCode } from '@turnlog/kernel';
import type { StopSignal } from './io.js';

/** What an exit code means when no error says more. */
export const exits = {
  done: 0,
  /** Nothing found, something found that was not to be, or some of many failed. */
  negative: 1,
  usage: 2,
  defect: 70,
} as const;

/** The exit of a command that was stopped: 128 and the number of the signal. */
export const signalExits: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** The exit of each error. Complete by its type: a new code does not compile without one. */
export const errorExits: Readonly<Record<ErrorCode, number>> = {
  TURNLOG_BAD_FLAG: 2,
  TURNLOG_BAD_CONFIG: 2,
  TURNLOG_INVALID_SESSION_ID: 2,
  TURNLOG_ID_COLLISION: 2,
  TURNLOG_AMBIGUOUS_ID: 2,
  TURNLOG_CURSOR_MISMATCH: 2,
  TURNLOG_QUERY_TOO_LONG: 2,
  TURNLOG_NOTHING_TO_SEARCH: 2,
  TURNLOG_NOTHING_TO_PACK: 1,
  TURNLOG_REPLAY_MISS: 1,
  TURNLOG_NETWORK_USED: 1,
  TURNLOG_UNKNOWN_SOURCE: 3,
  TURNLOG_INVALID_PACK: 3,
  TURNLOG_INVALID_FIXTURE: 3,
  TURNLOG_BAD_SIGNATURE: 4,
  TURNLOG_LOCKED: 5,
  TURNLOG_BUSY: 5,
  TURNLOG_LOCK_LOST: 5,
  TURNLOG_STALE_HEAD: 5,
  TURNLOG_REWOUND: 5,
  TURNLOG_KEY_CONFLICT: 5,
  TURNLOG_NOT_FOUND: 6,
  TURNLOG_TURN_NOT_FOUND: 6,
  TURNLOG_GONE: 6,
  TURNLOG_ASSET_MISSING: 6,
  TURNLOG_IO: 7,
  TURNLOG_POISONED: 7,
  TURNLOG_INVALID_EVENT: 8,
  TURNLOG_RECORD_TOO_LARGE: 8,
  TURNLOG_TOO_DEEP: 8,
  TURNLOG_LOG_UNREADABLE: 8,
  TURNLOG_ASSET_DAMAGED: 8,
  TURNLOG_RESERVED_RECORD: 8,
  TURNLOG_UNPACKABLE: 8,
  TURNLOG_INVALID_JOURNAL: 8,
  TURNLOG_UNSAFE_PATH: 9,
  TURNLOG_READ_ONLY: 9,
  TURNLOG_CAP: 9,
  TURNLOG_NEEDS_YES: 9,
  TURNLOG_PINNED: 9,
  TURNLOG_GUESSABLE: 9,
  // Told beside a result, never instead of one; as the answer of a whole command they are a negative one.
  TURNLOG_HOOK_FAILED: 1,
  TURNLOG_ARCHIVE_FAILED: 1,
  TURNLOG_INTERNAL: 70,
  TURNLOG_CLOSED: 70,
};

/** A code as the interface shows it: `TURNLOG_STALE_HEAD` is `stale-head`. */
export function shownCode(code: ErrorCode): string {
  return code.slice('TURNLOG_'.length).toLowerCase().replaceAll('_', '-');
}
