import { type UsageCounts, uncachedInput } from '@turnlog/events';
import { TurnlogError } from '@turnlog/kernel';
import { isPlainObject, ownMember } from './internal/members.js';

/**
 * A file of prices as the user keeps it: US dollars per million tokens, by the name of a model, or by its beginning
 * and a `*`, of which the longest counts. What is cached, or put into a cache, costs as other input where it has no
 * price of its own.
 *
 *     {"models":{"small-1":{"input":0.25,"output":1.25},"large-*":{"input":3,"cached":0.3,"creation":3.75,"output":15}}}
 */
export interface Prices {
  readonly models: ReadonlyMap<string, ModelPrice>;
}

/** Picodollars (10^-12) per million tokens. */
export interface ModelPrice {
  readonly input: bigint;
  readonly cached: bigint;
  readonly creation: bigint;
  readonly output: bigint;
}

/** Money as a whole number of picodollars, so that sums are exact in any order. */
export type Picodollars = bigint;

const picoDigits = 12;

/**
 * @param path names the file in errors.
 * @throws TURNLOG_BAD_CONFIG when it is not of that form; details: file, place.
 */
export function parsePrices(text: string, path: string): Prices {
  const parsed = parseJson(text, path);
  const given = ownMember(parsed, 'models');
  if (!isPlainObject(given)) throw badPrices(path, '/models', 'an object of models is wanted');
  const models = Object.keys(given).map((name): readonly [string, ModelPrice] => {
    const place = `/models/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return [name, modelPrice(ownMember(given, name), path, place)];
  });
  return { models: new Map(models) };
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badPrices(path, '', 'it is no JSON', cause);
  }
}

function modelPrice(value: unknown, path: string, place: string): ModelPrice {
  const price = (name: string): bigint | null => {
    const member = ownMember(value, name);
    if (member === undefined) return null;
    const parsed = typeof member === 'number' ? picodollars(member) : null;
    if (parsed === null)
      throw badPrices(path, `${place}/${name}`, 'a price is a number that is not negative');
    return parsed;
  };
  const [input, output] = [price('input'), price('output')];
  if (input === null || output === null) throw badPrices(path, place, 'input and output are wanted');
  return { input, output, cached: price('cached') ?? input, creation: price('creation') ?? input };
}

function badPrices(file: string, place: string, reason: string, cause?: unknown): TurnlogError {
  const message = `prices in ${file}${place === '' ? '' : ` at ${place}`}: ${reason}`;
  return new TurnlogError('TURNLOG_BAD_CONFIG', { details: { file, place }, cause, message });
}

/** A sum of dollars by the digits that it is written with; null when it is none. Digits beyond the twelfth are cut. */
export function picodollars(usd: number): Picodollars | null {
  if (!Number.isFinite(usd) || usd < 0) return null;
  const found = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(usd));
  if (found === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = found;
  const shift = Number(exponent) + picoDigits - fraction.length;
  const digits = BigInt(whole + fraction);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}

/** The nearest number of dollars. */
export function dollars(cost: Picodollars): number {
  const text = cost.toString().padStart(picoDigits + 1, '0');
  return Number(`${text.slice(0, -picoDigits)}.${text.slice(-picoDigits)}`);
}

/** The price of a model, by its name or the longest beginning; null when the file has none. */
export function priceOf({ models }: Prices, model: string | null): ModelPrice | null {
  if (model === null) return null;
  const exact = models.get(model);
  if (exact !== undefined) return exact;
  let best: readonly [string, ModelPrice] | null = null;
  for (const entry of models) {
    const [name] = entry;
    const isBeginning = name.endsWith('*') && model.startsWith(name.slice(0, -1));
    if (isBeginning && (best === null || name.length > best[0].length)) best = entry;
  }
  return best === null ? null : best[1];
}

const million = 1_000_000n;

/** What tokens cost, rounded to the nearest picodollar. */
export function costOf(price: ModelPrice, usage: UsageCounts): Picodollars {
  const perMillion =
    uncachedInput(usage) * price.input +
    usage.cached * price.cached +
    usage.creation * price.creation +
    usage.output * price.output;
  return (perMillion + million / 2n) / million;
}
