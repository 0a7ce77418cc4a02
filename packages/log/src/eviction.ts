import { join } from 'node:path';
import { errnoOf, TurnlogError } from '@turnlog/kernel';
import { type ArchiveWork, archivePrefix, writeLeaves } from './archive-file.js';
import type { Cap } from './cap.js';
import { type EvictedPrefix, readPrefix } from './evicted-prefix.js';
import {
  type EvictionInput,
  type EvictionPlan,
  lastCandidateOf,
  type NoEviction,
  planEviction,
} from './eviction-plan.js';
import { rewriteEvicted } from './eviction-rewrite.js';
import { findSummary, type SummarizedPlan, writeSummary } from './eviction-summary.js';
import { evictedLeaves } from './log-history.js';
import { leavesName } from './log-layout.js';
import { closedTurns, type LogReader } from './log-reader.js';
import { type LogState, turnBaseOf } from './log-state.js';
import type { LogWriter } from './log-writer.js';
import type { MaintenanceReport } from './maintenance-report.js';
import { openLogReader } from './open-log-reader.js';
import type { OpenedLog } from './opened-log.js';
import type { LogEnvironment } from './options.js';

/**
 * Takes the oldest closed turns out of a log that has outgrown its cap (log specification, §10):
 *
 * | step | what |
 * |---|---|
 * | R1 | the summary of what leaves, appended to the log itself |
 * | R2 | the bytes that leave, archived; or their leaf hashes, when they are dropped |
 * | R3 | a new log beside the old one: header, then the bytes that stay |
 * | R4 | from here without a pause: what was appended meanwhile, durable, and the lock looked at |
 * | R5, R6 | marker, rename |
 * | R7 – R9 | turn index, manifest, and the marker goes: the new writer's first publish |
 *
 * Up to the rename a failure leaves the log as it was.
 */

/** The log that is to be cut, as its handle lends it. Appending goes on between the steps. */
export interface EvictedLog {
  readonly env: LogEnvironment;
  /** The present writer. @throws TURNLOG_CLOSED */
  readonly writer: LogWriter;
  /** Puts a writer of the rewritten log in the place of the present one, poisoned when there is a doubt. */
  replaceWriter(opened: OpenedLog, doubt: unknown): void;
  /** Tells of a failure that leaves the log as it should be. */
  report(report: MaintenanceReport): void;
  /** Runs calls of the writer whose results nobody sees: what they would tell is kept for the next one. */
  asUpkeep<Result>(work: () => Result): Result;
}

export type EvictionStep = 'summary' | 'archive' | 'rewrite';

/** One run. */
export class Eviction {
  readonly #log: EvictedLog;
  readonly #cap: Cap;
  readonly #signal: AbortSignal;
  readonly #writer: LogWriter;
  readonly #begin: (step: EvictionStep) => void;

  /** `signal` gives the run up at its next pause; `begin` is told of each step. */
  constructor(log: EvictedLog, cap: Cap, signal: AbortSignal, begin: (step: EvictionStep) => void) {
    this.#log = log;
    this.#begin = begin;
    this.#cap = cap;
    this.#signal = signal;
    this.#writer = log.writer;
  }

