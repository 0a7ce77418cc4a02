import { resolve } from 'node:path';
import { firstWarningOnly } from '@turnlog/fs';
import { errnoOf, type TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import {
  chooseRoot,
  completeEnvironment,
  openStore,
  rootWarning,
  type Store,
  safeLine,
} from '@turnlog/store';
import { type Arguments, type CommandLine, checkPositionals, parseArguments } from './arguments.js';
import type { Context } from './command.js';
import { loadSettings } from './config.js';
import { asTurnlogError, envelopeOf, exitOf, isToldOnStdout } from './error-envelope.js';
import { exits, signalExits } from './exit-codes.js';
import { badFlag } from './flag.js';
import * as flags from './flags.js';
import { programHelp, verbHelp } from './help.js';
import type { Io, StopSignal } from './io.js';
import { safeJson } from './output/json.js';
import { Output, type OutputForm } from './output/output.js';
import { type Shown, shown } from './output/shown.js';
import type { Settings } from './settings.js';
import { WallClock } from './times.js';
import type { Verb } from './verb.js';
import { verbs } from './verbs.js';
import { version } from './version.js';

/** Runs one command line; returns the exit code. Nothing is thrown. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    const line = parseArguments(argv, verbs, flags.globalFlags);
    return await runLine(line, io);
  } catch (error) {
    return await report(asTurnlogError(error), argv, io);
  }
}

async function runLine({ verb, args }: CommandLine, io: Io): Promise<number> {
  if (args.has(flags.versionFlag)) return await print(io, [shown`turnlog ${version}`]);
  if (args.has(flags.helpFlag)) return await print(io, verb === null ? programHelp(verbs) : verbHelp(verb));
  if (verb === null) throw badFlag('no verb was named', {});
  checkPositionals(verb, args.positionals);
  if (args.has(flags.jsonFlag) && args.has(flags.jsonLinesFlag)) {
    throw badFlag('--json and --jsonl exclude each other', {});
  }
  return await runVerb(verb, args, io);
}

async function print(io: Io, lines: readonly Shown[]): Promise<number> {
  await io.stdout.write(`${lines.map(({ text }) => text).join('\n')}\n`);
  return exits.done;
}

async function runVerb(verb: Verb, args: Arguments, io: Io): Promise<number> {
  const command = await verb.load();
  const environment = environmentFor(io);
  const cwd = resolve(io.cwd, args.get(flags.directoryFlag) ?? '.');
  const { settings, warnings } = loadSettings({ fs: environment.fs, env: io.env, cwd, args });
  const output = outputFor(io, args, settings);
  for (const warning of warnings) await output.warn(shown`${warning}`);
  const stop = new AbortController();
  const stopping: { signal: StopSignal | null } = { signal: null };
  const unlisten = io.onStop((signal) => {
    stopping.signal ??= signal;
    stop.abort();
  });
  const context: Context = {
    io,
    args,
    verbs,
    settings,
    output,
    clock: environment.clock,
    cwd,
    stop: stop.signal,
    openStore: () => openStoreFor(environment, settings, io, cwd, output),
  };
  try {
    const exit = await command(context);
    return stopping.signal === null ? exit : signalExits[stopping.signal];
  } finally {
    unlisten();
  }
}

/** The machine, with its one warning about modes told on stderr. */
function environmentFor(io: Io): LogEnvironment {
  const environment = completeEnvironment(io.environment);
  if (io.environment?.ownership !== undefined) return environment;
  const onModeWarning = firstWarningOnly(({ path }) => {
    const text = shown`turnlog: warning: others may be able to read this, modes cannot be set here: ${path}`;
    void io.stderr.write(`${text.text}\n`).catch(() => undefined);
  });
  return { ...environment, ownership: { ...environment.ownership, onModeWarning } };
}

async function openStoreFor(
  environment: LogEnvironment,
  settings: Settings,
  io: Io,
  cwd: string,
  output: Output,
): Promise<Store> {
  const named = settings.root.value ?? undefined;
  const { path } = chooseRoot(environment.fs, { given: named, cwd, env: io.env });
  const warning = rootWarning(path);
  if (warning !== null) await output.warn(shown`${warning}`);
  return await openStore({ root: path, environment, cwd, env: io.env });
}

function outputFor(io: Io, args: Arguments, settings: Settings): Output {
  const isTerminal = io.isTty.stdout && io.env['TERM'] !== 'dumb';
  const isColoured = settings.color === 'always' || (settings.color === 'auto' && isTerminal);
  return new Output(io, {
    form: formOf(args),
    isColoured,
    isQuiet: args.has(flags.quietFlag),
    wallClock: new WallClock(settings.zone),
  });
}

function formOf(args: Arguments): OutputForm {
  if (args.has(flags.jsonFlag)) return 'json';
  return args.has(flags.jsonLinesFlag) ? 'json-lines' : 'text';
}

/** Tells a failure: one line and a hint on stderr; for programs the envelope, on both. */
async function report(error: TurnlogError, argv: readonly string[], io: Io): Promise<number> {
  // Nobody reads the output any more: there is nothing to tell, and nothing went wrong.
  if (isClosedOutput(error)) return exits.done;
  const isForPrograms = argv.includes('--json') || argv.includes('--jsonl');
  const envelope = envelopeOf(error);
  const { code, message, hint } = envelope.error;
  const why = argv.includes('-v') ? causesOf(error) : [];
  const facts = factsOf(error, message);
  const lines = [shown`turnlog: ${code}: ${message}${facts}`, shown`  hint: ${hint}`, ...why];
  const text = isForPrograms ? safeJson(envelope) : lines.map((line) => line.text).join('\n');
  try {
    if (isForPrograms && !isToldOnStdout(error)) await io.stdout.write(`${safeJson(envelope)}\n`);
    await io.stderr.write(`${text}\n`);
  } catch (failure) {
    if (!isClosedOutput(asTurnlogError(failure))) return exits.defect;
  }
  return exitOf(error);
}

/** The plain details that the message does not name yet, in parentheses. */
function factsOf(error: TurnlogError, message: string): string {
  const facts = Object.entries(error.details)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .filter(([, value]) => !message.includes(String(value)))
    .map(([name, value]) => `${name} ${safeLine(String(value))}`);
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`;
}

function isClosedOutput(error: TurnlogError): boolean {
  const { path } = error.details;
  return errnoOf(error) === 'EPIPE' && (path === 'stdout' || path === 'stderr');
}

const causesMax = 8;

function causesOf(error: TurnlogError): readonly Shown[] {
  const lines: Shown[] = [shown`  details: ${safeJson(error.details)}`];
  let { cause } = error;
  for (let depth = 0; cause instanceof Error && depth < causesMax; depth += 1) {
    lines.push(shown`  cause: ${cause.stack ?? cause.message}`);
    cause = cause.cause;
  }
  return lines;
}
