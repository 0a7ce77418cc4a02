import type { ArchiveFile } from '@turnlog/events';
import { DraftFile } from '@turnlog/fs';
import { type Generation, limits, sha256Hex } from '@turnlog/kernel';
import { endedEarly } from './archive-file.js';
import { matrixId } from './carried-records.js';
import type { EvictedPrefix } from './evicted-prefix.js';
import { type EvictionFacts, encodeEvictionHeader } from './eviction-record.js';
import type { SummarizedPlan } from './eviction-summary.js';
import { indexAfter, isMovable, keysAfter, type Rewritten, stateAfter } from './kept-log.js';
import type { ByteSource } from './line-framer.js';
import { closedTurns } from './log-reader.js';
import { LogScan } from './log-scan.js';
import type { LogState } from './log-state.js';
import type { LogWriter } from './log-writer.js';
import { MerkleFrontier } from './merkle-frontier.js';
import { openLogReader } from './open-log-reader.js';
import { newGeneration, type OpenedLog, openRewritten, type RewrittenLog } from './opened-log.js';
import type { LogEnvironment } from './options.js';
import { readFully } from './read-fully.js';
import { replaceLog } from './rewrite.js';

/** R3 to R6 of an eviction: the log that is left, written beside the old one and put in its place. */

export interface EvictionRewrite extends SummarizedPlan {
  readonly env: LogEnvironment;
  readonly writer: LogWriter;
  /** The present log. */
  readonly source: ByteSource;
  /** What was known of it when the plan was made. */
  readonly planned: LogState;
  readonly prefix: EvictedPrefix;
  /** Null when the bytes were dropped. */
  readonly archive: ArchiveFile | null;
  readonly pause: () => Promise<void>;
  readonly asUpkeep: <Result>(work: () => Result) => Result;
  /** Gives back what is open of the old log: some systems rename over no open file. */
  readonly release: () => void;
  /**
   * Called as soon as the log is replaced, before anything can be appended: the rewritten log, and what made it
   * uncertain whether its name lasts, null when nothing did.
   */
  readonly takeOver: (opened: OpenedLog, doubt: unknown) => void;
}

/** @throws TURNLOG_IO, LOCK_LOST, what `pause` throws; the log is as it was unless the writer is poisoned. */
export async function rewriteEvicted(rewrite: EvictionRewrite): Promise<void> {
  const { env, writer, plan } = rewrite;
  const generation = newGeneration(env);
  const header = headerOf(rewrite, generation, await keptMatrices(rewrite));
  const draft = new DraftFile(env.fs, env.ids, writer.opened.paths.events);
  try {
    const line = encodeEvictionHeader(header);
    draft.write(line);
    let copied = plan.cut;
    for (const to = writer.opened.file.length; copied < to; ) {
      copied = copySlice(rewrite, draft, copied, Math.min(limits.rewriteSliceBytes, to - copied));
      await rewrite.pause();
    }
    finish(rewrite, { draft, copied, line, header, generation });
  } catch (error) {
    draft.discard();
    throw error;
  }
}

interface Draft {
  readonly draft: DraftFile;
  /** How far the old log has been copied. */
  readonly copied: number;
  readonly line: Uint8Array;
  readonly header: EvictionFacts;
  readonly generation: Generation;
}

/** R4 and on: nobody appends until the log is replaced. */
function finish(rewrite: EvictionRewrite, { draft, copied, line, header, generation }: Draft): void {
  const { env, writer, plan } = rewrite;
  rewrite.asUpkeep(() => writer.sync());
  for (let at = copied; at < writer.state.length; ) {
    at = copySlice(rewrite, draft, at, Math.min(limits.rewriteSliceBytes, writer.state.length - at));
  }
  draft.sync();
  const left = { ...knownOfRest(rewrite, draft, line.length, header), generation };
  rewrite.release();
  const { file, doubt } = replaceLog(env, writer, {
    kind: 'evict',
    draft,
    to: { generation, bytes: draft.length, headSha256: sha256Hex(line.subarray(0, -1)) },
    toSeq: header.toSeq,
    lastTurn: plan.lastTurn,
    probe: null,
    archives: [],
  });
  const { paths, sessionId } = writer.opened;
  rewrite.takeOver(openRewritten(env, { paths, sessionId, file }, left), doubt);
}

