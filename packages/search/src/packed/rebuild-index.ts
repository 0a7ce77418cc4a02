import { join } from 'node:path';
import { checkDirectory, removeChildDirectory } from '@turnlog/fs';
import { isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import { type Store, storeNames } from '@turnlog/store';
import { CatchUp, type CaughtUp } from './catch-up.js';
import { checkPackedIndex, type IndexCheck, removeScratch } from './index-upkeep.js';
import { PackedIndex } from './packed-index.js';
import { Sealing } from './sealing.js';
import { listPath } from './segment-set.js';

/** How long the work goes on before it is asked whether it is to stop. */
const pieceMs = 200;

/** What became of building the search index anew. */
export interface IndexRebuild {
  /** `cut-short`: it was stopped, and what was read by then is kept. */
  readonly outcome: 'rebuilt' | 'cut-short';
  readonly chunks: number;
  /** Sessions that could not be read. */
  readonly failed: CaughtUp['failed'];
}

/** Whether a store has a search index; one with few records needs none. */
export function hasPackedIndex(store: Store): boolean {
  return store.environment.fs.status(listPath(join(store.root, storeNames.search))) !== null;
}

/**
 * Builds the search index of a store anew from its logs. What was there is replaced piece by piece: a search of that
 * time takes in from the logs what it lacks, or lets another engine answer.
 *
 * @throws the failure when it could not be written; TURNLOG_BUSY when another process was writing all the time.
 */
export async function rebuildPackedIndex(store: Store, signal?: AbortSignal): Promise<IndexRebuild> {
  removeScratch(store);
  for (let attempt = 1; ; attempt += 1) {
    const index = PackedIndex.begin(store.environment, store.root);
    try {
      const rebuilt = await fill(store, index, signal);
      if (rebuilt !== null) return rebuilt;
    } finally {
      index.close();
    }
    // Somebody else has written a list meanwhile, and it is not known what that rests on.
    if (attempt === limits.searchRebuildsMax) throw busy(index);
  }
}

/** Null when another process has written meanwhile. */
async function fill(
  store: Store,
  index: PackedIndex,
  signal: AbortSignal | undefined,
): Promise<IndexRebuild | null> {
  const sealing = new Sealing(index);
  const catchUp = new CatchUp(store, index, sealing);
  for (;;) {
    const { isComplete, failed } = await catchUp.run({ waitMs: pieceMs });
    const isStopped = signal?.aborted === true;
    if (!isComplete && !isStopped && !sealing.isFull) continue;
    await write(index, sealing);
    if (!index.isBegun) return null;
    const outcome = isComplete ? 'rebuilt' : 'cut-short';
    if (isComplete || isStopped) return { outcome, chunks: index.chunkCount, failed };
  }
}

/** Writes down what is in memory, when whoever else writes has finished. */
async function write(index: PackedIndex, sealing: Sealing): Promise<void> {
  const { clock } = index.environment;
  const deadlineMs = clock.monotonicMs() + limits.searchPurgeWaitMs;
  for (;;) {
    const outcome = await sealing.maintain('everything');
    if (outcome.kind === 'failed') throw outcome.error;
    if (outcome.kind !== 'busy') return;
    if (clock.monotonicMs() >= deadlineMs) throw busy(index);
    await clock.sleep(limits.searchPurgePauseMs);
  }
}

function busy({ directory }: PackedIndex): TurnlogError {
  return new TurnlogError('TURNLOG_BUSY', { details: { path: directory } });
}

/**
 * What of the search index is seen to be damaged without reading it whole, one sentence each. The next search reads
 * again from the logs what is lost.
 *
 * @throws TURNLOG_UNSAFE_PATH for what is no directory of one's own.
 */
export function packedIndexDamage(store: Store): readonly string[] {
  const { fs, ownership } = store.environment;
  const directory = join(store.root, storeNames.search);
  if (fs.status(directory) === null) return [];
  checkDirectory(fs, directory, ownership.uid);
  const index = PackedIndex.open(store.environment, store.root);
  try {
    return index.state.kind === 'incomplete' ? index.state.reasons : [];
  } finally {
    index.close();
  }
}

/** What a comparison came to; `wrong` when the published index is damaged. */
export type IndexVerdict = Pick<IndexCheck, 'difference'> & {
  readonly outcome: 'equal' | 'different' | 'wrong' | 'absent' | 'cut-short';
  readonly digest: string | null;
  readonly publishedDigest: string | null;
  /** What is damaged, one sentence each. */
  readonly damaged: readonly string[];
};

const nothing = { digest: null, publishedDigest: null, difference: null, damaged: [] } as const;

/** Compares the search index of a store with one that is built anew beside it and removed again (SE-61). */
export async function comparePackedIndex(store: Store, signal?: AbortSignal): Promise<IndexVerdict> {
  if (!hasPackedIndex(store)) return { ...nothing, outcome: 'absent' };
  const { fs, ids, ownership } = store.environment;
  const directory = join(store.root, storeNames.search);
  checkDirectory(fs, directory, ownership.uid);
  const name = `check-${ids.randomHex(8)}`;
  try {
    const check = await checkPackedIndex(store, join(directory, name), signal);
    if (check === null) return { ...nothing, outcome: 'cut-short' };
    const { damaged, published, rebuilt, difference } = check;
    const digests = { digest: rebuilt, publishedDigest: published, difference, damaged };
    if (damaged.length > 0) return { ...digests, outcome: 'wrong' };
    return { ...digests, outcome: difference === null ? 'equal' : 'different' };
  } catch (error) {
    // A page that is met to be damaged only when it is read.
    if (!isTurnlogError(error, 'TURNLOG_IO') || error.details['operation'] !== 'check') throw error;
    return { ...nothing, outcome: 'wrong', damaged: [error.message] };
  } finally {
    removeChildDirectory(fs, directory, name, ownership.uid);
  }
}
