import { assert } from '@turnlog/kernel';
import { judgeUnknownTime } from '../as-of.js';
import type { ChunkFields, ChunkKey, SessionInfo } from '../chunk.js';
import type { ChunkTable } from '../evaluation.js';
import { type Filters, type FilterVerdict, isHidden, judgeSession, judgeTime } from '../filters.js';
import type { ChunkSource } from './chunk-source.js';
import { presences, type SourceView } from './source-view.js';

/** The chunks of several sources under one row of numbers: those of each source follow those of the one before. */
export class QueryTable implements ChunkTable {
  readonly #parts: readonly Part[];
  #part: Part;

  constructor(views: readonly SourceView[], filters: Filters) {
    const parts: Part[] = [];
    let base = 0;
    for (const view of views) {
      parts.push(new Part(view, base, filters));
      base += view.source.chunkCount;
    }
    const [first] = parts;
    assert(first !== undefined, 'there is always a tail');
    this.#parts = parts;
    this.#part = first;
  }

  /** What a scan of the chunks of a source needs to know of them. */
  part(view: number): Pick<Part, 'base' | 'among' | 'judge'> {
    const part = this.#parts[view];
    assert(part !== undefined, 'there is a part for each source');
    return part;
  }

  /** Whether chunks of a log of a source may match at all. */
  isLogAsked(view: number, log: number): boolean {
    return this.#parts[view]?.isLogAsked(log) ?? false;
  }

  len(chunk: number): number {
    const part = this.#at(chunk);
    return part.source.len(chunk - part.base);
  }

  tsMs(chunk: number): number | null {
    const part = this.#at(chunk);
    return timeOf(part.source, chunk - part.base);
  }

  key(chunk: number): ChunkKey {
    const part = this.#at(chunk);
    return keyOf(part.source, chunk - part.base);
  }

  fields(chunk: number): ChunkFields {
    const part = this.#at(chunk);
    return fieldsOf(part.source, chunk - part.base);
  }

  judge(chunk: number): FilterVerdict {
    const part = this.#at(chunk);
    return part.judge === null ? 'match' : part.judge(chunk - part.base);
  }

  workspaces(chunk: number): readonly string[] {
    const part = this.#at(chunk);
    return part.info(part.source.log(chunk - part.base)).workspaces;
  }

  #at(chunk: number): Part {
    const part = this.#part;
    if (chunk >= part.base && chunk < part.end) return part;
    const found = this.#parts.find(({ base, end }) => chunk >= base && chunk < end);
    this.#part = found ?? part;
    return this.#part;
  }
}

export function timeOf(source: ChunkSource, ordinal: number): number | null {
  const time = source.time(ordinal);
  return Number.isNaN(time) ? null : time;
}

export function keyOf(source: ChunkSource, ordinal: number): ChunkKey {
  const session = source.logs[source.log(ordinal)]?.session ?? '';
  return { session, seq: source.seq(ordinal), n: source.n(ordinal) };
}

export function fieldsOf(source: ChunkSource, ordinal: number): ChunkFields {
  const tool = source.toolNumber(ordinal);
  return {
    ...keyOf(source, ordinal),
    turn: source.turn(ordinal),
    tsMs: timeOf(source, ordinal),
    role: source.role(ordinal),
    kind: source.kind(ordinal),
    tool: tool === 0 ? null : source.toolText(tool),
    paths: source.paths(ordinal),
  };
}

const nothing: SessionInfo = { session: '', workspaces: [], agent: 'primary' };

/**
 * The filters of a plan as tests on the columns of one source: what is asked of sessions and tools is answered once
 * for each of them. The verdicts are those of `judgeFields`.
 */
class Part {
  readonly source: ChunkSource;
  readonly base: number;
  readonly end: number;
  /** `matches` where no chunk can be hidden, or lack a time that is asked for. */
  readonly among: 'anything' | 'matches';
  /** What the filters say of a chunk; null where all match. */
  readonly judge: ((ordinal: number) => FilterVerdict) | null;
  readonly #filters: Filters;
  readonly #infos: readonly SessionInfo[];
  /** By number of log; null where all are asked. */
  readonly #isAsked: readonly boolean[] | null;
  readonly #tools = new Map<number, boolean>();
  readonly #hasColumnFilters: boolean;

  constructor({ source, facts, presence, hasUnknownTimes }: SourceView, base: number, filters: Filters) {
    this.source = source;
    this.base = base;
    this.end = base + source.chunkCount;
    this.#filters = filters;
    this.#infos = facts.infos;
    const { sessions, agents, workspaces, roles, kinds, tools, paths, sinceMs, untilMs } = filters;
    const areSessionsAsked = sessions.length + agents.length + workspaces.length > 0;
    this.#isAsked = areSessionsAsked ? facts.infos.map((info) => judgeSession(filters, info)) : null;
    const isTimeAsked = sinceMs !== null || untilMs !== null;
    this.#hasColumnFilters = roles.length + kinds.length + tools.length + paths.length > 0 || isTimeAsked;
    const mayHide = filters.hidden === 'left-out' && facts.mayHide;
    this.among = isTimeAsked || hasUnknownTimes || mayHide ? 'anything' : 'matches';
    const isPlain = !areSessionsAsked && !this.#hasColumnFilters && !hasUnknownTimes;
    if (!isPlain) this.judge = (ordinal) => this.#judge(ordinal, hasUnknownTimes ? presence : null);
    else this.judge = mayHide ? judgeHidden(facts.hidden) : null;
  }

  info(log: number): SessionInfo {
    return this.#infos[log] ?? nothing;
  }

  isLogAsked(log: number): boolean {
    return this.#isAsked === null || (this.#isAsked[log] ?? false);
  }

  #judge(ordinal: number, presence: Uint8Array | null): FilterVerdict {
    const verdict = this.#judgeFields(ordinal);
    return presence?.[ordinal] === presences.unknownTime ? judgeUnknownTime(verdict) : verdict;
  }

  #judgeFields(ordinal: number): FilterVerdict {
    const { source } = this;
    const log = source.log(ordinal);
    if (!this.isLogAsked(log)) return 'no';
    const filters = this.#filters;
    const kind = source.kind(ordinal);
    if (this.#hasColumnFilters && !this.#fits(ordinal, filters)) return 'no';
    const time = this.#hasColumnFilters ? judgeTime(filters, timeOf(source, ordinal)) : 'match';
    if (time === 'no') return 'no';
    return isHidden(filters, kind, this.info(log).agent) ? 'hidden' : time;
  }

  #fits(ordinal: number, { roles, kinds, tools, paths }: Filters): boolean {
    const { source } = this;
    if (roles.length > 0 && !roles.includes(source.role(ordinal))) return false;
    if (kinds.length > 0 && !kinds.includes(source.kind(ordinal))) return false;
    if (tools.length > 0 && !this.#isToolAsked(source.toolNumber(ordinal))) return false;
    if (paths.length === 0) return true;
    const found = source.paths(ordinal);
    return paths.some((pattern) => found.some((path) => pattern.matches(path)));
  }

  #isToolAsked(tool: number): boolean {
    const known = this.#tools.get(tool);
    if (known !== undefined) return known;
    const isAsked = tool !== 0 && this.#filters.tools.includes(this.source.toolText(tool));
    this.#tools.set(tool, isAsked);
    return isAsked;
  }
}

function judgeHidden(hidden: Uint8Array): (ordinal: number) => FilterVerdict {
  return (ordinal) => (hidden[ordinal] === 1 ? 'hidden' : 'match');
}
