import { canonicalJson, type JsonValue } from '@turnlog/kernel';
import { beginningOf, isPlainObject } from './members.js';

/** Where two values begin to differ. */
export interface Difference {
  /** JSON pointer, as in `/turns/3/model`; empty for the whole. */
  readonly place: string;
  /** Canonical JSON, cut where it is long; null when there is nothing at the place. */
  readonly published: string | null;
  readonly rebuilt: string | null;
}

const shownCodeUnitsMax = 200;

/** The first place, members by name and lists from their start, at which two values differ; null when they are equal. */
export function firstDifference(
  published: JsonValue | undefined,
  rebuilt: JsonValue | undefined,
  place = '',
): Difference | null {
  if (published === undefined || rebuilt === undefined) {
    return published === rebuilt ? null : { place, published: shown(published), rebuilt: shown(rebuilt) };
  }
  if (canonicalJson(published) === canonicalJson(rebuilt)) return null;
  for (const name of namesIn(published, rebuilt)) {
    const inside = firstDifference(at(published, name), at(rebuilt, name), `${place}/${pointerPart(name)}`);
    if (inside !== null) return inside;
  }
  return { place, published: shown(published), rebuilt: shown(rebuilt) };
}

function shown(value: JsonValue | undefined): string | null {
  return value === undefined ? null : beginningOf(canonicalJson(value), shownCodeUnitsMax);
}

/** What stands in both or in one of them; nothing when they are of different kinds. */
function namesIn(left: JsonValue, right: JsonValue): readonly string[] {
  if (Array.isArray(left) && Array.isArray(right)) {
    return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => String(index));
  }
  if (!isPlainObject(left) || !isPlainObject(right)) return [];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
}

function at(value: JsonValue, name: string): JsonValue | undefined {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
  return (value as { readonly [member: string]: JsonValue })[name];
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
