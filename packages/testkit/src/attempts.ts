import { assert, isTurnlogError } from '@turnlog/kernel';
import type {
  AppendChoices,
  DurabilityClass,
  LogUnderTest,
  RangeOfSeqs,
  SharedLogUnderTest,
} from './engine-under-test.js';

/**
 * What became of one event that a scenario tried to append, as far as its caller was told.
 *
 * - `tried`: no answer, or one that leaves it open (`outcome: unknown`): it may be in the log.
 * - `accepted`: the call returned; a crash may lose it.
 * - `durable`: promised to survive.
 * - `refused`: the caller was told that nothing of it is in the log.
 */
export type Fate = 'tried' | 'accepted' | 'durable' | 'refused';

export interface Attempt {
  readonly text: string;
  readonly key: string | null;
  fate: Fate;
  /** The seq that its record was promised; null before it was accepted. */
  seq: number | null;
  /** The turn that its record was said to belong to; null outside turns and where nothing was said. */
  turn: number | null;
  /** Whether one of its tries ended without an answer: no later refusal says that it is not in the log. */
  isDoubtful: boolean;
}

/** The kinds of events a scenario appends, in short. */
export type EventName = 'thread' | 'start' | 'complete' | 'fail' | 'end' | 'note';

const usage = '{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}';

function eventText(name: EventName, mark: number, padding: string): string {
  const tail = `"x_mark":${mark},"x_text":${JSON.stringify(`é${padding}`)}}`;
  switch (name) {
    case 'thread':
      return `{"type":"thread.started","thread_id":"t",${tail}`;
    case 'start':
      return `{"type":"turn.started",${tail}`;
    case 'complete':
      return `{"type":"turn.completed","usage":${usage},${tail}`;
    case 'fail':
      return `{"type":"turn.failed","message":"m",${tail}`;
    case 'end':
      return `{"type":"thread.completed","thread_id":"t","session_id":"s","subtype":"success","outcome_code":"ok","usage":${usage},"num_turns":1,${tail}`;
    case 'note':
      return `{"type":"x.test.note",${tail}`;
  }
}

export interface TriedAppend extends AppendChoices {
  /** How many bytes longer than usual. */
  readonly padding?: number;
  /** Tries an earlier event again: its position among the attempts. */
  readonly again?: number;
}

const writeBufferBytes = 65_536;

/**
 * Appends through an engine and writes down what was promised. Each event carries a number of its own, so that
 * no two are equal. What is promised follows the table of durability classes, counted here in the plainest way.
 */
export class Attempts {
  readonly list: Attempt[];
  /** How many attempts are promised to survive. */
  durableCount: number;
  durability: DurabilityClass = 'turn';
  #bufferedBytes = 0;

  constructor(list: readonly Attempt[] = []) {
    this.list = list.map((attempt) => ({ ...attempt }));
    this.durableCount = this.list.filter(({ fate }) => fate === 'durable').length;
  }

  append(log: SharedLogUnderTest, name: EventName, options: TriedAppend = {}): number {
    const attempt = this.#attempt(name, options);
    const { padding: _padding, again: _again, ...choices } = options;
    try {
      const { seq, turn } = log.append({ raw: attempt.text }, choices);
      this.#accepted(attempt, seq);
      attempt.turn ??= turn;
      const isBoundary = name === 'complete' || name === 'fail' || name === 'end';
      this.#afterWrite(choices.durability ?? this.durability, isBoundary);
      return seq;
    } catch (error) {
      this.#failed([attempt], error);
      throw error;
    }
  }

