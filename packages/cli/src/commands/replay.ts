import { resolve } from 'node:path';
import {
  type AgentRequest,
  checkFixture,
  type Divergence,
  readFixture,
  type TurnRange,
} from '@turnlog/replay';
import { completeEnvironment } from '@turnlog/store';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag, writtenFlag } from '../flag.js';
import * as replayFlags from '../replay-flags.js';
import { printOutcome, runOnce } from '../replay-run.js';
import { bisect } from './replay-bisect.js';

/** Runs code of the user against a fixture, in a process without network, and says where it did something else. */
export async function replay(context: Context): Promise<number> {
  const { args, io } = context;
  const isBisection = args.positionals.length > 1;
  const strange = isBisection
    ? [replayFlags.shrinkFlag]
    : [replayFlags.goodRevisionFlag, replayFlags.badRevisionFlag];
  const refused = strange.find((flag) => args.has(flag));
  if (refused !== undefined) {
    const verb = isBisection ? 'replay bisect' : 'replay';
    throw badFlag(`${verb} does not take ${writtenFlag(refused)}`, { flag: refused.name });
  }
  const request = requestOf(context);
  checkFixture(completeEnvironment(io.environment).fs, request.directory);
  if (isBisection) return await bisect(context, request);
  const outcome = await runOnce(context, request);
  const { divergence } = outcome;
  const isShrunk = args.has(replayFlags.shrinkFlag) && divergence !== null;
  const range = isShrunk ? await shrink(context, request, divergence) : null;
  await printOutcome(context, outcome, { shrunk: range, bisection: null });
  return divergence === null && outcome.error === null ? exits.done : exits.negative;
}

function requestOf({ args, cwd, settings }: Context): AgentRequest {
  const module = args.get(replayFlags.moduleFlag);
  if (module === undefined) throw badFlag('replay needs --module FILE', { flag: 'module' });
  return {
    directory: resolve(cwd, args.positionals.at(-1) ?? ''),
    module: resolve(cwd, module),
    exportName: args.get(replayFlags.exportNameFlag) ?? 'run',
    match: args.get(replayFlags.matchFlag) ?? 'strict',
    numbers: args.has(replayFlags.numericFlag) ? 'value' : 'text',
    until: args.get(replayFlags.untilSeqFlag) ?? null,
    turns: null,
    userPatterns: settings.redactionPatterns,
  };
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
