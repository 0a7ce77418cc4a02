import { isLooseObject } from './loose-value.js';

/** Whether two JSON values hold the same, the order of members aside. Takes any depth. */
export function isSameValue(left: unknown, right: unknown): boolean {
  const pending: [left: unknown, right: unknown][] = [[left, right]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [one, other] = pair;
    if (one === other) continue;
    const below = Array.isArray(one) ? itemPairs(one, other) : memberPairs(one, other);
    if (below === null) return false;
    for (const next of below) pending.push(next);
  }
  return true;
}

type Pairs = readonly [left: unknown, right: unknown][] | null;

function itemPairs(one: readonly unknown[], other: unknown): Pairs {
  if (!Array.isArray(other) || other.length !== one.length) return null;
  return one.map((item, index) => [item, other[index]]);
}

function memberPairs(one: unknown, other: unknown): Pairs {
  if (!isLooseObject(one) || !isLooseObject(other)) return null;
  const names = Object.keys(one);
  if (Object.keys(other).length !== names.length) return null;
  if (!names.every((name) => Object.hasOwn(other, name))) return null;
  return names.map((name) => [one[name], other[name]]);
}
