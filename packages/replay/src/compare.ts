import { limits } from '@turnlog/kernel';
import { withoutMarkDigits } from './marks.js';
import type { StoredValue } from './stored-value.js';

/** One member that differs. */
export interface Difference {
  /** JSON Pointer. */
  readonly path: string;
  readonly op: 'replace' | 'add' | 'remove';
  readonly expected: StoredValue | undefined;
  readonly got: StoredValue | undefined;
}

export interface CompareRules {
  /** Members that do not count, as `usage.*` or `item.context.timestamp`; `*` at the end is everything below. */
  readonly ignore: readonly string[];
  /** `value`: 1 and 1.0 are equal; `text`: they are not. */
  readonly numbers: 'text' | 'value';
}

export interface Comparison {
  /** In document order, at most `limits.divergenceDifferencesMax`. */
  readonly differences: readonly Difference[];
  readonly isTruncated: boolean;
}

/** Where two values differ: objects by members whatever their order, lists by order, numbers by their text. */
export function compareStored(expected: StoredValue, got: StoredValue, rules: CompareRules): Comparison {
  const comparer = new Comparer(rules, limits.divergenceDifferencesMax);
  comparer.value(expected, got, []);
  return { differences: comparer.found, isTruncated: comparer.isTruncated };
}

export function isEqualStored(expected: StoredValue, got: StoredValue, rules: CompareRules): boolean {
  const comparer = new Comparer(rules, 0);
  comparer.value(expected, got, []);
  return !comparer.isTruncated;
}

class Comparer {
  readonly found: Difference[] = [];
  isTruncated = false;
  readonly #ignore: readonly (readonly string[])[];
  readonly #rules: CompareRules;
  readonly #max: number;

  constructor(rules: CompareRules, max: number) {
    this.#rules = rules;
    this.#max = max;
    this.#ignore = rules.ignore.map((path) => path.split('.'));
  }

  value(expected: StoredValue | undefined, got: StoredValue | undefined, path: readonly string[]): void {
    if (this.isTruncated || this.#isIgnored(path)) return;
    if (expected === undefined || got === undefined) this.#note(expected, got, path);
    else if (expected.kind === 'object' && got.kind === 'object') this.#members(expected, got, path);
    else if (expected.kind === 'array' && got.kind === 'array') this.#items(expected, got, path);
    else if (!this.#isSame(expected, got)) this.#note(expected, got, path);
  }

  #members(
    expected: StoredValue & { readonly kind: 'object' },
    got: StoredValue & { readonly kind: 'object' },
    path: readonly string[],
  ): void {
    for (const [name, member] of expected.members) this.value(member, got.members.get(name), [...path, name]);
    for (const [name, member] of got.members) {
      if (!expected.members.has(name)) this.value(undefined, member, [...path, name]);
    }
  }

  #items(
    expected: StoredValue & { readonly kind: 'array' },
    got: StoredValue & { readonly kind: 'array' },
    path: readonly string[],
  ): void {
    const length = Math.max(expected.items.length, got.items.length);
    for (let at = 0; at < length; at += 1)
      this.value(expected.items[at], got.items[at], [...path, String(at)]);
  }

  #isSame(expected: StoredValue, got: StoredValue): boolean {
    if (expected.kind === 'object' || expected.kind === 'array' || expected.kind !== got.kind) return false;
    if (expected.text === got.text) return true;
    if (expected.kind === 'string') return withoutMarkDigits(expected.text) === withoutMarkDigits(got.text);
    return (
      expected.kind === 'number' && this.#rules.numbers === 'value' && isSameNumber(expected.text, got.text)
    );
  }

  #note(expected: StoredValue | undefined, got: StoredValue | undefined, path: readonly string[]): void {
    if (this.found.length >= this.#max) {
      this.isTruncated = true;
      return;
    }
    const op = expected === undefined ? 'add' : got === undefined ? 'remove' : 'replace';
    this.found.push({ path: pointerOf(path), op, expected, got });
  }

  #isIgnored(path: readonly string[]): boolean {
    return path.length > 0 && this.#ignore.some((pattern) => isBelow(path, pattern));
  }
}

function isBelow(path: readonly string[], pattern: readonly string[]): boolean {
  if (path.length < pattern.length) return false;
  const isOpen = pattern.at(-1) === '*';
  if (path.length > pattern.length && !isOpen) return false;
  return pattern.every((name, at) => name === '*' || name === path[at]);
}

function pointerOf(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Whether two texts are one number: sign, digits without zeros at their ends, and the place of the point. */
function isSameNumber(left: string, right: string): boolean {
  return decimalOf(left) === decimalOf(right);
}

function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${power}`;
}
