import { errnoOf, limits } from '@turnlog/kernel';
import { undoAfter } from './file-errors.js';
import { removeFileIfThere } from './if-there.js';
import {
  claimPathOf,
  claimPaths,
  createOwnerFile,
  describeSelf,
  intentPaths,
  isFromBeforeStart,
  type LockContext,
  lockPathOf,
  newIntentPath,
  ownerPathOf,
  readOwnerFile,
  removeDirectoryIfPresent,
} from './lock-files.js';
import { judgeLock, type LockJudgement } from './lock-judgement.js';
import { isSameLock, judgeOwner } from './owner-record.js';
import type { SilenceWatch } from './silence-watch.js';

/** Why a lock may be broken: its owner is dead, or cannot be judged and was silent for long, or a person says so. */
export type BreakConsent = 'dead' | 'silent' | 'forced';

/** How many claimers of one lock may have died before it is left to a person. */
const claimsMax = 1_000;

/**
 * Removes a lock that was judged and may be taken over; false when somebody else is at it or it has changed.
 * Afterwards the lock is free for whoever comes first.
 *
 * Of all contenders that judged the same lock one creates the claim. While it works, its intent stands for a
 * living process, so that nobody takes the directory without a record, which there is for a moment, for one
 * whose owner died.
 */
export function breakLock(
  context: LockContext,
  watch: SilenceWatch,
  directory: string,
  target: LockJudgement,
  consent: BreakConsent,
): boolean {
  const { fs } = context;
  const self = describeSelf(context, 'owned');
  const claim = takeClaim(context, watch, directory, target.claimKey);
  if (claim === null) return false;
  const intent = newIntentPath(context, directory);
  try {
    const { modifiedMs } = createOwnerFile(fs, intent, self);
    const isUnchanged = isStill(target, judgeLock(context, directory, { path: intent, modifiedMs }), consent);
    if (isUnchanged) {
      if (target.record !== null) removeFileIfThere(fs, ownerPathOf(directory));
      removeDirectoryIfPresent(fs, lockPathOf(directory));
    } else {
      removeFileIfThere(fs, claim);
    }
    // The claim of a finished work stays, for those who judged the same lock and are late.
    removeFileIfThere(fs, intent);
    return isUnchanged;
  } catch (error) {
    throw undoAfter(
      error,
      () => removeFileIfThere(fs, intent),
      () => removeFileIfThere(fs, claim),
    );
  }
}

/** Removes what dead contenders left: their intents, and claims that nobody can be late for any more. */
export function sweepLeftOvers(context: LockContext, directory: string): void {
  const { fs } = context;
  for (const path of claimPaths(fs, directory)) {
    const status = fs.status(path);
    if (status !== null && isOld(context, status.modifiedMs)) removeFileIfThere(fs, path);
  }
  for (const path of intentPaths(fs, directory)) {
    const file = readOwnerFile(fs, path);
    if (file === null) continue;
    if (isAbandoned(context, file)) removeFileIfThere(fs, path);
  }
}

/**
 * Whether nobody will complete an intent any more: its process is dead, or it was never written although that
 * takes no time. A process that was stopped in between fails to rename it and gives up.
 */
function isAbandoned(context: LockContext, file: NonNullable<ReturnType<typeof readOwnerFile>>): boolean {
  const nowMs = context.clock.now();
  const ageMs = nowMs - file.status.modifiedMs;
  if (file.record === null) return ageMs > context.staleMs || isFromBeforeStart(context, file, nowMs);
  return judgeOwner(file.record, context.host) === 'dead' || ageMs > limits.lockClaimKeepMs;
}

function isOld(context: LockContext, modifiedMs: number): boolean {
  return context.clock.now() - modifiedMs > limits.lockClaimKeepMs;
}

function takeClaim(context: LockContext, watch: SilenceWatch, directory: string, key: string): string | null {
  for (let attempt = 1; attempt <= claimsMax; attempt += 1) {
    const path = claimPathOf(directory, key, attempt);
    try {
      createOwnerFile(context.fs, path, describeSelf(context, 'owned'));
      return path;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    if (!hasGivenUp(context, watch, path)) return null;
  }
  return null;
}

/** Whether the claimer is dead. One that cannot be judged is waited for as long as a lock of its kind. */
function hasGivenUp(context: LockContext, watch: SilenceWatch, path: string): boolean {
  const file = readOwnerFile(context.fs, path);
  if (file === null) return false;
  if (file.record === null && isFromBeforeStart(context, file, context.clock.now())) return true;
  const state = file.record === null ? 'unknown' : judgeOwner(file.record, context.host);
  if (state !== 'unknown') return state === 'dead';
  const { inode, birthNs, modifiedMs } = file.status;
  return watch.silentMs(path, `${inode} ${birthNs} ${modifiedMs}`) >= context.staleMs;
}

function isStill(target: LockJudgement, now: LockJudgement | null, consent: BreakConsent): boolean {
  if (now === null || !isSameLock(target.lock, now.lock)) return false;
  if (target.record?.lockId !== now.record?.lockId) return false;
  if (consent === 'forced' || now.state === 'dead') return true;
  return consent === 'silent' && now.state === 'unknown' && target.modifiedMs === now.modifiedMs;
}
