import type { AgentKind, ChunkFields, Kind, Role } from '../src/chunk.js';
import type { IndexedChunk } from '../src/indexed-chunk.js';
import type { QueryPlan } from '../src/query-plan.js';

/**
 * The obvious slow index, written from the specification: arrays and loops, nothing skipped, nothing shared with the
 * engines but types.
 */
export interface NaiveChunk extends IndexedChunk {
  superseded: { readonly seq: number; readonly tsMs: number | null } | null;
}

export interface NaiveSession {
  readonly workspaces: readonly string[];
  readonly agent: AgentKind;
}

export interface NaiveHit {
  readonly id: string;
  readonly tier: number;
  readonly score: number;
  readonly lexical: number;
  readonly recency: number;
  readonly len: number;
  readonly tfs: readonly number[];
  readonly hitsInSession: number | null;
}

export interface NaiveCount {
  readonly value: number;
  readonly relation: 'eq' | 'gte';
}

export interface NaiveAnswer {
  readonly hits: readonly NaiveHit[];
  readonly hasMore: boolean;
  readonly total: NaiveCount;
  readonly hiddenMatches: NaiveCount;
  readonly unknownTime: NaiveCount;
  readonly facets: Readonly<Record<string, Readonly<Record<string, number>>>> | null;
  readonly chunkCount: number;
  readonly tokenCount: number;
  readonly dfs: readonly number[];
  readonly expansionsCapped: boolean;
}

type Found = NaiveHit & { readonly chunk: NaiveChunk };

export class NaiveIndex {
  readonly chunks: NaiveChunk[] = [];
  readonly sessions = new Map<string, NaiveSession>();

  answer(plan: QueryPlan): NaiveAnswer {
    const there = this.chunks.filter((chunk) => presence(plan, chunk) === 'there');
    const known = this.chunks.filter((chunk) => presence(plan, chunk) !== 'no');
    const expansions = plan.terms.map(({ kind, text }) => {
      if (kind === 'token') return [text];
      const tokens = new Set(
        known.flatMap(({ terms }) => [...terms.keys()].filter((t) => t.startsWith(text))),
      );
      return [...tokens].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
    });
    const tokens = expansions.map((list) => list.slice(0, 512));
    const tfsOf = (chunk: NaiveChunk): number[] =>
      tokens.map((list) => list.reduce((sum, token) => sum + (chunk.terms.get(token) ?? 0), 0));
    const dfs = tokens.map((_, at) => there.filter((chunk) => (tfsOf(chunk)[at] ?? 0) > 0).length);
    const tokenCount = there.reduce((sum, { len }) => sum + len, 0);
    const statistics = { chunkCount: there.length, tokenCount, dfs };
    let [hidden, unknown] = [0, 0];
    const found: Found[] = [];
    for (const chunk of known) {
      const verdict = this.#verdict(plan, chunk);
      const hit = scored(plan, chunk, tfsOf(chunk), statistics);
      if (verdict === 'no' || !(hit.score > 0) || hit.score < plan.minScore) continue;
      if (verdict === 'hidden') hidden += 1;
      else if (verdict === 'unknown-time') unknown += 1;
      else found.push(hit);
    }
    const isCapped = expansions.some((list) => list.length > 512);
    return { ...this.#page(plan, found, hidden, unknown), ...statistics, expansionsCapped: isCapped };
  }

  #page(plan: QueryPlan, found: readonly Found[], hidden: number, unknown: number) {
    const all = plan.group === 'session' ? bestOfSessions(found) : [...found];
    all.sort(compareFound);
    const { after } = plan;
    const behind =
      after === null
        ? all
        : all.filter(
            (hit) => compareKeys(hit, { ...after, id: idOf({ ...hit.chunk.fields, ...after }) }, after) > 0,
          );
    const isExact = plan.counting === 'exact' || plan.facets === 'counted';
    const count = (value: number): NaiveCount =>
      isExact || value <= 1_000 ? { value, relation: 'eq' } : { value: 1_000, relation: 'gte' };
    return {
      hits: behind.slice(0, plan.limit).map(({ chunk: _, ...hit }) => hit),
      hasMore: plan.limit > 0 && behind.length > plan.limit,
      total: count(all.length),
      hiddenMatches: count(hidden),
      unknownTime: count(unknown),
      facets: plan.facets === 'counted' ? this.#facets(found) : null,
    };
  }

  #facets(found: readonly Found[]): NonNullable<NaiveAnswer['facets']> {
    const facets: Record<string, Record<string, number>> = {
      session: {},
      role: {},
      kind: {},
      tool: {},
      workspace: {},
      day: {},
    };
    const add = (facet: string, value: string): void => {
      const counts = facets[facet] ?? {};
      counts[value] = (counts[value] ?? 0) + 1;
    };
    for (const { chunk } of found) {
      const { fields } = chunk;
      add('session', fields.session);
      add('role', fields.role);
      add('kind', fields.kind);
      if (fields.tool !== null) add('tool', fields.tool);
      for (const workspace of this.#session(fields.session).workspaces) add('workspace', workspace);
      add('day', dayOf(fields.tsMs));
    }
    return facets;
  }

