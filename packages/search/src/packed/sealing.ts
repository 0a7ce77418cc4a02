import { dirname, join } from 'node:path';
import { DraftFile, ensurePrivateDirectory, temporaryNamePattern } from '@turnlog/fs';
import { errnoOf, type HeldLock, isTurnlogError, limits, RunningSha256 } from '@turnlog/kernel';
import { CarriedTombstones } from './carried-tombstones.js';
import type { ChunkSource } from './chunk-source.js';
import { LiveTail } from './live-tail.js';
import { type MergeOrder, mergeOrder } from './merge-order.js';
import { type MergeCandidate, planMerge, tailChunksWanted } from './merge-plan.js';
import type { PackedIndex } from './packed-index.js';
import { isIndexFile, type ListedSegment, publishSegmentList } from './segment-list.js';
import { SegmentReader } from './segment-reader.js';
import { listPath, type OpenSegment, presentRevision } from './segment-set.js';
import { writeSegment } from './segment-writer.js';
import { runInSlices, wholeOf } from './slices.js';
import type { Tombstones } from './tombstones.js';

/**
 * What became of the wish to write.
 *
 * - `nothing`: there was nothing to write.
 * - `written`: what is in memory is on the disk, and the list names it.
 * - `busy`: another process writes; what is in memory stays there.
 * - `moved`: another process has written meanwhile. Its list is open now, and logs are to be read behind it.
 * - `failed`: nothing has changed; what is in memory stays there, and is tried again.
 */
export type Maintenance =
  | { readonly kind: 'nothing' | 'written' | 'busy' | 'moved' }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * - `due`: the tail when it has grown enough, and segments whose sizes or dead chunks call for it.
 * - `everything`: the tail however small it is.
 * - `gone`: also each segment that holds a chunk which left the corpus, so that no file says anything of it; what is
 *   replaced is removed at once.
 */
export type MaintenanceWish = 'due' | 'everything' | 'gone';

/** Writes what is to be written, one process at a time. Queries and catching up go on meanwhile. */
export class Sealing {
  readonly #index: PackedIndex;
  /** Replaced files, and when they may be removed. */
  #retired: readonly { readonly path: string; readonly dueMs: number }[] = [];
  #isRunning = false;

  constructor(index: PackedIndex) {
    this.#index = index;
  }

  /** Whether the tail is so large that it must be written before more is taken in. */
  get isFull(): boolean {
    const { tail, frozen } = this.#index;
    const waiting = frozen.reduce((sum, { chunkCount }) => sum + chunkCount, tail.chunkCount);
    return waiting >= limits.searchTailChunksMax;
  }

