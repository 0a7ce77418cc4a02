import { limits } from '@turnlog/kernel';
import type { Replace } from './redaction-context.js';
import { jsonEdits, unitBytes, withEdits } from './redaction-json.js';
import type { RedactionKind, RedactionKindName } from './redaction-kinds.js';
import { type MarkOf, withWalls } from './redaction-mark.js';
import { type Announced, announcedSecret, announces } from './redaction-names.js';
import { viewOf } from './redaction-text.js';

interface Found {
  readonly kind: RedactionKindName;
  readonly start: number;
  readonly end: number;
}

const container = /^\s{0,64}[{[]/;

/**
 * Puts marks in place of secrets. A string that is an object or array in JSON, as arguments of tools are, is
 * treated as one, so that names inside of it announce their values however both are written.
 */
export function createReplace(kinds: readonly RedactionKind[], markOf: MarkOf): Replace {
  const clean = new CleanTexts();
  const replaceAt = (text: string, name: string | null, level: number): string => {
    if (name === null && text.length < limits.userPatternUnitsMin) return text;
    // The name as it leaves, or the next run would see another one than this.
    const announced = name === null ? null : announcedIn(text, replaceAt(name, null, level));
    if (announced !== null) return replaceAll(kinds, markOf, text, announced);
    return container.test(text) ? insideOf(text, level) : unannounced(text);
  };
  const insideOf = (text: string, level: number): string => {
    const inner: Replace = (innerText, innerName) => replaceAt(innerText, innerName, level + 1);
    const isTooDeep = level >= limits.redactionInnerJsonLevelsMax;
    const edits = isTooDeep
      ? null
      : jsonEdits(unitBytes(text), (start, end) => text.slice(start, end), inner);
    return edits === null ? replaceAll(kinds, markOf, text, null) : withEdits(text, edits);
  };
  const unannounced = (text: string): string => {
    if (clean.has(text)) return text;
    const replaced = replaceAll(kinds, markOf, text, null);
    if (replaced === text) clean.add(text);
    return replaced;
  };
  return (text, name) => replaceAt(text, name, 0);
}

/**
 * Short texts that were searched and hold no secret: every record has the same names of members, types and statuses,
 * and one text is clean for ever, whoever announces it or not.
 */
class CleanTexts {
  readonly #texts = new Set<string>();

  has(text: string): boolean {
    return text.length <= limits.redactionCleanTextUnitsMax && this.#texts.has(text);
  }

  add(text: string): void {
    if (text.length > limits.redactionCleanTextUnitsMax) return;
    if (this.#texts.size >= limits.redactionCleanTextsMax) this.#texts.clear();
    this.#texts.add(text);
  }
}

/** What holds a mark was looked at as a whole before: its name announces nothing more. */
function announcedIn(text: string, name: string): Announced | null {
  // The cheap question first: most names announce nothing.
  if (!announces(name) || withWalls(text) !== text) return null;
  return announcedSecret(name, viewOf(text).text);
}

/**
 * Replaces until no kind finds one more: a replacement may uncover what it was run together with. The second round
 * is the last one for nearly all texts; their number has a limit.
 */
function replaceAll(
  kinds: readonly RedactionKind[],
  markOf: MarkOf,
  text: string,
  announced: Announced | null,
): string {
  let now = text;
  for (let round = 0; round < limits.redactionRoundsMax; round += 1) {
    const next = replaceOnce(kinds, markOf, now, round === 0 ? announced : null);
    if (next === now) break;
    now = next;
  }
  return now;
}

function replaceOnce(
  kinds: readonly RedactionKind[],
  markOf: MarkOf,
  text: string,
  announced: Announced | null,
): string {
  const view = viewOf(withWalls(text));
  const found: Found[] = announced === null ? [] : [announced];
  for (const kind of kinds) {
    for (const { start, end } of kind.find(view.text)) found.push({ kind: kind.name, start, end });
  }
  if (found.length === 0) return text;

  const parts: string[] = [];
  let copied = 0;
  for (const { kind, start, end } of withoutOverlaps(found, kinds)) {
    parts.push(text.slice(copied, view.originOf(start)), markOf(kind, view.text.slice(start, end)));
    copied = view.originOf(end);
  }
  parts.push(text.slice(copied));
  return parts.join('');
}

/** Overlapping ranges as one, of the kind that begins first, is longest, and stands first in the list. */
function withoutOverlaps(found: readonly Found[], kinds: readonly RedactionKind[]): readonly Found[] {
  const order = kinds.map(({ name }) => name);
  const sorted = [...found].sort(
    (one, other) =>
      one.start - other.start || other.end - one.end || order.indexOf(one.kind) - order.indexOf(other.kind),
  );
  const merged: Found[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last === undefined || range.start >= last.end) merged.push(range);
    else if (range.end > last.end) merged[merged.length - 1] = { ...last, end: range.end };
  }
  return merged;
}
