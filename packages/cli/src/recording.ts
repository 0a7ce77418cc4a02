import { encodeRawEvent } from '@turnlog/events';
import type { EarlierRuns, EventStream, MappedEvent, StreamStep } from '@turnlog/importers';
import { type ErrorCode, isTurnlogError, type SessionId, type TurnlogError } from '@turnlog/kernel';
import type { EventInput, LogRecord, MaintenanceReport, SharedHandle, WriterOptions } from '@turnlog/log';
import { parseSessionId, type Session, type Store } from '@turnlog/store';

/** What a recording says about itself in the first `run.started`, where the input has none. */
export interface RunFacts {
  readonly program: string;
  readonly version: string;
  readonly cwd: string;
  readonly workspace?: string;
  readonly parent?: { readonly session: string };
  readonly forked_from?: { readonly session: string; readonly seq: number };
}

export interface RecordingOptions {
  /** The id that was given; without one the stream suggests it. */
  readonly id: SessionId | null;
  readonly run: RunFacts;
  readonly writer: WriterOptions;
  /** Whether the input goes on when the log fails: what cannot be stored is counted. */
  readonly onFailure: 'stop' | 'count';
  /** Called for each line that became no event, and for each failure of upkeep. */
  readonly onTrouble: (text: string) => void;
  /** Called with each seq as soon as the record is durable to its class; null when nobody asks. */
  readonly onDurable: ((seq: number) => void) | null;
}

/** Refusals of one event: the log is as it was, the next one may be taken. */
const eventRefusals: ReadonlySet<ErrorCode> = new Set([
  'TURNLOG_INVALID_EVENT',
  'TURNLOG_RECORD_TOO_LARGE',
  'TURNLOG_TOO_DEEP',
  'TURNLOG_RESERVED_RECORD',
  'TURNLOG_KEY_CONFLICT',
]);

/**
 * Appends what a stream of events gives to its session. The session is opened as soon as its id is known, and
 * held until the end. Each block of input ends in `settle`, after which a killed recorder loses none of it.
 */
export class Recording {
  readonly #store: Store;
  readonly #stream: EventStream;
  readonly #options: RecordingOptions;
  #log: Session | null = null;
  #suggestedId: string | null = null;
  /** Events of the present block, held until it is whole. */
  #block: MappedEvent[] = [];
  #needsReopen = false;
  #unacknowledged: number[] = [];
  appended = 0;
  duplicates = 0;
  refused = 0;
  /** Events that could not be stored while the input went on. */
  lost = 0;
  /** The first failure of the log, while the input goes on; null when there was none. */
  failure: TurnlogError | null = null;

  constructor(store: Store, stream: EventStream, options: RecordingOptions) {
    this.#store = store;
    this.#stream = stream;
    this.#options = options;
  }

  /** Id of the session; null while it is not known. */
  get id(): string | null {
    return this.#log?.id ?? this.#options.id ?? this.#suggestedId;
  }

  /** Opens the session when its id was given, so that a held one is found before anything is read. */
  async begin(): Promise<void> {
    const { id } = this.#options;
    if (id !== null) await this.#guarded(() => this.#open(id));
  }

  /** Takes what the stream made of one line. */
  async take(step: StreamStep): Promise<void> {
    for (const { line, reason } of step.refused) this.#refuse(`line ${line}`, reason);
    if (step.sessionId !== undefined) {
      this.#suggestedId ??= step.sessionId;
      // A resumed thread counts its runs on, and that changes what its next lines become.
      await this.#guarded(() => this.#openSuggested());
    }
    this.#block.push(...step.events);
    for (const child of step.children) {
      await this.#guarded(() => this.#appendChild(child.sessionId, child.events));
    }
  }