  #session(id: string): NaiveSession {
    return this.sessions.get(id) ?? { workspaces: [], agent: 'primary' };
  }

  #verdict(plan: QueryPlan, chunk: NaiveChunk): 'match' | 'hidden' | 'unknown-time' | 'no' {
    const { filters } = plan;
    const { fields } = chunk;
    const session = this.#session(fields.session);
    const isUnknownThen = presence(plan, chunk) === 'unknown-time';
    const any = <Value>(wanted: readonly Value[], test: (value: Value) => boolean): boolean =>
      wanted.length === 0 || wanted.some(test);
    const fits =
      any(filters.sessions, (id) => id === fields.session) &&
      any(filters.agents, (agent) => agent === session.agent) &&
      any(filters.workspaces, (workspace) => session.workspaces.includes(workspace)) &&
      any<Role>(filters.roles, (role) => role === fields.role) &&
      any<Kind>(filters.kinds, (kind) => kind === fields.kind) &&
      any(filters.tools, (tool) => tool === fields.tool) &&
      any(filters.paths, (pattern) => fields.paths.some((path) => pattern.matches(path)));
    if (!fits) return 'no';
    const isTimeAsked = filters.sinceMs !== null || filters.untilMs !== null;
    if (!isWithin(filters, fields.tsMs)) return 'no';
    const isContext = fields.kind === 'context' && !filters.kinds.includes('context');
    const isHidden = filters.hidden === 'left-out' && (session.agent !== 'primary' || isContext);
    if (isUnknownThen) return isHidden ? 'no' : 'unknown-time';
    if (isHidden) return 'hidden';
    return isTimeAsked && fields.tsMs === null ? 'unknown-time' : 'match';
  }
}

function isWithin({ sinceMs, untilMs }: QueryPlan['filters'], tsMs: number | null): boolean {
  if (tsMs === null) return true;
  return (sinceMs === null || tsMs >= sinceMs) && (untilMs === null || tsMs < untilMs);
}

/** The days of the tests: a number of days since the epoch. */
export function dayOf(tsMs: number | null): string {
  return tsMs === null ? 'unknown' : `day ${Math.floor(tsMs / 86_400_000)}`;
}

export function idOf({ session, seq, n }: ChunkFields): string {
  return n === 0 ? `${session}:${seq}` : `${session}:${seq}:${n}`;
}

function presence({ asOf }: QueryPlan, { fields, superseded }: NaiveChunk): 'there' | 'unknown-time' | 'no' {
  if (asOf === null) return superseded === null ? 'there' : 'no';
  const isNamed = asOf.session?.id === fields.session;
  const isBy = (seq: number, tsMs: number | null): boolean =>
    isNamed ? seq <= (asOf.session?.seq ?? 0) : tsMs !== null && tsMs <= asOf.tsMs;
  if (!isNamed && fields.tsMs === null) return superseded === null ? 'unknown-time' : 'no';
  if (!isBy(fields.seq, fields.tsMs)) return 'no';
  return superseded !== null && isBy(superseded.seq, superseded.tsMs) ? 'no' : 'there';
}

function scored(
  plan: QueryPlan,
  chunk: NaiveChunk,
  tfs: readonly number[],
  corpus: { readonly chunkCount: number; readonly tokenCount: number; readonly dfs: readonly number[] },
): Found {
  const avgdl = corpus.chunkCount === 0 ? 1 : corpus.tokenCount / corpus.chunkCount;
  let lexical = 0;
  for (const [at, tf] of tfs.entries()) {
    if (tf === 0) continue;
    const df = corpus.dfs[at] ?? 0;
    const idf = Math.log(1 + (corpus.chunkCount - df + 0.5) / (df + 0.5));
    lexical += (idf * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * chunk.len) / avgdl));
  }
  const { tsMs } = chunk.fields;
  const isKnown = tsMs !== null && tsMs <= plan.nowMs;
  const recency = isKnown ? 1 + 0.1 * 2 ** (-(plan.nowMs - tsMs) / 86_400_000 / 30) : 1;
  const tier = plan.whole !== null && chunk.terms.has(plan.whole) ? 1 : 0;
  const { len } = chunk;
  const numbers = { tier, score: lexical * recency, lexical, recency, len, tfs };
  return { id: idOf(chunk.fields), ...numbers, hitsInSession: null, chunk };
}

function bestOfSessions(found: readonly Found[]): Found[] {
  const sessions = new Map<string, Found[]>();
  for (const hit of [...found].sort(compareFound)) {
    const { session } = hit.chunk.fields;
    sessions.set(session, [...(sessions.get(session) ?? []), hit]);
  }
  const best: Found[] = [];
  for (const hits of sessions.values()) {
    const [first] = hits;
    if (first !== undefined) best.push({ ...first, hitsInSession: hits.length });
  }
  return best;
}

function compareFound(left: Found, right: Found): number {
  return compareKeys(left, right, right.chunk.fields);
}

function compareKeys(
  left: Found,
  right: { readonly tier: number; readonly score: number; readonly id: string },
  key: { readonly session: string; readonly seq: number; readonly n: number },
): number {
  const { fields } = left.chunk;
  return (
    right.tier - left.tier ||
    right.score - left.score ||
    Buffer.compare(Buffer.from(fields.session), Buffer.from(key.session)) ||
    fields.seq - key.seq ||
    fields.n - key.n
  );
}