  appendBatch(log: SharedLogUnderTest, names: readonly EventName[], padding = 0): readonly number[] {
    const tried = names.map((name) => this.#attempt(name, { padding }));
    try {
      const { seqs } = log.appendBatch(tried.map(({ text }) => ({ raw: text })));
      for (const [position, attempt] of tried.entries()) this.#accepted(attempt, seqs[position] ?? 0);
      const isBoundary = names.some((name) => name === 'complete' || name === 'fail' || name === 'end');
      this.#afterWrite(this.durability, isBoundary);
      return seqs;
    } catch (error) {
      this.#failed(tried, error);
      throw error;
    }
  }

  /** A frame of notes; it is promised to survive when the call returns. */
  appendFrame(log: SharedLogUnderTest, frame: string, memberCount: number, padding = 0): void {
    const tried = Array.from({ length: memberCount }, () => this.#attempt('note', { padding }));
    try {
      const members = tried.map(({ text }) => ({ raw: text }));
      const written = log.appendFrame?.({ frame, fence: null, kind: 'plan' }, members);
      assert(written !== undefined, 'the engine has frames');
      for (const [position, attempt] of tried.entries()) this.#accepted(attempt, written.seqs[position] ?? 0);
      this.#afterWrite('event', false);
    } catch (error) {
      this.#failed(tried, error);
      throw error;
    }
  }

  /** All that was accepted so far is promised to survive. */
  noteDurable(): void {
    for (const attempt of this.list) if (attempt.fate === 'accepted') this.#keep(attempt);
    this.#bufferedBytes = 0;
  }

  flush(log: LogUnderTest): void {
    log.flush();
    this.#bufferedBytes = 0;
  }

  sync(log: LogUnderTest): void {
    log.sync();
    this.noteDurable();
  }

  async commit(log: LogUnderTest): Promise<void> {
    const before = this.list.filter(({ fate }) => fate === 'accepted');
    await log.commit();
    for (const attempt of before) if (attempt.fate === 'accepted') this.#keep(attempt);
  }

  async close(log: LogUnderTest): Promise<void> {
    try {
      await log.close();
    } catch (error) {
      this.#unstored(error);
      throw error;
    }
    this.noteDurable();
  }

  /** A reopened handle says what became of the doubtful ones; those it names lost must not come back. */
  async reopen(log: LogUnderTest): Promise<void> {
    const { stored, lost } = await log.reopen();
    this.#bufferedBytes = 0;
    for (const attempt of this.list) {
      if (attempt.fate !== 'accepted') continue;
      if (isWithin(stored, attempt.seq)) this.#keep(attempt);
      else if (isWithin(lost, attempt.seq)) attempt.fate = 'refused';
    }
  }

  /** The machine stopped: what was accepted and not promised to survive may be there, under its seq, or not. */
  crash(): void {
    for (const attempt of this.list) if (attempt.fate === 'accepted') attempt.fate = 'tried';
    this.#bufferedBytes = 0;
  }

  #keep(attempt: Attempt): void {
    attempt.fate = 'durable';
    this.durableCount += 1;
  }

  /** A close that fails names the records that are not stored. */
  #unstored(error: unknown): void {
    if (!isTurnlogError(error) || error.details['outcome'] !== 'none') return;
    const { fromSeq: from, toSeq: to } = error.details;
    if (typeof from !== 'number' || typeof to !== 'number') return;
    for (const attempt of this.list) {
      if (attempt.fate === 'accepted' && isWithin({ from, to }, attempt.seq)) attempt.fate = 'refused';
    }
  }

  #attempt(name: EventName, options: TriedAppend): Attempt {
    const earlier = options.again === undefined ? undefined : this.list[options.again];
    if (earlier !== undefined) {
      if (earlier.fate === 'refused') {
        earlier.fate = 'tried';
        earlier.seq = null;
        earlier.turn = null;
      }
      return earlier;
    }
    const text = eventText(name, this.list.length, 'p'.repeat(options.padding ?? 0));
    const attempt: Attempt = {
      text,
      key: options.key ?? null,
      fate: 'tried',
      seq: null,
      turn: null,
      isDoubtful: false,
    };
    this.list.push(attempt);
    return attempt;
  }

  #accepted(attempt: Attempt, seq: number): void {
    attempt.seq = seq;
    if (attempt.fate !== 'durable') attempt.fate = 'accepted';
    this.#bufferedBytes +=
      lineOf({ seq, ts: 'x'.repeat(24), key: attempt.key, text: attempt.text }).length + 1;
  }

  #afterWrite(durability: DurabilityClass, isBoundary: boolean): void {
    const isFull = this.#bufferedBytes >= writeBufferBytes;
    if (durability === 'event' || (durability === 'turn' && (isBoundary || isFull))) this.noteDurable();
    else if (isFull) this.#bufferedBytes = 0;
  }

  #failed(tried: readonly Attempt[], error: unknown): void {
    for (const attempt of tried) {
      if (!isRefusal(error)) attempt.isDoubtful = true;
      // A refused repetition takes nothing back of what was accepted before.
      else if (attempt.fate === 'tried' && attempt.seq === null && !attempt.isDoubtful)
        attempt.fate = 'refused';
    }
  }
}

function isWithin(range: RangeOfSeqs | null, seq: number | null): boolean {
  return range !== null && seq !== null && seq >= range.from && seq <= range.to;
}

const refusals: ReadonlySet<string> = new Set([
  'TURNLOG_INVALID_EVENT',
  'TURNLOG_TOO_DEEP',
  'TURNLOG_RECORD_TOO_LARGE',
  'TURNLOG_RESERVED_RECORD',
  'TURNLOG_KEY_CONFLICT',
  'TURNLOG_STALE_HEAD',
  'TURNLOG_POISONED',
  'TURNLOG_CLOSED',
]);

/** Whether an error tells its caller that nothing of the call is in the log. */
export function isRefusal(error: unknown): boolean {
  if (!isTurnlogError(error)) return false;
  return refusals.has(error.code) || error.details['outcome'] === 'none';
}

/** The text of a record's line, written without any code of the engine. */
export function lineOf(record: {
  readonly seq: number;
  readonly ts: string;
  readonly key: string | null;
  readonly text: string;
}): string {
  const key = record.key === null ? '' : `,"key":${JSON.stringify(record.key)}`;
  return `{"schema_version":"0.18.0","seq":${record.seq},"ts":"${record.ts}"${key},"event":${record.text}}`;
}
