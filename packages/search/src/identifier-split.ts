import { alphanumericBit, describeCodePoint, letterBit, lowerBit, upperBit } from './script-class.js';

/**
 * How an identifier comes apart (SE-12). Levels, the widest first: `/`, then `::` `:` `@` `#` `+`, then `.`, then
 * `-`, then `_`, then case.
 */
const separatorsByLevel: readonly string[] = ['/', ':@#+', '.', '-', '_'];

/** The parts of a piece at the widest level that it has; null for a leaf, which splits no further. */
export function splitIdentifier(piece: string): readonly string[] | null {
  for (const separators of separatorsByLevel) {
    const parts = splitAt(piece, separators);
    if (parts !== null) return parts;
  }
  return splitByCase(piece);
}

/** Whether a piece has a letter or a digit; without one it is no token. */
export function isPronounceable(piece: string): boolean {
  for (const character of piece) {
    if ((describeCodePoint(character.codePointAt(0) ?? 0) & alphanumericBit) !== 0) return true;
  }
  return false;
}

function splitAt(piece: string, separators: string): readonly string[] | null {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < piece.length; at += 1) {
    if (!separators.includes(piece.charAt(at))) continue;
    if (at > start) parts.push(piece.slice(start, at));
    start = at + 1;
  }
  if (start === 0 && parts.length === 0) return null;
  if (start < piece.length) parts.push(piece.slice(start));
  return parts;
}

/** What the case rules look at: letters, and digits; marks go with the letter before them. */
type Case = 'upper' | 'lower' | 'digit' | 'other';

function caseOf(description: number): Case | null {
  if ((description & upperBit) !== 0) return 'upper';
  if ((description & lowerBit) !== 0) return 'lower';
  if ((description & letterBit) !== 0) return 'other';
  return (description & alphanumericBit) !== 0 ? 'digit' : null;
}

function splitByCase(piece: string): readonly string[] | null {
  const cuts = caseCuts(piece);
  return cuts.length === 0 ? null : [0, ...cuts].map((start, index) => piece.slice(start, cuts[index]));
}

/** Before an upper letter that follows a lower one, and before upper+lower behind an upper letter or a digit. */
function caseCuts(piece: string): readonly number[] {
  const cuts: number[] = [];
  let before: Case | null = null;
  // Where a part begins if a lower letter follows.
  let candidate = 0;
  let at = 0;
  for (const character of piece) {
    const present = caseOf(describeCodePoint(character.codePointAt(0) ?? 0));
    if (present === 'lower' && candidate > 0) cuts.push(candidate);
    if (present !== null) candidate = 0;
    if (present === 'upper' && before === 'lower') cuts.push(at);
    if (present === 'upper' && (before === 'upper' || before === 'digit')) candidate = at;
    before = present ?? before;
    at += character.length;
  }
  return cuts;
}
