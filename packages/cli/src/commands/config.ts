import { dirname } from 'node:path';
import { ensurePrivateDirectory, publish } from '@turnlog/fs';
import { errnoOf, TurnlogError } from '@turnlog/kernel';
import { completeEnvironment } from '@turnlog/store';
import type { Context } from '../command.js';
import { userSources } from '../config.js';
import { badConfig, parseObject } from '../config-file.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import * as flags from '../flags.js';
import { type Column, formatTable } from '../output/table.js';
import { type SettingKey, settingKeys, writtenSetting } from '../settings.js';
import { readTextFile } from '../text-file.js';

/** Gets values with their sources, or sets one in the user's file. */
export async function config(context: Context): Promise<number> {
  const [verb, name, value, ...rest] = context.args.positionals;
  const key = settingKeys.find((known) => known.name === name);
  if (rest.length > 0) throw badFlag('config takes at most KEY and VALUE', {});
  if (verb === 'get') {
    if (value !== undefined) throw badFlag('config get takes no value', { value });
    return await get(context, key === undefined ? settingKeys : [key]);
  }
  if (key === undefined || value === undefined) throw badFlag('config set wants KEY and VALUE', {});
  return await set(context, key, value);
}

async function get({ args, output, settings }: Context, keys: readonly SettingKey[]): Promise<number> {
  const rows = keys.map(({ name, meaning }) => ({ name, meaning, ...settings.all[name] }));
  if (output.form === 'json') {
    await output.document({
      settings: Object.fromEntries(rows.map(({ name, value, source }) => [name, { value, source }])),
    });
  } else if (output.form === 'json-lines') {
    for (const row of rows) await output.row(row);
    await output.summary({ keys: rows.length });
  } else if (args.has(flags.explainFlag)) {
    const columns: readonly Column<(typeof rows)[number]>[] = [
      { title: 'KEY', value: (row) => row.name },
      { title: 'VALUE', value: (row) => writtenSetting(row.value) ?? '-', widthMin: 8 },
      { title: 'FROM', value: (row) => row.source, widthMin: 10, worth: 2 },
      { title: 'MEANING', value: (row) => row.meaning, widthMin: 10, worth: 1 },
    ];
    await output.lines(formatTable(rows, columns, output));
  } else if (rows.length === 1)
    await output.lines(rows.map((row) => output.shown`${writtenSetting(row.value) ?? ''}`));
  else await output.lines(rows.map((row) => output.shown`${row.name} = ${writtenSetting(row.value) ?? ''}`));
  return exits.done;
}

async function set({ io, args, cwd, output }: Context, key: SettingKey, text: string): Promise<number> {
  const read = key.read(key.typed(text));
  if (read.value === null) throw badFlag(`${key.name} ${read.reason}`, { key: key.name });
  const { value } = read;
  const [source] = userSources(io.env, cwd, args);
  if (source === undefined) {
    throw new TurnlogError('TURNLOG_BAD_CONFIG', {
      details: { variable: 'HOME' },
      message: 'no configuration file is named and HOME is not set',
    });
  }
  const { fs, ids, ownership } = completeEnvironment(io.environment);
  const path = fs.status(source.path) === null ? source.path : fs.resolve(source.path);
  const present = fs.status(path) === null ? {} : parseObject(readTextFile(fs, path), source.path);
  const content = `${JSON.stringify({ ...present, [key.name]: value }, null, 2)}\n`;
  makeDirectories(dirname(path));
  publish(fs, ids, path, Buffer.from(content), { durability: 'durable' });
  if (output.form === 'text') await output.note(output.shown`${key.name} is ${text} in ${source.path}`);
  else await output.document({ key: key.name, value, path: source.path });
  return exits.done;

  function makeDirectories(directory: string): void {
    if (fs.status(directory) !== null) return;
    const parent = dirname(directory);
    if (parent === directory) throw badConfig(path, '', 'there is no such directory');
    makeDirectories(parent);
    try {
      ensurePrivateDirectory(fs, directory, ownership);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    fs.syncDirectory(parent);
  }
}
