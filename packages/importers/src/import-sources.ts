import { basename, dirname } from 'node:path';
import { type FileHandle, isTurnlogError } from '@turnlog/kernel';
import { AssetStore } from '@turnlog/store';
import { type BatchReport, plainReport, type SourceReport, sumUp } from './batch-report.js';
import { detectSource } from './detect.js';
import {
  type AgentName,
  type AgentPlaces,
  discoverSources,
  type FoundFile,
  type PlaceToSearch,
  usualPlaces,
} from './discover-sources.js';
import { importForeignFile, unknownSource } from './import-foreign-file.js';
import type { ImportTarget } from './import-target.js';
import { orderThreads } from './order-threads.js';
import { type Compress, compressFast, type RawMode } from './raw-copy.js';
import { SessionIndex } from './session-index.js';
import { headOf } from './source-files.js';
import { ThreadBatch, type ThreadJob } from './thread-batch.js';
import type { ThreadFormat } from './thread-format.js';
import { threadFormats } from './thread-formats.js';
import { threadFormatOf } from './thread-source.js';

/** The head of a file that streams and logs are recognised by. */
const headBytesMax = 65_536;

/** What to import: what an agent's usual places hold, or a file or folder. */
export type SourceToImport = { readonly agent: AgentName } | { readonly path: string };

export interface ImportRequest {
  readonly sources: readonly SourceToImport[];
  /** Needed for sources that are agents. */
  readonly places?: AgentPlaces;
  /** Names of the formats that are taken; by default all. */
  readonly from?: readonly string[];
  /** Nothing will be added to the files. Without it those are final that did not change for 24 hours. */
  readonly final?: boolean;
  /** By default `asset`. */
  readonly raw?: RawMode;
  /** Where the agent worked, for saved streams that do not say it. */
  readonly workspace?: string;
  /** Files that changed before, in milliseconds since the epoch, are passed over. */
  readonly sinceMs?: number;
  /** Imports a file that is in conflict as a session of its own. */
  readonly asNew?: boolean;
  /** Imports the file of a thread that was recorded as it ran, as `<id>.file`. */
  readonly alsoLive?: boolean;
  /** Told how many bytes of all are done. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /**
   * Stops behind the record in hand. What was read by then is in, and the next import goes on from there; only a file
   * that has to be folded once more, because it or what is remembered of it has changed, is gone through whole.
   */
  readonly signal?: AbortSignal;
  /** Compresses the raw copy; by default as fast as can be. */
  readonly compress?: Compress;
}

export interface ImportProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
  readonly path: string;
}

/**
 * Imports the threads that files hold, each into its session. Repeated it changes nothing; a failure hides nothing
 * behind it. The report says what became of every file.
 *
 * @throws TURNLOG_UNSAFE_PATH, TURNLOG_IO when the store itself cannot be used.
 */
export async function importSources(target: ImportTarget, request: ImportRequest): Promise<BatchReport> {
  return new SourcesImport(target, request).run();
}

/** The places that a request names, each once. */
export function placesOf(request: ImportRequest): readonly PlaceToSearch[] {
  const all = request.sources.flatMap((source) =>
    'path' in source
      ? [{ path: source.path, isNamed: true }]
      : usualPlaces(source.agent, request.places ?? {}).map((path) => ({ path, isNamed: false })),
  );
  return all.filter(({ path }, at) => all.findIndex((other) => other.path === path) === at);
}

class SourcesImport {
  readonly #target: ImportTarget;
  readonly #request: ImportRequest;
  readonly #reports: SourceReport[] = [];
  readonly #batches = new Map<ThreadFormat, ThreadBatch>();
  #doneBytes = 0;
  #totalBytes = 0;

  constructor(target: ImportTarget, request: ImportRequest) {
    this.#target = target;
    this.#request = request;
  }

