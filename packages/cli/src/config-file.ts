import { dirname, join, relative, resolve } from 'node:path';
import { errnoOf, type FileSystem, isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import { type SettingKey, type SettingName, type SettingValue, settingKeys } from './settings.js';

/** A configuration file: whose it is decides what it may say. */
export interface ConfigSource {
  readonly kind: 'local' | 'project' | 'user';
  readonly path: string;
  /** What relative paths in it start from; of a project, also what its root must lie in. */
  readonly base: string;
}

export interface FileSettings {
  readonly source: ConfigSource;
  readonly values: ReadonlyMap<SettingName, SettingValue>;
}

/** Reads one file; null when there is none. Warnings are added, one per thing that was passed over. */
export function readConfigFile(
  fs: FileSystem,
  source: ConfigSource,
  warnings: string[],
): FileSettings | null {
  const text = readText(fs, source, warnings);
  if (text === null) return null;
  const members = parseObject(text, source.path);
  const values = new Map<SettingName, SettingValue>();
  for (const [name, value] of Object.entries(members)) {
    const key = settingKeys.find((known) => known.name === name);
    if (key === undefined) warnings.push(`${source.path}: ${describeUnknown(name)}`);
    else if (value !== null) {
      const taken = takeValue(fs, source, key, value, warnings);
      if (taken !== null) values.set(key.name, taken);
    }
  }
  return { source, values };
}

function describeUnknown(name: string): string {
  const isPrototype = name === '__proto__' || name === 'constructor' || name === 'prototype';
  return isPrototype ? `the name ${name} has no effect and is ignored` : `unknown key ${name} is ignored`;
}

function takeValue(
  fs: FileSystem,
  source: ConfigSource,
  key: SettingKey,
  value: unknown,
  warnings: string[],
): SettingValue | null {
  if (key.inProject === 'ignored' && source.kind !== 'user') {
    warnings.push(`${source.path}: a project cannot set ${key.name}; it is ignored`);
    return null;
  }
  const read = key.read(value);
  if (read.value === null) {
    throw badConfig(source.path, `/${key.name}${read.pointer}`, `${key.name} ${read.reason}`);
  }
  if (key.name !== 'root' || typeof read.value !== 'string') return read.value;
  const path = resolve(source.base, read.value);
  if (source.kind === 'user' || isInside(fs, source.base, path)) return path;
  warnings.push(`${source.path}: a project cannot set a root outside of itself; root is ignored`);
  return null;
}

/** Whether `path` lies in `base`, also when links are followed. */
function isInside(fs: FileSystem, base: string, path: string): boolean {
  const isBelow = (from: string, to: string): boolean => {
    const way = relative(from, to);
    return way !== '' && !way.startsWith('..') && resolve(from, way) === to;
  };
  if (!isBelow(base, path)) return false;
  for (let existing = path; ; existing = dirname(existing)) {
    if (fs.status(existing) !== null)
      return existing === base || isBelow(fs.resolve(base), fs.resolve(existing));
    if (dirname(existing) === existing) return false;
  }
}

function readText(fs: FileSystem, source: ConfigSource, warnings: string[]): string | null {
  try {
    // A user's own file may be a link; what comes with a project may not lead elsewhere.
    const path = source.kind === 'user' ? fs.resolve(source.path) : source.path;
    const file = fs.open(path, 'read');
    try {
      const { size } = file.status();
      if (size > limits.smallFileBytesMax) throw badConfig(source.path, '', 'the file is too large');
      const bytes = new Uint8Array(size);
      let length = 0;
      for (let count = 1; length < size && count > 0; length += count) {
        count = file.read(bytes.subarray(length), length);
      }
      return new TextDecoder().decode(bytes.subarray(0, length));
    } finally {
      file.close();
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return null;
    if (!isTurnlogError(error, 'TURNLOG_UNSAFE_PATH')) throw error;
    warnings.push(`${source.path}: it is no regular file and is ignored`);
    return null;
  }
}

export function parseObject(text: string, path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch (cause) {
    throw badConfig(path, '', 'it is no JSON', cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badConfig(path, '', 'it must hold one object');
  }
  return { ...value };
}

export function badConfig(path: string, pointer: string, reason: string, cause?: unknown): TurnlogError {
  return new TurnlogError('TURNLOG_BAD_CONFIG', {
    details: { path, pointer, reason },
    cause,
    message: `${path}${pointer === '' ? '' : ` at ${pointer}`}: ${reason}`,
  });
}

const projectFolder = '.turnlog';

/** The files of the nearest project around `cwd`, the more telling first. */
export function projectSources(fs: FileSystem, cwd: string): readonly ConfigSource[] {
  for (let base = resolve(cwd); ; base = dirname(base)) {
    const folder = join(base, projectFolder);
    if (fs.status(folder)?.kind === 'directory') {
      return [
        { kind: 'local', path: join(folder, 'config.local.json'), base },
        { kind: 'project', path: join(folder, 'config.json'), base },
      ];
    }
    if (dirname(base) === base) return [];
  }
}
