import { type FileStatus, isTurnlogError, type OwnerState, sha256Hex } from '@turnlog/kernel';
import {
  intentPaths,
  isFromBeforeStart,
  type LockContext,
  lockStatus,
  type OwnerFile,
  ownerPathOf,
  readOwnerFile,
} from './lock-files.js';
import { isSameLock, judgeOwner, type LockIdentity, type OwnerRecord } from './owner-record.js';

/** What is known of a lock that somebody has taken. */
export interface LockJudgement {
  readonly state: OwnerState;
  readonly lock: LockIdentity;
  readonly modifiedMs: number;
  /** The record that counts: the one that names this lock directory. */
  readonly record: OwnerRecord | null;
  /** Who holds it, for people: the record's owner, or the living one of an intent. */
  readonly holder: OwnerRecord | null;
  /** 16 hex digits by which contenders agree on the lock they judged. */
  readonly claimKey: string;
}

/** How often a lock that changes while it is looked at is looked at again. */
const looksMax = 100;

/** An intent of the caller, which proves nothing about others but what time it is where the files lie. */
export interface OwnIntent {
  readonly path: string;
  readonly modifiedMs: number;
}

/**
 * Judges the lock of `directory`; null when it is free.
 *
 * Without a record that counts, the owner is either about to write it, or about to give the lock back, or dead.
 * In the first two cases its intent lies there, but record, intents and directory can only be read one after the
 * other. So they are read again until nothing moved in between.
 */
export function judgeLock(
  context: LockContext,
  directory: string,
  ownIntent: OwnIntent | null = null,
): LockJudgement | null {
  for (let look = 1; ; look += 1) {
    const status = lockStatus(context.fs, directory);
    if (status === null) return null;
    const record = countingRecord(context, directory, status);
    if (record !== null) return judged(status, record, record, judgeOwner(record, context.host));
    const { state, holder } = judgeIntents(context, directory, ownIntent);
    if (look === looksMax || isUnmoved(context, directory, status)) {
      return judged(status, null, holder, state);
    }
  }
}

function judged(
  status: FileStatus,
  record: OwnerRecord | null,
  holder: OwnerRecord | null,
  state: OwnerState,
): LockJudgement {
  const { inode, birthNs, modifiedMs } = status;
  const identity = `${inode} ${birthNs} ${modifiedMs}`;
  const claimKey = (record?.lockId ?? sha256Hex(Buffer.from(identity))).slice(0, 16);
  return { state, lock: { inode, birthNs }, modifiedMs, record, holder, claimKey };
}

function countingRecord(context: LockContext, directory: string, status: FileStatus): OwnerRecord | null {
  const record = readOwnerFile(context.fs, ownerPathOf(directory))?.record ?? null;
  return record !== null && record.lock !== null && isSameLock(record.lock, status) ? record : null;
}

function isUnmoved(context: LockContext, directory: string, before: FileStatus): boolean {
  const after = lockStatus(context.fs, directory);
  if (after === null || !isSameLock(before, after)) return false;
  return countingRecord(context, directory, after) === null;
}

/**
 * Alive when one of them is, dead when all are; an intent that cannot be judged leaves it open. So does one that
 * cannot be read, unless it is older than the machine's present start or was not even begun.
 */
function judgeIntents(
  context: LockContext,
  directory: string,
  ownIntent: OwnIntent | null,
): { state: OwnerState; holder: OwnerRecord | null } {
  let state: OwnerState = 'dead';
  let holder: OwnerRecord | null = null;
  const nowMs = ownIntent?.modifiedMs ?? context.clock.now();
  for (const path of intentPaths(context.fs, directory)) {
    if (path === ownIntent?.path) continue;
    const file = readOwnerFile(context.fs, path);
    if (file === null) continue;
    if (isBeforeItsDirectory(context, directory, file)) continue;
    const one = judgeIntent(context, file, nowMs);
    if (one === 'alive') return { state: one, holder: file.record };
    if (one === 'unknown') state = one;
    holder ??= file.record;
  }
  return { state, holder };
}

/**
 * Whether the lock directory that was seen before cannot be that of an empty intent: it is written before its
 * directory is made. That holds where all see the same order of things, which a network does not promise.
 */
function isBeforeItsDirectory(context: LockContext, directory: string, file: OwnerFile): boolean {
  return file.status.size === 0 && isKnownLocal(context, directory);
}

function isKnownLocal(context: LockContext, directory: string): boolean {
  try {
    return context.filesystemKind(directory).reach === 'local';
  } catch (error) {
    // What a directory lies on makes waiting shorter; not to know it is no reason to refuse the lock.
    if (isTurnlogError(error)) return false;
    throw error;
  }
}

function judgeIntent(context: LockContext, file: OwnerFile, nowMs: number): OwnerState {
  if (file.record !== null) return judgeOwner(file.record, context.host);
  return isFromBeforeStart(context, file, nowMs) ? 'dead' : 'unknown';
}
