import { type SessionId, TurnlogError } from '@turnlog/kernel';
import {
  type Moment,
  parseDuration,
  parseMoment,
  parseSessionId,
  parseSessionReference,
} from '@turnlog/store';

/**
 * One flag. The object is everything there is to it: the parser reads with it, and help, completion and
 * capabilities print it.
 */
export interface Flag<Value> {
  /** Without dashes; of one character it is written with one dash. */
  readonly name: string;
  /** What stands for its value in help; null when it takes none. */
  readonly value: string | null;
  /** The values it takes, where they can be counted up. */
  readonly choices: readonly string[] | null;
  readonly help: string;
  /** What completion offers. */
  readonly completes: 'nothing' | 'files' | 'directories' | 'choices';
  /** The value of all texts given, in their order; there is at least one. @throws TURNLOG_BAD_FLAG and others. */
  read(texts: readonly string[]): Value;
}

/** How a flag is written. */
export function writtenFlag(flag: Pick<Flag<unknown>, 'name'>): string {
  return flag.name.length === 1 ? `-${flag.name}` : `--${flag.name}`;
}

export function badFlag(message: string, details: Readonly<Record<string, unknown>>): TurnlogError {
  return new TurnlogError('TURNLOG_BAD_FLAG', { message, details });
}

function refused(name: string, value: string, wanted: string): TurnlogError {
  return badFlag(`${writtenFlag({ name })} takes ${wanted}, not ${JSON.stringify(value)}`, {
    flag: name,
    value,
  });
}

function lastOf(texts: readonly string[]): string {
  return texts.at(-1) ?? '';
}

const plain = { choices: null, completes: 'nothing' } as const;

export function switchFlag(name: string, help: string): Flag<true> {
  return { ...plain, name, value: null, help, read: () => true };
}

export function textFlag(
  name: string,
  value: string,
  help: string,
  completes: 'nothing' | 'files' | 'directories' = 'nothing',
): Flag<string> {
  return { ...plain, name, value, help, completes, read: lastOf };
}

/** May be given more than once, one text at a time: commas are part of it. */
export function textsFlag(name: string, value: string, help: string): Flag<readonly string[]> {
  return { ...plain, name, value, help, read: (texts) => texts };
}

/** May be given more than once; commas separate as well. */
export function listFlag(name: string, value: string, help: string): Flag<readonly string[]> {
  return { ...plain, name, value, help, read: splitList };
}

function splitList(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(',')).filter((text) => text !== '');
}

export function choiceFlag<const Choice extends string>(
  name: string,
  choices: readonly Choice[],
  help: string,
): Flag<Choice> {
  return {
    name,
    value: choices.join('|'),
    choices,
    help,
    completes: 'choices',
    read: (texts) => {
      const text = lastOf(texts);
      const found = choices.find((choice) => choice === text);
      if (found === undefined) throw refused(name, text, `one of ${choices.join(', ')}`);
      return found;
    },
  };
}

/** A comma-separated choice of several. */
export function choicesFlag<const Choice extends string>(
  name: string,
  choices: readonly Choice[],
  help: string,
): Flag<readonly Choice[]> {
  const one = choiceFlag(name, choices, help);
  return {
    ...one,
    value: `${choices[0] ?? ''},…`,
    read: (texts) => splitList(texts).map((text) => one.read([text])),
  };
}

export function countFlag(name: string, value: string, help: string, least = 0): Flag<number> {
  return {
    ...plain,
    name,
    value,
    help,
    read: (texts) => {
      const text = lastOf(texts);
      const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (!(count >= least)) throw refused(name, text, `a whole number from ${least} on`);
      return count;
    },
  };
}

/** How much is kept: a whole number, also written as 1e9; 0 is off. */
export function retentionCountFlag(name: string, value: string, help: string): Flag<number> {
  return {
    ...plain,
    name,
    value,
    help,
    read: (texts) => {
      const text = lastOf(texts);
      if (!countForm.test(text)) throw refused(name, text, 'a whole number from 0 on; 0 is off');
      return Number(text);
    },
  };
}

/** How long something is kept, in milliseconds: a duration; 0 is off. */
export function retentionAgeFlag(name: string, help: string): Flag<number> {
  return {
    ...plain,
    name,
    value: 'D',
    help,
    read: (texts) => {
      const text = lastOf(texts);
      const unitMs = parseDuration(`1${text.slice(-1)}`);
      if (text === '0') return 0;
      if (unitMs !== null && countForm.test(text.slice(0, -1))) return Number(text.slice(0, -1)) * unitMs;
      throw refused(name, text, 'a duration as in 90d, 24h, 30m; 0 is off');
    },
  };
}

const countForm = /^(?:\d{1,15}|\d{1,3}e\d{1,2})$/;

export function durationFlag(name: string, help: string): Flag<number> {
  return {
    ...plain,
    name,
    value: 'D',
    help,
    read: (texts) => {
      const text = lastOf(texts);
      const ms = parseDuration(text);
      if (ms === null) throw refused(name, text, 'a duration as in 90d, 24h, 30m, 10s');
      return ms;
    },
  };
}

export function momentFlag(name: string, help: string): Flag<Moment> {
  return {
    ...plain,
    name,
    value: 'TIME',
    help,
    read: (texts) => {
      const text = lastOf(texts);
      const moment = parseMoment(text);
      if (moment === null)
        throw refused(name, text, 'an RFC 3339 time, a day YYYY-MM-DD, or 7d, 24h, 30m before now');
      return moment;
    },
  };
}

/** May be given more than once, one id at a time. */
export function sessionIdsFlag(name: string, help: string): Flag<readonly SessionId[]> {
  return { ...plain, name, value: 'ID', help, read: (texts) => texts.map((text) => parseSessionId(text)) };
}

/** May be given more than once, one reference at a time: a title may hold commas. */
export function sessionReferencesFlag(name: string, help: string): Flag<readonly string[]> {
  return { ...plain, name, value: 'ID', help, read: (texts) => texts.map(referenceIn) };
}

function referenceIn(text: string): string {
  parseSessionReference(text);
  return text;
}

export function sessionIdFlag(name: string, help: string): Flag<SessionId> {
  return { ...plain, name, value: 'ID', help, read: (texts) => parseSessionId(lastOf(texts)) };
}

export function namesOf<Name extends string>(names: Readonly<Record<Name, true>>): readonly Name[] {
  return Object.keys(names).filter((name): name is Name => Object.hasOwn(names, name));
}
