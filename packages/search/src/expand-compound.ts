import { limits } from '@turnlog/kernel';
import { foldText } from './fold-text.js';
import { isPronounceable, splitIdentifier } from './identifier-split.js';
import type { Token, TokenForm, TokenGroup } from './token.js';

/**
 * A compound with its pieces (SE-12): the whole, its extras, then the same of each part.
 *
 * @param suffix the `++` or `#` that belongs to its last word, or nothing.
 */
export function expandCompound(compound: string, suffix: string): TokenGroup {
  if (suffix === '' && isPlainWord(compound)) {
    return { kind: 'compound', tokens: [{ text: compound, form: 'whole' }], leaves: [compound] };
  }
  const expansion = new Expansion(compound.replaceAll('\\', '/'), suffix);
  return { kind: 'compound', tokens: expansion.tokens, leaves: expansion.leaves };
}

/** Whether nothing is to be done to it, as to most words. */
function isPlainWord(compound: string): boolean {
  return compound.length <= limits.tokenCodePointsMax && /^[a-z]+$/.test(compound);
}

class Expansion {
  readonly tokens: Token[] = [];
  readonly leaves: string[] = [];
  readonly #seen = new Set<string>();
  readonly #suffix: string;
  readonly #suffixedWord: string | null;
  readonly #isLong: boolean;

  constructor(compound: string, suffix: string) {
    this.#suffix = suffix;
    this.#isLong = compound.length > limits.knownTokenUnitsMax;
    this.#suffixedWord = suffix === '' ? null : lastWord(compound);
    this.#walk(compound, 'whole', true);
  }

  #walk(piece: string, form: TokenForm, isLast: boolean): void {
    if (!isPronounceable(piece)) return;
    const folded = foldText(piece);
    if (isLast && piece === this.#suffixedWord) this.#emit(folded + this.#suffix, form);
    const parts = splitIdentifier(piece);
    if (parts === null) {
      this.#leaf(folded, form);
      return;
    }
    this.#whole(folded, form);
    for (const extra of extrasOf(piece)) this.#whole(foldText(extra), 'part');
    parts.forEach((part, index) => {
      this.#walk(part, 'part', isLast && index === parts.length - 1);
    });
  }

  #whole(folded: string, form: TokenForm): void {
    if (withinLength(folded) === folded.length) this.#emit(folded, form);
  }

  #leaf(folded: string, form: TokenForm): void {
    const leaf = folded.slice(0, withinLength(folded));
    this.leaves.push(this.#isLong ? copyOf(leaf) : leaf);
    this.#emit(leaf, form);
    if (!isHash(folded)) return;
    for (const length of hashLengths) this.#emit(folded.slice(0, length), 'part');
  }

  #emit(text: string, form: TokenForm): void {
    if (this.#seen.has(text)) return;
    this.#seen.add(text);
    this.tokens.push({ text: this.#isLong ? copyOf(text) : text, form });
  }
}

/** The same text, of its own: a slice would keep all alive of what it was taken from. */
export function copyOf(slice: string): string {
  return ` ${slice}`.slice(1);
}

/** How many units of a text are within the longest token, which is counted in code points. */
function withinLength(text: string): number {
  if (text.length <= limits.tokenCodePointsMax) return text.length;
  let at = 0;
  for (let count = 0; count < limits.tokenCodePointsMax && at < text.length; count += 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

function lastWord(compound: string): string {
  return /[^-./:@#+]*$/u.exec(compound.slice(-4))?.[0] ?? '';
}

/** The lengths to which people shorten hashes. */
const hashLengths: readonly number[] = [7, 8, 12];

function isHash(leaf: string): boolean {
  return /^[0-9a-f]{8,64}$/.test(leaf) && /[0-9]/.test(leaf) && /[a-f]/.test(leaf);
}

/** Other names of a piece that it is asked for by. */
function extrasOf(piece: string): readonly string[] {
  if (isVersion(piece)) return [piece.slice(1)];
  if (!piece.includes('/')) return [];
  const line = beforeNumber(piece);
  const path = line === null ? piece : (beforeNumber(line) ?? line);
  const names = line === null ? [] : path === line ? [path] : [line, path];
  const ending = lastTwoSegments(path);
  return ending === null ? names : [...names, ending];
}

function isVersion(piece: string): boolean {
  return /^v[0-9]+\.[0-9]/i.test(piece) && !/[/:@#]/.test(piece);
}

/** What stands before a last `:` and digits. */
function beforeNumber(text: string): string | null {
  const colon = text.lastIndexOf(':');
  const isNumber = colon > 0 && text.charAt(colon - 1) !== ':' && /^[0-9]+$/.test(text.slice(colon + 1));
  return isNumber ? text.slice(0, colon) : null;
}

function lastTwoSegments(path: string): string | null {
  const second = path.lastIndexOf('/', path.lastIndexOf('/') - 1);
  return second > 0 ? path.slice(second + 1) : null;
}
