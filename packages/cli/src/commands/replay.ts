import { resolve } from 'node:path';
import { TurnlogError } from '@turnlog/kernel';
import {
  type AgentOutcome,
  type AgentRequest,
  checkFixture,
  type Divergence,
  divergenceText,
  readFixture,
  type TurnRange,
} from '@turnlog/replay';
import { completeEnvironment } from '@turnlog/store';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import * as replayFlags from '../replay-flags.js';

/** Runs code of the user against a fixture, in a process without network, and says where it did something else. */
export async function replay(context: Context): Promise<number> {
  const { args, cwd, io } = context;
  const [argument = ''] = args.positionals;
  const module = args.get(replayFlags.moduleFlag);
  if (module === undefined) throw badFlag('replay needs --module FILE', { flag: 'module' });
  const { fs } = completeEnvironment(io.environment);
  const request: AgentRequest = {
    directory: resolve(cwd, argument),
    module: resolve(cwd, module),
    exportName: args.get(replayFlags.exportNameFlag) ?? 'run',
    match: args.get(replayFlags.matchFlag) ?? 'strict',
    numbers: args.has(replayFlags.numericFlag) ? 'value' : 'text',
    until: args.get(replayFlags.untilSeqFlag) ?? null,
    turns: null,
  };
  checkFixture(fs, request.directory);
  const outcome = await runOnce(context, request);
  const { divergence } = outcome;
  const isShrunk = args.has(replayFlags.shrinkFlag) && divergence !== null;
  const range = isShrunk ? await shrink(context, request, divergence) : null;
  await print(context, outcome, range);
  return divergence === null && outcome.error === null ? exits.done : exits.negative;
}

async function runOnce({ io, output, stop }: Context, request: AgentRequest): Promise<AgentOutcome> {
  const { runAgent } = io;
  if (runAgent === undefined) {
    throw new TurnlogError('TURNLOG_INTERNAL', { details: {}, message: 'no process can be started here' });
  }
  const said: string[] = [];
  try {
    return await runAgent(request, (text) => said.push(text), stop);
  } finally {
    // What the code prints is no data of ours.
    const text = said.join('').trimEnd();
    if (text !== '') await output.tell(output.shown`${text}`);
  }
}

/** The fewest last turns up to the divergence that diverge in the same way. */
async function shrink(context: Context, request: AgentRequest, divergence: Divergence): Promise<TurnRange> {
  const { fs } = completeEnvironment(context.io.environment);
  const { records } = readFixture(fs, request.directory);
  const turns = [...new Set(records.flatMap(({ turn }) => (turn === null ? [] : [turn])))];
  const last = turns.at(-1) ?? 1;
  for (const from of turns.toReversed()) {
    const range = { from, to: last };
    const again = await runOnce(context, { ...request, turns: range });
    if (again.divergence !== null && isAlike(again.divergence, divergence)) return range;
  }
  return { from: turns[0] ?? 1, to: last };
}

function isAlike(left: Divergence, right: Divergence): boolean {
  return left.kind === right.kind && left.diff[0]?.path === right.diff[0]?.path;
}

async function print(
  { output }: Context,
  { divergence, error, served, appended, collected }: AgentOutcome,
  shrunk: TurnRange | null,
): Promise<void> {
  if (output.form !== 'text') {
    await output.document({ divergence, error, served, appended, collected, shrunk });
    return;
  }
  const { shown } = output;
  await output.lines([
    ...[...collected, ...(divergence === null ? [] : [divergence])].map(
      (each) => shown`${divergenceText(each)}`,
    ),
    ...(error === null ? [] : [shown`the code failed: ${error.name}: ${error.message}`]),
    ...(shrunk === null ? [] : [shown`turns ${shrunk.from} to ${shrunk.to} diverge alike`]),
    ...(divergence === null && error === null
      ? [shown`no divergence: ${served} exchanges served, ${appended} records appended`]
      : []),
  ]);
}
