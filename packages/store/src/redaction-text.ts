/** Reading text by runs of characters, each with a bound, so that a finder's work grows with the text alone. */

/** A part of a text, in UTF-16 units, `end` exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** What stands in place of an earlier replacement while a text is searched: it belongs to no word and no value. */
export const wall = '\ue000';

/** What a sticky pattern of one bounded run finds at `at`; empty when it finds nothing there. */
export function runAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/**
 * Where the run that `at` lies in ends: at the next place that `stop`, a global pattern, fits, or with the text.
 * Asked for rising places, it looks at every character once.
 */
export function createRunEnds(text: string, stop: RegExp): (at: number) => number {
  let from = 0;
  let end = -1;
  return (at) => {
    if (at >= from && at <= end) return end;
    stop.lastIndex = at;
    from = at;
    end = stop.exec(text)?.index ?? text.length;
    return end;
  };
}

function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

export function isAlphanumericAt(text: string, at: number): boolean {
  return at >= 0 && at < text.length && isAlphanumeric(text.charCodeAt(at));
}

/** How far back an escape is looked for. */
const escapeUnitsMax = 16;
/** Ends in an escape of a string literal, of a URL or of a terminal's colours: its last letter begins no word. */
const escapeAtEnd = /(?:\\[abfnrtv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,12}m)$/;

/** Whether a word may begin at `at`: what stands before it is no letter or digit, or the end of an escape. */
export function isWordStart(text: string, at: number): boolean {
  if (!isAlphanumericAt(text, at - 1)) return true;
  return escapeAtEnd.test(text.slice(Math.max(0, at - escapeUnitsMax), at));
}

type CharacterClass = 'lower' | 'upper' | 'digit' | 'other';

function classOf(code: number): CharacterClass {
  if (code >= 0x30 && code <= 0x39) return 'digit';
  if (code >= 0x41 && code <= 0x5a) return 'upper';
  return code >= 0x61 && code <= 0x7a ? 'lower' : 'other';
}

/** How often small letters, capitals and digits follow one another: seldom in words, often in random text. */
export function classChanges(text: string): number {
  let changes = 0;
  let last: CharacterClass = 'other';
  for (let at = 0; at < text.length; at += 1) {
    const now = classOf(text.charCodeAt(at));
    if (now !== last && now !== 'other' && last !== 'other') changes += 1;
    last = now;
  }
  return changes;
}

/** Whether `text` holds a run of at least 16 letters and digits that no word, path or counted name has. */
export function looksRandom(text: string): boolean {
  return (text.match(/[A-Za-z0-9]{16,}/g) ?? []).some((run) => /\d/.test(run) && classChanges(run) >= 3);
}

/** How many different characters `text` has, counted up to `limit`. */
export function distinctCharacters(text: string, limit: number): number {
  const seen = new Set<string>();
  for (const character of text) {
    seen.add(character);
    if (seen.size >= limit) break;
  }
  return seen.size;
}

/** A text to be searched and where each of its characters stands in the original. */
export interface TextView {
  readonly text: string;
  /** The place in the original of the character at `at`, or the end of the original. */
  originOf(at: number): number;
}

/**
 * An escape of a printable ASCII character: an even number of backslashes are of quoting in quoting, of an odd
 * number only the last one belongs to the escape.
 */
const hidingEscape = /(?<!\\)((?:\\\\){0,8})(\\?)(?:u00([2-7][0-9A-Fa-f])|\/)/g;

/**
 * `text` with escapes of printable characters read as what they stand for: JSON inside of a string may hide a
 * secret in them, and the range that is replaced must cover them whole.
 */
export function viewOf(text: string): TextView {
  if (!text.includes('\\')) return { text, originOf: (at) => at };
  const parts: string[] = [];
  const places: number[] = [];
  const origins: number[] = [];
  let length = 0;
  let copied = 0;
  for (const match of text.matchAll(hidingEscape)) {
    const [whole, pairs = '', last = '', hex] = match;
    if (pairs === '' && last === '') continue;
    const start = match.index + (last === '' ? 0 : pairs.length);
    parts.push(text.slice(copied, start));
    parts.push(hex === undefined ? '/' : String.fromCharCode(Number.parseInt(hex, 16)));
    length += start - copied + 1;
    copied = match.index + whole.length;
    places.push(length);
    origins.push(copied);
  }
  if (places.length === 0) return { text, originOf: (at) => at };
  parts.push(text.slice(copied));
  return { text: parts.join(''), originOf: (at) => originAmong(places, origins, at) };
}

/** `places` are the ends of the escapes in the view, `origins` those in the original. */
function originAmong(places: readonly number[], origins: readonly number[], at: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((places[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return at;
  return (origins[low - 1] ?? 0) + at - (places[low - 1] ?? 0);
}
