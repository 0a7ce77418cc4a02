import { join } from 'node:path';
import { checkDirectory, ensurePrivateDirectory, removeChildDirectory } from '@turnlog/fs';
import { limits, TurnlogError } from '@turnlog/kernel';
import { type Store, storeNames } from '@turnlog/store';
import { VectorFiles } from '../hybrid/vector-files.js';
import { CatchUp } from './catch-up.js';
import { digestOfLines, indexLines } from './index-lines.js';
import { PackedIndex } from './packed-index.js';
import { Sealing } from './sealing.js';

/** More time than reading any store takes: the work ends when it is done. */
const unlimitedMs = 2 ** 40;

/** How long the work of a check goes on before it is asked whether it is to stop. */
const pieceMs = 200;

const scratchPattern = /^check-[0-9a-f]{16}$/;

/** Removes the indexes of comparisons that were killed: they lie below `search/` and say what the logs said then. */
export function removeScratch({ environment, root }: Store): void {
  const { fs, ownership } = environment;
  const directory = join(root, storeNames.search);
  if (fs.status(directory) === null) return;
  checkDirectory(fs, directory, ownership.uid);
  for (const { name } of fs.list(directory)) {
    if (scratchPattern.test(name)) removeChildDirectory(fs, directory, name, ownership.uid);
  }
}

/** What a comparison of the search index with the logs came to. */
export interface IndexCheck {
  /** Logical digests of what is published, and of what the logs say. */
  readonly published: string;
  readonly rebuilt: string;
  /** The first chunk that differs, as each of them has it; null when they say the same, or one has nothing there. */
  readonly difference: { readonly published: string | null; readonly rebuilt: string | null } | null;
  /** What of the published one was damaged, so that it was read again before the comparison. */
  readonly damaged: readonly string[];
}

/**
 * Builds the index of a store anew in `scratch`, a directory of the caller's that holds nothing, and compares it with
 * the one that is published. What is published is not changed; it is brought up to the logs in memory first, because
 * being behind is no fault. `scratch` is left as the index of the store would be. Null when it was stopped.
 */
export async function checkPackedIndex(
  store: Store,
  scratch: string,
  signal?: AbortSignal,
): Promise<IndexCheck | null> {
  const { environment, root } = store;
  ensurePrivateDirectory(environment.fs, scratch, environment.ownership);
  const { index: published, damaged } = await caughtUp(store, root, signal);
  try {
    const { index: rebuilt } = await caughtUp(store, scratch, signal);
    try {
      if (signal?.aborted === true) return null;
      return {
        published: digestOfLines(indexLines(published)),
        rebuilt: digestOfLines(indexLines(rebuilt)),
        difference: firstDifference(indexLines(published), indexLines(rebuilt)),
        damaged,
      };
    } finally {
      rebuilt.close();
    }
  } finally {
    published.close();
  }
}

/**
 * Writes the index, and the vectors beside it, without anything that has left the corpus by now, so that no file below
 * `search/` says a word of it.
 *
 * @throws the failure when it could not be written; TURNLOG_BUSY when another process was writing all the time.
 */
export async function purgePackedIndex(store: Store): Promise<void> {
  removeScratch(store);
  const index = PackedIndex.open(store.environment, store.root);
  try {
    await purge(store, index);
  } finally {
    index.close();
  }
}

async function purge(store: Store, index: PackedIndex): Promise<void> {
  const { clock } = store.environment;
  const sealing = new Sealing(index);
  const catchUp = new CatchUp(store, index, sealing);
  const deadlineMs = clock.monotonicMs() + limits.searchPurgeWaitMs;
  for (;;) {
    await catchUp.run({ waitMs: unlimitedMs });
    const outcome = await sealing.maintain('gone');
    if (outcome.kind === 'failed') throw outcome.error;
    const isPurged = outcome.kind === 'written' || outcome.kind === 'nothing';
    if (isPurged && (await purgeVectors(store, index)) === 'written') return;
    if (clock.monotonicMs() >= deadlineMs) {
      throw new TurnlogError('TURNLOG_BUSY', { details: { path: index.directory } });
    }
    await clock.sleep(limits.searchPurgePauseMs);
  }
}

/** What a text meant can be told from its vector nearly as from the text. */
async function purgeVectors(store: Store, index: PackedIndex): Promise<'written' | 'busy'> {
  const files = new VectorFiles(store.environment, store.root);
  return await files.purge((key) => index.fieldsOf(key) !== null);
}

/** An index of the store whose files lie below `root`, with all that the logs hold by now, or before it was stopped. */
async function caughtUp(
  store: Store,
  root: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly index: PackedIndex; readonly damaged: readonly string[] }> {
  const index = PackedIndex.open(store.environment, root);
  const { state } = index;
  const damaged = state.kind === 'incomplete' ? state.reasons : [];
  const sealing = new Sealing(index);
  const catchUp = new CatchUp(store, index, sealing);
  try {
    for (let isDone = false; !isDone && signal?.aborted !== true; ) {
      isDone = (await catchUp.run({ waitMs: pieceMs })).isComplete;
    }
    return { index, damaged };
  } catch (error) {
    index.close();
    throw error;
  }
}

function firstDifference(left: Iterable<string>, right: Iterable<string>): IndexCheck['difference'] {
  const [ours, theirs] = [left[Symbol.iterator](), right[Symbol.iterator]()];
  for (;;) {
    const published = lineIn(ours);
    const rebuilt = lineIn(theirs);
    if (published !== rebuilt) return { published, rebuilt };
    if (published === null) return null;
  }
}

function lineIn(lines: Iterator<string>): string | null {
  const step = lines.next();
  return step.done === true ? null : step.value;
}