/** What is known of the new log: worked out where that is possible, else read. */
function knownOfRest(
  rewrite: EvictionRewrite,
  draft: DraftFile,
  headerBytes: number,
  header: EvictionFacts,
): Omit<RewrittenLog, 'generation'> {
  const { env, writer, plan, prefix } = rewrite;
  const before = writer.state;
  const keys = keysAfter(writer.opened.keys.all(), header.toSeq);
  const isKnown = isMovable(before, prefix) && keys.length === before.keyCount - prefix.state.keyCount;
  if (!isKnown) {
    const scan = new LogScan(draft, { tree: 'hashed' }).run(draft.length);
    return { state: scan.state, queue: scan.queue, keys: scan.keys, tree: scan.tree };
  }
  const { paths, sessionId, publisher } = writer.opened;
  const reader = openLogReader(env.fs, paths.directory, sessionId);
  try {
    const rewritten: Rewritten = {
      before,
      prefix,
      cut: plan.cut,
      headerBytes,
      headerTsMs: header.tsMs,
      total: header.total,
      firstSeq: reader.firstSeqFrom(plan.cut),
      turns: [...closedTurns(reader)].filter(({ turn }) => turn > plan.lastTurn),
    };
    const tree = new MerkleFrontier(publisher.treeOver(before.length));
    return { state: stateAfter(rewritten), queue: indexAfter(rewritten, draft), keys, tree };
  } finally {
    reader.close();
  }
}

function headerOf(
  { env, plan, summary, planned, prefix, archive }: EvictionRewrite,
  generation: Generation,
  kept: ReadonlySet<string>,
): EvictionFacts {
  const evictedAtMs = env.clock.now();
  const { order, lifecycle, damage } = prefix.state;
  return {
    generation,
    fromSeq: planned.firstSeq ?? order.highestSeq,
    toSeq: order.highestSeq,
    events: lifecycle.eventCount,
    turns: plan.turns,
    total: {
      toSeq: order.highestSeq,
      events: (planned.evicted?.events ?? 0) + lifecycle.eventCount,
      turns: (planned.evicted?.turns ?? 0) + plan.turns,
      lastTurn: plan.lastTurn,
    },
    firstTsMs: prefix.firstTsMs,
    lastTsMs: prefix.lastTsMs,
    evictedAtMs,
    tsMs: prefix.lastTsMs ?? planned.firstTsMs ?? evictedAtMs,
    tree: prefix.tree,
    archive,
    summary,
    damage,
    carried: prefix.carried.list(kept),
  };
}

/** Ids of the matrices of which the part that stays has a snapshot; read only when it matters. */
async function keptMatrices({
  prefix,
  source,
  planned,
  pause,
}: EvictionRewrite): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  /** Those of a frame whose commit has not come. */
  let held: string[] = [];
  if (!prefix.carried.hasMatrices) return ids;
  const scan = new LogScan(source, {
    from: { state: prefix.state, tree: prefix.tree },
    tree: 'none',
    onRecord: (record) => {
      const { place } = scan.state.frames;
      if (place === 'commit') for (const id of held) ids.add(id);
      if (place !== 'member') held = [];
      const id = record.record.type === 'matrix.updated' ? matrixId(record.readEvent()) : null;
      if (id === null) return;
      if (place === 'member') held.push(id);
      else ids.add(id);
    },
  });
  for (const _pausing of scan.slices(planned.length, limits.rewriteSliceBytes)) await pause();
  return ids;
}

/** Copies bytes as they are; returns how far. */
function copySlice({ source }: EvictionRewrite, draft: DraftFile, from: number, length: number): number {
  const block = new Uint8Array(length);
  if (!readFully(source, block, from)) throw endedEarly(from, length);
  draft.write(block);
  return from + length;
}
