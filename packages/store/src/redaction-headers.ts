/** Values of headers that carry secrets, wherever a header stands in text. */

import { limits } from '@turnlog/kernel';
import { isCode, isPlaceholder } from './redaction-exempt.js';
import { type HeaderKind, hasListScheme, headerKind, headerSecret } from './redaction-names.js';
import { nameStart, type Quote, quoteOf, type Separator, separatorAt } from './redaction-separator.js';
import { isWordStart, runAt, type TextRange, wall } from './redaction-text.js';

const headerName = /(?:authorization|cookie2?)(?![A-Za-z0-9_.-])/gi;
/** A scheme and what follows it up to a blank or quote, or one text without blanks. */
const credentials = new RegExp(
  `[ \\t]{0,8}(?:[A-Za-z][\\w-]{0,32}[ \\t]{1,8})?[^\\s"'\`\\\\${wall}]{1,${limits.redactedValueUnitsMax}}`,
  'y',
);
const credentialsEnd = /[ \t]{0,8}(?:$|[\r\n"'`\\,;])/y;
const headerLine = new RegExp(`[^\\r\\n${wall}]{1,${limits.redactedValueUnitsMax}}`, 'y');

const anyHeader = /authorization|cookie|bearer/i;

/** Secrets in headers, and tokens behind the word `Bearer`. */
export function findHeaders(text: string): readonly TextRange[] {
  if (!anyHeader.test(text)) return [];
  const found: TextRange[] = [];
  let covered = 0;
  for (const match of text.matchAll(headerName)) {
    if (match.index < covered) continue;
    const range = headerAt(text, match.index + match[0].length);
    if (range === null) continue;
    found.push(range);
    covered = range.end;
  }
  return [...found, ...findBearers(text)];
}

function headerAt(text: string, nameEnd: number): TextRange | null {
  const start = nameStart(text, nameEnd);
  const kind = headerKind(text.slice(start, nameEnd));
  const separator = kind === null ? null : separatorAt(text, start, nameEnd);
  if (kind === null || separator === null) return null;
  const value = headerValue(kind, text, start, separator);
  const range = value === null || isCode(value) ? null : headerSecret(kind, value);
  if (range === null) return null;
  return { start: separator.valueStart + range.start, end: separator.valueStart + range.end };
}

/** @param start where the name begins: a quote before it ends the value too. */
function headerValue(kind: HeaderKind, text: string, start: number, separator: Separator): string | null {
  const { valueStart, quote } = separator;
  const run = runAt(credentials, text, valueStart);
  if (kind === 'authorization' && !hasListScheme(run)) {
    credentialsEnd.lastIndex = valueStart + run.length;
    const isAlone = /^\s*\S+$/.test(run);
    return !isAlone || credentialsEnd.test(text) ? run : null;
  }
  const line = runAt(headerLine, text, valueStart);
  const quoteAt = quote === null ? start - 1 : valueStart - 1;
  return line.slice(0, lineLength(line, quoteOf(text[quoteAt]), depthAt(text, quoteAt)));
}

const depthMax = 16;

/** How many backslashes stand before `at`: so deep is the quoting that a quote there belongs to. */
function depthAt(text: string, at: number): number {
  let depth = 0;
  while (depth < depthMax && text[at - 1 - depth] === '\\') depth += 1;
  return depth;
}

const quotes = /["'`]/g;
const escapedLineEnd = /\\[nr]/;

/**
 * A header ends with its line, also where that is an escape, or with the quote that was opened around it. Quotes in
 * it have more backslashes; where none was seen opening, the first one tells how many.
 */
function lineLength(line: string, opened: Quote | null, openedDepth: number): number {
  let depth = opened === null ? null : openedDepth;
  let end = escapedLineEnd.exec(line)?.index ?? line.length;
  for (const { 0: quote, index } of line.matchAll(quotes)) {
    if (index >= end) break;
    const here = depthAt(line, index);
    depth ??= here - 1;
    if (here <= depth && (opened === null || quote === opened)) end = index - here;
  }
  return line.slice(0, end).replace(/\\{1,16}$/, '').length;
}

const bearer = /bearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,4096})/gi;

function findBearers(text: string): readonly TextRange[] {
  const found: TextRange[] = [];
  for (const match of text.matchAll(bearer)) {
    const token = match[1] ?? '';
    const end = match.index + match[0].length;
    const isToken = /\d/.test(token) && !isPlaceholder(token) && !isCode(token);
    if (isToken && isWordStart(text, match.index)) found.push({ start: end - token.length, end });
  }
  return found;
}
