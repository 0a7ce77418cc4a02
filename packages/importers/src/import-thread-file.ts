import { type FileHandle, RunningSha256 } from '@turnlog/kernel';
import type { AssetStore } from '@turnlog/store';
import { DigestSet } from './digest-set.js';
import { type FileState, type ImportState, writeImportState } from './import-state.js';
import type { ImportTarget } from './import-target.js';
import { writeJson } from './json-text.js';
import type { Ledger } from './ledger.js';
import { choosePassStart, type PassStart } from './pass-start.js';
import { type Compress, hashPrefix, RawCopy, type RawMode } from './raw-copy.js';
import { importKey } from './record-emitter.js';
import { childFile, placesBefore, RecordPlaces } from './record-places.js';
import type { SessionHistory } from './session-history.js';
import type { PlainFile, SessionIndex } from './session-index.js';
import { openSink, type SessionSink } from './session-sink.js';
import { readBeside } from './source-files.js';
import { isMembers } from './source-object.js';
import type { MappedEvent, Refusal } from './stream-types.js';
import type {
  SourcePlace,
  ThreadContext,
  ThreadFormat,
  ThreadIdentity,
  ThreadMapper,
} from './thread-format.js';
import { ThreadPass } from './thread-pass.js';

/** What shared identities of a thread's beginning are kept apart. */
const firstSharedMax = 8;

/** One file of a thread, on its way into a session. */
export interface ThreadFileJob {
  readonly target: ImportTarget;
  readonly format: ThreadFormat;
  readonly file: FileHandle;
  readonly place: SourcePlace;
  readonly identity: ThreadIdentity;
  readonly sessionId: string;
  /** Nothing will be added to the file. */
  readonly isFinal: boolean;
  readonly raw: RawMode;
  readonly assets: AssetStore;
  readonly compress: Compress;
  readonly index: SessionIndex;
  readonly onProgress: (offset: number) => void;
  /** Ends the pass behind the record in hand, where the next one can go on from there. */
  readonly signal: AbortSignal | null;
}

export type ThreadFileState = 'new' | 'grown' | 'unchanged' | 'rewritten' | 'waiting';

export interface ThreadFileOutcome {
  readonly state: ThreadFileState;
  readonly childSessionIds: readonly string[];
  /** Of the bytes that this pass added. */
  readonly ledger: Ledger;
  readonly refused: readonly Refusal[];
  readonly refusedCount: number;
  readonly pendingBytes: number;
  /** Records of an earlier pass that the file does not hold any more. */
  readonly vanishedCount: number;
  readonly unansweredCount: number;
  readonly withoutUsageCount: number;
  readonly isForked: boolean;
}

/**
 * Brings one file of a thread into its session: what is new of a file that has grown, all of one that is not known,
 * all but what is there of one that was rewritten. Killed anywhere and done again it comes to the same log.
 */
export async function importThreadFile(job: ThreadFileJob): Promise<ThreadFileOutcome> {
  const known = job.index.get(job.sessionId);
  const state = usableState(job, known?.state ?? null);
  const before = state?.files.find(({ path }) => path === job.place.path) ?? null;
  const { device, inode, size, modifiedMs } = job.file.status();
  const facts = { file: job.file, size, isFinal: job.isFinal };
  const start = before === null ? null : choosePassStart({ ...facts, before, imported: null });
  // Only behind what the state covers can nothing come again.
  const knownSeq = start?.kind === 'resumed' ? (state?.lastSeq ?? 0) : 0;
  const main = await openSink(job.target, job.sessionId, knownSeq);
  const run = new ThreadFileImport(job, { device, inode, size, modifiedMs }, state, main, start);
  try {
    return await run.run();
  } catch (error) {
    await run.abandon();
    throw error;
  }
}

/** A state of other rules says nothing: its files are folded from their start. */
function usableState({ format }: ThreadFileJob, state: ImportState | null): ImportState | null {
  return state?.format === format.name && state.mapping === format.mapping ? state : null;
}

class ThreadFileImport {
  readonly #job: ThreadFileJob;
  readonly #state: ImportState | null;
  readonly #main: SessionSink;
  readonly #children = new Map<string, SessionSink>();
  readonly #plain: PlainFile;
  readonly #name: string;
  /** Where the state says that the pass begins; null when the state does not know the file. */
  readonly #startBefore: PassStart | null;

  constructor(
    job: ThreadFileJob,
    plain: PlainFile,
    state: ImportState | null,
    main: SessionSink,
    start: PassStart | null,
  ) {
    this.#startBefore = start;
    this.#job = job;
    this.#state = state;
    this.#main = main;
    this.#plain = plain;
    this.#name = this.#fileName();
  }

