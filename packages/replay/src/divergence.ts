import { limits, TurnlogError } from '@turnlog/kernel';
import { type Egress, safeText } from '@turnlog/store';
import type { Comparison } from './compare.js';
import { type StoredValue, storedMember, storedString } from './stored-value.js';

export type DivergenceKind =
  | 'request-differs'
  | 'unexpected-call'
  | 'missing-call'
  | 'event-differs'
  | 'unexpected-event'
  | 'missing-event'
  | 'wrong-order'
  | 'port-closed';

/** A value as a report shows it: numbers that a double would change are their text. */
export type ShownValue =
  | null
  | boolean
  | number
  | string
  | readonly ShownValue[]
  | { readonly [name: string]: ShownValue };

export interface ShownDifference {
  readonly path: string;
  readonly op: 'replace' | 'add' | 'remove';
  readonly expected: ShownValue;
  readonly got: ShownValue;
}

/** The first difference between a fixture and what the code under test did. */
export interface Divergence {
  readonly schema_version: 1;
  readonly kind: DivergenceKind;
  readonly fixture: string;
  readonly at: {
    readonly seq: number | null;
    readonly exchange: number | null;
    readonly turn: number | null;
    readonly item: string | null;
  };
  readonly expected: ShownValue;
  readonly got: ShownValue;
  readonly diff: readonly ShownDifference[];
  readonly diff_truncated: boolean;
  readonly cause: { readonly seq: number | null; readonly why: string } | null;
  readonly before: readonly { readonly seq: number; readonly headline: string }[];
  readonly nearest: { readonly exchange: number; readonly distance: number } | null;
  readonly rerun: string;
}

/** Thrown where code under test leaves its fixture. */
export class DivergenceError extends TurnlogError {
  readonly divergence: Divergence;

  constructor(divergence: Divergence) {
    super('TURNLOG_REPLAY_MISS', {
      details: { fixture: divergence.fixture, kind: divergence.kind, at: divergence.at },
      message: divergenceText(divergence),
    });
    this.name = 'DivergenceError';
    this.divergence = divergence;
  }
}

/** A value for a report: no secret, no control character. */
export function shownValue(value: StoredValue | undefined, egress: Egress): ShownValue {
  if (value === undefined) return null;
  return egress.value(plain(value));
}

function plain(value: StoredValue): ShownValue {
  switch (value.kind) {
    case 'string':
      return safeText(value.text);
    case 'literal':
      return value.text === 'null' ? null : value.text === 'true';
    case 'number':
      return JSON.stringify(Number(value.text)) === value.text ? Number(value.text) : value.text;
    case 'array':
      return value.items.map(plain);
    case 'object':
      return Object.fromEntries([...value.members].map(([name, member]) => [safeText(name), plain(member)]));
  }
}

/** Differences for a report, long texts around the first code point that differs. */
export function shownDifferences({ differences }: Comparison, egress: Egress): readonly ShownDifference[] {
  return differences.map(({ path, op, expected, got }) => {
    const left = shownValue(expected, egress);
    const right = shownValue(got, egress);
    const shown =
      typeof left === 'string' && typeof right === 'string' ? aroundDifference(left, right) : [left, right];
    return { path: safeText(egress.text(path)), op, expected: shown[0] ?? null, got: shown[1] ?? null };
  });
}

function aroundDifference(expected: string, got: string): readonly [string, string] {
  const left = [...expected];
  const right = [...got];
  const max = limits.divergenceTextCodePointsMax;
  if (left.length <= max && right.length <= max) return [expected, got];
  let at = 0;
  while (at < left.length && at < right.length && left[at] === right[at]) at += 1;
  const from = Math.max(at - Math.floor(max / 2), 0);
  return [cut(left, from, max), cut(right, from, max)];
}

function cut(text: readonly string[], from: number, length: number): string {
  const end = Math.min(from + length, text.length);
  return `${from > 0 ? '…' : ''}${text.slice(from, end).join('')}${end < text.length ? '…' : ''}`;
}

/** One line that says what an event is. */
export function headlineOf(event: StoredValue, egress: Egress): string {
  const item = storedMember(event, 'item');
  const words = [storedString(event, 'type') ?? 'unknown'];
  if (item !== undefined) words.push(storedString(item, 'type') ?? '', storedString(item, 'id') ?? '');
  const line = words.filter((word) => word !== '').join(' ');
  return safeText(egress.text(line)).replaceAll('\n', ' ');
}

/** The report as text, the same for terminals, tests and matchers. */
export function divergenceText(divergence: Divergence): string {
  const { kind, fixture, at, diff, cause, before, nearest, rerun } = divergence;
  const places = [
    ...(at.seq === null ? [] : [`seq ${at.seq}`]),
    ...(at.exchange === null ? [] : [`exchange ${at.exchange}`]),
    ...(at.turn === null ? [] : [`turn ${at.turn}`]),
    ...(at.item === null ? [] : [at.item]),
  ];
  return [
    `${kind} in ${fixture}${places.length === 0 ? '' : ` at ${places.join(', ')}`}`,
    `  expected  ${oneLine(divergence.expected)}`,
    `  got       ${oneLine(divergence.got)}`,
    ...diff.map(({ path, op, expected, got }) => `  ${op} ${path}  ${oneLine(expected)} → ${oneLine(got)}`),
    ...(divergence.diff_truncated ? ['  … and more'] : []),
    ...(cause === null ? [] : [`  cause     ${cause.seq === null ? '' : `seq ${cause.seq}: `}${cause.why}`]),
    ...before.map(({ seq, headline }) => `  before    seq ${seq}: ${headline}`),
    ...(nearest === null
      ? []
      : [`  nearest   exchange ${nearest.exchange}, ${nearest.distance} members differ`]),
    `  rerun     ${rerun}`,
  ].join('\n');
}

function oneLine(value: ShownValue): string {
  const text = [...JSON.stringify(value)];
  return text.length <= limits.divergenceTextCodePointsMax
    ? text.join('')
    : cut(text, 0, limits.divergenceTextCodePointsMax);
}
