import { isJsonNull, type JsonSpan, jsonMembers } from './internal/json-member.js';
import { asciiText } from './internal/text-codec.js';

/** Token counts, exact whatever their size. `input` includes `cached` and `creation`. */
export interface UsageCounts {
  readonly input: bigint;
  readonly cached: bigint;
  readonly creation: bigint;
  readonly output: bigint;
}

/** Sums end here. */
const tokensMax = 18_446_744_073_709_551_615n;

/** No tokens: where a sum begins. Usage that is missing is unknown, which is not this. */
export const noTokens: UsageCounts = { input: 0n, cached: 0n, creation: 0n, output: 0n };

function saturated(left: bigint, right: bigint): bigint {
  const sum = left + right;
  return sum > tokensMax ? tokensMax : sum;
}

/** The sum of two counts, member by member; it stays at 2^64-1 where it would pass it. */
export function addUsage(left: UsageCounts, right: UsageCounts): UsageCounts {
  return {
    input: saturated(left.input, right.input),
    cached: saturated(left.cached, right.cached),
    creation: saturated(left.creation, right.creation),
    output: saturated(left.output, right.output),
  };
}

/** Input tokens that were neither read from a cache nor written to one; never below 0. */
export function uncachedInput(usage: UsageCounts): bigint {
  const rest = usage.input - usage.cached - usage.creation;
  return rest > 0n ? rest : 0n;
}

/** Which part of the input came from a cache; null without input. */
export function cacheHitRate(usage: UsageCounts): number | null {
  return usage.input === 0n ? null : Number(usage.cached) / Number(usage.input);
}

/**
 * The counts of the usage object at `start`, read as they are written. A member that is absent or null counts 0,
 * as the table has it. Null when it is no object, or when a member is no count: what is left of a broken usage is
 * not what was used.
 */
export function readUsageCounts(bytes: Uint8Array, start: number, end: number): UsageCounts | null {
  const members = jsonMembers(bytes, start, end, (name) => countNames.has(name));
  if (members === null) return null;
  const count = (name: string): bigint | null => countOf(bytes, members.get(name));
  const input = count('input_tokens');
  const cached = count('cached_input_tokens');
  const creation = count('cache_creation_tokens');
  const output = count('output_tokens');
  if (input === null || cached === null || creation === null || output === null) return null;
  return { input, cached, creation, output };
}

const countNames: ReadonlySet<string> = new Set([
  'input_tokens',
  'cached_input_tokens',
  'cache_creation_tokens',
  'output_tokens',
]);

/** Digits and nothing else; twenty of them can be too many all the same. */
const countForm = /^\d{1,20}$/;

function countOf(bytes: Uint8Array, span: JsonSpan | undefined): bigint | null {
  if (span === undefined || isJsonNull(bytes, span)) return 0n;
  const text = span.token === 'number' ? asciiText(bytes, span.start, span.end) : '';
  if (!countForm.test(text)) return null;
  const value = BigInt(text);
  return value > tokensMax ? null : value;
}