  async run(): Promise<ThreadFileOutcome> {
    const start = this.#start();
    const before = this.#before;
    const answers = this.#state?.answers.copy() ?? new DigestSet();
    const places = this.#placesFor(start);
    const mapper = this.#job.format.mapper(this.#context(), start.from?.mapper ?? null);
    const given = { start, places, mapper, answers, rawCopy: this.#rawCopyFrom(start) };
    const pass = this.#passFor(given);
    const parts = { ...given, pass };
    const state = await this.#fold(parts);
    if (state !== 'waiting') this.#publish(parts);
    const isRewritten = start.kind === 'rewritten' && before !== null;
    return {
      state,
      childSessionIds: [...this.#children.keys()],
      ledger: pass.book.read(),
      refused: pass.refused,
      refusedCount: pass.refusedCount,
      pendingBytes: this.#plain.size - pass.position.offset,
      vanishedCount: isRewritten ? before.records.countMissingIn(places.records) : 0,
      unansweredCount: mapper.unansweredCount,
      withoutUsageCount: mapper.withoutUsageCount,
      isForked: state === 'new' && isMembers(pass.runStarted?.['forked_from']),
    };
  }

  #rawCopyFrom({ countedTo }: PassStart): RawCopy {
    const { file, raw: mode, assets, compress } = this.#job;
    return new RawCopy(file, { mode, from: countedTo, assets, compress });
  }

  async #fold(parts: FoldParts): Promise<ThreadFileState> {
    const { pass, rawCopy } = parts;
    try {
      await rawCopy.advance(pass.position.offset, this.#plain.size);
      await pass.run();
      return await this.#finish(parts);
    } finally {
      await rawCopy.abandon();
    }
  }

  async abandon(): Promise<void> {
    for (const sink of this.#children.values()) await sink.abandon();
    await this.#main.abandon();
  }

  get #history(): SessionHistory {
    return this.#main.history;
  }

  /** Files keep their names; a new one gets the next. */
  #fileName(): string {
    const known = this.#knownFiles();
    return known.find(({ path }) => path === this.#job.place.path)?.file ?? `f${known.length + 1}`;
  }

  #knownFiles(): readonly { readonly file: string; readonly path: string }[] {
    const files = this.#state?.files ?? [];
    const others = this.#history.files.filter(({ file }) => files.every((each) => each.file !== file));
    return [...files, ...others];
  }

