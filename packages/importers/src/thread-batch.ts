import { basename } from 'node:path';
import { type FileHandle, isTurnlogError } from '@turnlog/kernel';
import type { AssetStore } from '@turnlog/store';
import { plainReport, type SourceReport } from './batch-report.js';
import type { FoundFile } from './discover-sources.js';
import type { FileState } from './import-state.js';
import type { ImportTarget } from './import-target.js';
import { importThreadFile, type ThreadFileJob } from './import-thread-file.js';
import { appendLatePrompts } from './late-prompts.js';
import type { SharedRecords } from './order-threads.js';
import type { Compress, RawMode } from './raw-copy.js';
import type { SessionIndex } from './session-index.js';
import { childSessionId, threadSessionId } from './session-name.js';
import { namesBeside } from './source-files.js';
import { digestOf } from './survey-log.js';
import type { ThreadFormat, ThreadIdentity } from './thread-format.js';
import { threadFormats } from './thread-formats.js';
import { recordDigestsOf, sharedRecordsOf, surveyThread } from './thread-source.js';

/** A file of a thread that waits for its turn. */
export interface ThreadJob {
  readonly batch: ThreadBatch;
  readonly found: FoundFile;
  readonly identity: ThreadIdentity;
  readonly sessionId: string;
}

/** Who looks at an import while it runs. */
export type ImportWatch = Pick<ThreadFileJob, 'onProgress' | 'signal'>;

export interface ThreadBatchOptions {
  readonly raw: RawMode;
  readonly compress: Compress;
  readonly asNew: boolean;
  readonly alsoLive: boolean;
}

export interface ThreadBatchParts {
  readonly target: ImportTarget;
  readonly format: ThreadFormat;
  readonly assets: AssetStore;
  readonly index: SessionIndex;
  readonly options: ThreadBatchOptions;
}

/** The files of one format in one import. */
export class ThreadBatch {
  readonly #parts: ThreadBatchParts;

  constructor(parts: ThreadBatchParts) {
    this.#parts = parts;
  }

  /** A report when the file stands in a session as it is now, and nothing of it has to be read. */
  unchanged({ path, status }: FoundFile, isFinal: boolean): SourceReport | null {
    const { format, index } = this.#parts;
    const known = index.unchangedFile(path, status);
    const file = known?.state?.files.find((each) => each.path === path);
    if (file === undefined || known?.state?.mapping !== format.mapping) return null;
    if (file.isStopped || (isFinal && !file.isFinal)) return null;
    return {
      ...plainReport(path, 'unchanged'),
      format: format.name,
      sessionId: known.sessionId,
      pendingBytes: status.size - file.to.offset,
      unansweredCount: file.unansweredCount,
      withoutUsageCount: file.withoutUsageCount,
    };
  }

