import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type FileSystem, TurnlogError } from '@turnlog/kernel';
import type { Variables } from '@turnlog/store';
import type { Arguments } from './arguments.js';
import { type ConfigSource, type FileSettings, projectSources, readConfigFile } from './config-file.js';
import { badFlag, writtenFlag } from './flag.js';
import { configFlag } from './flags.js';
import {
  type Setting,
  type SettingKey,
  type SettingName,
  type Settings,
  settingKeys,
  settingsOf,
} from './settings.js';

export interface LoadedSettings {
  readonly settings: Settings;
  /** What was passed over, for people, each once. */
  readonly warnings: readonly string[];
}

export interface SettingsRequest {
  readonly fs: FileSystem;
  readonly env: Variables;
  readonly cwd: string;
  readonly args: Arguments;
}

/**
 * Every key's value: from a flag, else the environment, else the project's local file, its own, the user's, else
 * the default.
 *
 * @throws TURNLOG_BAD_CONFIG with file and pointer, or the variable; TURNLOG_BAD_FLAG.
 */
export function loadSettings(request: SettingsRequest): LoadedSettings {
  const { fs, env, cwd, args } = request;
  const warnings: string[] = [];
  const files = [...projectSources(fs, cwd), ...userSources(env, cwd, args)]
    .map((source) => readConfigFile(fs, source, warnings))
    .filter((file) => file !== null);
  const values = Object.fromEntries(settingKeys.map((key) => [key.name, settingOf(key, args, env, files)]));
  const unset: Setting = { value: null, source: 'default' };
  const of = (name: SettingName): Setting => values[name] ?? unset;
  const all = {
    root: of('root'),
    tz: of('tz'),
    durability: of('durability'),
    color: of('color'),
    redaction_patterns: of('redaction_patterns'),
    retention_max_sessions: of('retention_max_sessions'),
    retention_max_age_days: of('retention_max_age_days'),
    retention_trash_days: of('retention_trash_days'),
  };
  return { settings: settingsOf(all), warnings: [...new Set(warnings)] };
}

/** The user's file: the one that is named, else the one of the XDG base directories; none without a home. */
export function userSources(env: Variables, cwd: string, args: Arguments): readonly ConfigSource[] {
  const path = userConfigPath(env, cwd, args.get(configFlag));
  return path === null ? [] : [{ kind: 'user', path, base: dirname(path) }];
}

function userConfigPath(env: Variables, cwd: string, given: string | undefined): string | null {
  const named = given ?? env['TURNLOG_CONFIG'] ?? '';
  if (named !== '') return resolve(cwd, named);
  const base = env['XDG_CONFIG_HOME'] ?? '';
  if (isAbsolute(base)) return join(base, 'turnlog', 'config.json');
  const home = env['HOME'] || env['USERPROFILE'];
  return home === undefined || home === '' ? null : join(resolve(home), '.config', 'turnlog', 'config.json');
}

function settingOf(
  key: SettingKey,
  args: Arguments,
  env: Variables,
  files: readonly FileSettings[],
): Setting {
  const given = key.flag === null ? undefined : args.get(key.flag);
  if (key.flag !== null && given !== undefined) {
    const { value } = key.read(given);
    if (value !== null) return { value, source: writtenFlag(key.flag) };
    throw badFlag(`${writtenFlag(key.flag)} takes ${key.wanted}`, { flag: key.flag.name, value: given });
  }
  const fromEnv = key.fromEnv(env);
  if (fromEnv !== null) {
    const { value } = key.read(fromEnv.value);
    if (value !== null) return { value, source: fromEnv.variable };
    const details = { variable: fromEnv.variable, value: fromEnv.value };
    const message = `${fromEnv.variable} must be ${key.wanted}`;
    throw new TurnlogError('TURNLOG_BAD_CONFIG', { details, message });
  }
  for (const { source, values } of files) {
    const value = values.get(key.name);
    if (value !== undefined) return { value, source: source.path };
  }
  return { value: key.defaultValue(), source: 'default' };
}
