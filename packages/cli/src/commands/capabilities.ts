import { schemaVersion } from '@turnlog/events';
import { type ErrorCode, errorCodes } from '@turnlog/kernel';
import { loadSqlite } from '@turnlog/mirror';
import type { Context } from '../command.js';
import { errorExits, exits, shownCode } from '../exit-codes.js';
import { type Flag, writtenFlag } from '../flag.js';
import { globalFlags } from '../flags.js';
import { jsonVersion } from '../output/json.js';
import type { Output } from '../output/output.js';
import type { Shown } from '../output/shown.js';
import { otherSchemaPaths, schemaPathsOf } from '../schemas.js';
import { engineFlag } from '../search-flags.js';
import { settingKeys } from '../settings.js';
import type { Verb } from '../verb.js';
import { version } from '../version.js';

/** Says what this program can do, from the tables that it works by. */
export async function capabilities({ output, verbs }: Context): Promise<number> {
  const native = await nativeParts();
  const members = describeProgram(verbs, native);
  if (output.form === 'text') await output.lines(textOf(verbs, native, output));
  else await output.document(members);
  return exits.done;
}

/** Native modules that can be loaded here; everything works without them. */
async function nativeParts(): Promise<readonly string[]> {
  try {
    await loadSqlite();
    return ['better-sqlite3'];
  } catch (error) {
    // Not installed, or built for another Node: a search that wants it says why it cannot be used.
    if (error instanceof Error) return [];
    throw error;
  }
}

/** In the order in which they are asked. */
const engines = engineFlag.choices ?? [];

function describeProgram(
  verbs: readonly Verb[],
  native: readonly string[],
): Readonly<Record<string, unknown>> {
  return {
    program: 'turnlog',
    version,
    verbs: verbs.map(describeVerb),
    global_flags: globalFlags.map(describeFlag),
    config_keys: settingKeys.map(({ name, meaning, wanted }) => ({ name, meaning, wanted })),
    codes: codesInOrder().map((code) => ({
      code: shownCode(code),
      exit: errorExits[code],
      ...errorCodes[code],
    })),
    schemas: otherSchemaPaths,
    schema_versions: { json: jsonVersion, record: schemaVersion, layout: 1 },
    engines,
    native,
  };
}

function codesInOrder(): readonly ErrorCode[] {
  return Object.keys(errorCodes).filter((code): code is ErrorCode => Object.hasOwn(errorExits, code));
}

function describeVerb(verb: Verb): Readonly<Record<string, unknown>> {
  const { name, summary, positionals, flags } = verb;
  return {
    name,
    summary,
    arguments: positionals.map(({ name: argument, presence, choices }) => ({
      name: argument,
      presence,
      choices,
    })),
    flags: flags.map(describeFlag),
    schemas: schemaPathsOf(verb),
  };
}

function describeFlag(flag: Flag<unknown>): Readonly<Record<string, unknown>> {
  const { value, choices, help } = flag;
  return { name: writtenFlag(flag), value, choices, help };
}

function textOf(verbs: readonly Verb[], native: readonly string[], { shown }: Output): readonly Shown[] {
  return [
    shown`turnlog ${version}, records ${schemaVersion}, JSON ${jsonVersion}`,
    shown`verbs: ${verbs.map(({ name }) => name).join(', ')}`,
    shown`codes: ${codesInOrder()
      .map((code) => `${shownCode(code)} (${errorExits[code]})`)
      .join(', ')}`,
    shown`engines of search: ${engines.join(', ')}; native parts: ${native.join(', ') || 'none'}`,
    shown`--json says everything`,
  ];
}
