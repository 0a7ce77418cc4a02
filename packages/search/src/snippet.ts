import { limits } from '@turnlog/kernel';
import { safeText } from '@turnlog/store';
import { leavesOf } from './token-views.js';

/** The part of a hit's text that says most about why it was found (SE-31). */
export interface Snippet {
  readonly text: string;
  /** `[start, end)` of what was searched for, in UTF-16 units of `text`. */
  readonly ranges: readonly (readonly [start: number, end: number])[];
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
const words = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * The line that holds the most of what was searched for, with its neighbours as far as they fit, cut at whole
 * characters. It is made of text that has passed the redactor; nothing of the rest of the chunk is looked at. What
 * controls a terminal, or the direction of a text, is shown as a visible escape.
 */
export function snippetOf(text: string, wanted: ReadonlySet<string>): Snippet {
  const lines = text.split('\n');
  const best = bestLine(lines, wanted);
  const shown = cut(withNeighbours(lines, best), wanted);
  const ranges = rangesIn(shown, wanted);
  const placeOf = (at: number): number => visible(shown.slice(0, at)).length;
  return { text: visible(shown), ranges: ranges.map(([start, end]) => [placeOf(start), placeOf(end)]) };
}

/** Controls but for line feeds and tabs, separators of lines, and marks of direction. */
const controls = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function visible(text: string): string {
  return text.replace(controls, (control) => safeText(control));
}

/** As many code points as are shown of a text. */
function shownLength(text: string): number {
  return Array.from(visible(text)).length;
}

function bestLine(lines: readonly string[], wanted: ReadonlySet<string>): number {
  let best = 0;
  let most = -1;
  for (const [position, line] of lines.entries()) {
    const count = new Set(leavesOf(line).filter((leaf) => wanted.has(leaf))).size;
    if (count <= most) continue;
    best = position;
    most = count;
  }
  return best;
}

/** The line, then the one behind and the one before, while all of them fit. */
function withNeighbours(lines: readonly string[], best: number): string {
  let shown = lines[best]?.trim() ?? '';
  const after = lines[best + 1]?.trim() ?? '';
  const before = lines[best - 1]?.trim() ?? '';
  if (after !== '' && fits(`${shown}\n${after}`)) shown = `${shown}\n${after}`;
  if (before !== '' && fits(`${before}\n${shown}`)) shown = `${before}\n${shown}`;
  return shown;
}

function fits(text: string): boolean {
  return shownLength(text) <= limits.snippetCodePointsMax;
}

const ellipsis = '…';

/** A window of a long text around the first thing that was searched for. */
function cut(text: string, wanted: ReadonlySet<string>): string {
  if (fits(text)) return text;
  const pieces = Array.from(graphemes.segment(text), ({ segment, index }) => ({ segment, index }));
  const found = rangesIn(text, wanted)[0]?.[0] ?? 0;
  const lead = leadFrom(
    pieces.map(({ segment }) => shownLength(segment)),
    pieces.findIndex(({ index }) => index >= found),
  );
  let shown = lead > 0 ? ellipsis : '';
  let codePoints = shown.length + 1;
  for (const { segment } of pieces.slice(lead)) {
    const more = shownLength(segment);
    if (codePoints + more > limits.snippetCodePointsMax) return shown + ellipsis;
    shown += segment;
    codePoints += more;
  }
  return shown;
}

/** Where a window begins that shows a third of its length before the piece at `at`. */
function leadFrom(codePoints: readonly number[], at: number): number {
  let lead = Math.max(at, 0);
  for (let room = limits.snippetCodePointsMax / 3; lead > 0; lead -= 1) {
    room -= codePoints[lead - 1] ?? 0;
    if (room < 0) break;
  }
  return lead;
}

/** Where words of the text stand that hold a leaf that was searched for. */
function rangesIn(text: string, wanted: ReadonlySet<string>): Snippet['ranges'] {
  const ranges: (readonly [number, number])[] = [];
  for (const { segment, index } of words.segment(text)) {
    if (!leavesOf(segment).some((leaf) => wanted.has(leaf))) continue;
    const end = index + segment.length;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === index) ranges[ranges.length - 1] = [last[0], end];
    else ranges.push([index, end]);
  }
  return ranges;
}
