import { basename, dirname } from 'node:path';
import { type FileHandle, RunningSha256 } from '@turnlog/kernel';
import { LineFramer } from '@turnlog/log';
import { AssetStore } from '@turnlog/store';
import type { ImportReport } from './import-report.js';
import type { ImportTarget } from './import-target.js';
import type { Ledger } from './ledger.js';
import { lineParts } from './line-objects.js';
import { openEventStream } from './open-event-stream.js';
import { type Compress, compressFast, copyRaw, type RawMode, type RawPart } from './raw-copy.js';
import { importKey } from './record-emitter.js';
import type { ImportedFile } from './session-history.js';
import { openSink, type SessionSink } from './session-sink.js';
import { openNamed } from './source-files.js';
import type { EarlierRuns, EventStream, Refusal, StreamOptions, StreamStep } from './stream-types.js';
import { digestOf } from './survey-log.js';

/** Refusals listed; further ones are counted only. */
const refusalsListedMax = 1_000;

export interface StreamFileOptions {
  readonly from: 'codex-exec' | 'claude-stream';
  /** Nothing will be added to the file: a turn that it leaves open has failed, a cut last line is refused. */
  readonly final?: boolean;
  readonly prompt?: string;
  /** Where the agent worked, for a stream that does not say it. */
  readonly workspace?: string;
  /** By default `asset`. */
  readonly raw?: RawMode;
  /** Compresses the raw copy; by default as fast as can be. */
  readonly compress?: Compress;
}

/**
 * Imports a saved stream. A thread that the store does not know becomes a new session, built beside the others
 * and renamed into place; what is new of a known one is appended to its session.
 *
 * @throws TURNLOG_NOT_FOUND, TURNLOG_UNSAFE_PATH (a link), TURNLOG_UNKNOWN_SOURCE, TURNLOG_LOCKED, TURNLOG_IO.
 */
export async function importStreamFile(
  target: ImportTarget,
  path: string,
  options: StreamFileOptions,
): Promise<ImportReport> {
  const file = openNamed(target.environment.fs, path);
  try {
    return await new StreamFileImport(target, path, file, options).run();
  } finally {
    file.close();
  }
}

class StreamFileImport {
  readonly #target: ImportTarget;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #options: StreamFileOptions;
  readonly #bytes: number;
  readonly #sinks = new Map<string, SessionSink>();
  readonly #refused: Refusal[] = [];
  /** Position behind the last line that was taken. */
  #to = 0;

  constructor(target: ImportTarget, path: string, file: FileHandle, options: StreamFileOptions) {
    this.#target = target;
    this.#path = path;
    this.#file = file;
    this.#options = options;
    this.#bytes = file.status().size;
  }

