/**
 * Patterns that users add, in a small language that is read in linear time: characters, classes (`[a-f]`, `\d`,
 * `\w`, `\s`, `.`) and repetitions (`?`, `*`, `+`, `{2}`, `{2,5}`), of which the unbounded ones stop at a limit.
 * There are no groups, alternatives, anchors or references; two alternatives are two patterns.
 */

import { limits, TurnlogError } from '@turnlog/kernel';
import { type TextRange, wall } from './redaction-text.js';

/** Whether a character, by its UTF-16 unit, belongs to a class. */
type CharacterTest = (code: number) => boolean;

interface Element {
  readonly test: CharacterTest;
  readonly min: number;
  readonly max: number;
}

/** One state per character that a match may have: what it must be, and where to go on when it may be missing. */
interface State {
  readonly test: CharacterTest;
  /** The state behind the optional rest of the repetition; null when this character must be there. */
  readonly skipTo: number | null;
}

export interface UserPattern {
  /** Every place it is found at, leftmost and longest, none overlapping another. */
  find(text: string): readonly TextRange[];
}

/**
 * @param position which of the user's patterns it is; the text itself may be a secret and is in no error.
 * @throws TURNLOG_BAD_CONFIG; details: position, offset, reason.
 */
export function compileUserPattern(source: string, position: number): UserPattern {
  const parser = new PatternParser(source, position);
  const elements = parser.elements();
  const states = statesOf(elements);
  const unitsMin = elements.reduce((sum, { min }) => sum + min, 0);
  if (unitsMin < limits.userPatternUnitsMin) throw parser.refusal('it may find too short a text');
  if (states.length > limits.userPatternUnitsMax) throw parser.refusal('it may find too long a text');
  return { find: (text) => findAll(states, text) };
}

function statesOf(elements: readonly Element[]): readonly State[] {
  const states: State[] = [];
  for (const { test, min, max } of elements) {
    const end = states.length + max;
    for (let copy = 0; copy < max; copy += 1) states.push({ test, skipTo: copy < min ? null : end });
  }
  return states;
}

const between =
  (low: number, high: number): CharacterTest =>
  (code) =>
    code >= low && code <= high;
const either =
  (tests: readonly CharacterTest[]): CharacterTest =>
  (code) =>
    tests.some((test) => test(code));
const not =
  (test: CharacterTest): CharacterTest =>
  (code) =>
    !test(code);
const exact = (character: string): CharacterTest => between(character.charCodeAt(0), character.charCodeAt(0));

const digit = between(0x30, 0x39);
const wordCharacter = either([digit, between(0x41, 0x5a), between(0x61, 0x7a), exact('_')]);
const blank = either([between(0x09, 0x0d), exact(' '), exact('\u00a0')]);
const classes: ReadonlyMap<string, CharacterTest> = new Map([
  ['d', digit],
  ['D', not(digit)],
  ['w', wordCharacter],
  ['W', not(wordCharacter)],
  ['s', blank],
  ['S', not(blank)],
  ['n', exact('\n')],
  ['r', exact('\r')],
  ['t', exact('\t')],
]);

class PatternParser {
  readonly #source: string;
  readonly #position: number;
  #at = 0;

  constructor(source: string, position: number) {
    this.#source = source;
    this.#position = position;
  }

  refusal(reason: string): TurnlogError {
    return new TurnlogError('TURNLOG_BAD_CONFIG', {
      details: { position: this.#position, offset: this.#at, reason },
      message: `pattern ${this.#position + 1} of the redaction cannot be used at ${this.#at}: ${reason}`,
    });
  }

  elements(): readonly Element[] {
    const elements: Element[] = [];
    while (this.#at < this.#source.length) {
      const test = this.#atom();
      elements.push({ test, ...this.#repetition() });
    }
    return elements;
  }

  #next(): string {
    const character = this.#source[this.#at];
    if (character === undefined) throw this.refusal('it ends too early');
    this.#at += 1;
    return character;
  }

  #atom(): CharacterTest {
    const character = this.#next();
    if (character === '\\') return this.#escape();
    if (character === '[') return this.#class();
    if (character === '.') return not(exact('\n'));
    if ('()|^$*+?{}]'.includes(character)) throw this.refusal('write a backslash before this character');
    return exact(character);
  }

  #escape(): CharacterTest {
    const character = this.#next();
    const known = classes.get(character);
    if (known !== undefined) return known;
    if (/[A-Za-z0-9]/.test(character)) throw this.refusal('this escape is not known');
    return exact(character);
  }

