import type { AgentKind, ChunkFields, Kind, Role, SessionInfo } from './chunk.js';
import type { PathPattern } from './path-pattern.js';

/**
 * What a chunk must be to be searched (SE-18). Alternatives of one kind are lists, an empty list asks for nothing;
 * different kinds all apply.
 */
export interface Filters {
  readonly sessions: readonly string[];
  readonly roles: readonly Role[];
  readonly kinds: readonly Kind[];
  readonly tools: readonly string[];
  readonly paths: readonly PathPattern[];
  readonly workspaces: readonly string[];
  readonly agents: readonly AgentKind[];
  /** `[since, until)` in milliseconds since the epoch. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  /** Whether sessions of programs and sub-agents, and context that nobody said, are searched as well (SE-35). */
  readonly hidden: 'included' | 'left-out';
}

export const noFilters: Filters = {
  sessions: [],
  roles: [],
  kinds: [],
  tools: [],
  paths: [],
  workspaces: [],
  agents: [],
  sinceMs: null,
  untilMs: null,
  hidden: 'left-out',
};

/**
 * - `match`: the chunk is searched.
 * - `hidden`: it would be, but for being hidden.
 * - `unknown-time`: it would be, but nobody knows its time.
 * - `no`: it is another one.
 */
export type FilterVerdict = 'match' | 'hidden' | 'unknown-time' | 'no';

/** Judges the fields of one chunk and of its session. */
export function judgeFields(filters: Filters, fields: ChunkFields, info: SessionInfo): FilterVerdict {
  if (!judgeSession(filters, info)) return 'no';
  if (!isAmong(filters.roles, fields.role) || !isAmong(filters.kinds, fields.kind)) return 'no';
  if (filters.tools.length > 0 && (fields.tool === null || !filters.tools.includes(fields.tool))) return 'no';
  if (
    filters.paths.length > 0 &&
    !filters.paths.some((pattern) => fields.paths.some((path) => pattern.matches(path)))
  ) {
    return 'no';
  }
  const time = judgeTime(filters, fields.tsMs);
  if (time === 'no') return 'no';
  if (isHidden(filters, fields.kind, info.agent)) return 'hidden';
  return time;
}

/** Whether chunks of a session may match at all. */
export function judgeSession(filters: Filters, info: SessionInfo): boolean {
  if (!isAmong(filters.sessions, info.session) || !isAmong(filters.agents, info.agent)) return false;
  return (
    filters.workspaces.length === 0 ||
    filters.workspaces.some((workspace) => info.workspaces.includes(workspace))
  );
}

/** Whether a chunk is left out although everything else fits: asking for the kind shows context. */
export function isHidden(filters: Filters, kind: Kind, agent: AgentKind): boolean {
  if (filters.hidden === 'included') return false;
  if (agent !== 'primary') return true;
  return kind === 'context' && !filters.kinds.includes('context');
}

export function judgeTime(filters: Filters, tsMs: number | null): 'match' | 'unknown-time' | 'no' {
  const { sinceMs, untilMs } = filters;
  if (sinceMs === null && untilMs === null) return 'match';
  if (tsMs === null) return 'unknown-time';
  return tsMs >= (sinceMs ?? Number.NEGATIVE_INFINITY) && tsMs < (untilMs ?? Number.POSITIVE_INFINITY)
    ? 'match'
    : 'no';
}

function isAmong<Value>(wanted: readonly Value[], value: Value): boolean {
  return wanted.length === 0 || wanted.includes(value);
}
