import {
  evolveTurnUsage,
  initialTurnUsage,
  ownMember,
  ownText,
  parseTimestamp,
  turnUsageOf,
  type UsageCounts,
} from '@turnlog/events';
import type { LogRecord } from '@turnlog/log';
import type { SqliteDatabase, SqliteStatement, SqlValue } from './sqlite-port.js';

/** The greatest whole number of SQLite: no session uses so many tokens. */
const integerMax = 9_223_372_036_854_775_807n;

/**
 * Writes what records say of usage, a row for each answer of a model, each turn and the thread. Which of them count is
 * said by the view `counted_usage`, so that a row never changes because of another one.
 */
export class UsageRows {
  readonly #answer: SqliteStatement<never>;
  readonly #turn: SqliteStatement<never>;
  readonly #thread: SqliteStatement<never>;

  constructor(database: SqliteDatabase) {
    const columns = `(session, key, source, turn, ts, year, month, day, model, input_tokens, cached_input_tokens,
      cache_creation_tokens, output_tokens, cost_usd, repeat_of)`;
    const insert = `INSERT INTO usage ${columns} VALUES (${Array.from({ length: 15 }, () => '?').join(', ')})`;
    const figures = `input_tokens = excluded.input_tokens, cached_input_tokens = excluded.cached_input_tokens,
      cache_creation_tokens = excluded.cache_creation_tokens, output_tokens = excluded.output_tokens,
      cost_usd = excluded.cost_usd`;
    // Rows of one answer are snapshots, and the last counts; a copy of one that counted already says nothing new.
    this.#answer = database.prepare(`${insert} ON CONFLICT DO UPDATE SET model = excluded.model, ${figures},
      repeat_of = excluded.repeat_of WHERE repeat_of IS NOT NULL OR excluded.repeat_of IS NULL`);
    this.#turn = database.prepare(`${insert} ON CONFLICT DO UPDATE SET ts = excluded.ts, year = excluded.year,
      month = excluded.month, day = excluded.day, model = excluded.model, ${figures}`);
    this.#thread =
      database.prepare(`${insert} ON CONFLICT DO UPDATE SET ts = excluded.ts, year = excluded.year,
      month = excluded.month, day = excluded.day, model = excluded.model, ${figures}`);
  }

  /** Takes a record that has an effect; `model` is the one at work. */
  take(session: string, record: LogRecord, model: string | null): void {
    if (record.type === 'run.answer') this.#takeAnswer(session, record, model);
    else if (record.type === 'thread.completed') this.#takeThread(session, record, model);
    else if (record.turn !== null) this.#takeTurn(session, record, record.turn, model);
  }

  #takeAnswer(session: string, record: LogRecord, model: string | null): void {
    const event = record.readEvent();
    const id = ownText(event, 'answer_id');
    const named = ownText(event, 'model') ?? model;
    const place = placeOf(record);
    // An answer without a name cannot be counted once, but its turn has answers.
    if (id === null) {
      this.#answer.run(
        session,
        `turn ${record.turn}, unnamed`,
        'answer',
        ...place,
        named,
        ...none,
        null,
        null,
      );
      return;
    }
    const key = JSON.stringify([id, ownText(event, 'request_id')]);
    const cost = costIn(event, 'cost_usd');
    const repeatOf = ownText(event, 'repeat_of');
    const figures = figuresOf(statedUsage(record));
    this.#answer.run(session, key, 'answer', ...place, named, ...figures, cost, repeatOf);
  }

  #takeThread(session: string, record: LogRecord, model: string | null): void {
    const cost = costIn(record.readEvent(), 'total_cost_usd');
    const [, ...time] = placeOf(record);
    const figures = figuresOf(statedUsage(record));
    this.#thread.run(session, 'thread', 'thread', null, ...time, model, ...figures, cost, null);
  }

  /** The end of a turn, or `turn.blocked`, which an end that states a usage replaces. */
  #takeTurn(session: string, record: LogRecord, turn: number, model: string | null): void {
    const { usage, source } = turnUsageOf(evolveTurnUsage(initialTurnUsage, record));
    if (source === null) return;
    const place = placeOf(record);
    this.#turn.run(session, `turn ${turn}`, 'turn', ...place, model, ...figuresOf(usage), null, null);
  }
}

const none = [null, null, null, null] as const;

/** Turn, time, and the parts of its day in UTC. */
function placeOf({ turn, ts }: LogRecord): readonly [SqlValue, SqlValue, SqlValue, SqlValue, SqlValue] {
  const tsMs = ts === null ? null : parseTimestamp(ts);
  if (tsMs === null) return [turn, null, null, null, null];
  const date = new Date(tsMs);
  return [turn, tsMs, date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
}

function figuresOf(usage: UsageCounts | null): readonly SqlValue[] {
  if (usage === null) return none;
  return [usage.input, usage.cached, usage.creation, usage.output].map((count) =>
    count > integerMax ? integerMax : count,
  );
}

/** The exact counts of the member `usage`, read as that of a turn's end: the rules for both are the same. */
function statedUsage(record: LogRecord): UsageCounts | null {
  const asEnd = { type: 'turn.completed', eventBytes: () => record.eventBytes() };
  return turnUsageOf(evolveTurnUsage(initialTurnUsage, asEnd)).usage;
}

function costIn(event: unknown, name: string): number | null {
  const cost = ownMember(event, name);
  return typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : null;
}