  /**
   * @throws TURNLOG_HOOK_FAILED, ARCHIVE_FAILED, IO, LOCK_LOST, CLOSED; the log is as it was unless its writer is
   *   poisoned.
   */
  async run(): Promise<EvictionPlan | NoEviction> {
    const { env } = this.#log;
    const { paths, sessionId } = this.#writer.opened;
    this.#log.asUpkeep(() => this.#writer.sync());
    const reader = openLogReader(env.fs, paths.directory, sessionId);
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      reader.close();
    };
    try {
      const input = this.#input(reader);
      const outcome = planEviction(input, this.#cap);
      if (outcome.kind === 'keep') return outcome;
      const { asUpkeep } = this.#log;
      const work = { clock: env.clock, cap: this.#cap, signal: this.#signal, asUpkeep };
      const summarized =
        findSummary(this.#writer, reader, lastCandidateOf(input, this.#cap)) ??
        (await writeSummary(work, this.#writer, reader, outcome));
      await this.#cut(reader, summarized, release);
      return { ...summarized.plan, reaches: outcome.reaches };
    } finally {
      release();
    }
  }

  #input(reader: LogReader): EvictionInput {
    const { lifecycle } = reader.state;
    return {
      entries: closedTurns(reader),
      lastTurn: lifecycle.turnCount,
      eventCount: lifecycle.eventCount,
      bytes: reader.length,
      guard: this.#cap.guard?.() ?? null,
      evictedTo: reader.state.evicted?.toSeq ?? 0,
    };
  }

  async #cut(reader: LogReader, summarized: SummarizedPlan, release: () => void): Promise<void> {
    const { env } = this.#log;
    const { state: planned } = reader;
    const pause = (): Promise<void> => this.#pause();
    await pause();
    this.#begin('archive');
    const left = await this.#archive(reader, planned, summarized.plan);
    this.#begin('rewrite');
    await rewriteEvicted({
      ...summarized,
      ...left,
      env,
      writer: this.#writer,
      source: reader.source,
      planned,
      pause,
      release,
      asUpkeep: this.#log.asUpkeep,
      takeOver: (opened, doubt) => this.#log.replaceWriter(opened, doubt),
    });
    this.#removeOldLeaves(left.prefix);
  }

  /**
   * The hashes of what was dropped before stand in the new file as well. Where it is uncertain whether the old log may
   * come back they stay, for it needs them.
   */
  #removeOldLeaves({ header }: EvictedPrefix): void {
    if (this.#cap.archive !== 'drop' || header === null || header.archive !== null) return;
    if (!this.#log.writer.isOpen) return;
    const path = join(this.#writer.opened.paths.archive, leavesName(header.toSeq));
    try {
      this.#log.env.fs.removeFile(path);
    } catch (cause) {
      if (errnoOf(cause) === 'ENOENT') return;
      const message = `a file of hashes that nobody needs any more could not be removed: ${path}`;
      this.#log.report({ step: 'archive', message, cause });
    }
  }

  /** R2, and what has to be known of the bytes that leave. */
  async #archive(
    reader: LogReader,
    planned: LogState,
    plan: EvictionPlan,
  ): Promise<{
    readonly prefix: EvictedPrefix;
    readonly archive: Awaited<ReturnType<typeof archivePrefix>> | null;
  }> {
    const { source } = reader;
    const { archive: mode } = this.#cap;
    const work: ArchiveWork = {
      env: this.#log.env,
      paths: this.#writer.opened.paths,
      pause: () => this.#pause(),
    };
    try {
      const prefix = await readPrefix(source, plan.cut, {
        turnBase: turnBaseOf(planned),
        pause: work.pause,
        leaves: mode === 'drop' ? 'kept' : 'none',
      });
      const toSeq = prefix.state.order.highestSeq;
      if (mode !== 'drop') {
        return { prefix, archive: await archivePrefix(work, source, plan.cut, toSeq, mode) };
      }
      await writeLeaves(work, toSeq, allLeaves(work, prefix));
      return { prefix, archive: null };
    } catch (cause) {
      if (this.#signal.aborted) throw cause;
      throw new TurnlogError('TURNLOG_ARCHIVE_FAILED', {
        details: { path: work.paths.archive, toSeq: plan.toSeq },
        message: 'the turns that are to leave the log could not be archived',
        cause,
      });
    }
  }

  /** Lets appends have their turn; gives up when the log is being closed, or held by another writer by now. */
  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (!this.#signal.aborted && this.#log.writer === this.#writer && this.#writer.isOpen) return;
    throw new TurnlogError('TURNLOG_CLOSED', {
      details: { path: this.#writer.opened.paths.directory },
      message: 'the log was closed before its oldest turns had left it',
    });
  }
}

/** All leaf hashes of a log up to the end of a prefix. */
function* allLeaves({ env, paths }: ArchiveWork, prefix: EvictedPrefix): Iterable<Uint8Array> {
  yield* evictedLeaves(env.fs, paths, prefix.header);
  yield* prefix.leaves;
}
