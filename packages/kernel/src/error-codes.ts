/**
 * The closed list of error codes. A code never changes its meaning and is never used again;
 * messages may change. Each entry says what the code means and what a person can do about it.
 */
export const errorCodes = {
  TURNLOG_INVALID_SESSION_ID: {
    meaning: 'the text is not a session id',
    hint: 'use 1 to 128 of A-Z a-z 0-9 . _ - that begin with a letter or digit and do not end in a dot',
  },
  TURNLOG_ID_COLLISION: {
    meaning: 'the id differs from an existing one only in case, or belongs to the ledger',
    hint: 'choose another id',
  },
  TURNLOG_AMBIGUOUS_ID: {
    meaning: 'the shortened id fits more than one session',
    hint: 'give more characters of the id; the candidates are listed in the details',
  },
  TURNLOG_UNSAFE_PATH: {
    meaning: 'a path below the root is a link, a device, or belongs to somebody else',
    hint: 'look at the named path; Turnlog follows no links below its root and writes only in its own directories',
  },
  TURNLOG_NOT_FOUND: {
    meaning: 'the named thing does not exist',
    hint: 'list the sessions with `turnlog sessions`',
  },
  TURNLOG_LOG_UNREADABLE: {
    meaning: 'the log holds bytes but no readable record',
    hint: 'look at the bytes with `turnlog show ID --raw`; nothing was changed',
  },
  TURNLOG_TURN_NOT_FOUND: {
    meaning: 'the session has no turn of that number',
    hint: 'list the turns with `turnlog show ID`',
  },
  TURNLOG_GONE: {
    meaning: 'the records asked for have left the log',
    hint: 'start from the first available seq, named in the details',
  },
  TURNLOG_REWOUND: {
    meaning: 'the log no longer holds what the reader had already read',
    hint: 'start reading from the beginning',
  },
  TURNLOG_LOCKED: {
    meaning: 'another writer holds the log',
    hint: 'wait for the named process, or stop it; reading needs no lock',
  },
  TURNLOG_BUSY: {
    meaning: 'it could not be done in the time that was given',
    hint: 'do it again, or give it more time; what was done by then stays',
  },
  TURNLOG_LOCK_LOST: {
    meaning: 'the writer lock is no longer held by this writer',
    hint: 'reopen the log; the details name the seqs that were not written',
  },
  TURNLOG_POISONED: {
    meaning: 'an earlier failure left the handle unable to write',
    hint: 'reopen the log; the cause names the failure',
  },
  TURNLOG_CLOSED: {
    meaning: 'the handle is closed',
    hint: 'open the session again',
  },
  TURNLOG_READ_ONLY: {
    meaning: 'the handle or file system allows reading only',
    hint: 'open the session for writing, or use another root',
  },
  TURNLOG_STALE_HEAD: {
    meaning: 'the last seq of the log is not the expected one',
    hint: 'read what is new, then append with the actual last seq, named in the details',
  },
  TURNLOG_KEY_CONFLICT: {
    meaning: 'the idempotency key was used for another event',
    hint: 'use a new key for a new event',
  },
  TURNLOG_INVALID_EVENT: {
    meaning: 'the value is no event that can be stored as given',
    hint: 'the details name the place and the rule',
  },
  TURNLOG_RECORD_TOO_LARGE: {
    meaning: 'the record is longer than a line may be',
    hint: 'store large payloads as files and name them in the event',
  },
  TURNLOG_TOO_DEEP: {
    meaning: 'the value is nested deeper than a record may be',
    hint: 'flatten the value, or store it as text',
  },
  TURNLOG_RESERVED_RECORD: {
    meaning: 'records of this family are written by Turnlog itself',
    hint: 'use an event type of the contract, or x.<vendor>.<name> for your own',
  },
  TURNLOG_INVALID_JOURNAL: {
    meaning: 'records that make one fact together are not what they say they are, so they have no effect',
    hint: 'the details name their seqs and the rule; everything else in the log counts as before',
  },
  TURNLOG_CAP: {
    meaning: 'the log would become longer than it may be',
    hint: 'end the open turn, so that turns can leave the log, or raise the limit',
  },
  TURNLOG_HOOK_FAILED: {
    meaning: 'the summary of the turns that are to leave a log could not be made; they stay',
    hint: 'look at the cause; the hook is asked again later',
  },
  TURNLOG_ARCHIVE_FAILED: {
    meaning: 'the turns that are to leave a log could not be archived; they stay',
    hint: 'look at the cause, often a full disk; it is tried again later',
  },
  TURNLOG_IO: {
    meaning: 'an operation of the file system failed',
    hint: 'the details name step, path and errno; outcome says whether anything of the call is in the log',
  },
  TURNLOG_BAD_FLAG: {
    meaning: 'the command line cannot be understood',
    hint: 'see `turnlog --help` and `turnlog VERB --help`',
  },
  TURNLOG_BAD_CONFIG: {
    meaning: 'a configuration file or variable holds a value that cannot be used',
    hint: 'the details name file and place',
  },
  TURNLOG_CURSOR_MISMATCH: {
    meaning: 'the cursor belongs to another query, or its place has left the list',
    hint: 'use it with the flags it was given for, or begin again without it',
  },
  TURNLOG_QUERY_TOO_LONG: {
    meaning: 'the query has more characters than are searched for',
    hint: 'search for a part of it; what is special about a text is found by a few of its words',
  },
  TURNLOG_NOTHING_TO_SEARCH: {
    meaning: 'the query says only what is not wanted',
    hint: 'add a word to look for',
  },
  TURNLOG_UNKNOWN_SOURCE: {
    meaning: 'the source is in no format that can be read',
    hint: 'name the format with --from',
  },
  TURNLOG_ASSET_MISSING: {
    meaning: 'the store has no blob of that digest',
    hint: 'bring the file back from a copy of the store; the digest names it',
  },
  TURNLOG_ASSET_DAMAGED: {
    meaning: 'the bytes of a blob are not those that its name says',
    hint: 'replace the named file by an intact copy; nothing was changed',
  },
  TURNLOG_NEEDS_YES: {
    meaning: 'the action must be confirmed',
    hint: 'say --yes; where a file would be replaced, --force',
  },
  TURNLOG_GUESSABLE: {
    meaning: 'what a record says could be guessed from the hash that its redaction leaves',
    hint: 'give --accept-guessable to redact it all the same; records of a redactable log have a salt against that',
  },
  TURNLOG_PINNED: {
    meaning: 'the session is pinned, so it is not removed',
    hint: 'take the pin away with `turnlog session unpin ID`, then try again',
  },
  TURNLOG_INVALID_PACK: {
    meaning: 'the file is no audit pack, no proof, or one that contradicts itself',
    hint: 'the details name the place and the rule; take the pack from where it was made',
  },
  TURNLOG_INVALID_FIXTURE: {
    meaning: 'the directory is no fixture, or not the one that its sums say',
    hint: 'the details name the file and the rule; take the fixture from where it was made, or make it again',
  },
  TURNLOG_REPLAY_MISS: {
    meaning: 'what a replay needs is not recorded, or the code under test did something else',
    hint: 'the report names the place; where the change was meant, record the fixture again',
  },
  TURNLOG_NETWORK_USED: {
    meaning: 'code under test opened a socket in a replay',
    hint: 'let the code take its ports from the player: all that it needs from outside is recorded there',
  },
  TURNLOG_BAD_SIGNATURE: {
    meaning: 'a signature does not belong to what it should have signed',
    hint: 'do not trust the file: get it, and the keys, from whoever signed it',
  },
  TURNLOG_UNPACKABLE: {
    meaning: 'something that is no plain file lies in the session, so it cannot be packed',
    hint: 'look at the named path and move it away; a pack follows no links',
  },
  TURNLOG_NOTHING_TO_PACK: {
    meaning: 'the log holds no record',
    hint: 'a pack is made of records: append some first',
  },
  TURNLOG_INTERNAL: {
    meaning: 'a defect in Turnlog',
    hint: 'report it with the message and the cause',
  },
} as const;

/** One of the closed list, as in `TURNLOG_STALE_HEAD`. */
export type ErrorCode = keyof typeof errorCodes;
