import { isTimeZone, systemTimeZone, type TimeZone, utc } from '@turnlog/kernel';
import { type Durability, durabilities } from '@turnlog/log';
import type { Variables } from '@turnlog/store';
import type { Flag } from './flag.js';
import { colorFlag, durabilityFlag, rootFlag, tzFlag } from './flags.js';

export type SettingName = 'root' | 'tz' | 'durability' | 'color';

/** One key of the configuration. */
export interface SettingKey {
  readonly name: SettingName;
  readonly meaning: string;
  readonly flag: Flag<string>;
  /** What the environment says, and in which variable. */
  readonly fromEnv: (env: Variables) => { readonly variable: string; readonly value: string } | null;
  /** What a value must be, for messages. */
  readonly wanted: string;
  readonly isValid: (value: string) => boolean;
  /** What a configuration file of a project may set: such a file may come with a cloned repository. */
  readonly inProject: 'allowed' | 'inside-project';
  /** Null where something else decides. */
  readonly defaultValue: () => string | null;
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

/** All keys there are. */
export const settingKeys: readonly SettingKey[] = [
  {
    name: 'root',
    meaning: 'directory of the store',
    flag: rootFlag,
    fromEnv: variable('TURNLOG_ROOT'),
    wanted: 'a path',
    isValid: (value) => value !== '' && !value.includes('\0'),
    inProject: 'inside-project',
    defaultValue: () => null,
  },
  {
    name: 'tz',
    meaning: 'time zone of shown times',
    flag: tzFlag,
    fromEnv: variable('TURNLOG_TZ'),
    wanted: 'the name of a time zone, as in Europe/Berlin',
    isValid: isTimeZone,
    inProject: 'allowed',
    defaultValue: systemTimeZone,
  },
  {
    name: 'durability',
    meaning: 'when a recorded event is on the disk',
    flag: durabilityFlag,
    fromEnv: variable('TURNLOG_DURABILITY'),
    wanted: `one of ${durabilities.join(', ')}`,
    isValid: (value) => durabilities.some((known) => known === value),
    inProject: 'allowed',
    defaultValue: () => 'turn',
  },
  {
    name: 'color',
    meaning: 'whether output is coloured',
    flag: colorFlag,
    fromEnv: colorVariable,
    wanted: `one of ${colorChoices.join(', ')}`,
    isValid: (value) => colorChoices.some((known) => known === value),
    inProject: 'allowed',
    defaultValue: () => 'auto',
  },
];

/** One value and who set it: a flag, a variable, a file, or nobody. */
export interface Setting {
  readonly value: string | null;
  readonly source: string;
}

export interface Settings {
  readonly all: Readonly<Record<SettingName, Setting>>;
  readonly durability: Durability;
  readonly zone: TimeZone;
  readonly color: (typeof colorChoices)[number];
  /** The root that a flag, a variable or a file names; null when none does. */
  readonly root: Setting;
}

export function settingsOf(all: Readonly<Record<SettingName, Setting>>): Settings {
  const zone = all.tz.value ?? '';
  return {
    all,
    root: all.root,
    durability: durabilities.find((known) => known === all.durability.value) ?? 'turn',
    zone: isTimeZone(zone) ? zone : utc,
    color: colorChoices.find((known) => known === all.color.value) ?? 'auto',
  };
}
