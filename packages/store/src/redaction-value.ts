import { limits } from '@turnlog/kernel';
import { NameContext, type Replace } from './redaction-context.js';

/** Stands for what is nested deeper than a reader builds values from. */
export const tooDeepText = '[too-deep]';

/** A container under way: its members or elements, and the copies made so far. */
interface Visit {
  /** Null for an array. */
  readonly names: readonly string[] | null;
  readonly values: readonly unknown[];
  readonly copies: unknown[];
}

interface CopyPlace {
  readonly copies: unknown[];
  readonly at: number;
}

/** A copy of a JSON value without its secrets, in members' names and strings; all else is the same. */
export function valueWithout(json: unknown, replace: Replace): unknown {
  const context = new NameContext<CopyPlace>();
  const outermost: Visit = { names: null, values: [json], copies: [] };
  const visits: Visit[] = [outermost];
  for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
    if (visit.copies.length < visit.values.length) {
      const inner = copyNext(visit, context, replace, visits.length);
      if (inner !== null) visits.push(inner);
      continue;
    }
    visits.pop();
    const outer = visits.at(-1);
    if (outer === undefined) break;
    const late = context.close();
    if (late !== null) late.place.copies[late.place.at] = replace(late.text, late.name);
    outer.copies.push(wholeOf(visit, replace));
  }
  return outermost.copies[0];
}

/** Copies the next scalar, or returns the visit of the next container. */
function copyNext(
  visit: Visit,
  context: NameContext<CopyPlace>,
  replace: Replace,
  depth: number,
): Visit | null {
  const at = visit.copies.length;
  const value = visit.values[at];
  if (visit.names !== null) context.key(visit.names[at] ?? '');
  if (typeof value === 'string') {
    visit.copies.push(replace(value, context.text(value, { copies: visit.copies, at })));
    return null;
  }
  if (typeof value !== 'object' || value === null) {
    context.other();
    visit.copies.push(value);
    return null;
  }
  if (depth > limits.readerNestingLevelsMax) {
    context.other();
    visit.copies.push(tooDeepText);
    return null;
  }
  context.open(Array.isArray(value) ? 'array' : 'object');
  if (Array.isArray(value)) return { names: null, values: value, copies: [] };
  return { names: Object.keys(value), values: Object.values(value), copies: [] };
}

/** Members are defined, not assigned: `__proto__` is a name like any other. */
function wholeOf({ names, copies }: Visit, replace: Replace): unknown {
  if (names === null) return copies;
  return Object.fromEntries(names.map((name, at) => [replace(name, null), copies[at]]));
}