  #class(): CharacterTest {
    const isNegated = this.#source[this.#at] === '^';
    if (isNegated) this.#at += 1;
    const tests: CharacterTest[] = [];
    for (let character = this.#next(); character !== ']'; character = this.#next()) {
      tests.push(this.#classMember(character));
    }
    if (tests.length === 0) throw this.refusal('this class is empty');
    return isNegated ? not(either(tests)) : either(tests);
  }

  #classMember(character: string): CharacterTest {
    if (character === '\\') return this.#escape();
    const isRange = this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']';
    if (!isRange) return exact(character);
    this.#at += 1;
    const last = this.#next();
    if (last === '\\' || last < character) throw this.refusal('this range has no order');
    return between(character.charCodeAt(0), last.charCodeAt(0));
  }

  #repetition(): { readonly min: number; readonly max: number } {
    const sign = this.#source[this.#at] ?? '';
    const counts = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/.exec(this.#source.slice(this.#at, this.#at + 12));
    const most = limits.userPatternRepeatsMax;
    if (counts === null) {
      if (sign === '' || !'?*+'.includes(sign)) return { min: 1, max: 1 };
      this.#at += 1;
      return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : most };
    }
    this.#at += counts[0].length;
    const min = Number(counts[1]);
    const max = counts[2] === undefined ? min : Number(counts[3] ?? Math.max(most, min));
    if (max < min || max === 0) throw this.refusal('this repetition has no order');
    return { min, max };
  }
}

const wallCode = wall.charCodeAt(0);

/** A match under way: in which state it is and where it began. */
interface Thread {
  readonly state: number;
  readonly start: number;
}

/** The threads at one place of the text; of those in the same state the one that began first is kept. */
class ThreadList {
  readonly threads: Thread[] = [];
  readonly #states: readonly State[];
  readonly #isHeld: Uint8Array;

  constructor(states: readonly State[]) {
    this.#states = states;
    this.#isHeld = new Uint8Array(states.length + 1);
  }

  clear(): void {
    for (const { state } of this.threads) this.#isHeld[state] = 0;
    this.threads.length = 0;
  }

  /** Adds a thread, and one behind each repetition that may end here. */
  add(state: number, start: number): void {
    for (let at: number | null = state; at !== null; at = this.#states[at]?.skipTo ?? null) {
      if (this.#isHeld[at] === 1) return;
      this.#isHeld[at] = 1;
      this.threads.push({ state: at, start });
    }
  }

  /** Where the thread that has come to the end of the pattern began; null when none has. */
  get arrived(): number | null {
    if (this.#isHeld[this.#states.length] !== 1) return null;
    return this.threads.find(({ state }) => state === this.#states.length)?.start ?? null;
  }
}

function findAll(states: readonly State[], text: string): readonly TextRange[] {
  const found: TextRange[] = [];
  const lists = [new ThreadList(states), new ThreadList(states)] as const;
  for (let from = 0; from < text.length; ) {
    const range = findNext(states, lists, text, from);
    if (range === null) break;
    found.push(range);
    from = range.end;
  }
  return found;
}

/** All matches are followed at once: each character is looked at once per state that is under way. */
function findNext(
  states: readonly State[],
  lists: readonly [ThreadList, ThreadList],
  text: string,
  from: number,
): TextRange | null {
  let [now, next] = lists;
  now.clear();
  let best: TextRange | null = null;
  for (let at = from; at < text.length; at += 1) {
    if (best === null) now.add(0, at);
    else if (now.threads.length === 0) break;
    step(states, now, next, text.charCodeAt(at), best);
    const start = next.arrived;
    if (start !== null && (best === null || start <= best.start)) best = { start, end: at + 1 };
    [now, next] = [next, now];
  }
  return best;
}

function step(
  states: readonly State[],
  now: ThreadList,
  next: ThreadList,
  code: number,
  best: TextRange | null,
): void {
  next.clear();
  if (code === wallCode) return;
  for (const { state, start } of now.threads) {
    if (best !== null && start > best.start) continue;
    if (states[state]?.test(code) === true) next.add(state + 1, start);
  }
}
