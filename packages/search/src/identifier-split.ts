import { alphanumericBit, describeCodePoint, letterBit, lowerBit, upperBit } from './script-class.js';

/** How an identifier comes apart (SE-12): at these, the widest first, and then by case. */
const separatorsByLevel: readonly string[] = ['/', ':@#+', '.', '-', '_'];
const caseLevel = separatorsByLevel.length;

/** The level of each ASCII character that separates. */
const levels = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const level = separatorsByLevel.findIndex((separators) => separators.includes(String.fromCharCode(code)));
  return level === -1 ? caseLevel : level;
});

function levelAt(piece: string, at: number): number {
  return levels[piece.charCodeAt(at)] ?? caseLevel;
}

/** The parts of a piece at the widest level that it has; null for a leaf, which splits no further. */
export function splitIdentifier(piece: string): readonly string[] | null {
  let widest = caseLevel;
  for (let at = 0; at < piece.length; at += 1) widest = Math.min(widest, levelAt(piece, at));
  return widest === caseLevel ? splitByCase(piece) : splitAt(piece, widest);
}

/** Whether a piece has a letter or a digit; without one it is no token. */
export function isPronounceable(piece: string): boolean {
  for (const character of piece) {
    if ((describeCodePoint(character.codePointAt(0) ?? 0) & alphanumericBit) !== 0) return true;
  }
  return false;
}

function splitAt(piece: string, level: number): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at <= piece.length; at += 1) {
    if (at < piece.length && levelAt(piece, at) !== level) continue;
    if (at > start) parts.push(piece.slice(start, at));
    start = at + 1;
  }
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
