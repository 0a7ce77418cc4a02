import { documentKinds, recordRoles } from '@turnlog/events';
import {
  createTestMachine,
  FakeClock,
  FakeLockTable,
  ModelFileSystem,
  SeededRandom,
  type TestMachine,
} from '@turnlog/testkit';
import type { AgentKind } from '../src/chunk.js';
import { noFilters } from '../src/filters.js';
import type { IndexedChunk } from '../src/indexed-chunk.js';
import type { IndexAnswer, QueryHelp } from '../src/lexical-index.js';
import { PackedIndex, type PackedOptions } from '../src/packed/packed-index.js';
import { Sealing } from '../src/packed/sealing.js';
import { PathPattern } from '../src/path-pattern.js';
import type { QueryPlan } from '../src/query-plan.js';
import { dayOf, idOf, type NaiveAnswer, NaiveIndex } from './naive-index.js';

export const dayMs = 86_400_000;
export const startMs = Date.UTC(2026, 0, 1);
export const root = '/store';

export const help: QueryHelp = { textVerdict: () => true, dayOf };

/** A packed index in memory and the naive one beside it, given the same. */
export class PackedWorld {
  readonly fs: ModelFileSystem;
  readonly clock = new FakeClock('skips');
  readonly lockTable = new FakeLockTable();
  readonly machine: TestMachine;
  readonly naive = new NaiveIndex();
  readonly options: PackedOptions;
  index: PackedIndex;
  sealing: Sealing;

  constructor(options: PackedOptions = {}, fs?: ModelFileSystem) {
    this.fs = fs ?? new ModelFileSystem({ clock: this.clock });
    if (this.fs.status(root) === null) this.fs.plantDirectory(root);
    this.machine = createTestMachine({ fs: this.fs, clock: this.clock, lockTable: this.lockTable });
    this.options = options;
    this.index = PackedIndex.open(this.machine, root, options);
    this.sealing = new Sealing(this.index);
  }

  /** As another process finds it. */
  reopen(): void {
    this.index.close();
    this.index = PackedIndex.open(this.machine, root, this.options);
    this.sealing = new Sealing(this.index);
  }

  session(session: string, agent: AgentKind, workspaces: readonly string[]): void {
    this.naive.sessions.set(session, { agent, workspaces });
    this.#note(session);
  }

  add(chunk: IndexedChunk): void {
    this.#note(chunk.fields.session, chunk.fields.seq);
    this.index.add(chunk);
    this.naive.chunks.push({ ...chunk, superseded: null });
  }

  supersede(session: string, seq: number, by: { readonly seq: number; readonly tsMs: number | null }): void {
    this.index.supersede(session, seq, by);
    for (const chunk of this.naive.chunks) {
      if (chunk.fields.session === session && chunk.fields.seq === seq) chunk.superseded ??= by;
    }
  }

  removeSession(session: string): void {
    this.index.removeSession(session);
    const kept = this.naive.chunks.filter(({ fields }) => fields.session !== session);
    this.naive.chunks.splice(0, this.naive.chunks.length, ...kept);
    this.naive.sessions.delete(session);
  }

  #note(session: string, seq = 0): void {
    const { agent, workspaces } = this.naive.sessions.get(session) ?? { agent: 'primary', workspaces: [] };
    const before = this.index.sessionEntry(session)?.taken.seq ?? 0;
    const taken = {
      generation: null,
      offset: seq * 100,
      sha256: null,
      seq: Math.max(seq, before),
      tree: null,
    };
    const span = seq > before ? { from: before + 1, to: seq } : null;
    this.index.noteTaken(session, { taken, span, info: { agent, workspaces }, unindexedBytes: 0 });
  }
}

/** What both indexes say, in one form: equal to the last bit or not at all. */
export function plainAnswer(answer: IndexAnswer): NaiveAnswer {
  const { hits, hasMore, total, hiddenMatches, unknownTime, facets, statistics, expansionsCapped } = answer;
  return {
    hits: hits.map(
      ({ session, seq, n, chunk: _, tier, score, lexical, recency, len, tfs, hitsInSession }) => ({
        id: idOf({
          session,
          seq,
          n,
          turn: null,
          tsMs: null,
          role: 'user',
          kind: 'message',
          tool: null,
          paths: [],
        }),
        tier,
        score,
        lexical,
        recency,
        len,
        tfs,
        hitsInSession,
      }),
    ),
    hasMore,
    total,
    hiddenMatches,
    unknownTime,
    facets:
      facets === null
        ? null
        : Object.fromEntries(
            (['session', 'role', 'kind', 'tool', 'workspace', 'day'] as const).map((name) => [
              name,
              Object.fromEntries(facets[name].map(({ value, count }) => [value, count])),
            ]),
          ),
    ...statistics,
    expansionsCapped,
  };
}

export const plainPlan: QueryPlan = {
  terms: [],
  whole: null,
  required: [],
  excluded: [],
  filters: { ...noFilters, hidden: 'included' },
  asOf: null,
  nowMs: startMs + 100 * dayMs,
  minScore: 0,
  group: 'none',
  limit: 10,
  after: null,
  counting: 'saturating',
  facets: 'none',
};

