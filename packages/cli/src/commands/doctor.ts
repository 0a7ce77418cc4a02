import { unfinishedRedactions } from '@turnlog/audit';
import { type SessionId, TurnlogError } from '@turnlog/kernel';
import {
  type CheckUp,
  type CheckUpOptions,
  checkUp,
  type Finding,
  planRepair,
  type RepairFailure,
  type RepairStep,
  repair,
  type Store,
} from '@turnlog/store';
import type { Context } from '../command.js';
import { confirm } from '../confirm.js';
import { exits, shownCode } from '../exit-codes.js';
import * as flags from '../flags.js';
import { mirrorFindings } from '../mirror-findings.js';
import type { Output } from '../output/output.js';
import type { Shown } from '../output/shown.js';
import { padText } from '../output/width.js';
import { searchFindings } from '../search-findings.js';

/** Looks at everything in the store; repairs on request. */
export async function doctor(context: Context): Promise<number> {
  const { args, stop } = context;
  const store = await context.openStore();
  const unlocking = args.get(flags.forceUnlockFlag);
  if (unlocking !== undefined) await forceUnlock(context, store, unlocking);
  const options = checkUpOptions(context);
  if (options.session !== undefined) store.read(options.session, { unreadable: 'show' }).close();
  const found = await checkUp(store.environment, store.root, options);
  const beside = stop.aborted ? [] : await findingsBeside(store, options);
  const before = withFindings(found, beside);
  const plan = planRepair(before.findings);
  // Who was stopped looking mends nothing: it has not seen what else there is.
  const isFixing = args.has(flags.fixFlag) && !args.has(flags.dryRunFlag) && !stop.aborted;
  const failures = isFixing ? await repair(store, plan) : [];
  const after = isFixing
    ? withFindings(await checkUp(store.environment, store.root, options), beside)
    : before;
  return await report(context, store, { before, after, plan, failures });
}

/** What no repair of a session changes is looked at once. */
async function findingsBeside(store: Store, options: CheckUpOptions): Promise<readonly Finding[]> {
  const { session } = options;
  const ids = session === undefined ? store.ids() : [session];
  const unfinished = await unfinishedRedactions(store, ids, options);
  if (session !== undefined) return unfinished;
  return [...searchFindings(store), ...(await mirrorFindings(store)), ...unfinished];
}

function withFindings(found: CheckUp, more: readonly Finding[]): CheckUp {
  return { ...found, findings: [...found.findings, ...more] };
}

function checkUpOptions({ args, stop }: Context): CheckUpOptions {
  const session = args.get(flags.sessionFlag);
  return {
    depth: args.has(flags.deepFlag) ? 'whole-log' : 'metadata',
    signal: stop,
    ...(session === undefined ? {} : { session }),
  };
}

/** Takes the lock from whoever holds it: a living owner finds its handle poisoned at the next write. */
async function forceUnlock(context: Context, store: Store, id: SessionId): Promise<void> {
  const { args, output } = context;
  const holder = store.environment.locks.inspect(store.sessionDirectory(id));
  if (!store.has(id)) throw notFound(id);
  if (holder === null) {
    await output.note(output.shown`nobody holds ${id}`);
    return;
  }
  const who = `pid ${holder.pid ?? 'unknown'} on ${holder.host ?? 'an unknown host'} (${holder.state})`;
  if (args.has(flags.dryRunFlag)) {
    await output.note(output.shown`would take ${id} from ${who}`);
    return;
  }
  if (holder.state !== 'dead') await confirm(context, output.shown`Take ${id} from ${who}?`);
  const session = await store.open(id, { force: 'displace' });
  await session.close();
  await output.note(output.shown`took ${id} from ${who}`);
}

function notFound(id: SessionId): TurnlogError {
  return new TurnlogError('TURNLOG_NOT_FOUND', {
    details: { sessionId: id },
    message: `there is no session ${id}`,
  });
}

interface Outcome {
  readonly before: CheckUp;
  readonly after: CheckUp;
  readonly plan: readonly RepairStep[];
  readonly failures: readonly RepairFailure[];
}

async function report(context: Context, store: Store, outcome: Outcome): Promise<number> {
  const { output } = context;
  const { before, after, plan, failures } = outcome;
  const leftOver = new Set(after.findings.map(identityOf));
  const isFixed = (finding: Finding): boolean => !leftOver.has(identityOf(finding));
  const left = after.findings.filter(({ weight }) => weight === 'fault').length;
  const summary = {
    sessions: before.sessionCount,
    found: before.findings.length,
    fixed: before.findings.filter(isFixed).length,
    left,
  };
  if (output.form === 'text') {
    await output.lines(before.findings.map((finding) => findingLine(context, finding, isFixed(finding))));
    for (const { step, error } of failures) {
      await output.warn(
        output.shown`${describeStep(step)} failed: ${shownCode(error.code)}: ${error.message}`,
      );
    }
    await output.lines([closingLine(output, summary, plan.length, context.args.has(flags.fixFlag))]);
  } else {
    const findings = before.findings.map((finding) => ({ ...findingJson(finding), fixed: isFixed(finding) }));
    if (output.form === 'json') {
      const failed = failures.map(({ step, error }) => ({
        ...stepJson(step),
        code: shownCode(error.code),
        message: error.message,
      }));
      await output.document({ root: store.root, findings, plan: plan.map(stepJson), failed, summary });
    } else {
      for (const finding of findings) await output.row(finding);
      await output.summary(summary);
    }
  }
  return left === 0 ? exits.done : exits.negative;
}

function identityOf({ kind, path }: Finding): string {
  return `${kind} ${path}`;
}

function findingJson({
  kind,
  sessionId,
  path,
  message,
  repair: how,
  weight,
}: Finding): Readonly<Record<string, unknown>> {
  return { kind, session: sessionId, path, message, repair: how, weight };
}

function stepJson(step: RepairStep): Readonly<Record<string, unknown>> {
  if (step.kind === 'tighten') return { kind: step.kind, path: step.path };
  if (step.kind === 'remove') return { kind: step.kind, session: step.sessionId, path: step.path };
  return { kind: step.kind, session: step.sessionId, drops: step.drops };
}

const kindWidth = 17;

function findingLine({ output }: Context, finding: Finding, isFixed: boolean): Shown {
  const { shown } = output;
  const { kind, sessionId, path, message, weight } = finding;
  const style = isFixed ? 'green' : weight === 'notice' ? 'yellow' : 'red';
  const state = isFixed ? ' [fixed]' : '';
  const where = sessionId === null ? path : sessionId;
  return shown`${output.paint(style, padText(kind, kindWidth))} ${where}: ${message}${state}`;
}

function describeStep(step: RepairStep): string {
  if (step.kind === 'tighten') return `closing the mode of ${step.path}`;
  if (step.kind === 'remove') return `removing ${step.path}`;
  return `opening ${step.sessionId} for writing`;
}

function closingLine(
  { shown }: Output,
  summary: {
    readonly sessions: number;
    readonly found: number;
    readonly fixed: number;
    readonly left: number;
  },
  stepCount: number,
  isFixing: boolean,
): Shown {
  const { sessions, found, fixed, left } = summary;
  const looked = `looked at ${sessions} ${sessions === 1 ? 'session' : 'sessions'}`;
  if (found === 0) return shown`${looked}, nothing is wrong`;
  const advice = !isFixing && stepCount > 0 ? '; --fix repairs what can be repaired' : '';
  return shown`${looked}: found ${found}, fixed ${fixed}, left ${left}${advice}`;
}