  async maintain(wish: MaintenanceWish = 'due'): Promise<Maintenance> {
    this.#index.check();
    if (this.#isRunning) return { kind: 'busy' };
    this.#isRunning = true;
    try {
      this.#removeRetired();
      const plan = this.#plan(wish);
      return plan === null ? { kind: 'nothing' } : await this.#locked(plan, wish);
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      // A page of a segment that was to be joined: what it said is read again, and is in no way of the next time.
      this.#index.leaveAside(error);
      return isTurnlogError(error, 'TURNLOG_LOCKED') ? { kind: 'busy' } : { kind: 'failed', error };
    } finally {
      this.#isRunning = false;
    }
  }

  /** Which segments are written anew, and whether the tail with them; null when nothing is to be written. */
  #plan(wish: MaintenanceWish): WritePlan | null {
    const { segments, frozen, tail, tailChunks, state } = this.#index;
    const waiting = frozen.reduce((sum, { chunkCount }) => sum + chunkCount, tail.chunkCount);
    const wanted = tailChunks ?? tailChunksWanted(this.#index.chunkCount);
    const hasTail = frozen.length > 0 || tail.logs.length > 0;
    const takesTail = hasTail && (wish !== 'due' || waiting >= wanted || state.kind === 'incomplete');
    const candidates = segments.map(({ reader }): MergeCandidate => candidateOf(reader));
    const joined = new Set(planMerge(candidates, takesTail ? Math.max(1, waiting) : 0));
    if (wish === 'gone') {
      for (const [place, { goneCount }] of candidates.entries()) if (goneCount > 0) joined.add(place);
    }
    const isListWrong = state.kind === 'incomplete' || (wish !== 'due' && segments.some(isUnsaved));
    return takesTail || joined.size > 0 || isListWrong ? { joined, takesTail } : null;
  }

  async #locked(plan: WritePlan, wish: MaintenanceWish): Promise<Maintenance> {
    const { environment, directory } = this.#index;
    const { fs, ownership } = environment;
    const lockDirectory = join(directory, 'build.lock');
    for (const path of [directory, lockDirectory]) {
      // What is durable below a name is lost with the name.
      if (ensurePrivateDirectory(fs, path, ownership) === 'created') fs.syncDirectory(dirname(path));
    }
    const lock = await environment.locks.acquire(lockDirectory, {
      mode: 'shared',
      waitMs: 0,
      onLost: () => undefined,
    });
    try {
      this.#index.check();
      if (presentRevision(this.#index) !== this.#index.listRevision) {
        this.#index.reload();
        return { kind: 'moved' };
      }
      const check = (): void => this.#index.check();
      await runInSlices(environment.clock, this.#write(plan, wish, lock), check);
      return { kind: 'written' };
    } finally {
      await lock.release();
    }
  }

  *#write(plan: WritePlan, wish: MaintenanceWish, lock: HeldLock): Generator<void, void, void> {
    const index = this.#index;
    const replaced = index.segments.filter((_segment, place) => plan.joined.has(place));
    if (plan.takesTail) index.freezeTail();
    const sources: readonly ChunkSource[] = [
      ...replaced.map(({ reader }) => reader),
      ...(plan.takesTail ? index.frozen : []),
    ];
    const carried = new CarriedTombstones(sources);
    const before = this.#unnamedSince();
    const written = sources.length === 0 ? null : yield* this.#writeSegment(sources);
    const resulting = (): readonly OpenSegment[] => {
      const kept = index.segments.filter((segment) => !replaced.includes(segment));
      return written === null ? kept : [...kept, written.segment];
    };
    const carry = function* carry(): Generator<void, void, void> {
      if (written !== null) yield* carried.carry(written.segment.reader, written.order);
    };
    try {
      yield* carry();
      const saved = new Map<OpenSegment, OpenSegment>();
      for (const segment of resulting()) saved.set(segment, yield* this.#saveTombstones(segment));
      // From here on nothing pauses. What has come since is carried over too, and written the next time.
      lock.check();
      wholeOf(carry());
      const segments = resulting().map((segment) => saved.get(segment) ?? segment);
      const list = { tokenizer: index.tokenizer, segments: segments.map(({ listed }) => listed) };
      const path = listPath(index.directory);
      const revision = publishSegmentList(index.fs, index.environment.ids, path, list);
      index.replaceSegments(segments, revision, index.fs.status(path)?.modifiedMs ?? 0);
    } catch (error) {
      written?.segment.reader.close();
      throw error;
    }
    this.#retire(before, wish);
  }

  /** The chunks of some sources as one segment, open; null when nothing is left of them. */
  *#writeSegment(sources: readonly ChunkSource[]): Generator<void, Written | null, void> {
    const { environment, directory, tokenizer, cache } = this.#index;
    const { fs, ids } = environment;
    const order = yield* orderOf(sources);
    if (order.logs.length === 0) return null;
    const file = `${ids.randomHex(8)}.seg`;
    const draft = new DraftFile(fs, ids, join(directory, file));
    let listed: ListedSegment;
    try {
      const { bytes, digest, chunkCount } = yield* writeSegment(draft, sources, order, tokenizer);
      listed = { file, bytes, digest, chunks: chunkCount, dead: null };
      draft.publish();
    } catch (error) {
      draft.discard();
      throw error;
    }
    const claim = { ...listed, tokenizer };
    const reader = yield* SegmentReader.opening(fs, join(directory, file), claim, cache);
    return { segment: { listed, reader, savedVersion: 0 }, order };
  }

  /** Writes the tombstones of a segment that the list does not know yet, under a new name. */
  *#saveTombstones(segment: OpenSegment): Generator<void, OpenSegment, void> {
    const { listed, reader, savedVersion } = segment;
    const { tombstones } = reader;
    const { version } = tombstones;
    if (version === savedVersion) return segment;
    const { environment, directory, fs } = this.#index;
    const file = `${listed.file.slice(0, 16)}.${environment.ids.randomHex(4)}.dead`;
    const draft = new DraftFile(fs, environment.ids, join(directory, file));
    try {
      const { bytes, digest } = yield* writeTombstones(draft, tombstones);
      draft.publish();
      return { listed: { ...listed, dead: { file, bytes, digest } }, reader, savedVersion: version };
    } catch (error) {
      draft.discard();
      throw error;
    }
  }

