import { dayOf, type ErrorCode, isTurnlogError, type TimeZone, TurnlogError } from '@turnlog/kernel';
import type { LogReader } from '@turnlog/log';
import type { SessionSummary, Store } from '@turnlog/store';
import { activityView } from './activity-view.js';
import type { Prices } from './prices.js';
import { type CountedAnswers, type Fact, factsOf, type SessionStates } from './stats-facts.js';
import { addMeasures, type Measures, nothing } from './stats-measures.js';
import { type StatsDimension, type StatsKey, type StatsRow, StatsTable } from './stats-table.js';
import { isBounded, type Window, within } from './stats-window.js';
import { toolsView } from './tools-view.js';
import { type UsageDifference, usageDifference } from './usage-entries.js';
import { usageView } from './usage-view.js';
import { openFold, runFolds } from './view-runner.js';

export interface StatsRequest {
  /** What rows are made by; without any there is the total alone. */
  readonly by?: readonly StatsDimension[];
  /** Whose days are counted. */
  readonly zone: TimeZone;
  /** From this instant on, in milliseconds since the epoch, and up to the other, which is not included. */
  readonly since?: number | null;
  readonly until?: number | null;
  /** Sessions that were at work in this directory. */
  readonly workspace?: string | null;
  /** Whether sub-agents have rows of their own or are added to the session that started them. Never both. */
  readonly subAgents?: 'apart' | 'rolled-up';
  /** For what has no recorded cost. */
  readonly prices?: Prices | null;
  /** Ends the work early; what was read by then is returned. */
  readonly signal?: AbortSignal;
}