  /** Finds out which thread the file holds; null is no job: the file holds no record yet. */
  survey(file: FileHandle, found: FoundFile): ThreadJob | undefined {
    const { path } = found;
    const { fs } = this.#parts.target.environment;
    const neighbours = (name: string): readonly string[] => namesBeside(fs, path, name);
    const place = { path, name: basename(path), neighbours };
    const identity = surveyThread(file, this.#parts.format, place);
    if (identity === null) return undefined;
    return { batch: this, found, identity, sessionId: this.#sessionIdOf(identity) };
  }

  /** What tells which of several threads with the same beginning is the parent; null when it cannot be read. */
  sharedRecords({ found }: ThreadJob): SharedRecords | null {
    let file: FileHandle | null = null;
    try {
      file = this.#parts.target.environment.fs.open(found.path, 'read');
      return sharedRecordsOf(file, this.#parts.format);
    } catch (error) {
      // Its own import will say so.
      if (isTurnlogError(error)) return null;
      throw error;
    } finally {
      file?.close();
    }
  }

  async import(job: ThreadJob, isFinal: boolean, watch: ImportWatch): Promise<SourceReport> {
    try {
      return await this.#importNow(job, isFinal, watch);
    } catch (error) {
      // Another import was faster with a new session: what it has not brought in is appended.
      if (!isTurnlogError(error, 'TURNLOG_ID_COLLISION')) throw error;
      this.#parts.index.reread(this.#sessionIdOf(job.identity));
      return this.#importNow(job, isFinal, watch);
    }
  }

  async #importNow(job: ThreadJob, isFinal: boolean, watch: ImportWatch): Promise<SourceReport> {
    const { target, format, index, assets, options } = this.#parts;
    const { path } = job.found;
    const file = target.environment.fs.open(path, 'read');
    try {
      for (const threadId of job.identity.after) {
        const before = index.sessionOf(threadId);
        if (before !== null) await index.prepare(before);
      }
      const sessionId = this.#placeFor(job, file);
      if (typeof sessionId !== 'string') {
        if (sessionId.outcome === 'recorded-live') await this.#appendPrompts(job, file);
        return sessionId;
      }
      const outcome = await importThreadFile({
        target,
        format,
        file,
        place: { path, name: basename(path) },
        identity: job.identity,
        sessionId,
        isFinal,
        raw: options.raw,
        assets,
        compress: options.compress,
        index,
        ...watch,
      });
      const { state, ...rest } = outcome;
      const found = plainReport(path, state);
      return { ...found, format: format.name, sessionId: state === 'waiting' ? null : sessionId, ...rest };
    } finally {
      file.close();
    }
  }

  async #appendPrompts({ found, identity }: ThreadJob, file: FileHandle): Promise<void> {
    const { target, format, index } = this.#parts;
    const place = { path: found.path, name: basename(found.path) };
    // Since the survey the thread may have come in as a log, under an id of its own.
    const sessionId = this.#sessionIdOf(identity);
    await appendLatePrompts({ target, format, index, file, place, identity, sessionId });
  }

  #sessionIdOf({ threadId, child }: ThreadIdentity): string {
    const { format, index } = this.#parts;
    const known = index.sessionOf(threadId);
    if (known !== null) return known;
    if (child === undefined) return threadSessionId(format.prefix, threadId);
    const { parentThreadId, agentId } = child;
    const parent = index.sessionOf(parentThreadId) ?? threadSessionId(format.prefix, parentThreadId);
    return childSessionId(parent, format.prefix, agentId);
  }

  /** The session that the file goes into, or the report of one that goes into none. */
  #placeFor(job: ThreadJob, file: FileHandle): string | SourceReport {
    const { format, index, options } = this.#parts;
    const sessionId = this.#sessionIdOf(job.identity);
    const known = index.get(sessionId);
    const report = { ...plainReport(job.found.path, 'conflict'), format: format.name, sessionId };
    if (known === null) return sessionId;
    const asItsOwn = (): string =>
      `${sessionId}.c${(digestOf(file, 0, file.status().size) ?? '').slice(0, 8)}`;
    switch (standingOf(format, known.formats)) {
      case 'guest':
        return sessionId;
      case 'rival':
        return options.asNew ? asItsOwn() : report;
      case 'other':
        return options.alsoLive ? `${sessionId}.file` : { ...report, outcome: 'recorded-live' };
      case 'same':
        break;
    }
    const { state } = known;
    if (state === null || state.files.some(({ path }) => path === job.found.path)) return sessionId;
    const relation = relationOf(state.files, recordDigestsOf(file, format));
    if (relation === 'holds-all') return sessionId;
    if (relation === 'is-held') return { ...report, outcome: 'unchanged' };
    if (options.asNew) return asItsOwn();
    return { ...report, conflictsWith: relation.conflictsWith };
  }
}

/**
 * What a file of a format is to a session that was made from files of others: the same, a guest beside them, or
 * among nothing but guests, another telling of the thread, or something that was recorded as it ran.
 */
function standingOf(
  { name, isGuest, rivals }: ThreadFormat,
  formats: readonly string[],
): 'same' | 'guest' | 'rival' | 'other' {
  const guests = threadFormats.filter((each) => each.isGuest === true).map((each) => each.name);
  const hosts = formats.filter((each) => !guests.includes(each));
  if (isGuest === true || (hosts.length === 0 && formats.length > 0)) return 'guest';
  if (hosts.includes(name)) return 'same';
  return hosts.some((each) => rivals?.includes(each) === true) ? 'rival' : 'other';
}

type Relation = 'holds-all' | 'is-held' | { readonly conflictsWith: string };

/** How the records of a further file of a thread relate to those that are in. */
function relationOf(files: readonly FileState[], records: FileState['records']): Relation {
  if (files.some((known) => records.countMissingIn(known.records) === 0)) return 'is-held';
  const other = files.find((known) => known.records.countMissingIn(records) > 0);
  return other === undefined ? 'holds-all' : { conflictsWith: other.path };
}
