import { AsciiCompounds } from './ascii-compounds.js';
import { asciiKinds, asciiLetterBit, colon, hash, joinerBit, plus, wordBit } from './ascii-kinds.js';
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

const latin = scriptOf(describeCodePoint(0x61));

/**
 * Goes through what the plain form of a text holds of identifiers and words, runs written without spaces, and emoji
 * (SE-9, SE-10). Nothing is made of them: the place of the present one stands in fields, so that whoever knows it
 * already needs no string of it. One scanner serves one text after the other.
 */
export class TokenScanner {
  text = '';
  /** Whether the text is all ASCII. All of its compounds are in `ascii` then, for whoever wants no other way to them. */
  isAscii = true;
  readonly ascii: AsciiCompounds = new AsciiCompounds();
  /** How many of those have been gone to. */
  #passed = 0;
  /** The units of any other text, and behind them what is left of others: reading these is many times faster. */
  units: Uint16Array = new Uint16Array(0);
  kind: 'compound' | 'run' | 'emoji' = 'compound';
  /** Where it stands in the text, in UTF-16 units. */
  start = 0;
  end = 0;
  /** How many of its last units are the `++` or `#` of a name such as C++. */
  suffixWidth = 0;

  /** Goes to the start of a text, in whatever form it is. */
  begin(text: string): void {
    this.start = 0;
    this.end = 0;
    this.#passed = 0;
    this.isAscii = this.ascii.scan(text);
    this.text = this.isAscii ? text : plainForm(text);
    if (!this.isAscii) this.#takeUnits();
  }

  #takeUnits(): void {
    const { text } = this;
    if (text.length > this.units.length) this.units = new Uint16Array(text.length);
    const { units } = this;
    for (let at = 0; at < text.length; at += 1) units[at] = text.charCodeAt(at);
  }

  /** Goes to the next one; false when there is none. */
  next(): boolean {
    if (this.isAscii) return this.#nextInAscii();
    const { units } = this;
    const { length } = this.text;
    for (let at = this.end; at < length; ) {
      const unit = units[at] ?? 0;
      if (unit < 0x80 && ((asciiKinds[unit] ?? 0) & wordBit) === 0) {
        at += 1;
        continue;
      }
      const next = unit < 0x80 ? this.#compound(at) : this.#other(at);
      if (this.start === at && this.end === next) return true;
      at = next;
    }
    this.end = length;
    this.start = length;
    return false;
  }

  #nextInAscii(): boolean {
    const { count, places } = this.ascii;
    if (this.#passed === count) return false;
    this.kind = 'compound';
    this.start = places[2 * this.#passed] ?? 0;
    this.end = places[2 * this.#passed + 1] ?? 0;
    this.suffixWidth = this.ascii.suffixWidth(this.end);
    this.#passed += 1;
    return true;
  }

  /** Takes what begins at `at`, when it is one; returns where to go on. */
  #other(at: number): number {
    const { text } = this;
    const kind = classOf(describedAt(text, at));
    if (kind === wordClass) return this.#compound(at);
    if (kind === separatorClass) return at + 1;
    const isRun = kind >= unspacedClass;
    const end = isRun ? runEnd(text, at, kind) : emojiEnd(text, at, kind);
    if (end === null) return at + widthAt(text, at);
    this.kind = isRun ? 'run' : 'emoji';
    this.start = at;
    this.end = end;
    return end;
  }

  #compound(start: number): number {
    const { text, units } = this;
    let wordStart = start;
    let end = this.#wordEnd(start);
    while (end < text.length && asciiKinds[units[end] ?? 0] === joinerBit) {
      const width = joinerWidth(text, end);
      if (width === 0) break;
      wordStart = end + width;
      end = this.#wordEnd(wordStart);
    }
    const suffixed = suffixEnd(text, wordStart, end);
    this.kind = 'compound';
    this.start = start;
    this.end = suffixed;
    this.suffixWidth = suffixed - end;
    return suffixed;
  }

  /** The end of a word: of the word class, its letters of one script. */
  #wordEnd(from: number): number {
    const { units } = this;
    const { length } = this.text;
    let at = from;
    let bits = 0;
    for (; at < length; at += 1) {
      const unit = units[at] ?? 0;
      const own = unit < 0x80 ? (asciiKinds[unit] ?? 0) : 0;
      if ((own & wordBit) === 0) break;
      bits |= own;
    }
    if (at === length || (units[at] ?? 0) < 0x80) return at;
    return this.#rareWordEnd(at, (bits & asciiLetterBit) === 0 ? 0 : latin);
  }

  /** The same from a code point on that is not in ASCII; `before` is the script of what stands before it. */
  #rareWordEnd(from: number, before: number): number {
    const { text } = this;
    let script = before;
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

/** How many units a joiner takes when it stands between two words; else 0. */
function joinerWidth(text: string, at: number): number {
  const width = text.charCodeAt(at) === colon && text.charCodeAt(at + 1) === colon ? 2 : 1;
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