  #start(): PassStart {
    if (this.#startBefore !== null) return this.#startBefore;
    const { file, isFinal } = this.#job;
    const imported = this.#history.files.find((each) => each.file === this.#name) ?? null;
    return choosePassStart({ file, size: this.#plain.size, isFinal, before: null, imported });
  }

  get #before(): FileState | null {
    return this.#state?.files.find(({ file }) => file === this.#name) ?? null;
  }

  #placesFor({ from }: PassStart): RecordPlaces {
    const records = from === null ? new DigestSet() : from.records.copy();
    const shared = this.#state?.shared.copy() ?? new DigestSet();
    return new RecordPlaces(this.#job.format, this.#name, from?.places ?? placesBefore(this.#job.identity), {
      records,
      shared,
    });
  }

  #context(): ThreadContext {
    const { sessionId, identity, index } = this.#job;
    return {
      sessionId,
      identity,
      recorded: this.#state?.runStarted ?? this.#history.runStarted,
      isInStore: this.#main.state === 'grown',
      store: index.viewFor(sessionId),
      readBeside: (names) => readBeside(this.#job.target.environment.fs, this.#job.place.path, names),
    };
  }

  #passFor({ start, places, mapper, answers, rawCopy }: Omit<FoldParts, 'pass'>): ThreadPass {
    const { file, format, assets, onProgress, place, signal } = this.#job;
    const isNamed = this.#knownFiles().some((each) => each.file === this.#name);
    const sourceNamed = (source: string): object => {
      const { path, name } = place;
      return { type: 'run.source', file: source, format: format.name, mapping: format.mapping, path, name };
    };
    return new ThreadPass({
      file,
      format,
      mapper,
      places,
      from: start.from?.to ?? { offset: 0, line: 1 },
      size: this.#plain.size,
      finalAt: start.finalAt,
      countedTo: start.countedTo,
      runSource: isNamed ? null : sourceNamed(this.#name),
      childSource: sourceNamed(childFile(this.#name)),
      name: this.#name,
      newestMs: this.#history.newestMs,
      answers,
      onAsset: (bytes) => {
        assets.put(bytes);
      },
      onEvent: (event) => this.#main.append(event),
      onChildEvents: (id, events) => this.#appendToChild(id, events),
      onBreath: (offset) => {
        onProgress(offset);
        return rawCopy.advance(offset, this.#plain.size);
      },
      signal: this.#canGoOn(start) ? signal : null,
    });
  }

  /**
   * Whether a pass that ends early leaves nothing behind it that the log holds already: the next one reads the keys
   * of what came since, and no others.
   */
  #canGoOn({ kind }: PassStart): boolean {
    return kind === 'resumed' || this.#main.state === 'new';
  }

  async #appendToChild(sessionId: string, events: readonly MappedEvent[]): Promise<void> {
    let sink = this.#children.get(sessionId);
    if (sink === undefined) {
      sink = await openSink(this.#job.target, sessionId);
      this.#children.set(sessionId, sink);
    }
    for (const event of events) sink.append(event);
  }

  /** Writes down the pass and gives everything back; children first, so that what names them finds them. */
  async #finish(parts: FoldParts): Promise<ThreadFileState> {
    const { start, pass } = parts;
    const hasBytes = pass.position.offset > start.countedTo;
    if (this.#main.state === 'new' && this.#main.addedCount === 0) {
      await this.abandon();
      return 'waiting';
    }
    const hasGrown = hasBytes || this.#main.addedCount > 0;
    if (hasGrown) await this.#writePass(parts);
    for (const sink of this.#children.values()) await sink.finish();
    await this.#main.finish();
    if (this.#main.state === 'new') return 'new';
    if (start.kind === 'rewritten') return 'rewritten';
    return hasGrown ? 'grown' : 'unchanged';
  }

  async #writePass({ start, pass, mapper, rawCopy }: FoldParts): Promise<void> {
    const { format } = this.#job;
    const to = pass.position.offset;
    const from = Math.min(start.countedTo, to);
    const raw = await rawCopy.finish(to, start.hash);
    pass.writeSource();
    const sha256 = this.#digestAt(to, start);
    const isEnded = this.#isEndedAt(to);
    const members = {
      type: 'run.imported',
      file: this.#name,
      from,
      to,
      prefix_sha256: sha256,
      final: isEnded,
      active_leaf: mapper.activeLeaf,
      ledger: pass.book.read(),
      raw,
    };
    const key = importKey(format.name, `pass\0${this.#name}\0${sha256}\0${to}\0${isEnded}`, 0);
    this.#main.append({ event: { raw: writeJson(members) }, key, tsMs: pass.newestMs });
  }

  /** The digest of the bytes before `to`; `start` has come as far, unless the rules have changed. */
  #digestAt(to: number, { hash, countedTo }: PassStart): string {
    if (to >= countedTo) return hash.digestHex();
    const shorter = new RunningSha256();
    hashPrefix(this.#job.file, shorter, 0, to);
    return shorter.digestHex();
  }

  #isEndedAt(to: number): boolean {
    const wasEnded = this.#before?.isFinal === true && this.#before.to.offset === to;
    return to === this.#plain.size && (this.#job.isFinal || wasEnded);
  }

  /** What others have left of the session stays; a guest is folded again each time. */
  #publish(parts: FoldParts): void {
    if (this.#job.format.isGuest === true) return;
    const { start, pass, places, mapper, answers } = parts;
    const { target, sessionId, format, identity, place, index } = this.#job;
    const to = pass.position;
    const fileState: FileState = {
      file: this.#name,
      path: place.path,
      ...this.#plain,
      to,
      sha256: this.#digestAt(to.offset, start),
      isFinal: this.#isEndedAt(to.offset),
      isStopped: pass.isStopped,
      places: places.state(),
      mapper: mapper.state(),
      unansweredCount: mapper.unansweredCount,
      withoutUsageCount: mapper.withoutUsageCount,
      records: places.records,
    };
    const others = (this.#state?.files ?? []).filter(({ file: name }) => name !== this.#name);
    const state: ImportState = {
      format: format.name,
      mapping: format.mapping,
      threadId: identity.threadId,
      aliases: identity.aliases,
      lastSeq: this.#main.lastSeq,
      runStarted: this.#state?.runStarted ?? this.#history.runStarted ?? pass.runStarted,
      files: [...others, fileState],
      firstShared: (identity.shared ?? []).slice(0, firstSharedMax),
      shared: places.shared,
      answers,
    };
    writeImportState(target.environment, `${target.sessionsDirectory}/${sessionId}`, state);
    index.note(sessionId, state);
  }
}

interface FoldParts {
  readonly start: PassStart;
  readonly pass: ThreadPass;
  readonly places: RecordPlaces;
  readonly mapper: ThreadMapper;
  readonly answers: DigestSet;
  readonly rawCopy: RawCopy;
}
