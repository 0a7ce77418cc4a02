/** What a check-up can find. */
export type FindingKind =
  /** A directory or file that others may read or write. */
  | 'open-mode'
  /** A link, a device, a file, or something of another user where a session belongs. */
  | 'foreign-entry'
  /** A directory whose name is no session id. */
  | 'invalid-id'
  /** Two sessions whose ids differ only in case. */
  | 'case-pair'
  /** Files of a session without its log. */
  | 'log-missing'
  /** The log cannot be read, or holds no record. */
  | 'unreadable'
  /** Bytes in the middle of the log that hold no record. */
  | 'damage'
  /** Bytes at its end that hold no record. */
  | 'torn-tail'
  | 'missing-newline'
  /** The lock of a writer that died. */
  | 'dead-writer'
  /** The lock of a writer that cannot be judged from here. */
  | 'unknown-writer'
  /** Something that is no lock has its name. */
  | 'bad-lock'
  | 'temporary-file'
  /** A frame whose commit does not fit it: none of its records has an effect. */
  | 'broken-frame'
  /** A file of the archive that a header names and that is not there. */
  | 'archive-missing'
  /** One that does not hold what its header names. */
  | 'archive-damaged'
  /** One that no header names: what a crash has left, or hashes that newer ones stand for. */
  | 'archive-unnamed'
  | 'manifest-missing'
  | 'manifest-behind'
  | 'manifest-wrong'
  /** Another program that takes the directory for its own has written into it. */
  | 'foreign-index'
  /** New names cannot be made durable on this file system. */
  | 'directory-sync'
  /** An import that was cut short, or is under way. */
  | 'import-under-way'
  /** The SQLite copy of the store cannot be used, or its write-ahead log is longer than it should ever be. */
  | 'mirror-broken'
  | 'mirror-wal'
  /** Files of the search index are damaged, or what stands in its place is none. */
  | 'search-damaged'
  /** The log says that a record is redacted, and it is still there. */
  | 'redaction-unfinished';

/**
 * How a finding is repaired: a writer's open does what it does after a crash; `tighten` sets the mode;
 * `rebuild` drops the manifest first, so that the open reads the whole log; `remove` removes a file of the archive
 * when all of it stands elsewhere, or a temp file of the whole store.
 */
export type Repair = 'writer-open' | 'tighten' | 'rebuild' | 'remove';

export interface Finding {
  readonly kind: FindingKind;
  /** Null for what concerns the store as a whole. */
  readonly sessionId: string | null;
  readonly path: string;
  /** One sentence; may hold names from the disk. */
  readonly message: string;
  /** Null when only a person can decide. */
  readonly repair: Repair | null;
  /** A notice is worth knowing and no fault. */
  readonly weight: 'fault' | 'notice';
}

/** A fault with its repair. */
export function fault(
  kind: FindingKind,
  sessionId: string | null,
  path: string,
  message: string,
  repair: Repair | null = null,
): Finding {
  return { kind, sessionId, path, message, repair, weight: 'fault' };
}

export function notice(kind: FindingKind, sessionId: string | null, path: string, message: string): Finding {
  return { kind, sessionId, path, message, repair: null, weight: 'notice' };
}
