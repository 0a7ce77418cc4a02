import { limits } from '@turnlog/kernel';
import { copyOf, expandCompound } from './expand-compound.js';
import { plainForm } from './fold-text.js';
import {
  classOf,
  describeCodePoint,
  emojiClass,
  letterBit,
  regionalClass,
  scriptOf,
  separatorClass,
  unspacedClass,
  wordClass,
} from './script-class.js';
import type { Token, TokenGroup } from './token.js';

/** Stored with every index: tokens of another name mean that it is to be built again. */
export const tokenizerName = 'tl-1';

/**
 * The tokens of a text, by the rules that `tokenizerName` stands for (SE-8 to SE-14). It is the one function for
 * documents and queries; `countTokens` and `readQueryText` are its two sides. Equal texts, also in other normal
 * forms, give equal tokens, in time that grows with the length of the text alone. No token keeps the text alive.
 */
export function tokenize(text: string): readonly TokenGroup[] {
  const plain = plainForm(text);
  const groups: TokenGroup[] = [];
  for (let at = 0; at < plain.length; ) at = scanGroup(plain, at, groups);
  return groups;
}

/** Takes what begins at `at` and returns where to go on. */
function scanGroup(text: string, at: number, groups: TokenGroup[]): number {
  const kind = classOf(describedAt(text, at));
  if (kind === separatorClass) return at + 1;
  if (kind === wordClass) return scanCompound(text, at, groups);
  if (kind >= unspacedClass) {
    const end = runEnd(text, at, kind);
    groups.push(unspacedGroup(Array.from(text.slice(at, end))));
    return end;
  }
  const end = emojiEnd(text, at, kind);
  if (end === null) return at + widthAt(text, at);
  const emoji = text.slice(at, end);
  groups.push({ kind: 'emoji', tokens: [{ text: emoji, form: 'whole' }], leaves: [emoji] });
  return end;
}

function describedAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return describeCodePoint(unit < 0xd800 ? unit : (text.codePointAt(at) ?? unit));
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** The end of an emoji; null for half a flag. */
function emojiEnd(text: string, at: number, kind: number): number | null {
  const next = at + widthAt(text, at);
  if (kind === emojiClass) return next;
  const isPair = next < text.length && classOf(describedAt(text, next)) === regionalClass;
  return isPair ? next + widthAt(text, next) : null;
}

function runEnd(text: string, from: number, kind: number): number {
  let at = from;
  while (at < text.length && classOf(describedAt(text, at)) === kind) at += widthAt(text, at);
  return at;
}

function unspacedGroup(leaves: readonly string[]): TokenGroup {
  const [first = '', ...others] = leaves;
  if (others.length === 0) return { kind: 'run', tokens: [{ text: first, form: 'single' }], leaves };
  const tokens: Token[] = [];
  let before = first;
  for (const leaf of others) {
    tokens.push({ text: before + leaf, form: 'part' });
    before = leaf;
  }
  tokens.push({ text: before, form: 'tail' });
  return { kind: 'run', tokens, leaves };
}

function scanCompound(text: string, start: number, groups: TokenGroup[]): number {
  let wordStart = start;
  let end = wordEnd(text, start);
  for (let width = joinerWidth(text, end); width > 0; width = joinerWidth(text, end)) {
    wordStart = end + width;
    end = wordEnd(text, wordStart);
  }
  const suffixed = suffixEnd(text, wordStart, end);
  const group = groupOf(text.slice(start, suffixed), suffixed - end);
  if (group.tokens.length > 0) groups.push(group);
  return suffixed;
}

/** The end of a word: of the word class, its letters of one script. */
function wordEnd(text: string, from: number): number {
  let script = 0;
  let at = from;
  while (at < text.length) {
    const described = describedAt(text, at);
    if (classOf(described) !== wordClass) break;
    const own = scriptOf(described);
    if (own !== 0 && own !== script) {
      if (script !== 0) break;
      script = own;
    }
    at += text.charCodeAt(at) < 0xd800 ? 1 : widthAt(text, at);
  }
  return at;
}

const joiners = Uint8Array.from({ length: 0x80 }, (_, code) =>
  '-./\\:@#+'.includes(String.fromCharCode(code)) ? 1 : 0,
);
const colon = 0x3a;
const plus = 0x2b;
const hash = 0x23;

/** How many units the joiner between two words takes; 0 when there is none. */
function joinerWidth(text: string, at: number): number {
  if (at >= text.length) return 0;
  const code = text.charCodeAt(at);
  if (joiners[code] !== 1) return 0;
  const width = code === colon && text.charCodeAt(at + 1) === colon ? 2 : 1;
  return isWordAt(text, at + width) ? width : 0;
}

function isWordAt(text: string, at: number): boolean {
  return at < text.length && classOf(describedAt(text, at)) === wordClass;
}

/** Behind the `++` or `#` of a name such as C++, which belongs to it; `end` when there is none. */
function suffixEnd(text: string, wordStart: number, end: number): number {
  const code = end < text.length ? text.charCodeAt(end) : 0;
  const suffix = code === hash ? 1 : code === plus && text.charCodeAt(end + 1) === plus ? 2 : 0;
  if (suffix === 0 || isWordAt(text, end + suffix)) return end;
  const letters = Array.from(text.slice(wordStart, Math.min(end, wordStart + 6)));
  const isShort = letters.length <= 2 && end - wordStart <= 4;
  const areLetters = letters.every((letter) => (describedAt(letter, 0) & letterBit) !== 0);
  return isShort && areLetters ? end + suffix : end;
}

/**
 * Groups by the text that they were made of, because most of what a text holds was met before: those that were asked
 * for lately, and, until as many others have been, those that were before.
 */
let known = new Map<string, TokenGroup>();
let knownBefore = new Map<string, TokenGroup>();

function groupOf(text: string, suffixWidth: number): TokenGroup {
  const found = known.get(text);
  if (found !== undefined) return found;
  const own = copyOf(text);
  const before = knownBefore.get(own);
  if (before !== undefined) return remember(own, before);
  const wordEnds = own.length - suffixWidth;
  const group = expandCompound(own.slice(0, wordEnds), own.slice(wordEnds));
  return text.length > limits.knownTokenUnitsMax ? group : remember(own, group);
}

function remember(text: string, group: TokenGroup): TokenGroup {
  if (known.size >= limits.knownTokensMax) {
    knownBefore = known;
    known = new Map();
  }
  known.set(text, group);
  return group;
}
