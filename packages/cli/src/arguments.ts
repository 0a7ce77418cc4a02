import { badFlag, type Flag, writtenFlag } from './flag.js';
import { nearest } from './nearest.js';
import type { Positional, Verb } from './verb.js';

/** What a command line says, every text of it checked. */
export class Arguments {
  readonly positionals: readonly string[];
  readonly #texts: ReadonlyMap<string, readonly string[]>;

  constructor(texts: ReadonlyMap<string, readonly string[]>, positionals: readonly string[]) {
    this.#texts = texts;
    this.positionals = positionals;
  }

  has(flag: Flag<unknown>): boolean {
    return this.#texts.has(flag.name);
  }

  /** The value of a flag; undefined when it was not given. */
  get<Value>(flag: Flag<Value>): Value | undefined {
    const texts = this.#texts.get(flag.name);
    return texts === undefined ? undefined : flag.read(texts);
  }
}

export interface CommandLine {
  /** Null when none was named. */
  readonly verb: Verb | null;
  readonly args: Arguments;
}

interface Reading {
  readonly texts: Map<string, string[]>;
  readonly positionals: string[];
  verb: Verb | null;
  flags: readonly Flag<unknown>[];
}

/**
 * Reads a command line: `--flag value`, `--flag=value`, `-n 5`, `-n5`, `-qv`; everything behind `--` is no flag. A
 * verb or flag that does not exist is refused with the nearest that does, never taken for it.
 *
 * @throws TURNLOG_BAD_FLAG, and what a flag or argument itself refuses with.
 */
export function parseArguments(
  argv: readonly string[],
  verbs: readonly Verb[],
  globalFlags: readonly Flag<unknown>[],
): CommandLine {
  const reading: Reading = { texts: new Map(), positionals: [], verb: null, flags: globalFlags };
  const rest = [...argv];
  for (let token = rest.shift(); token !== undefined; token = rest.shift()) {
    if (token === '--') {
      for (const text of rest.splice(0)) takePositional(text, reading, verbs);
    } else if (token.startsWith('--')) takeLong(token, rest, reading);
    else if (token.startsWith('-') && token.length > 1) takeShort(token, rest, reading);
    else takePositional(token, reading, verbs);
  }
  const args = new Arguments(reading.texts, reading.positionals);
  for (const flag of reading.flags) args.get(flag);
  return { verb: reading.verb, args };
}

function takePositional(text: string, reading: Reading, verbs: readonly Verb[]): void {
  if (reading.verb !== null) {
    reading.positionals.push(text);
    return;
  }
  const found = verbs.find((verb) => verb.name === text);
  if (found === undefined) {
    const near = nearest(
      text,
      verbs.map(({ name }) => name),
    );
    throw unknown(`there is no verb ${JSON.stringify(text)}`, near, { verb: text });
  }
  reading.verb = found;
  reading.flags = [...reading.flags, ...found.flags];
}

function takeLong(token: string, rest: string[], reading: Reading): void {
  const [written = '', ...values] = token.slice(2).split('=');
  const flag = findFlag(written, reading);
  const inline = values.length === 0 ? null : values.join('=');
  if (flag.value !== null) note(reading, flag, inline ?? valueFrom(rest, flag));
  else if (inline === null) note(reading, flag, '');
  else throw badFlag(`${writtenFlag(flag)} takes no value`, { flag: flag.name });
}

/** Letters after one dash: switches may stand together, a value may stand right behind its letter. */
function takeShort(token: string, rest: string[], reading: Reading): void {
  const letters = [...token.slice(1)];
  for (let letter = letters.shift(); letter !== undefined; letter = letters.shift()) {
    const flag = findFlag(letter, reading);
    if (flag.value === null) {
      note(reading, flag, '');
      continue;
    }
    const inline = letters.splice(0).join('').replace(/^=/, '');
    note(reading, flag, inline === '' ? valueFrom(rest, flag) : inline);
  }
}

function valueFrom(rest: string[], flag: Flag<unknown>): string {
  const value = rest.shift();
  if (value === undefined)
    throw badFlag(`${writtenFlag(flag)} wants a value: ${flag.value}`, { flag: flag.name });
  return value;
}

function findFlag(name: string, reading: Reading): Flag<unknown> {
  const found = reading.flags.find((flag) => flag.name === name);
  if (found !== undefined) return found;
  const near = nearest(
    name,
    reading.flags.map((flag) => flag.name).filter((known) => known.length > 1),
  );
  const where = reading.verb === null ? '' : ` of ${reading.verb.name}`;
  const message = `there is no flag ${writtenFlag({ name })}${where}`;
  throw unknown(message, near === null ? null : writtenFlag({ name: near }), { flag: name });
}

function note(reading: Reading, flag: Flag<unknown>, text: string): void {
  const texts = reading.texts.get(flag.name);
  if (texts === undefined) reading.texts.set(flag.name, [text]);
  else texts.push(text);
}

function unknown(
  message: string,
  near: string | null,
  details: Readonly<Record<string, unknown>>,
): ReturnType<typeof badFlag> {
  return near === null
    ? badFlag(message, details)
    : badFlag(`${message}; did you mean ${near}?`, { ...details, near });
}

/**
 * Checks the arguments of a verb by number and form. Nothing is looked up, so a hostile id goes no further.
 *
 * @throws TURNLOG_BAD_FLAG, TURNLOG_INVALID_SESSION_ID.
 */
export function checkPositionals(verb: Verb, given: readonly string[]): void {
  const { positionals, variants = [] } = verb;
  // A lone word is the argument, whatever it is.
  const texts = given.length > 1 && variants.includes(given[0] ?? '') ? given.slice(1) : given;
  texts.forEach((text, index) => {
    const positional = positionalAt(positionals, index);
    if (positional === null)
      throw badFlag(`${verb.name} takes no argument ${JSON.stringify(text)}`, { argument: text });
    positional.check(text);
  });
  const missing = positionals[texts.length];
  if (missing !== undefined && missing.presence === 'required') {
    throw badFlag(`${verb.name} wants ${missing.name}`, { argument: missing.name });
  }
}

function positionalAt(positionals: readonly Positional[], index: number): Positional | null {
  const last = positionals.at(-1);
  return positionals[index] ?? (last?.presence === 'repeated' ? last : null);
}
