import { isTurnlogError, type SessionId, type TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import { type PartReport, type RebuildReport, rebuildSession } from '@turnlog/views';
import type { Context } from '../command.js';
import { exits, shownCode } from '../exit-codes.js';
import * as flags from '../flags.js';
import { Progress, progressMode } from '../progress.js';

type Outcome =
  | { readonly id: string; readonly report: RebuildReport; readonly error: null }
  | { readonly id: string; readonly report: null; readonly error: TurnlogError };

/** Derives again what is derived from logs, or with --check compares it with what is published. */
export async function rebuild(context: Context): Promise<number> {
  const { args, io, output, clock, stop } = context;
  const store = await context.openStore();
  const ids = await idsOf(context, store);
  const progress = new Progress(output, clock, progressMode(io, args));
  const outcomes: Outcome[] = [];
  try {
    for (const [position, id] of ids.entries()) {
      // A signal, or the end of the time that is given, comes only when the work makes room for it.
      await new Promise((done) => setImmediate(done));
      if (stop.aborted) break;
      progress.update({ phase: 'rebuild', done: position, total: ids.length, unit: 'sessions' });
      const outcome = await rebuildOne(context, store, id, { isAlone: args.positionals.length === 1 });
      outcomes.push(outcome);
      await printOutcome(context, outcome);
    }
  } finally {
    await progress.end();
  }
  return await close(context, outcomes);
}

async function idsOf({ args, stop }: Context, store: Store): Promise<readonly string[]> {
  if (args.positionals.length === 0)
    return (await store.list({ sort: 'id', signal: stop })).map(({ id }) => id);
  const ids = args.positionals.map((text): SessionId => store.resolve(text));
  return [...new Set(ids)];
}

/** The failure of one of several is told with the others; of a single one it is the failure of the command. */
async function rebuildOne(
  { args }: Context,
  store: Store,
  id: string,
  { isAlone }: { readonly isAlone: boolean },
): Promise<Outcome> {
  const only = args.get(flags.onlyFlag);
  const mode = args.has(flags.checkFlag) ? 'check' : 'publish';
  try {
    const report = await rebuildSession(store, id, { mode, ...(only === undefined ? {} : { only }) });
    return { id, report, error: null };
  } catch (error) {
    if (isAlone || !isTurnlogError(error)) throw error;
    return { id, report: null, error };
  }
}

const driftOutcomes: ReadonlySet<PartReport['outcome']> = new Set(['different', 'wrong']);

async function printOutcome({ output }: Context, outcome: Outcome): Promise<void> {
  if (output.form === 'json-lines') await output.row(outcomeJson(outcome));
  if (output.form !== 'text') return;
  const { shown } = output;
  const { id, report, error } = outcome;
  if (report === null) {
    await output.warn(shown`${id}: ${shownCode(error.code)}: ${error.message}`);
    return;
  }
  for (const { name, outcome: what, difference } of report.parts.filter((part) =>
    driftOutcomes.has(part.outcome),
  )) {
    const place = difference === null ? '' : ` at ${difference.place === '' ? 'the top' : difference.place}`;
    const head = shown`${output.paint('red', what)}  ${id}  ${name}${place}`;
    const values =
      difference === null
        ? []
        : [
            shown`  published: ${difference.published ?? 'nothing'}`,
            shown`  rebuilt:   ${difference.rebuilt ?? 'nothing'}`,
          ];
    await output.lines([head, ...values]);
  }
}

function outcomeJson({ id, report, error }: Outcome): Readonly<Record<string, unknown>> {
  return {
    id,
    parts: (report?.parts ?? []).map((part) => ({
      part: part.part,
      name: part.name,
      outcome: part.outcome,
      digest: part.digest,
      published_digest: part.publishedDigest,
      difference: part.difference,
      published: part.isPublished,
    })),
    drift: report?.driftCount ?? null,
    error: error === null ? null : { code: shownCode(error.code), message: error.message },
  };
}

async function close({ args, output }: Context, outcomes: readonly Outcome[]): Promise<number> {
  const isCheck = args.has(flags.checkFlag);
  const failed = outcomes.filter(({ error }) => error !== null).length;
  const drift = outcomes.reduce((sum, { report }) => sum + (report?.driftCount ?? 0), 0);
  const counts = { sessions: outcomes.length, failed, drift };
  if (output.form === 'json') {
    await output.document({ check: isCheck, sessions: outcomes.map(outcomeJson), summary: counts });
  } else if (output.form === 'json-lines') await output.summary({ check: isCheck, ...counts });
  else {
    const what = isCheck ? 'compared' : 'rebuilt';
    const rest = failed === 0 ? '' : `, ${failed} failed`;
    const found = drift === 0 ? 'no difference' : `${drift} different`;
    await output.note(output.shown`${what} ${outcomes.length - failed} sessions: ${found}${rest}`);
  }
  return failed > 0 || (isCheck && drift > 0) ? exits.negative : exits.done;
}