/** A session that could not be read: it is in no row, and hides no other. */
export interface UnreadSession {
  readonly session: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What the rows of imported files came to; 0 where there are no imports. */
export interface RowCounts {
  readonly raw: number;
  /** Without those repeated word for word. */
  readonly unique: number;
  /** Answers that are named, each once, also those that are counted elsewhere. */
  readonly answers: number;
}

export interface StatsReport {
  readonly by: readonly StatsDimension[];
  readonly zone: TimeZone;
  readonly since: number | null;
  readonly until: number | null;
  /** In the order of their keys. */
  readonly rows: readonly StatsRow[];
  /** Of everything, also of what cannot be told apart by what rows are made by. */
  readonly total: Measures;
  /** Sessions that the total is made of: with `since` or `until`, those that have something inside. */
  readonly sessionCount: number;
  /** Left out by `since` or `until` because their time is unknown. */
  readonly unknownTime: Measures;
  /** Like differences and links, of the sessions that are counted: rows of files have no times of their own. */
  readonly importedRows: RowCounts;
  /** Sessions whose thread states another usage than its turns add up to. */
  readonly differences: readonly (UsageDifference & { readonly session: string })[];
  /** Sessions that continue others, or share answers with them. */
  readonly links: readonly { readonly session: string; readonly linkedTo: readonly string[] }[];
  readonly unread: readonly UnreadSession[];
}

/**
 * Counts, usage and cost of a store, from the views of its sessions, which are brought up to their logs in memory:
 * nothing is written. An answer counts once in all sessions, in the one that began first; so all are looked at, also
 * those that no row is made of.
 *
 * @throws TURNLOG_BAD_FLAG when rows are wanted by model and by tool: usage is not known by tool.
 */
export async function collectStatistics(store: Store, request: StatsRequest): Promise<StatsReport> {
  const { by = [] } = request;
  if (by.includes('model') && by.includes('tool')) {
    throw new TurnlogError('TURNLOG_BAD_FLAG', {
      details: { by },
      message: 'rows are by model or by tool: which tool used how many tokens is not known',
    });
  }
  const summaries = await store.list({
    sort: 'id',
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  const collection = new Collection(store, request);
  for (const summary of [...summaries].sort(oldestFirst)) {
    if (request.signal?.aborted === true) break;
    collection.read(summary);
    await turnOfTheLoop();
  }
  return collection.report();
}

/** By first known time; those without come last, so that a copy without times never goes before what it copied. */
function oldestFirst(left: SessionSummary, right: SessionSummary): number {
  const [a, b] = [left.firstTs ?? '\uffff', right.firstTs ?? '\uffff'];
  if (a !== b) return a < b ? -1 : 1;
  return left.id < right.id ? -1 : 1;
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

interface CollectedSession {
  readonly id: string;
  readonly workspace: string | null;
  readonly rows: ReadonlyMap<string, PartialRow>;
}

interface PartialRow {
  readonly key: Omit<StatsKey, 'session' | 'workspace'>;
  readonly measures: Measures;
}

class Collection {
  readonly #store: Store;
  readonly #request: StatsRequest;
  readonly #seenAnswers = new Set<string>();
  readonly #sessions = new Map<string, CollectedSession>();
  readonly #parents = new Map<string, string>();
  readonly #unread: UnreadSession[] = [];
  readonly #differences: (UsageDifference & { readonly session: string })[] = [];
  readonly #links: { readonly session: string; readonly linkedTo: readonly string[] }[] = [];
  readonly #window: Window;
  #total = nothing;
  #sessionCount = 0;
  #unknownTime = nothing;
  #rows: RowCounts = { raw: 0, unique: 0, answers: 0 };

  constructor(store: Store, request: StatsRequest) {
    this.#store = store;
    this.#request = request;
    this.#window = { since: request.since ?? null, until: request.until ?? null };
  }

  read(summary: SessionSummary): void {
    const { id, error } = summary;
    if (error !== null) {
      this.#unread.push({ session: id, code: error.code, message: error.message });
      return;
    }
    try {
      this.#add(summary);
    } catch (failure) {
      if (!isTurnlogError(failure)) throw failure;
      this.#unread.push({ session: id, code: failure.code, message: failure.message });
    }
  }

  #add({ id, workspaces }: SessionSummary): void {
    const reader = this.#store.read(id);
    try {
      const states = this.#statesOf(reader);
      const facts = factsOf(states, this.#answers, this.#request.prices ?? null);
      const { parent } = states.usage;
      if (parent !== null) this.#parents.set(id, parent);
      const { workspace = null } = this.#request;
      if (workspace !== null && !workspaces.includes(workspace)) return;
      const { inside, unknown } = within(this.#window, facts, reader);
      if (inside.length > 0 || !isBounded(this.#window)) this.#count(id, states);
      this.#unknownTime = sumOf(unknown, this.#unknownTime);
      this.#total = sumOf(inside, this.#total);
      const rows = this.#rowsOf(inside);
      this.#sessions.set(id, { id, workspace: workspaces.at(-1) ?? null, rows });
    } finally {
      reader.close();
    }
  }

  #statesOf(reader: LogReader): SessionStates {
    const { fs } = this.#store.environment;
    const activity = openFold(fs, reader, activityView);
    const usage = openFold(fs, reader, usageView);
    const tools = openFold(fs, reader, toolsView);
    runFolds(reader, [activity, usage, tools]);
    return { activity: activity.state, usage: usage.state, tools: tools.state };
  }

  readonly #answers: CountedAnswers = {
    claim: (answerKey) => {
      if (this.#seenAnswers.has(answerKey)) return false;
      this.#seenAnswers.add(answerKey);
      return true;
    },
  };

  #count(session: string, { usage }: SessionStates): void {
    this.#sessionCount += 1;
    const difference = usageDifference(usage);
    if (difference !== null) this.#differences.push({ ...difference, session });
    const linkedTo = usage.linkedTo.entries().map(([other]) => other);
    if (linkedTo.length > 0) this.#links.push({ session, linkedTo });
    const { raw, unique, answers } = this.#rows;
    this.#rows = {
      raw: raw + usage.rawRows,
      unique: unique + usage.uniqueRows,
      answers: answers + usage.answers.size,
    };
  }

  #rowsOf(facts: readonly Fact[]): ReadonlyMap<string, PartialRow> {
    const rows = new Map<string, PartialRow>();
    for (const fact of facts) {
      const key = this.#keyOf(fact);
      if (key === null) continue;
      const name = JSON.stringify([key.day, key.model, key.tool]);
      const measures = addMeasures(rows.get(name)?.measures ?? nothing, fact.measures);
      rows.set(name, { key, measures });
    }
    return rows;
  }

  /** Null for what cannot be told apart by what rows are made by. */
  #keyOf({ tsMs, model, tool }: Fact): PartialRow['key'] | null {
    const { by = [], zone } = this.#request;
    if (by.includes('model') && model === undefined) return null;
    if (by.includes('tool') && tool === undefined) return null;
    return {
      ...(by.includes('day') ? { day: tsMs === null ? null : dayOf(tsMs, zone) } : {}),
      ...(by.includes('model') ? { model: model ?? null } : {}),
      ...(by.includes('tool') && tool !== undefined ? { tool } : {}),
    };
  }

  report(): StatsReport {
    const { by = [], zone } = this.#request;
    const { since, until } = this.#window;
    const table = new StatsTable(by);
    for (const session of this.#sessions.values()) {
      const shown = this.#shownAs(session);
      for (const { key, measures } of session.rows.values()) {
        table.add({ ...key, session: shown.id, workspace: shown.workspace }, measures);
      }
    }
    return {
      by,
      zone,
      since,
      until,
      rows: table.rows(),
      total: this.#total,
      sessionCount: this.#sessionCount,
      unknownTime: this.#unknownTime,
      importedRows: this.#rows,
      differences: this.#differences,
      links: this.#links,
      unread: this.#unread,
    };
  }

  /** The session in whose rows another one appears. */
  #shownAs(session: CollectedSession): CollectedSession {
    if (this.#request.subAgents !== 'rolled-up') return session;
    let shown = session;
    const passed = new Set([session.id]);
    for (;;) {
      const parent = this.#parents.get(shown.id);
      const next = parent === undefined ? undefined : this.#sessions.get(parent);
      if (next === undefined || passed.has(next.id)) return shown;
      passed.add(next.id);
      shown = next;
    }
  }
}

function sumOf(facts: readonly Fact[], before: Measures): Measures {
  return facts.reduce((sum, { measures }) => addMeasures(sum, measures), before);
}