  /** Appends the events of the block and hands them to the operating system. */
  async settle(): Promise<void> {
    const block = this.#block;
    this.#block = [];
    if (block.length > 0) await this.#appendBlock(block);
    const log = this.#log;
    if (log === null) return;
    await this.#guarded(async () => {
      this.#noteMaintenance(log.flush().maintenance);
    });
    this.#acknowledge(log);
  }

  /** Makes everything durable and gives the session back. */
  async close(): Promise<void> {
    const log = this.#log;
    this.#log = null;
    if (log === null) return;
    await this.#guarded(async () => {
      // A short recording is cut down as well before it ends, so that its log is within its cap.
      this.#noteMaintenance((await log.maintain()).maintenance);
      this.#noteMaintenance((await log.close()).maintenance);
      this.#acknowledgeUpTo(Number.MAX_SAFE_INTEGER);
    });
  }

  async #appendBlock(block: readonly MappedEvent[]): Promise<void> {
    await this.#guarded(() => this.#reopenIfPoisoned());
    const log = this.#log;
    if (log === null) {
      this.lost += block.length;
      return;
    }
    const ahead = log.lastSeq === 0 ? runStartedFor(block, this.#options.run) : null;
    for (const [position, mapped] of block.entries()) {
      await this.#guarded(async () => {
        if (ahead !== null && position === ahead.position) log.append(ahead.event);
        this.#append(log, mapped);
      }, 1);
    }
    if (ahead !== null && ahead.position === block.length) {
      await this.#guarded(async () => {
        log.append(ahead.event);
      });
    }
  }

  #append(log: Session, { event, key }: MappedEvent): void {
    try {
      const { seq, duplicate, maintenance } = log.append(event, key === undefined ? {} : { key });
      this.#noteMaintenance(maintenance);
      if (duplicate === true) this.duplicates += 1;
      else this.appended += 1;
      if (this.#options.onDurable !== null) this.#unacknowledged.push(seq);
    } catch (error) {
      if (!isTurnlogError(error) || !eventRefusals.has(error.code)) throw error;
      if (isKnownRecord(error, key)) this.duplicates += 1;
      else this.#refuse('an event', error.message);
    }
  }

  async #open(id: string): Promise<void> {
    const log = await this.#store.open(parseSessionId(id), this.#options.writer);
    this.#log = log;
    for (const { kind, offset, length } of log.report.damage) {
      this.#options.onTrouble(`the log was damaged: ${kind}, ${length} bytes at offset ${offset}`);
    }
  }

  async #openSuggested(): Promise<void> {
    if (this.#log === null && this.#suggestedId !== null) await this.#open(this.#suggestedId);
    const log = this.#log;
    if (log === null || log.lastSeq === 0 || this.#stream.kind === 'events') return;
    const reader = this.#store.read(log.id);
    try {
      this.#stream.continueFrom(earlierRuns(reader.records()));
    } finally {
      reader.close();
    }
  }

  async #appendChild(id: string, events: readonly MappedEvent[]): Promise<void> {
    const counts = await this.#store.transaction(id, (log) => {
      const counted = { appended: 0, duplicates: 0 };
      for (const mapped of events) counted[appendOnce(log, mapped)] += 1;
      return counted;
    });
    this.appended += counts.appended;
    this.duplicates += counts.duplicates;
  }

  async #reopenIfPoisoned(): Promise<void> {
    if (!this.#needsReopen || this.#log === null) return;
    await this.#log.reopen();
    this.#needsReopen = false;
  }

  /**
   * Runs a step of the log. While the input goes on, a failure is kept and the events it cost are counted;
   * otherwise it ends the recording.
   */
  async #guarded(step: () => Promise<void>, eventCount = 0): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (this.#options.onFailure === 'stop' || !isTurnlogError(error)) throw error;
      this.lost += eventCount;
      this.#needsReopen ||= poisons(error);
      if (this.failure === null)
        this.#options.onTrouble(`${error.message}; the input is passed on all the same`);
      this.failure ??= error;
    }
  }

  #noteMaintenance(reports: readonly MaintenanceReport[] | undefined): void {
    for (const { message } of reports ?? []) this.#options.onTrouble(message);
  }

  #refuse(what: string, reason: string): void {
    this.refused += 1;
    this.#options.onTrouble(`${what} was refused: ${reason}`);
  }

  #acknowledge(log: Session): void {
    const isEnoughFlushed = this.#options.writer.durability === 'buffered';
    this.#acknowledgeUpTo(isEnoughFlushed ? log.lastSeq : log.durableSeq);
  }

  #acknowledgeUpTo(seq: number): void {
    const { onDurable } = this.#options;
    if (onDurable === null) return;
    const waiting: number[] = [];
    for (const accepted of this.#unacknowledged) {
      if (accepted > seq) waiting.push(accepted);
      else onDurable(accepted);
    }
    this.#unacknowledged = waiting;
  }
}

/** Keys of this beginning stand for a record of the source: in the log, they say that the record is there. */
const sourceKeyPrefix = 'im1:';

/** A record that came from the source before, when more or less of it was known. */
function isKnownRecord(error: TurnlogError, key: string | undefined): boolean {
  return error.code === 'TURNLOG_KEY_CONFLICT' && key?.startsWith(sourceKeyPrefix) === true;
}

/** Appends an event unless it is there, and says which of the two it was. */
function appendOnce(log: SharedHandle, { event, key }: MappedEvent): 'appended' | 'duplicates' {
  try {
    const { duplicate } = log.append(event, key === undefined ? {} : { key });
    return duplicate === true ? 'duplicates' : 'appended';
  } catch (error) {
    if (!isTurnlogError(error) || !isKnownRecord(error, key)) throw error;
    return 'duplicates';
  }
}

/** Whether a handle takes nothing more after this failure until it is opened again. */
function poisons(error: TurnlogError): boolean {
  return (
    error.code === 'TURNLOG_POISONED' ||
    error.code === 'TURNLOG_LOCK_LOST' ||
    error.details['outcome'] === 'unknown'
  );
}

/** What a stream must know of the session that it goes on in. */
function earlierRuns(records: Iterable<LogRecord>): EarlierRuns {
  const keys = new Set<string>();
  let runCount = 0;
  for (const { type, key } of records) {
    if (type === 'thread.started') runCount += 1;
    if (key !== null) keys.add(key);
  }
  return { runCount, hasKey: (key) => keys.has(key) };
}

/**
 * A new session says where it runs, unless its first block says so itself: what is to be appended, and before
 * which event of the block.
 */
function runStartedFor(
  block: readonly MappedEvent[],
  run: RunFacts,
): { readonly event: EventInput; readonly position: number } | null {
  if (block.some(({ event }) => typeOf(event) === 'run.started')) return null;
  const event = { type: 'run.started', ...run } as const;
  const [first] = block;
  return { event, position: first !== undefined && typeOf(first.event) === 'thread.started' ? 1 : 0 };
}

function typeOf(event: EventInput): string {
  if ('type' in event) return event.type;
  if ('event' in event) return event.event.type;
  try {
    return encodeRawEvent(event.raw).type;
  } catch (error) {
    // It will be refused, with its reason, when it is appended.
    if (isTurnlogError(error)) return '';
    throw error;
  }
}
