import { isTimeZone, isTurnlogError, systemTimeZone, type TimeZone, utc } from '@turnlog/kernel';
import { type Durability, durabilities } from '@turnlog/log';
import { createRedactor, type RetentionOptions, retentionPolicy, type Variables } from '@turnlog/store';
import type { Flag } from './flag.js';
import { colorFlag, durabilityFlag, rootFlag, tzFlag } from './flags.js';

export type SettingName =
  | 'root'
  | 'tz'
  | 'durability'
  | 'color'
  | 'redaction_patterns'
  | 'retention_max_sessions'
  | 'retention_max_age_days'
  | 'retention_trash_days';

export type SettingValue = string | number | readonly string[];

/** A value that can be used, or why it cannot and at which place below the key. */
export type ReadSetting =
  | { readonly value: SettingValue }
  | { readonly value: null; readonly pointer: string; readonly reason: string };

/** One key of the configuration. */
export interface SettingKey {
  readonly name: SettingName;
  readonly meaning: string;
  /** Null where only a file sets it. */
  readonly flag: Flag<string> | null;
  /** What the environment says, and in which variable. */
  readonly fromEnv: (env: Variables) => { readonly variable: string; readonly value: string } | null;
  /** What a value must be, for messages. */
  readonly wanted: string;
  /** Reads a value of a file, of any type. */
  readonly read: (value: unknown) => ReadSetting;
  /** What a text that is typed would be in a file. */
  readonly typed: (text: string) => unknown;
  /** What a configuration file of a project may set: such a file may come with a cloned repository. */
  readonly inProject: 'allowed' | 'inside-project' | 'ignored';
  /** Null where something else decides. */
  readonly defaultValue: () => SettingValue | null;
}

export const colorChoices = ['auto', 'always', 'never'] as const;

function variable(name: string): SettingKey['fromEnv'] {
  return (env) => {
    const value = env[name];
    return value === undefined || value === '' ? null : { variable: name, value };
  };
}

function colorVariable(env: Variables): { readonly variable: string; readonly value: string } | null {
  if ((env['NO_COLOR'] ?? '') !== '') return { variable: 'NO_COLOR', value: 'never' };
  const forced = env['CLICOLOR_FORCE'] ?? '';
  return forced === '' || forced === '0' ? null : { variable: 'CLICOLOR_FORCE', value: 'always' };
}

interface TextRules {
  readonly wanted: string;
  readonly isValid: (value: string) => boolean;
}

function textKey({ wanted, isValid }: TextRules): Pick<SettingKey, 'wanted' | 'read' | 'typed'> {
  const refusal: ReadSetting = { value: null, pointer: '', reason: `must be ${wanted}` };
  return {
    wanted,
    read: (value) => (typeof value === 'string' && isValid(value) ? { value } : refusal),
    typed: (text) => text,
  };
}

const wantedPatterns = 'a list of patterns, as in ["acme-\\\\d{4}"]';
/** No secret is ever looked for with it: a redactor is made only to hear what it refuses. */
const noKey = new Uint8Array(32);

/** Patterns are read as the redactor reads them; a bad one is named by its place, since it may be a secret itself. */
function readPatterns(value: unknown): ReadSetting {
  if (!Array.isArray(value)) return { value: null, pointer: '', reason: `must be ${wantedPatterns}` };
  const texts = value.filter((item): item is string => typeof item === 'string');
  if (texts.length < value.length) {
    const position = value.findIndex((item) => typeof item !== 'string');
    return { value: null, pointer: `/${position}`, reason: `must be ${wantedPatterns}` };
  }
  try {
    createRedactor({ key: noKey, userPatterns: texts });
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_BAD_CONFIG')) throw error;
    const { position } = error.details;
    const pointer = typeof position === 'number' ? `/${position}` : '';
    return { value: null, pointer, reason: `is refused: ${error.message}` };
  }
  return { value: texts };
}

/** Lists and numbers are typed as JSON; what is no JSON is neither. */
function typedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

const wantedCount = 'a whole number from 0 on; 0 is off';

/** Keys of retention: only the user's own file decides what is removed. A flag of `gc` goes before it. */
function retentionKey(name: SettingName, option: keyof RetentionOptions, meaning: string): SettingKey {
  const read = (value: unknown): ReadSetting => {
    const refusal = { value: null, pointer: '', reason: `must be ${wantedCount}` } as const;
    if (typeof value !== 'number') return refusal;
    try {
      retentionPolicy({ [option]: value });
    } catch (error) {
      if (isTurnlogError(error, 'TURNLOG_BAD_CONFIG')) return refusal;
      throw error;
    }
    return { value };
  };
  const rest = { flag: null, fromEnv: () => null, inProject: 'ignored', typed: typedJson } as const;
  return { name, meaning, wanted: wantedCount, read, ...rest, defaultValue: () => null };
}

