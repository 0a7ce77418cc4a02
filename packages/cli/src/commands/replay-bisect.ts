import { TurnlogError } from '@turnlog/kernel';
import type { AgentOutcome, AgentRequest } from '@turnlog/replay';
import { completeEnvironment } from '@turnlog/store';
import { type BisectionTree, commitOf, inBisectionTree, placeOf } from '../bisection.js';
import type { Context } from '../command.js';
import { exits } from '../exit-codes.js';
import { badFlag, writtenFlag } from '../flag.js';
import type { GitRunner } from '../git.js';
import * as replayFlags from '../replay-flags.js';
import { type Bisection, printOutcome, runOnce } from '../replay-run.js';

/**
 * Finds the first commit at which the code does something else, by `git bisect run` with `turnlog replay` at each. The
 * fixture is the one that is there now.
 */
export async function bisect(context: Context, request: AgentRequest): Promise<number> {
  const { args, io, stop } = context;
  const { git, self } = programs(context);
  const texts = { good: args.get(replayFlags.goodRevisionFlag), bad: args.get(replayFlags.badRevisionFlag) };
  if (texts.good === undefined || texts.bad === undefined)
    throw badFlag('replay bisect needs --good REV and --bad REV', {
      flag: texts.good === undefined ? 'good' : 'bad',
    });
  const place = await placeOf(git, request.module);
  const good = await commitOf(place, 'good', texts.good);
  const bad = await commitOf(place, 'bad', texts.bad);
  const { ids } = completeEnvironment(io.environment);
  return await inBisectionTree(place, { ids, commit: bad }, async (tree) => {
    const here = { ...request, module: tree.module };
    await expectAt(context, tree, here, 'bad');
    await tree.checkout(good);
    await expectAt(context, tree, here, 'good');
    if (stop.aborted) return exits.negative;
    const came = await tree.run({ good, bad, command: commandOf(self, here) }, stop);
    if (came === 'stopped') return exits.negative;
    const { bisection, outcome } = await result(context, tree, here, came);
    await printOutcome(context, outcome, { shrunk: null, bisection });
    return bisection.firstBad === null ? exits.negative : exits.done;
  });
}

function programs({ io }: Context): { readonly git: GitRunner; readonly self: readonly string[] } {
  const { runGit, self } = io;
  if (runGit !== undefined && self !== undefined) return { git: runGit, self };
  throw new TurnlogError('TURNLOG_INTERNAL', { details: {}, message: 'no process can be started here' });
}

function isBad({ divergence, error }: AgentOutcome): boolean {
  return divergence !== null || error !== null;
}

/** An end that is not what it was said to be would lead the search anywhere. @throws TURNLOG_BAD_FLAG */
async function expectAt(
  context: Context,
  tree: BisectionTree,
  request: AgentRequest,
  end: 'good' | 'bad',
): Promise<void> {
  if (context.stop.aborted) return;
  const { fs } = completeEnvironment(context.io.environment);
  const details = { flag: end, path: request.module };
  if (!tree.hasModule(fs)) throw badFlag(`the module is not there at --${end}`, details);
  const found = isBad(await runOnce(context, request)) ? 'bad' : 'good';
  if (found === end || context.stop.aborted) return;
  throw badFlag(`the code ${found === 'bad' ? 'diverges' : 'does not diverge'} at --${end}`, details);
}

/** The same replay as a command line, for git to run at each commit. */
function commandOf(self: readonly string[], request: AgentRequest): readonly string[] {
  const { directory, module, exportName, match, numbers, until } = request;
  const given = (flag: { readonly name: string }, value: string): readonly string[] => [
    writtenFlag(flag),
    value,
  ];
  return [
    ...self,
    'replay',
    directory,
    ...given(replayFlags.moduleFlag, module),
    ...given(replayFlags.exportNameFlag, exportName),
    ...given(replayFlags.matchFlag, match),
    ...(numbers === 'value' ? [writtenFlag(replayFlags.numericFlag)] : []),
    ...(until === null ? [] : given(replayFlags.untilSeqFlag, String(until))),
  ];
}

interface Result {
  readonly bisection: Bisection;
  readonly outcome: AgentOutcome | null;
}

async function result(
  context: Context,
  tree: BisectionTree,
  request: AgentRequest,
  came: 'found' | 'only-skipped',
): Promise<Result> {
  const counts = await tree.tried();
  const suspects = await tree.suspects();
  const [commit] = suspects;
  if (came === 'only-skipped' || commit === undefined) {
    return { bisection: { firstBad: null, suspects, ...counts }, outcome: null };
  }
  const firstBad = await tree.describe(commit);
  await tree.checkout(commit);
  const outcome = await runOnce(context, request);
  return { bisection: { firstBad, suspects, ...counts }, outcome };
}
