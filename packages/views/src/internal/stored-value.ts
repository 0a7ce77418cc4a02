import type { UsageCounts } from '@turnlog/events';
import { isPlainObject } from './members.js';

/** A published value is not of the shape that this version writes: it is folded anew. */
export class WrongShape extends Error {
  override readonly name = 'WrongShape';
}

/** A member of a published object. */
export function member(value: unknown, name: string): unknown {
  if (!isPlainObject(value) || !Object.hasOwn(value, name)) throw new WrongShape(`no member ${name}`);
  return value[name];
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new WrongShape('no text');
  return value;
}

export function number(value: unknown): number {
  if (typeof value !== 'number') throw new WrongShape('no number');
  return value;
}

export function boolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new WrongShape('neither true nor false');
  return value;
}

export function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new WrongShape('no list');
  return value;
}

export function orNull<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null ? null : read(value);
}

/** A whole number as it is published: a text where a double cannot hold it. */
export type StoredCount = number | string;

export function storedCount(count: bigint): StoredCount {
  return count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : count.toString();
}

function bigCount(value: unknown): bigint {
  const isCount =
    typeof value === 'number' ? Number.isSafeInteger(value) && value >= 0 : /^\d{1,20}$/.test(text(value));
  if (!isCount) throw new WrongShape('no count');
  return BigInt(value as StoredCount);
}

/** Token counts as they are published, under the names of the contract. */
export interface StoredCounts {
  readonly [name: string]: StoredCount;
}

export function storedCounts(counts: UsageCounts): StoredCounts {
  return {
    input_tokens: storedCount(counts.input),
    cached_input_tokens: storedCount(counts.cached),
    cache_creation_tokens: storedCount(counts.creation),
    output_tokens: storedCount(counts.output),
  };
}

export function countsFrom(value: unknown): UsageCounts {
  return {
    input: bigCount(member(value, 'input_tokens')),
    cached: bigCount(member(value, 'cached_input_tokens')),
    creation: bigCount(member(value, 'cache_creation_tokens')),
    output: bigCount(member(value, 'output_tokens')),
  };
}