/** All keys there are. */
export const settingKeys: readonly SettingKey[] = [
  {
    name: 'root',
    meaning: 'directory of the store',
    flag: rootFlag,
    fromEnv: variable('TURNLOG_ROOT'),
    ...textKey({ wanted: 'a path', isValid: (value) => value !== '' && !value.includes('\0') }),
    inProject: 'inside-project',
    defaultValue: () => null,
  },
  {
    name: 'tz',
    meaning: 'time zone of shown times',
    flag: tzFlag,
    fromEnv: variable('TURNLOG_TZ'),
    ...textKey({ wanted: 'the name of a time zone, as in Europe/Berlin', isValid: isTimeZone }),
    inProject: 'allowed',
    defaultValue: systemTimeZone,
  },
  {
    name: 'durability',
    meaning: 'when a recorded event is on the disk',
    flag: durabilityFlag,
    fromEnv: variable('TURNLOG_DURABILITY'),
    ...textKey({
      wanted: `one of ${durabilities.join(', ')}`,
      isValid: (value) => durabilities.some((known) => known === value),
    }),
    inProject: 'allowed',
    defaultValue: () => 'turn',
  },
  {
    name: 'color',
    meaning: 'whether output is coloured',
    flag: colorFlag,
    fromEnv: colorVariable,
    ...textKey({
      wanted: `one of ${colorChoices.join(', ')}`,
      isValid: (value) => colorChoices.some((known) => known === value),
    }),
    inProject: 'allowed',
    defaultValue: () => 'auto',
  },
  {
    name: 'redaction_patterns',
    meaning: 'what is taken out of all output as a secret, beside what always is',
    flag: null,
    fromEnv: () => null,
    wanted: wantedPatterns,
    read: readPatterns,
    typed: typedJson,
    inProject: 'ignored',
    defaultValue: () => [],
  },
  retentionKey('retention_max_sessions', 'maxSessions', 'so many sessions are kept by gc, the newest ones'),
  retentionKey('retention_max_age_days', 'maxAgeDays', 'sessions are kept by gc for so many days'),
  retentionKey('retention_trash_days', 'trashDays', 'removed sessions are purged by gc after so many days'),
];

/** One value and who set it: a flag, a variable, a file, or nobody. */
export interface Setting {
  readonly value: SettingValue | null;
  readonly source: string;
}

export interface Settings {
  readonly all: Readonly<Record<SettingName, Setting>>;
  readonly durability: Durability;
  readonly zone: TimeZone;
  readonly color: (typeof colorChoices)[number];
  /** The root that a flag, a variable or a file names; null when none does. */
  readonly root: string | null;
  /** In the language of `createRedactor`. */
  readonly redactionPatterns: readonly string[];
  /** What is kept, as far as the user's file says. */
  readonly retention: RetentionOptions;
}

export function settingsOf(all: Readonly<Record<SettingName, Setting>>): Settings {
  const zone = textOf(all.tz) ?? '';
  const { value: patterns } = all.redaction_patterns;
  return {
    all,
    root: textOf(all.root),
    durability: durabilities.find((known) => known === all.durability.value) ?? 'turn',
    zone: isTimeZone(zone) ? zone : utc,
    color: colorChoices.find((known) => known === all.color.value) ?? 'auto',
    redactionPatterns: isList(patterns) ? patterns : [],
    retention: {
      ...countOf('maxSessions', all.retention_max_sessions),
      ...countOf('maxAgeDays', all.retention_max_age_days),
      ...countOf('trashDays', all.retention_trash_days),
    },
  };
}

function isList(value: SettingValue | null): value is readonly string[] {
  return typeof value === 'object' && value !== null;
}

function countOf(name: keyof RetentionOptions, { value }: Setting): RetentionOptions {
  return typeof value === 'number' ? { [name]: value } : {};
}

function textOf({ value }: Setting): string | null {
  return typeof value === 'string' ? value : null;
}

/** A value on one line, as it is typed. */
export function writtenSetting(value: SettingValue | null): string | null {
  return value === null || typeof value === 'string' ? value : JSON.stringify(value);
}
