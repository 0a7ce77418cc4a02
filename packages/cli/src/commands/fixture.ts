import { dirname, resolve } from 'node:path';
import { TurnlogError } from '@turnlog/kernel';
import {
  checkFixture,
  type FixtureDescription,
  makeFixture,
  readFixture,
  rekeyFixture,
  trimFixture,
  writeFixture,
} from '@turnlog/replay';
import { AssetStore, completeEnvironment, parseSessionReference } from '@turnlog/store';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag, type Flag, writtenFlag } from '../flag.js';
import * as flags from '../flags.js';
import * as replayFlags from '../replay-flags.js';
import { version } from '../version.js';

type FixtureVerb = (context: Context, argument: string) => Promise<number>;

const makeFlags: readonly Flag<unknown>[] = [
  replayFlags.turnsFlag,
  replayFlags.fixtureDirectoryFlag,
  replayFlags.fixtureNameFlag,
  replayFlags.strictFixtureFlag,
  flags.forceFlag,
];

const verbs: ReadonlyMap<string, readonly [act: FixtureVerb, flags: readonly Flag<unknown>[]]> = new Map([
  ['make', [make, makeFlags]],
  ['check', [check, []]],
  ['show', [show, []]],
  ['trim', [trim, [replayFlags.turnsFlag]]],
  ['rekey', [rekey, []]],
]);

/** Makes fixtures of sessions, and looks at or changes those that are there. */
export async function fixture(context: Context): Promise<number> {
  const [verb = '', argument = ''] = context.args.positionals;
  const found = verbs.get(verb);
  if (found === undefined) throw badFlag(`fixture ${verb} does not exist`, { argument: verb });
  const [act, taken] = found;
  const refused = makeFlags.find((flag) => context.args.has(flag) && !taken.includes(flag));
  if (refused !== undefined)
    throw badFlag(`fixture ${verb} does not take ${writtenFlag(refused)}`, { flag: refused.name });
  return await act(context, argument);
}

async function make(context: Context, argument: string): Promise<number> {
  const { args, output, cwd } = context;
  parseSessionReference(argument);
  const store = await context.openStore();
  const id = store.resolve(argument);
  const name = args.get(replayFlags.fixtureNameFlag) ?? id;
  const directory = resolve(cwd, args.get(replayFlags.fixtureDirectoryFlag) ?? name);
  const turns = args.get(replayFlags.turnsFlag);
  refuseUnredacted(context, directory);
  const reader = store.read(id, { tree: 'hashed', unreadable: 'show' });
  try {
    const content = makeFixture(reader, {
      name,
      producer: { name: 'turnlog', version },
      egress: output.egress,
      assets: new AssetStore(store.environment, store.root),
      gaps: args.has(replayFlags.strictFixtureFlag) ? 'refuse' : 'list',
      ...(turns === undefined ? {} : { turns }),
    });
    const existing = args.has(flags.forceFlag) ? 'replace' : 'keep';
    writeFixture(store.environment, directory, content, existing);
    await print(context, directory, content.description);
  } finally {
    reader.close();
  }
  return exits.done;
}

/** Secrets in a work tree of git are about to be committed. */
function refuseUnredacted({ args, output, io }: Context, directory: string): void {
  if (output.egress.type === 'redactor' || args.has(flags.forceFlag)) return;
  const { fs } = completeEnvironment(io.environment);
  for (let at = directory, above = dirname(at); ; at = above, above = dirname(at)) {
    if (fs.status(resolve(at, '.git')) !== null) {
      throw new TurnlogError('TURNLOG_NEEDS_YES', {
        details: { path: directory, flag: 'no-redact' },
        message: `${directory} lies in a work tree of git, where secrets would be committed`,
      });
    }
    if (above === at) return;
  }
}

async function check(context: Context, argument: string): Promise<number> {
  const directory = resolve(context.cwd, argument);
  const { fs } = completeEnvironment(context.io.environment);
  const { description, assets, root } = checkFixture(fs, directory);
  await print(context, directory, description, { verdict: 'valid', assets, root });
  return exits.done;
}

async function show(context: Context, argument: string): Promise<number> {
  const directory = resolve(context.cwd, argument);
  const { output } = context;
  const { description, exchanges } = readFixture(completeEnvironment(context.io.environment).fs, directory);
  const rows = exchanges.map(
    ({ n, port, kind, request, outcome, startSeq, endSeq, durationMs, parallel }) => ({
      n,
      port,
      kind,
      name: request.kind === 'object' ? nameIn(request.members.get('name')) : null,
      outcome,
      start_seq: startSeq,
      end_seq: endSeq,
      duration_ms: durationMs,
      parallel,
    }),
  );
  await print(context, directory, description, { exchanges: rows });
  if (output.form === 'text') {
    const { shown } = output;
    await output.lines(
      rows.map(
        ({ n, port, name, outcome, duration_ms: ms }) =>
          shown`${n}  ${port}  ${name ?? ''}  ${outcome}  ${ms} ms`,
      ),
    );
  }
  return exits.done;
}

function nameIn(value: { readonly kind: string; readonly text?: string } | undefined): string | null {
  return value?.kind === 'string' ? (value.text ?? null) : null;
}

async function trim(context: Context, argument: string): Promise<number> {
  const turns = context.args.get(replayFlags.turnsFlag);
  if (turns === undefined) throw badFlag('fixture trim needs --turns A..B', { flag: 'turns' });
  const directory = resolve(context.cwd, argument);
  await print(context, directory, trimFixture(completeEnvironment(context.io.environment), directory, turns));
  return exits.done;
}

async function rekey(context: Context, argument: string): Promise<number> {
  const directory = resolve(context.cwd, argument);
  await print(context, directory, rekeyFixture(completeEnvironment(context.io.environment), directory));
  return exits.done;
}

async function print(
  { output }: Context,
  path: string,
  description: FixtureDescription,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { name, source, counts, complete, gaps } = description;
  if (output.form !== 'text') {
    await output.document({
      path,
      name,
      session_id: source.session,
      from_seq: source.fromSeq,
      to_seq: source.toSeq,
      counts,
      complete,
      gaps,
      ...more,
    });
    return;
  }
  const { shown } = output;
  await output.lines([
    shown`${path}`,
    shown`${name}  seq ${source.fromSeq} to ${source.toSeq} of ${source.session}, ${counts.exchanges} exchanges`,
    ...gaps.map(({ reason, seq, exchange, turn }) => shown`gap  ${reason}  ${placeOf(seq, exchange, turn)}`),
  ]);
}

function placeOf(seq: number | null, exchange: number | null, turn: number | null): string {
  const places = [
    ...(seq === null ? [] : [`seq ${seq}`]),
    ...(exchange === null ? [] : [`exchange ${exchange}`]),
    ...(turn === null ? [] : [`turn ${turn}`]),
  ];
  return places.join(', ');
}
