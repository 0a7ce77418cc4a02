import type { DocumentShape } from './document-window.js';
import type { LedgerClass } from './ledger.js';
import type { RecordEmitter } from './record-emitter.js';
import type { Members, SourceObject } from './source-object.js';

/**
 * What the importer of a format of files that hold threads has to supply; everything else is the driver's:
 * finding and reading files, lines and fused objects, the ledger, times and their clamping, keys, `src`,
 * `run.source` and `run.imported`, assets, the raw copy, growth, rewritten files, locks, reports.
 *
 * The driver works through a file in this order: `recognises` its first object, `survey` its thread, then one
 * `mapper` takes record after record of the file, each exactly once and in file order.
 */
export interface ThreadFormat {
  /** Name in `run.source.format`, reports and keys, as in `codex-rollout`. Never changes. */
  readonly name: string;
  /** Version of the rules, for `run.source.mapping`. Another one makes every file be folded again from 0. */
  readonly mapping: string;
  /** What ids of its sessions begin with, as in `codex`. */
  readonly prefix: string;
  /**
   * Given for files that are one JSON document instead of lines. Its records have no line, and its survey is shown the
   * document as one object.
   */
  readonly document?: DocumentShape;
  /** Formats of the same prefix that hold a thread in other words: where one of them is in, this one is a conflict. */
  readonly rivals?: readonly string[];
  /** Its files stand beside others of a thread: they go into its session, whatever has made it. */
  readonly isGuest?: boolean;
  /** Threads may stand in the store as logs that were taken over byte for byte, under ids of their own. */
  readonly hasLogs?: boolean;
  /** Whether the first complete object of a file is of this format. Names are not looked at. */
  recognises(value: Members): boolean;
  /** Begins to find out which thread a file holds. */
  survey(place: SurveyedPlace): ThreadSurvey;
  /** The record's own id, which then is its identity (IM-18); undefined: its digest and occurrence number are. */
  recordId(object: SourceObject): string | undefined;
  /** The record's time as the source has it: RFC 3339, or a number of seconds or milliseconds. */
  recordTime(object: SourceObject): unknown;
  /**
   * What a copy of this record in another thread would have in common with it, as Codex payloads and Claude
   * uuids have; undefined for records that are in no copy. `StoreView.holds` is answered from these.
   */
  sharedIdentity(object: SourceObject): string | Uint8Array | undefined;
  /** The id of the call that started another thread, from the state of the thread that called; for `StoreView.callOf`. */
  callOf?(state: unknown, threadId: string): string | undefined;
  /**
   * `noted`: the shared identities of every session are kept with its state, and `StoreView.holderOf` finds them.
   * `on-demand`: they are read from the raw copy, or the file, of the sessions that a fork names as `after`.
   */
  readonly sharing: 'noted' | 'on-demand';
  /** `state` is what `ThreadMapper.state` gave at the end of the pass before; null: the file begins. */
  mapper(context: ThreadContext, state: unknown): ThreadMapper;
}

/** Where a source file is. Nothing that is emitted depends on it but `run.source`. */
export interface SourcePlace {
  /** Absolute path, and its last part. */
  readonly path: string;
  readonly name: string;
}

/** A source file whose thread is looked for. */
export interface SurveyedPlace extends SourcePlace {
  /** Names in the folder `name` beside the folder of the file; none when there is no such folder. */
  neighbours(name: string): readonly string[];
}

/** Looks through a file for the thread that it holds. */
export interface ThreadSurvey {
  /** Takes the next object; true as soon as nothing more has to be seen. Each further object costs a reading. */
  note(object: SourceObject): boolean;
  /** Null when no object was seen. */
  identity(): ThreadIdentity | null;
}

export interface ThreadIdentity {
  /** As the source has it: data, not a checked id. */
  readonly threadId: string;
  /** Names of what was made up, for `run.started.derived`, as `thread_id`. */
  readonly derived: readonly string[];
  /** Every other id that name, header or lines give to this thread. */
  readonly aliases: readonly string[];
  /** For a sub-agent whose session is `<parent session>.<agent id>`. */
  readonly child?: { readonly parentThreadId: string; readonly agentId: string };
  /** Milliseconds since the epoch when it began, where its first records do not say it. */
  readonly startedMs?: number | null;
  /** Threads that this one was forked from or started by, which are imported first when they are in the batch. */
  readonly after: readonly string[];
  /**
   * What the first records share with their copies (`sharedIdentity`), for formats whose forks name no parent.
   * The driver puts files first that hold fewer records of their own.
   */
  readonly shared?: readonly string[];
}

/**
 * A pure fold over the records of one file of a thread, and prefix-stable: what it emits for a prefix is a prefix
 * of what it emits for the whole. It depends on the records, the state it was given and the context, never on
 * clock, path or the size of the pieces read.
 */