  async run(): Promise<ImportReport> {
    const scout = this.#streamFor('f1');
    const sessionId = this.#findSessionId(scout);
    if (sessionId === null) return this.#report('empty', null, scout);
    this.#refused.length = 0;
    try {
      return await this.#runInto(sessionId);
    } catch (error) {
      for (const sink of this.#sinks.values()) await sink.abandon();
      throw error;
    }
  }

  async #runInto(sessionId: string): Promise<ImportReport> {
    const main = await this.#sinkOf(sessionId);
    const { history } = main;
    const known = this.#knownFile(history.files);
    const file = known?.file ?? `f${history.files.length + 1}`;
    const stream = this.#streamFor(file);
    const sameRun = known === undefined ? {} : { sameRun: known.run };
    const { runCount, hasKey } = history;
    const isContinued = await this.#fold(stream, main, { runCount, hasKey, ...sameRun });
    const sha256 = digestOf(this.#file, 0, this.#to) ?? '';
    const passes = history.files.flatMap((each) => each.passes);
    const isKnown = passes.some((pass) => pass.to === this.#to && pass.sha256 === sha256);
    if (!isContinued || (isKnown && main.addedCount === 0)) {
      for (const sink of this.#sinks.values()) await sink.abandon();
      return this.#report(isContinued ? 'unchanged' : 'empty', isContinued ? sessionId : null, stream);
    }
    const raw = await this.#copyRaw(Math.max(0, ...(known?.passes ?? []).map((pass) => pass.to)));
    main.append({
      event: { raw: JSON.stringify({ ...this.#passEvent(file, sha256, stream.ledger), raw }) },
      key: importKey(this.#options.from, `pass\0${sha256}\0${this.#to}`, 0),
    });
    // Sub-agents first: a session that names them is there only when they are.
    for (const sink of [...this.#sinks.values()].filter((each) => each !== main)) await sink.finish();
    await main.finish();
    return this.#report(main.state, sessionId, stream);
  }

  /** The file of an earlier pass that this one holds the bytes of: the same path may hold another run by now. */
  #knownFile(files: readonly ImportedFile[]): ImportedFile | undefined {
    return files.find(
      ({ path, passes }) =>
        path === this.#path &&
        passes.some(({ to, sha256 }) => to <= this.#bytes && digestOf(this.#file, 0, to) === sha256),
    );
  }

  #passEvent(file: string, sha256: string, ledger: Ledger): object {
    const final = this.#options.final === true;
    return {
      type: 'run.imported',
      file,
      from: 0,
      to: this.#to,
      prefix_sha256: sha256,
      final,
      ledger,
    };
  }

  /** Keeps the bytes that no earlier pass over the file has kept. */
  #copyRaw(keptTo: number): Promise<readonly RawPart[]> {
    const { environment, sessionsDirectory } = this.#target;
    const { raw: mode = 'asset', compress = compressFast } = this.#options;
    const assets = new AssetStore(environment, dirname(sessionsDirectory));
    const from = Math.min(keptTo, this.#to);
    return copyRaw(this.#file, { mode, from, to: this.#to, hash: new RunningSha256(), assets, compress });
  }

  #streamFor(file: string): EventStream {
    const { from, prompt, workspace } = this.#options;
    const options: StreamOptions = {
      from,
      now: () => this.#target.environment.clock.now(),
      source: { file, path: this.#path, name: basename(this.#path) },
      ...(prompt === undefined ? {} : { prompt }),
      ...(workspace === undefined ? {} : { workspace }),
    };
    return openEventStream(options);
  }

  /** The lines of the file, in order; a cut last one only when nothing will be added any more. */
  *#lines(stream: EventStream): Iterable<StreamStep> {
    const framer = new LineFramer(this.#file, { from: 0, to: this.#bytes });
    while (framer.next()) {
      if (framer.isTooLong) {
        yield stream.skip(framer.length);
      } else {
        const line = framer.bytes.subarray(framer.start, framer.end);
        if (!framer.isTerminated && this.#isPending(line)) return;
        yield stream.push(line, framer.isTerminated ? 'line-feed' : 'unended');
      }
      this.#to = framer.nextOffset;
    }
  }

  #isPending(line: Uint8Array): boolean {
    if (this.#options.final === true) return false;
    return lineParts(line, 0, line.length).some(({ kind }) => kind === 'refused');
  }

  /** Reads up to the object that names the session; null when there is none in the file. */
  #findSessionId(scout: EventStream): string | null {
    for (const step of this.#lines(scout)) {
      if (step.sessionId !== undefined) return step.sessionId;
      this.#noteRefused(step);
    }
    return null;
  }

  /** Folds the file into its sessions; false when it holds no event yet. */
  async #fold(stream: EventStream, main: SessionSink, earlier: EarlierRuns): Promise<boolean> {
    this.#to = 0;
    let hasEvents = false;
    for (const step of this.#lines(stream)) {
      if (step.sessionId !== undefined) stream.continueFrom(earlier);
      hasEvents = (await this.#take(step, main)) || hasEvents;
    }
    if (this.#options.final !== true) return hasEvents;
    return (await this.#take(stream.end(), main)) || hasEvents;
  }

  async #take(step: StreamStep, main: SessionSink): Promise<boolean> {
    for (const event of step.events) main.append(event);
    for (const { sessionId, events } of step.children) {
      const sink = await this.#sinkOf(sessionId);
      for (const event of events) sink.append(event);
    }
    this.#noteRefused(step);
    return step.events.length + step.children.length > 0;
  }

  #noteRefused(step: StreamStep): void {
    this.#refused.push(...step.refused.slice(0, refusalsListedMax - this.#refused.length));
  }

  async #sinkOf(sessionId: string): Promise<SessionSink> {
    const known = this.#sinks.get(sessionId);
    if (known !== undefined) return known;
    const sink = await openSink(this.#target, sessionId);
    this.#sinks.set(sessionId, sink);
    return sink;
  }

  #report(state: ImportReport['state'], sessionId: string | null, stream: EventStream): ImportReport {
    const { ledger, unansweredCount } = stream;
    const records = Object.entries(ledger.records)
      .filter(([kind]) => !kind.startsWith('refused:'))
      .reduce((sum, [, count]) => sum + count, 0);
    return {
      state,
      sessionId,
      childSessionIds: [...this.#sinks.keys()].filter((id) => id !== sessionId),
      source: {
        kind: this.#options.from,
        sessionId: sessionId ?? '',
        path: this.#path,
        name: basename(this.#path),
        bytes: this.#bytes,
        sha256: digestOf(this.#file, 0, this.#bytes) ?? '',
      },
      pendingBytes: this.#bytes - ledger.bytes,
      records,
      damageCount: this.#refused.length,
      unansweredCount,
      turnBase: { value: 1, isCertain: true },
      schemaVersions: [],
      ledger,
      refused: this.#refused,
    };
  }
}