/** A plan for these tokens. */
export function planFor(tokens: readonly string[], rest: Partial<QueryPlan> = {}): QueryPlan {
  return { ...plainPlan, terms: tokens.map((text) => ({ kind: 'token', text })), ...rest };
}

const agents: readonly AgentKind[] = ['primary', 'primary', 'primary', 'subagent', 'headless'];
const workspaces = ['/srv/a', '/srv/b', '/srv/ü'];
const tools = [null, null, 'read_file', 'shell', 'üben'];
const paths = ['src/a.ts', 'src/b/a.ts', 'docs/b.md', 'x'];

/** Makes a corpus and questions about it. The same seed makes the same. */
export class RandomWorld {
  readonly random: SeededRandom;
  readonly words: readonly string[];

  constructor(seed: number, wordCount = 40) {
    this.random = new SeededRandom(seed);
    this.words = Array.from(
      { length: wordCount },
      (_, at) => `${wordPrefixes[at % wordPrefixes.length]}${at}`,
    );
  }

  one<Value>(values: readonly Value[]): Value {
    const value = values[this.random.below(values.length)];
    if (value === undefined) throw new Error('nothing to choose from');
    return value;
  }

  /** Some words are frequent, most are not. */
  word(): string {
    const part = this.random.below(1_000) / 1_000;
    return this.words[Math.floor(part ** 3 * this.words.length)] ?? '';
  }

  chunk(session: string, seq: number, n: number, itemId: string | null = null): IndexedChunk {
    const terms = new Map<string, number>();
    const count = this.random.below(30);
    for (let at = 0; at < count; at += 1) {
      const word = this.word();
      terms.set(word, (terms.get(word) ?? 0) + 1);
    }
    const isTimeKnown = this.random.below(6) > 0;
    return {
      fields: {
        session,
        seq,
        n,
        turn: this.random.below(3) === 0 ? null : 1 + this.random.below(5),
        tsMs: isTimeKnown ? startMs + this.random.below(120) * dayMs : null,
        role: this.one(recordRoles),
        kind: this.one(documentKinds),
        tool: this.one(tools),
        paths: paths.filter(() => this.random.below(3) === 0),
      },
      // Some chunks are shorter than what was counted in them would have it, and many are of one length.
      len: this.random.below(2) === 0 ? 40 : count + 1 + this.random.below(8),
      terms,
      itemId,
    };
  }

  agent(): AgentKind {
    return this.one(agents);
  }

  workspaces(): readonly string[] {
    return workspaces.filter(() => this.random.below(2) === 0);
  }

  plan(sessions: readonly string[], chunks: readonly IndexedChunk[]): QueryPlan {
    const { random } = this;
    return {
      ...plainPlan,
      terms: this.#terms(),
      whole: this.#seldom(3) ? this.word() : null,
      asOf: this.#seldom(4) && chunks.length > 0 ? this.#asOf(this.one(chunks)) : null,
      nowMs: startMs + random.below(150) * dayMs,
      minScore: this.#seldom(4) ? random.below(300) / 100 : 0,
      group: this.#seldom(5) ? 'session' : 'none',
      limit: this.one([0, 1, 3, 10, 100]),
      counting: this.#seldom(4) ? 'exact' : 'saturating',
      facets: this.#seldom(5) ? 'counted' : 'none',
      filters: {
        sessions: this.#few(sessions),
        roles: this.#few(recordRoles),
        kinds: this.#few(documentKinds),
        tools: this.#few(['shell', 'üben', 'nothing']),
        paths: this.#few(['a.ts', 'src/*', 'docs/b.md']).map((text) => new PathPattern(text)),
        workspaces: this.#few(workspaces),
        agents: this.#few(['primary', 'subagent'] as const),
        sinceMs: this.#seldom(6) ? startMs + random.below(60) * dayMs : null,
        untilMs: this.#seldom(6) ? startMs + (60 + random.below(60)) * dayMs : null,
        hidden: this.#seldom(2) ? 'included' : 'left-out',
      },
    };
  }

  #seldom(oneIn: number): boolean {
    return this.random.below(oneIn) === 0;
  }

  #few<Value>(values: readonly Value[]): readonly Value[] {
    return this.#seldom(6) ? values.filter(() => this.#seldom(3)) : [];
  }

  #terms(): QueryPlan['terms'] {
    const terms = new Map<string, QueryPlan['terms'][number]>();
    for (let left = 1 + this.random.below(4); left > 0; left -= 1) {
      const isPrefix = this.#seldom(5);
      const text = isPrefix ? this.one(wordPrefixes) : this.word();
      terms.set(`${text} ${isPrefix}`, { kind: isPrefix ? 'prefix' : 'token', text });
    }
    return [...terms.values()];
  }

  #asOf({ fields }: IndexedChunk): QueryPlan['asOf'] {
    return {
      tsMs: fields.tsMs ?? startMs + 60 * dayMs,
      session: this.#seldom(2) ? { id: fields.session, seq: fields.seq } : null,
    };
  }
}

const wordPrefixes = ['a', 'ab', 'b', 'ü', '語', '🚀x', '\uff5ez', '__proto__'];
