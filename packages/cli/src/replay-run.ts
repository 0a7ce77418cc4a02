import { TurnlogError } from '@turnlog/kernel';
import { type AgentOutcome, type AgentRequest, divergenceText, type TurnRange } from '@turnlog/replay';
import type { CommitFacts } from './bisection.js';
import type { Context } from './command.js';
import type { Shown } from './output/shown.js';

/** Runs the code once, in a process of its own; what it prints goes to stderr. */
export async function runOnce({ io, output, stop }: Context, request: AgentRequest): Promise<AgentOutcome> {
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

/** What a search through commits came to. */
export interface Bisection {
  /** Null when commits that cannot be tried stand between the good ones and it. */
  readonly firstBad: CommitFacts | null;
  /** Where it must be then, the newest first. */
  readonly suspects: readonly string[];
  readonly tested: number;
  readonly skipped: number;
}

/** What was found beside the outcome. */
export interface Found {
  readonly shrunk: TurnRange | null;
  readonly bisection: Bisection | null;
}

/** Prints how a run ended; of a search it is that of the first bad commit, if there is one. */
export async function printOutcome(
  context: Context,
  outcome: AgentOutcome | null,
  { shrunk, bisection }: Found,
): Promise<void> {
  const { output } = context;
  const { divergence, error, served, appended, collected } = outcome ?? nothingRun;
  if (output.form !== 'text') {
    const members = { divergence, error, served, appended, collected, shrunk };
    await output.document({ ...members, bisection: bisection === null ? null : bisectionJson(bisection) });
    return;
  }
  const { shown } = output;
  await output.lines([
    ...(bisection === null ? [] : bisectionLines(context, bisection)),
    ...[...collected, ...(divergence === null ? [] : [divergence])].map(
      (each) => shown`${divergenceText(each)}`,
    ),
    ...(error === null ? [] : [shown`the code failed: ${error.name}: ${error.message}`]),
    ...(shrunk === null ? [] : [shown`turns ${shrunk.from} to ${shrunk.to} diverge alike`]),
    ...(bisection === null && divergence === null && error === null
      ? [shown`no divergence: ${served} exchanges served, ${appended} records appended`]
      : []),
  ]);
}

const nothingRun: AgentOutcome = { divergence: null, error: null, served: 0, appended: 0, collected: [] };

function bisectionJson({
  firstBad,
  suspects,
  tested,
  skipped,
}: Bisection): Readonly<Record<string, unknown>> {
  const first =
    firstBad === null
      ? null
      : {
          commit: firstBad.commit,
          subject: firstBad.subject,
          author: firstBad.author,
          authored_at: firstBad.authoredAt,
        };
  return { first_bad: first, suspects, tested, skipped };
}

function bisectionLines(
  { output: { shown } }: Context,
  { firstBad, suspects, tested, skipped }: Bisection,
): readonly Shown[] {
  const counts = shown`${tested} commits tested, ${skipped} of them skipped`;
  if (firstBad === null) {
    return [
      shown`the first bad commit is one of these: between them are commits that cannot be tried`,
      ...suspects.map((commit) => shown`  ${commit}`),
      counts,
    ];
  }
  const { commit, author, authoredAt, subject } = firstBad;
  return [shown`first bad commit: ${commit}`, shown`  ${authoredAt}  ${author}  ${subject}`, counts];
}
