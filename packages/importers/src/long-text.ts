import { RawJson } from './json-text.js';

/** Strings above this many bytes are stored as assets. */
const textBytesMax = 262_144;
/** What the field keeps of them. */
const keptBytes = 65_536;
/** No string of so few characters is that long. */
const shortCharacters = 87_381;

/** Stores bytes; returns their digest. */
export type StoreBytes = (bytes: Uint8Array) => string;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The members of an event with every string above 256 KiB cut to 64 KiB, its whole text stored and named beside it:
 * `truncated {asset, bytes}`, for a further string of the same object `truncated_<name>`. A value that is passed on
 * as JSON is such a string when its text is that long.
 */
export function cutLongTexts(members: object, store: StoreBytes): object {
  if (!holdsLong(members)) return members;
  return cutMembers(members instanceof Map ? members : new Map(Object.entries(members)), store);
}

function holdsLong(value: unknown): boolean {
  if (typeof value === 'string') return value.length > shortCharacters;
  if (value instanceof RawJson) return value.text.length > shortCharacters;
  if (typeof value !== 'object' || value === null) return false;
  const members: Iterable<unknown> = value instanceof Map ? value.values() : Object.values(value);
  for (const member of members) if (holdsLong(member)) return true;
  return false;
}

function cutMembers(members: ReadonlyMap<string, unknown>, store: StoreBytes): Map<string, unknown> {
  const cut = new Map<string, unknown>();
  const notes = new Map<string, unknown>();
  for (const [name, value] of members) {
    const bytes = longBytes(value);
    if (bytes === null) {
      cut.set(name, cutValue(value, store));
      continue;
    }
    cut.set(name, headOf(bytes));
    const note = notes.size === 0 ? 'truncated' : `truncated_${name}`;
    notes.set(note, { asset: store(bytes), bytes: bytes.length });
  }
  for (const [name, note] of notes) cut.set(name, note);
  return cut;
}

function cutValue(value: unknown, store: StoreBytes): unknown {
  if (value instanceof RawJson || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => cutValue(element, store));
  return cutMembers(value instanceof Map ? value : new Map(Object.entries(value)), store);
}

/** The bytes of a text that is too long; null for everything else. */
function longBytes(value: unknown): Uint8Array | null {
  const text = value instanceof RawJson ? value.text : value;
  if (typeof text !== 'string' || text.length <= shortCharacters) return null;
  const bytes = encoder.encode(text);
  return bytes.length > textBytesMax ? bytes : null;
}

/** The first 64 KiB, without half a character. */
function headOf(bytes: Uint8Array): string {
  let end = keptBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return decoder.decode(bytes.subarray(0, end));
}
