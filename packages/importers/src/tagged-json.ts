import { DigestSet } from './digest-set.js';
import { RawJson } from './json-text.js';
import { isMembers } from './source-object.js';

/**
 * A value as JSON in which maps, sets of digests, big integers and JSON texts can be told from everything else:
 * each object has one member that says what it is.
 */
export function toTagged(value: unknown): unknown {
  if (typeof value === 'bigint') return { big: String(value) };
  if (Array.isArray(value)) return value.map(toTagged);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof RawJson) return { raw: value.text };
  if (value instanceof DigestSet) return { digests: Buffer.from(value.toBytes()).toString('base64') };
  if (value instanceof Map) return { map: [...value].map(([key, entry]) => [key, toTagged(entry)]) };
  if ('toJSON' in value && typeof value.toJSON === 'function') return toTagged(value.toJSON());
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return { of: members.map(([name, member]) => [name, toTagged(member)]) };
}

/** What `toTagged` was given; undefined for what it never gives. */
export function fromTagged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromTagged);
  if (!isMembers(value)) return value;
  const { big, raw, digests, map, of } = value;
  if (typeof big === 'string') return BigInt(big);
  if (typeof raw === 'string') return new RawJson(raw);
  if (typeof digests === 'string') return DigestSet.fromBytes(Buffer.from(digests, 'base64'));
  if (Array.isArray(map)) return new Map(entriesOf(map));
  return Array.isArray(of) ? Object.fromEntries(entriesOf(of)) : undefined;
}

function entriesOf(list: readonly unknown[]): readonly (readonly [string, unknown])[] {
  return list
    .filter((entry) => Array.isArray(entry))
    .map((entry) => [String(entry[0]), fromTagged(entry[1])]);
}
