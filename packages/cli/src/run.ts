import { resolve } from 'node:path';
import { firstWarningOnly } from '@turnlog/fs';
import { errnoOf, type TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import {
  chooseRoot,
  completeEnvironment,
  type Egress,
  openStore,
  rootWarning,
  type Store,
} from '@turnlog/store';
import { type Arguments, type CommandLine, checkPositionals, parseArguments } from './arguments.js';
import type { Context } from './command.js';
import { loadSettings } from './config.js';
import { egressFor, RunRedactor } from './egress.js';
import {
  asTurnlogError,
  type ErrorEnvelope,
  envelopeOf,
  exitOf,
  isToldOnStdout,
  toldOnStdout,
} from './error-envelope.js';
import { exits } from './exit-codes.js';
import { badFlag, writtenFlag } from './flag.js';
import * as flags from './flags.js';
import { programHelp, verbHelp, versionLines } from './help.js';
import type { Io, Sink } from './io.js';
import { Output, type OutputForm } from './output/output.js';
import { joinShown, type Shown, Wording } from './output/shown.js';
import type { Settings } from './settings.js';
import { Stopping } from './stopping.js';
import { WallClock } from './times.js';
import type { Verb } from './verb.js';
import { verbs } from './verbs.js';

/** Runs one command line; returns the exit code. Nothing is thrown. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  if (!isHookCall(argv)) return await runPlainly(argv, io);
  // An agent gives to the model what its hook prints, and takes a failure of it for a veto.
  await runPlainly(argv, { ...io, stdout: nowhere });
  return exits.done;
}

const nowhere: Sink = { write: () => Promise.resolve() };

/** Decided by the words alone: a line that cannot be understood may still come from an agent. */
function isHookCall(argv: readonly string[]): boolean {
  const name = writtenFlag(flags.hookFlag);
  return argv.some((text) => text === name || text.startsWith(`${name}=`));
}

async function runPlainly(argv: readonly string[], io: Io): Promise<number> {
  const redactor = new RunRedactor(() => completeEnvironment(io.environment));
  try {
    const line = parseArguments(argv, verbs, flags.globalFlags);
    return await runLine(line, io, redactor);
  } catch (error) {
    const isOff = argv.includes(`--${flags.noRedactFlag.name}`);
    const words = new Wording(egressFor(isOff ? 'off' : 'on', redactor));
    return await report(asTurnlogError(error), argv, io, words);
  }
}

async function runLine({ verb, args }: CommandLine, io: Io, redactor: RunRedactor): Promise<number> {
  if (args.has(flags.versionFlag)) return await print(io, versionLines());
  if (args.has(flags.helpFlag)) return await print(io, verb === null ? programHelp(verbs) : verbHelp(verb));
  if (verb === null) throw badFlag('no verb was named', {});
  checkPositionals(verb, args.positionals);
  if (args.has(flags.jsonFlag) && args.has(flags.jsonLinesFlag)) {
    throw badFlag('--json and --jsonl exclude each other', {});
  }
  return await runVerb(verb, args, io, redactor);
}

async function print(io: Io, lines: readonly Shown[]): Promise<number> {
  await io.stdout.write(`${lines.map(({ text }) => text).join('\n')}\n`);
  return exits.done;
}

async function runVerb(verb: Verb, args: Arguments, io: Io, redactor: RunRedactor): Promise<number> {
  const command = await verb.load();
  const egress = egressFor(args.has(flags.noRedactFlag) ? 'off' : 'on', redactor);
  const environment = environmentFor(io, egress);
  const cwd = resolve(io.cwd, args.get(flags.directoryFlag) ?? '.');
  const { settings, warnings } = loadSettings({ fs: environment.fs, env: io.env, cwd, args });
  redactor.usePatterns(settings.redactionPatterns);
  const output = outputFor(io, args, settings, egress);
  for (const warning of warnings) await output.warn(output.shown`${warning}`);
  const stopping = new Stopping(io, environment.clock, args);
  const context: Context = {
    io,
    args,
    verbs,
    settings,
    output,
    clock: environment.clock,
    cwd,
    stop: stopping.signal,
    openStore: async () => {
      const store = await openStoreFor(environment, settings, io, cwd, output);
      redactor.useStore(store.root);
      return store;
    },
  };
  try {
    const exit = await command(context);
    const { overdue } = stopping;
    if (overdue === null) return stopping.exitFor(exit);
    // The one document on stdout is that of what was done.
    throw output.hasPrinted ? toldOnStdout(overdue) : overdue;
  } finally {
    stopping.close();
  }
}

/** The machine, with its one warning about modes told on stderr. */
function environmentFor(io: Io, egress: Egress): LogEnvironment {
  const { shown } = new Wording(egress);
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
  const named = settings.root ?? undefined;
  const { path } = chooseRoot(environment.fs, { given: named, cwd, env: io.env });
  const warning = rootWarning(path);
  if (warning !== null) await output.warn(output.shown`${warning}`);
  return await openStore({ root: path, environment, cwd, env: io.env });
}

function outputFor(io: Io, args: Arguments, settings: Settings, egress: Egress): Output {
  const isTerminal = io.isTty.stdout && io.env['TERM'] !== 'dumb';
  const isColoured = settings.color === 'always' || (settings.color === 'auto' && isTerminal);
  return new Output(io, {
    form: formOf(args),
    isColoured,
    isQuiet: args.has(flags.quietFlag),
    wallClock: new WallClock(settings.zone),
    egress,
  });
}

function formOf(args: Arguments): OutputForm {
  if (args.has(flags.jsonFlag)) return 'json';
  return args.has(flags.jsonLinesFlag) ? 'json-lines' : 'text';
}

/** Tells a failure: one line and a hint on stderr; for programs the envelope, on both. */
async function report(error: TurnlogError, argv: readonly string[], io: Io, words: Wording): Promise<number> {
  // Nobody reads the output any more: there is nothing to tell, and nothing went wrong.
  if (isClosedOutput(error)) return exits.done;
  const isForPrograms = argv.includes('--json') || argv.includes('--jsonl');
  const envelope = envelopeOf(error, words.egress);
  const json = words.json({ ...envelope });
  const text = isForPrograms ? json : joinShown(linesOf(error, envelope, argv.includes('-v'), words), '\n');
  try {
    if (isForPrograms && !isToldOnStdout(error)) await io.stdout.write(`${json.text}\n`);
    await io.stderr.write(`${text.text}\n`);
  } catch (failure) {
    if (!isClosedOutput(asTurnlogError(failure))) return exits.defect;
  }
  return exitOf(error);
}

function linesOf(
  error: TurnlogError,
  envelope: ErrorEnvelope,
  isVerbose: boolean,
  words: Wording,
): readonly Shown[] {
  const { shown } = words;
  const { code, message, hint } = envelope.error;
  const why = isVerbose ? causesOf(error, words) : [];
  return [shown`turnlog: ${code}: ${message}${factsOf(envelope, words)}`, shown`  hint: ${hint}`, ...why];
}

/** The plain details that the message does not name yet, in parentheses. */
function factsOf({ error: { details, message } }: ErrorEnvelope, words: Wording): Shown {
  const facts = Object.entries(details)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .filter(([, value]) => !message.includes(String(value)))
    .map(([name, value]) => words.shown`${name} ${words.line(String(value))}`);
  return facts.length === 0 ? words.line('') : words.shown` (${joinShown(facts, ', ')})`;
}

function isClosedOutput(error: TurnlogError): boolean {
  const { path } = error.details;
  return errnoOf(error) === 'EPIPE' && (path === 'stdout' || path === 'stderr');
}

const causesMax = 8;

function causesOf(error: TurnlogError, words: Wording): readonly Shown[] {
  const { shown } = words;
  const lines: Shown[] = [shown`  details: ${words.json(error.details)}`];
  let { cause } = error;
  for (let depth = 0; cause instanceof Error && depth < causesMax; depth += 1) {
    lines.push(shown`  cause: ${cause.stack ?? cause.message}`);
    cause = cause.cause;
  }
  return lines;
}
