import { documentKinds, recordRoles } from '@turnlog/events';
import { type TimeZone, TurnlogError } from '@turnlog/kernel';
import { instantOf, parseMoment } from '@turnlog/store';
import type { AgentKind } from './chunk.js';
import type { Filters } from './filters.js';
import { type FilterField, filterFields } from './parse-query.js';
import { normalisePath, PathPattern } from './path-pattern.js';

/** Values of filters as people write them, from flags, tools or the query itself. */
export type WrittenFilters = ReadonlyMap<FilterField, readonly string[]>;

export interface FilterContext {
  /** The id that a reference to a session means. @throws TURNLOG_NOT_FOUND, AMBIGUOUS_ID, INVALID_SESSION_ID */
  readonly resolveSession: (text: string) => string;
  /** The absolute path of a workspace. */
  readonly resolveWorkspace: (path: string) => string;
  readonly zone: TimeZone;
  readonly nowMs: number;
  readonly hidden: Filters['hidden'];
}

const agentKinds: readonly AgentKind[] = ['primary', 'subagent', 'headless'];

/**
 * Reads filters (SE-18). Repeated values of one kind are alternatives; of `since` and `until` the last one counts.
 *
 * @throws TURNLOG_BAD_FLAG for a value that a filter does not have; what `resolveSession` throws.
 */
export function readFilters(written: WrittenFilters, context: FilterContext): Filters {
  const values = (field: FilterField): readonly string[] => written.get(field) ?? [];
  return {
    sessions: values('session').map(context.resolveSession),
    roles: values('role').map((value) => choice('role', value, recordRoles)),
    kinds: values('kind').map((value) => choice('kind', value, documentKinds)),
    tools: values('tool'),
    paths: values('path').map((value) => new PathPattern(value)),
    workspaces: values('workspace').map((value) => normalisePath(context.resolveWorkspace(value))),
    agents: values('agent').map((value) => choice('agent', value, agentKinds)),
    sinceMs: momentOf('since', values('since').at(-1), 'start', context),
    untilMs: momentOf('until', values('until').at(-1), 'end', context),
    hidden: context.hidden,
  };
}

/** Both as one: what stands in the query adds to what was given beside it. */
export function uniteFilters(left: WrittenFilters, right: WrittenFilters): WrittenFilters {
  return new Map(
    filterFields
      .map((field) => [field, [...(left.get(field) ?? []), ...(right.get(field) ?? [])]] as const)
      .filter(([, values]) => values.length > 0),
  );
}

function choice<Value extends string>(field: FilterField, value: string, choices: readonly Value[]): Value {
  const found = choices.find((known) => known === value);
  if (found !== undefined) return found;
  throw badFilter(field, value, `one of ${choices.join(', ')}`);
}

function momentOf(
  field: FilterField,
  value: string | undefined,
  as: 'start' | 'end',
  { zone, nowMs }: FilterContext,
): number | null {
  if (value === undefined) return null;
  const moment = parseMoment(value);
  if (moment === null) throw badFilter(field, value, 'a time as 7d, 2026-10-05, or RFC 3339');
  return instantOf(moment, as, zone, nowMs);
}

function badFilter(field: FilterField, value: string, wanted: string): TurnlogError {
  return new TurnlogError('TURNLOG_BAD_FLAG', {
    details: { flag: field, value },
    message: `the filter ${field} takes ${wanted}, not ${JSON.stringify(value)}`,
  });
}
