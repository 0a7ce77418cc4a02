/** How a name is joined to its value in text of any kind: settings, programs, JSON in strings, command lines. */

import { limits } from '@turnlog/kernel';
import { runAt } from './redaction-text.js';

export type Quote = '"' | "'" | '`';

/** What stands between a name and its value, and how the value is written. */
export interface Separator {
  /** Where the value begins, behind its opening quote. */
  readonly valueStart: number;
  readonly quote: Quote | null;
  /**
   * - `tight`: `NAME=value`, or a quoted value.
   * - `loose`: `name: value`, `name = value`, where much else than assignments is written alike.
   * - `element`: `<name>value<`.
   */
  readonly form: 'tight' | 'loose' | 'element';
}

const nameRun = /[A-Za-z0-9_.-]/;

/** Where the name that ends at `end` begins. */
export function nameStart(text: string, end: number): number {
  let at = end;
  while (at > 0 && end - at <= limits.redactedNameUnitsMax && nameRun.test(text[at - 1] ?? '')) at -= 1;
  // The last letters of an escape are no part of the name: `\nTOKEN=`.
  return text[at - 1] === '\\' && /[nrt]/.test(text[at] ?? '') ? at + 1 : at;
}

const afterName = /(?:[\\"'`\]]{0,8})[ \t]{0,8}(?:=>|:=|=(?!=)|:(?![:/])|>)[ \t]{0,8}/y;
const openingQuote = /[bfru]?\\{0,8}["'`]/y;

export function separatorAt(text: string, start: number, end: number): Separator | null {
  const gap = runAt(afterName, text, end);
  if (gap === '') return optionSeparator(text, start, end);
  const valueAt = end + gap.length;
  if (gap === '>') {
    return text[start - 1] === '<' ? { valueStart: valueAt, quote: null, form: 'element' } : null;
  }
  if (gap.includes('>') && !gap.includes('=>')) return null;
  const opening = runAt(openingQuote, text, valueAt);
  const quote = quoteOf(opening.at(-1));
  if (quote !== null) return { valueStart: valueAt + opening.length, quote, form: 'tight' };
  if (gap.includes('=>')) return null;
  return { valueStart: valueAt, quote, form: gap === '=' ? 'tight' : 'loose' };
}

export function quoteOf(character: string | undefined): Quote | null {
  return character === '"' || character === "'" || character === '`' ? character : null;
}

/** `--name value`, as on command lines. */
function optionSeparator(text: string, start: number, end: number): Separator | null {
  const isOption = text.startsWith('--', start) && (text[end] === ' ' || text[end] === '\t');
  if (!isOption) return null;
  const opening = runAt(openingQuote, text, end + 1);
  const quote = quoteOf(opening.at(-1));
  if (quote === null && text[end + 1] === '-') return null;
  return { valueStart: end + 1 + (quote === null ? 0 : opening.length), quote, form: 'tight' };
}
