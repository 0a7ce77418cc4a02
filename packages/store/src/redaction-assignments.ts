/** Secrets that the name before them announces. */

import { limits } from '@turnlog/kernel';
import { isCode } from './redaction-exempt.js';
import { isSecretValue, nameStrength } from './redaction-names.js';
import { nameStart, type Quote, type Separator, separatorAt } from './redaction-separator.js';
import { createRunEnds, type TextRange, wall } from './redaction-text.js';

/** What ends a value: a backslash does when it begins an escape that no secret holds. */
const valueStops = {
  none: new RegExp(`[\\s"'\`&;<>|${wall}]|\\\\[nrtu"'\\\\]`, 'g'),
  '"': new RegExp(`[\\s"${wall}]|\\\\[nrt"\\\\]`, 'g'),
  "'": new RegExp(`[\\s'${wall}]|\\\\[nrt'\\\\]`, 'g'),
  '`': new RegExp(`[\\s\`${wall}]|\\\\[nrt\`\\\\]`, 'g'),
} as const;

type ValueEnds = (quote: Quote | null, at: number) => number;

function createValueEnds(text: string): ValueEnds {
  const ends = {
    none: createRunEnds(text, valueStops.none),
    '"': createRunEnds(text, valueStops['"']),
    "'": createRunEnds(text, valueStops["'"]),
    '`': createRunEnds(text, valueStops['`']),
  };
  return (quote, at) => ends[quote ?? 'none'](at);
}

const lineEnd = /[ \t]{0,8}(?:$|[\r\n]|[#,;]|\\[nr"'])/y;

/** The value of an assignment without what closes it, or null when blanks or a program's text stand there. */
function assignedValue(text: string, { valueStart, quote, form }: Separator, ends: ValueEnds): string | null {
  const end = ends(quote, valueStart);
  if (end - valueStart > limits.redactedValueUnitsMax) return null;
  const run = text.slice(valueStart, end);
  if (quote !== null) return /\s/.test(text[end] ?? '') ? null : run;
  if (isCode(run)) return null;
  const value = run.replace(/[,.:)\]}]{1,8}$/, '');
  if (form !== 'loose' || /\d/.test(value)) return value;
  // Words after a colon are prose, unless nothing follows them.
  lineEnd.lastIndex = end;
  return lineEnd.test(text) && value.length === run.length ? value : null;
}

const assignedName =
  /(?:key|token|secret|password|passwd|passphrase|pwd|credentials?|[_-]pass)(?![A-Za-z0-9_.-])/gi;

const anySeparator = /[=:>]|--/;

/** Values of names that announce a secret. */
export function findAssigned(text: string): readonly TextRange[] {
  if (!anySeparator.test(text)) return [];
  const found: TextRange[] = [];
  const ends = createValueEnds(text);
  let covered = 0;
  for (const match of text.matchAll(assignedName)) {
    if (match.index < covered) continue;
    const range = assignedAt(text, match.index + match[0].length, ends);
    if (range === null) continue;
    found.push(range);
    covered = range.end;
  }
  return found;
}

function assignedAt(text: string, nameEnd: number, ends: ValueEnds): TextRange | null {
  const start = nameStart(text, nameEnd);
  const separator = separatorAt(text, start, nameEnd);
  if (separator === null) return null;
  const name = text.slice(start, nameEnd);
  const strength = nameStrength(name);
  if (strength === null) return null;
  const value = assignedValue(text, separator, ends);
  if (value === null || !isSecretValue(strength, value)) return null;
  // `self.password = password`: a program hands on what has the same name.
  if (separator.form === 'loose' && name.toLowerCase().endsWith(value.toLowerCase())) return null;
  return { start: separator.valueStart, end: separator.valueStart + value.length };
}
