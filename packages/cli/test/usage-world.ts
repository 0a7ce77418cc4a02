/**
 * Worlds of agents at work, made at random: transcripts with streamed snapshots, repeated rows, resumed copies and
 * sub-agents, and sessions recorded here whose turns were blocked and failed. Beside each world stands what it used,
 * added up from the world itself and not from its files.
 */

import fc from 'fast-check';

/** Token counts as the provider reports them: input without what was cached or put into a cache. */
export interface Reported {
  readonly input: number;
  readonly cached: number;
  readonly creation: number;
  readonly output: number;
}

/** Figures of one answer as it was streamed; the last ones are those that count. */
interface Answer {
  readonly snapshots: readonly Reported[];
  readonly hasRequest: boolean;
  /** Rows that come again word for word at the end of the file. */
  readonly repeats: readonly number[];
}

interface Turn {
  readonly answers: readonly Answer[];
  /** Whether rows of one answer stand between those of another. */
  readonly isMixed: boolean;
  /** Answers of a sub-agent that the turn starts; empty without one. */
  readonly helper: readonly Answer[];
}

interface Thread {
  readonly turns: readonly Turn[];
  /** Which of the threads before it continues, counted back from its own place; 0 for none. */
  readonly continues: number;
}

interface NativeTurn {
  readonly blocked: readonly (Reported | null)[];
  readonly end: 'turn.completed' | 'turn.failed';
  readonly usage: Reported | null;
}

export interface World {
  readonly threads: readonly Thread[];
  readonly native: readonly (readonly NativeTurn[])[];
}

const reported: fc.Arbitrary<Reported> = fc.record({
  input: fc.nat(1_000),
  cached: fc.nat(1_000),
  creation: fc.nat(1_000),
  output: fc.nat(1_000),
});

const answer: fc.Arbitrary<Answer> = fc.record({
  snapshots: fc.array(reported, { minLength: 1, maxLength: 4 }),
  hasRequest: fc.boolean(),
  repeats: fc.array(fc.nat(3), { maxLength: 2 }),
});

const turn: fc.Arbitrary<Turn> = fc.record({
  answers: fc.array(answer, { maxLength: 3 }),
  isMixed: fc.nat(5).map((number) => number === 0),
  helper: fc.array(answer, { maxLength: 2 }),
});

const nativeTurn: fc.Arbitrary<NativeTurn> = fc
  .record({
    blocked: fc.array(fc.option(reported), { maxLength: 2 }),
    end: fc.constantFrom('turn.completed' as const, 'turn.failed' as const),
    usage: fc.option(reported),
  })
  // A turn that completed states its usage: the contract wants it.
  .filter(({ end, usage }) => end === 'turn.failed' || usage !== null);

export const anyWorld: fc.Arbitrary<World> = fc.record({
  threads: fc.array(
    fc.record({ turns: fc.array(turn, { minLength: 1, maxLength: 3 }), continues: fc.nat(2) }),
    { minLength: 1, maxLength: 4 },
  ),
  native: fc.array(fc.array(nativeTurn, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
});

/** A sum of tokens as statistics state it: input with everything that went in. */
export interface Tokens {
  input: number;
  cached: number;
  creation: number;
  output: number;
}

/** What a session is to come to. */
export interface Reckoned {
  readonly tokens: Tokens;
  answers: number;
  /** The session that started it; null where a user did. */
  readonly parent: string | null;
  /** Sessions whose answers it repeats. */
  readonly repeats: Set<string>;
}

/** Files by their path below the folder of projects, what is recorded here, and what all of it used. */
export interface MadeWorld {
  readonly files: ReadonlyMap<string, string>;
  readonly native: ReadonlyMap<string, readonly object[]>;
  readonly sessions: ReadonlyMap<string, Reckoned>;
  /** Rows of all files, and those of them that are no word-for-word repeats. */
  readonly rawRows: number;
  readonly uniqueRows: number;
  /** Turns that nobody says the usage of. */
  readonly turnsWithout: number;
  /** How often it holds what makes counting hard. */
  readonly seen: ReadonlyMap<string, number>;
}

/** Which thread a file is of, or of whose sub-agent. */
export function threadOf(fileName: string): number {
  return Number(fileName.slice(0, 1)) - 1;
}

type Row = Readonly<Record<string, unknown>>;

/** A row of a thread and the answer it belongs to, by session. */
interface MadeRow {
  readonly row: Row;
  readonly owner: string;
  readonly isAnswer: boolean;
}

export function makeWorld({ threads, native }: World): MadeWorld {
  const making = new Making();
  threads.forEach((thread, index) => {
    making.thread(thread, index);
  });
  const recorded = new Map(native.map((turns, index) => [`native-${index}`, turns] as const));
  for (const [id, turns] of recorded) making.native(id, turns);
  return making.made(new Map([...recorded].map(([id, turns]) => [id, turns.flatMap(nativeEvents)])));
}

function nativeEvents({ blocked, end, usage }: NativeTurn): readonly object[] {
  const stated = (counts: Reported | null): object => (counts === null ? {} : { usage: nativeUsage(counts) });
  return [
    { type: 'turn.started' },
    ...blocked.map((counts) => ({ type: 'turn.blocked', message: 'x', ...stated(counts) })),
    end === 'turn.failed' ? { type: end, message: 'x', ...stated(usage) } : { type: end, ...stated(usage) },
  ];
}

/** In our own records input is all that went in. */
function nativeUsage({ input, cached, creation, output }: Reported): object {
  return {
    input_tokens: input + cached + creation,
    cached_input_tokens: cached,
    cache_creation_tokens: creation,
    output_tokens: output,
  };
}

/** The same with figures that only ever rise. */
function growing(answer: Answer): Answer {
  let sum: Reported = { input: 0, cached: 0, creation: 0, output: 0 };
  const snapshots = answer.snapshots.map(({ input, cached, creation, output }) => {
    sum = {
      input: sum.input + input,
      cached: sum.cached + cached,
      creation: sum.creation + creation,
      output: sum.output + output,
    };
    return sum;
  });
  return { ...answer, snapshots };
}

/** The first row of each, then the second of each, and so on. */
function mixed<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_none, at) =>
    lists.flatMap((list) => list.slice(at, at + 1)),
  ).flat();
}