  async run(): Promise<BatchReport> {
    const found = discoverSources(this.#target.environment.fs, placesOf(this.#request));
    const { sinceMs = Number.NEGATIVE_INFINITY } = this.#request;
    const files = found.files.filter(({ status }) => status.modifiedMs >= sinceMs);
    this.#totalBytes = files.reduce((sum, { status }) => sum + status.size, 0);
    const jobs: ThreadJob[] = [];
    for (const file of files) {
      if (await this.#isToStop()) break;
      const job = await this.#look(file);
      if (job !== null) jobs.push(job);
    }
    const ordered = orderThreads(jobs, (each) => each.batch.sharedRecords(each));
    for (const [position, job] of ordered.entries()) {
      // However long the looking took, whoever stops again and again gets on: the first goes a little further at least.
      if ((await this.#isToStop()) && position > 0) break;
      await this.#importThread(job);
    }
    for (const { path, error } of found.missing) this.#reports.push(failed(path, error));
    const reports = [...this.#reports].sort((a, b) => (a.path < b.path ? -1 : 1));
    return sumUp(reports, found.links, found.unreadable);
  }

  /** A signal or a deadline comes only when the work makes room for it. */
  async #isToStop(): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.#request.signal?.aborted === true;
  }

  #isWanted(format: string): boolean {
    return this.#request.from?.includes(format) ?? true;
  }

  /** Finds out what a file is. What is no thread is imported at once; threads wait for those they come from. */
  async #look(found: FoundFile): Promise<ThreadJob | null> {
    const { path, status } = found;
    if (status.size === 0) return this.#note(plainReport(path, 'empty'), 0);
    for (const format of threadFormats) {
      const report = this.#isWanted(format.name)
        ? this.#batchOf(format).unchanged(found, this.#isFinal(found))
        : null;
      if (report !== null) return this.#note(report, status.size);
    }
    let file: FileHandle | null = null;
    try {
      file = this.#target.environment.fs.open(path, 'read');
      const job = this.#surveyed(file, found);
      if (job !== undefined) return job;
      return this.#note(await this.#importOther(file, found), status.size);
    } catch (error) {
      return this.#note(failed(path, error), status.size);
    } finally {
      file?.close();
    }
  }

  /** Undefined when the file holds no thread of a known format. */
  #surveyed(file: FileHandle, found: FoundFile): ThreadJob | undefined {
    const format = threadFormatOf(file, threadFormats);
    if (format === undefined || !this.#isWanted(format.name)) return undefined;
    return this.#batchOf(format).survey(file, found);
  }

  async #importOther(file: FileHandle, found: FoundFile): Promise<SourceReport> {
    const { path, isNamed } = found;
    const head = headOf(file, headBytesMax);
    if (isDatabase(head)) return plainReport(path, 'needs-sqlite');
    const kind = detectSource(head, basename(path));
    if (kind === 'unknown' || kind === 'events' || !this.#isWanted(kind)) {
      return isNamed ? unknownSource(path) : plainReport(path, 'unknown');
    }
    const isLog = kind === 'vtcode' && basename(path) === 'events.jsonl';
    const { raw, compress, workspace } = this.#request;
    return importForeignFile(this.#target, isLog ? dirname(path) : path, kind, {
      final: this.#isFinal(found),
      ...(raw === undefined ? {} : { raw }),
      ...(compress === undefined ? {} : { compress }),
      ...(workspace === undefined ? {} : { workspace }),
    });
  }

  #isFinal({ status }: FoundFile): boolean {
    const age = this.#target.environment.clock.now() - status.modifiedMs;
    return this.#request.final === true || age >= quietMs;
  }

  async #importThread(job: ThreadJob): Promise<void> {
    const { path, status } = job.found;
    try {
      this.#note(
        await job.batch.import(job, this.#isFinal(job.found), {
          onProgress: (at) => this.#tell(at, path),
          signal: this.#request.signal ?? null,
        }),
        status.size,
      );
    } catch (error) {
      this.#note(failed(path, error), status.size);
    }
  }

  #batchOf(format: ThreadFormat): ThreadBatch {
    const known = this.#batches.get(format);
    if (known !== undefined) return known;
    const { raw = 'asset', compress = compressFast, asNew = false, alsoLive = false } = this.#request;
    const assets = new AssetStore(this.#target.environment, dirname(this.#target.sessionsDirectory));
    const index = new SessionIndex(this.#target, format, assets);
    const options = { raw, compress, asNew, alsoLive };
    const batch = new ThreadBatch({ target: this.#target, format, assets, index, options });
    this.#batches.set(format, batch);
    return batch;
  }

  #note(report: SourceReport, bytes: number): null {
    this.#reports.push(report);
    this.#doneBytes += bytes;
    this.#tell(0, report.path);
    return null;
  }

  #tell(at: number, path: string): void {
    const doneBytes = this.#doneBytes + at;
    this.#request.onProgress?.({ doneBytes, totalBytes: this.#totalBytes, path });
  }
}

const databaseHead = Buffer.from('SQLite format 3\0', 'latin1');

function isDatabase(head: Uint8Array): boolean {
  return databaseHead.equals(head.subarray(0, databaseHead.length));
}

/** A source that nobody has touched for so long is final. */
const quietMs = 86_400_000;

function failed(path: string, error: unknown): SourceReport {
  if (!isTurnlogError(error)) throw error;
  return { ...plainReport(path, 'failed'), error };
}