  /** By name of each file of the index: since when no list names it; infinite while the present one does. */
  #unnamedSince(): ReadonlyMap<string, number> {
    const { fs, directory, listedAtMs } = this.#index;
    const named = this.#named();
    const since = new Map<string, number>();
    for (const { name } of fs.list(directory)) {
      // A temp file of ours is left over: whoever holds the lock is the only one who makes any.
      if (temporaryNamePattern.test(name)) since.set(name, Number.NEGATIVE_INFINITY);
      else if (isIndexFile(name)) since.set(name, named.has(name) ? Number.POSITIVE_INFINITY : listedAtMs);
    }
    return since;
  }

  #named(): ReadonlySet<string> {
    const named = this.#index.segments.flatMap(({ listed }) => [listed.file, listed.dead?.file ?? '']);
    return new Set(named);
  }

  /** Files that the new list does not name go when nobody opens them any more. */
  #retire(before: ReadonlyMap<string, number>, wish: MaintenanceWish): void {
    const { directory, environment } = this.#index;
    const named = this.#named();
    const nowMs = environment.clock.monotonicMs();
    const known = new Map(this.#retired.map((entry) => [entry.path, entry]));
    for (const [name, sinceMs] of before) {
      if (named.has(name)) continue;
      const path = join(directory, name);
      const unnamedMs = Math.max(0, environment.clock.now() - sinceMs);
      const delayMs = wish === 'gone' ? 0 : Math.max(0, limits.searchRetiredKeepMs - unnamedMs);
      const dueMs = Math.min(nowMs + delayMs, known.get(path)?.dueMs ?? Number.POSITIVE_INFINITY);
      known.set(path, { path, dueMs });
    }
    this.#retired = [...known.values()];
    this.#removeRetired();
  }

  #removeRetired(): void {
    const { fs, clock } = this.#index.environment;
    const nowMs = clock.monotonicMs();
    const left: { readonly path: string; readonly dueMs: number }[] = [];
    for (const entry of this.#retired) {
      if (entry.dueMs > nowMs || !removeFile(() => fs.removeFile(entry.path))) left.push(entry);
    }
    this.#retired = left;
  }
}

interface WritePlan {
  readonly joined: ReadonlySet<number>;
  readonly takesTail: boolean;
}

interface Written {
  readonly segment: OpenSegment;
  readonly order: MergeOrder;
}

/** The order of what is written, and tails ready to be read in it. */
function* orderOf(sources: readonly ChunkSource[]): Generator<void, MergeOrder, void> {
  for (const source of sources) if (source instanceof LiveTail) yield* source.sort();
  return yield* mergeOrder(sources);
}

function candidateOf(reader: SegmentReader): MergeCandidate {
  return { chunkCount: reader.chunkCount, goneCount: reader.tombstones.goneCount };
}

function isUnsaved({ reader, savedVersion }: OpenSegment): boolean {
  return reader.tombstones.version !== savedVersion;
}

function* writeTombstones(
  draft: DraftFile,
  tombstones: Tombstones,
): Generator<void, { readonly bytes: number; readonly digest: string }, void> {
  const digest = new RunningSha256();
  for (const part of yield* tombstones.encode()) {
    digest.update(part);
    draft.write(part);
    yield;
  }
  return { bytes: draft.length, digest: digest.digestHex() };
}

/** True when the file is gone; where a system refuses to remove what others have open, it is tried again later. */
function removeFile(remove: () => void): boolean {
  try {
    remove();
    return true;
  } catch (error) {
    if (!isTurnlogError(error) || errnoOf(error) === null) throw error;
    return errnoOf(error) === 'ENOENT';
  }
}