class Making {
  readonly #files = new Map<string, string>();
  readonly #sessions = new Map<string, Reckoned>();
  readonly #rowsOf: (readonly MadeRow[])[] = [];
  #clockMs = Date.UTC(2026, 0, 5, 10);
  #count = 0;
  #rawRows = 0;
  #uniqueRows = 0;
  #turnsWithout = 0;
  /** Turns without an answer, by thread: a continuation has those of its origin too. */
  readonly #emptyTurnsOf: number[] = [];
  readonly #seen = new Map<string, number>();

  thread({ turns, continues }: Thread, index: number): void {
    const uuid = `${String(index + 1).repeat(8)}-1111-4111-8111-111111111111`;
    const session = `claude-${uuid}`;
    const origin = continues === 0 ? undefined : this.#rowsOf[index - continues];
    const reckoned = this.#session(session, null);
    const rows = (origin ?? []).map((made): MadeRow => {
      if (made.isAnswer) reckoned.repeats.add(made.owner);
      return { ...made, row: { ...made.row, uuid: this.#uuid(), sessionId: uuid } };
    });
    turns.forEach((each, number) => {
      rows.push(this.#own(session, this.#user(uuid, `ask ${index} ${number}`)));
      // Rows that come back to earlier figures say nothing new where others stand between them; figures grow.
      const answers = each.isMixed ? each.answers.map(growing) : each.answers;
      const given = answers.map((one) => [...this.#answer(session, uuid, one, {})]);
      rows.push(...(each.isMixed ? mixed(given) : given.flat()));
      if (each.helper.length > 0) rows.push(...this.#helper(session, uuid, each.helper));
    });
    this.#rowsOf.push(rows);
    const empty = turns.filter(({ answers }) => answers.length === 0).length;
    this.#emptyTurnsOf.push(
      empty + (origin === undefined ? 0 : (this.#emptyTurnsOf[index - continues] ?? 0)),
    );
    this.#turnsWithout += this.#emptyTurnsOf[index] ?? 0;
    if (origin !== undefined) this.#see('copy');
    this.#file(
      `${uuid}.jsonl`,
      rows,
      turns.flatMap(({ answers }) => answers),
    );
  }

  native(id: string, turns: readonly NativeTurn[]): void {
    const reckoned = this.#session(id, null);
    for (const { blocked, end, usage } of turns) {
      if (end === 'turn.failed' && blocked.length > 0) this.#see('blocked and failed');
      const counts = usage ?? blocked.findLast((each) => each !== null) ?? null;
      if (counts === null) this.#turnsWithout += 1;
      else add(reckoned.tokens, counts);
    }
  }

  made(native: MadeWorld['native']): MadeWorld {
    return {
      files: this.#files,
      native,
      sessions: this.#sessions,
      rawRows: this.#rawRows,
      uniqueRows: this.#uniqueRows,
      turnsWithout: this.#turnsWithout,
      seen: this.#seen,
    };
  }

  #see(name: string): void {
    this.#seen.set(name, (this.#seen.get(name) ?? 0) + 1);
  }

  #session(id: string, parent: string | null): Reckoned {
    const tokens = { input: 0, cached: 0, creation: 0, output: 0 };
    const made: Reckoned = { tokens, answers: 0, parent, repeats: new Set() };
    this.#sessions.set(id, made);
    return made;
  }

  /** The call of a sub-agent, its own file, and a result that states its usage once more. */
  *#helper(session: string, uuid: string, answers: readonly Answer[]): Iterable<MadeRow> {
    this.#count += 1;
    const [agentId, call] = [`a${this.#count}`, `toolu_${this.#count}`];
    const child = `${session}.${agentId}`;
    this.#session(child, session);
    this.#see('sub-agent');
    const side = { isSidechain: true, agentId };
    const rows = [
      this.#own(child, { ...this.#user(uuid, 'look there'), ...side }),
      ...answers.flatMap((given) => [...this.#answer(child, uuid, given, side)]),
    ];
    this.#file(`${uuid}/subagents/agent-${agentId}.jsonl`, rows, answers);
    yield this.#own(session, {
      ...this.#row('assistant', uuid),
      message: {
        id: `msg_call_${this.#count}`,
        role: 'assistant',
        model: 'm',
        content: [{ type: 'tool_use', id: call, name: 'Task', input: { prompt: 'look there' } }],
      },
    });
    yield this.#own(session, {
      ...this.#row('user', uuid),
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: call, content: 'seen' }] },
      toolUseResult: { agentId, totalTokens: 77_777, usage: { input_tokens: 70_000, output_tokens: 7_777 } },
    });
  }

  *#answer(session: string, uuid: string, given: Answer, more: Row): Iterable<MadeRow> {
    this.#count += 1;
    const [id, requestId] = [`msg_${this.#count}`, `req_${this.#count}`];
    const reckoned = this.#sessions.get(session);
    const last = given.snapshots.at(-1);
    if (reckoned === undefined || last === undefined) throw new Error('an answer belongs to a session');
    add(reckoned.tokens, last);
    reckoned.answers += 1;
    if (given.snapshots.length > 1) this.#see('snapshots');
    if (given.repeats.length > 0) this.#see('repeats');
    for (const [index, { input, cached, creation, output }] of given.snapshots.entries()) {
      const usage = {
        input_tokens: input,
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: creation,
        output_tokens: output,
      };
      const content = [{ type: 'text', text: `part ${index} of ${id}` }];
      const row = {
        ...this.#row('assistant', uuid),
        ...(given.hasRequest ? { requestId } : {}),
        message: { id, role: 'assistant', model: 'm', content, usage },
        ...more,
      };
      yield { row, owner: session, isAnswer: true };
    }
  }

  #own(owner: string, row: Row): MadeRow {
    return { row, owner, isAnswer: false };
  }

  #user(uuid: string, text: string): Row {
    return { ...this.#row('user', uuid), message: { role: 'user', content: text } };
  }

  #row(type: string, sessionId: string): Row {
    this.#clockMs += 1_000;
    const timestamp = new Date(this.#clockMs).toISOString();
    const about = { parentUuid: null, isSidechain: false, cwd: '/repo', version: '2.1.90' };
    return { ...about, type, uuid: this.#uuid(), sessionId, timestamp };
  }

  #uuid(): string {
    this.#count += 1;
    return `00000000-0000-4000-8000-${String(this.#count).padStart(12, '0')}`;
  }

  #file(name: string, rows: readonly MadeRow[], answers: readonly Answer[]): void {
    const lines = rows.map(({ row }) => JSON.stringify(row));
    const own = rows.flatMap(({ isAnswer }, at) => (isAnswer ? [lines[at] ?? ''] : []));
    const repeated = answers.flatMap(({ repeats }) =>
      repeats.flatMap((at) => (own.length === 0 ? [] : [own[at % own.length] ?? ''])),
    );
    this.#rawRows += lines.length + repeated.length;
    this.#uniqueRows += lines.length;
    this.#files.set(name, `${[...lines, ...repeated].join('\n')}\n`);
  }
}

export function add(sum: Tokens, { input, cached, creation, output }: Reported): void {
  sum.input += input + cached + creation;
  sum.cached += cached;
  sum.creation += creation;
  sum.output += output;
}
