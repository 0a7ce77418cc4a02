import { type HookAgent, type HookReport, importHook } from '@turnlog/importers';
import { limits, TurnlogError } from '@turnlog/kernel';
import type { Context } from '../command.js';
import { exits, shownCode } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import * as flags from '../flags.js';
import { agentPlaces } from '../import-request.js';
import { readWholeInput } from '../input.js';
import type { Shown } from '../output/shown.js';

/**
 * An agent waits for its hook, at most two seconds. Half of them is for reading; the rest is for making durable what was
 * read, and a later hook goes on behind it.
 */
const readingMs = 1_000;
const hookLockWaitMs = 500;

/**
 * Imports what is new of the thread that an agent calls its hook for. What goes wrong is told on stderr; whoever
 * runs the command sees to it that nothing reaches stdout and that the agent sees no failure.
 */
export async function importForHook(context: Context): Promise<number> {
  const { clock, stop, output } = context;
  const agent = knownAgent(context);
  const ending = new AbortController();
  const cancel = clock.after(readingMs, () => ending.abort());
  stop.addEventListener('abort', () => ending.abort(), { once: true });
  try {
    const input = await toldBy(context, agent, ending.signal);
    const store = await context.openStore();
    const { environment } = store;
    const sessionsDirectory = store.ensureSessionsDirectory();
    const report = await importHook(
      { environment, sessionsDirectory, lockWaitMs: hookLockWaitMs },
      { agent, input, places: agentPlaces(context.io.env), signal: ending.signal },
    );
    for (const text of troublesOf(context, report)) await output.warn(text);
    return exits.done;
  } finally {
    cancel();
  }
}

function knownAgent({ args }: Context): HookAgent {
  const agent = args.get(flags.hookFlag);
  if (agent === 'claude' || agent === 'codex') return agent;
  const message = `the format of ${agent ?? 'this agent'} is not read yet: its hook does nothing`;
  throw new TurnlogError('TURNLOG_UNKNOWN_SOURCE', { details: { agent }, message });
}

/** Codex tells what happened in the last argument, everybody else on stdin. */
async function toldBy({ args, io }: Context, agent: HookAgent, signal: AbortSignal): Promise<string> {
  const [told, ...more] = args.positionals;
  if (told === undefined) return await readWholeInput(io.stdin, signal, limits.writerLineBytesMax);
  if (agent === 'codex' && more.length === 0) return told;
  throw badFlag('--hook takes no sources: the agent names its file', { argument: told });
}

function troublesOf({ output: { shown } }: Context, { batch, permission }: HookReport): readonly Shown[] {
  const troubles: Shown[] = [];
  for (const { path, outcome, error, ledger, conflictsWith } of batch.sources) {
    if (error !== null) troubles.push(shown`${path}: ${shownCode(error.code)}: ${error.message}`);
    if (outcome === 'conflict') troubles.push(shown`${path}: stays out: ${conflictsWith ?? ''} was imported`);
    if (ledger.refused > 0) troubles.push(shown`${path}: ${ledger.refused} bytes damaged`);
  }
  for (const { path, error } of batch.unreadable) {
    troubles.push(shown`${path}: ${shownCode(error.code)}: ${error.message}`);
  }
  if (typeof permission !== 'string') {
    troubles.push(shown`the permission: ${shownCode(permission.code)}: ${permission.message}`);
  }
  return troubles;
}