export interface ThreadMapper {
  /**
   * Takes one record: emits what it says into `step` and tells its class for the ledger (`refused` with the
   * reason as kind). What a later record may change is found out by peeking at the records behind it.
   *
   * `'wait'`: the answer depends on a record that is not written yet (`Lookahead.peek` gave `'later'`). Nothing may
   * have been emitted and no state changed; the pass ends before this record, and the next one gives it again.
   */
  take(record: ThreadRecord, ahead: Lookahead, step: ThreadStep): ThreadMapping | 'wait';
  /** A final source has ended: closes the open turn, writes what was still open. Called at most once a pass. */
  finish(step: ThreadStep): void;
  /** All that `take` depends on, as a JSON value; taken between two records. */
  state(): unknown;
  /** Calls that have no result so far; turns that closed without a usage. */
  readonly unansweredCount: number;
  readonly withoutUsageCount: number;
  /** End of the active path of a thread with branches, for `run.imported.active_leaf`. */
  readonly activeLeaf?: string | undefined;
}

export interface ThreadMapping {
  readonly place: LedgerClass;
  /** For the counts, as in `response_item/message`. */
  readonly kind: string;
}

/** One record of the source, when its turn has come. */
export interface ThreadRecord {
  readonly object: SourceObject;
  readonly place: RecordPlace;
}

/**
 * Where a record stands and what its events are keyed by. A plain value: a mapper that emits more for a record
 * later keeps it in its state and asks `ThreadStep.emitter` for it, with a `part` of its own.
 */
export interface RecordPlace {
  /** Name of the file, as in "f1". */
  readonly file: string;
  /** From 1; 0 in a source without lines. */
  readonly line: number;
  readonly offset: number;
  readonly bytes: number;
  /** Of the object's bytes, 64 hex digits. */
  readonly sha256: string;
  /** The record's own id; undefined when it has none. */
  readonly id?: string | undefined;
  /** What keys are made of: its id, or digest and occurrence number. */
  readonly identity: string;
  /** Time of its events, never before that of earlier records; null while none is known. */
  readonly tsMs: number | null;
  /** The record's own time where it differs from `tsMs`. */
  readonly statedTs?: string | undefined;
  /** The record has no time and takes that of the one before it. */
  readonly isTimeDerived?: boolean | undefined;
}

/** The records behind the present one. */
export interface Lookahead {
  /**
   * The `n`-th record behind the present one, from 1. `'end'`: there is none and there will be none (a final
   * source). `'later'`: it may still be written; whoever needs it answers `'wait'`. `'limit'`: more than 1,024
   * records or 8 MiB away, so the decision has to be made without it.
   */
  peek(n: number): SourceObject | 'end' | 'later' | 'limit';
}

export interface EmitterOptions {
  /** In place of the record's identity, as for a record that stands inside of another. */
  readonly identity?: string;
  /** Tells apart what one record emits at several times or for several parts; a part of the key. */
  readonly part?: string;
  /** The session of a sub-agent instead of this one. */
  readonly childSessionId?: string;
  /** For `src`: id of the record (by default its own), its parent's, and what was derived. */
  readonly id?: string;
  readonly parent?: string;
  readonly derived?: readonly string[];
}

/** Takes what a record gives. */
export interface ThreadStep {
  /**
   * Emits events of the record, in order: key, time and `src` are added. Strings above 256 KiB are cut to 64 KiB
   * and stored whole as assets (`truncated`). Ask once per record and part: the ordinal starts at 0 each time.
   */
  emitter(place: RecordPlace, options?: EmitterOptions): RecordEmitter;
  /** Stores bytes as an asset and returns the part that names it in a message or an attachment. */
  asset(bytes: Uint8Array, mediaType: string, name?: string): AssetPart;
}

export interface AssetPart {
  readonly type: 'asset';
  readonly sha256: string;
  readonly bytes: number;
  readonly media_type: string;
  readonly name?: string;
}

/** What a mapper may know beside the records. Fixed for one pass. */
export interface ThreadContext {
  readonly sessionId: string;
  readonly identity: ThreadIdentity;
  /**
   * The first `run.started` of the session when the log has one: what was decided about parents and forks at the
   * first import stays decided.
   */
  readonly recorded: Members | null;
  /** Whether the session is in the store. */
  readonly isInStore: boolean;
  readonly store: StoreView;
  /**
   * A file beside the source, as tool results that were stored apart; `names` below the source's directory, no
   * links followed. Null when there is none or it is longer than 64 MiB.
   */
  readBeside(names: readonly string[]): Uint8Array | null;
}

/** The sessions of the store, those imported earlier in the same batch included. */
export interface StoreView {
  /** The session of a thread id or alias of this format; null when it is unknown. */
  sessionOf(threadId: string): string | null;
  /** Whether the session has a record with this shared identity. */
  holds(sessionId: string, sharedIdentity: string | Uint8Array): boolean;
  /** Another session than this one whose records include this one; the oldest when there are several. */
  holderOf(sharedIdentity: string | Uint8Array): string | null;
  /** The item of the call of a session that started a thread; null when none is known. */
  callOf(sessionId: string, threadId: string): string | null;
  /** Another session than this one that has this answer of the model (IM-28). */
  sessionOfAnswer(answerId: string): string | null;
}
