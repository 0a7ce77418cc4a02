import { isTurnlogError, type SessionId, type TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import {
  type PartReport,
  type RebuildPart,
  type RebuildReport,
  rebuildParts,
  rebuildSession,
} from '@turnlog/views';
import type { Context } from '../command.js';
import { exits, shownCode } from '../exit-codes.js';
import * as flags from '../flags.js';
import type { Output } from '../output/output.js';
import { Progress, progressMode } from '../progress.js';
import {
  isMirrorDrift,
  isMirrorFailure,
  type MirrorOutcome,
  mirrorJson,
  printMirror,
  rebuildMirrorOf,
} from './rebuild-mirror.js';
import {
  isSearchDrift,
  isSearchFailure,
  printSearch,
  rebuildSearchOf,
  type SearchOutcome,
  searchJson,
} from './rebuild-search.js';

type Outcome =
  | { readonly id: string; readonly report: RebuildReport; readonly error: null }
  | { readonly id: string; readonly report: null; readonly error: TurnlogError };

/** Derives again what is derived from logs, or with --check compares it with what is published. */
export async function rebuild(context: Context): Promise<number> {
  const { args, io, output, clock, stop } = context;
  const store = await context.openStore();
  const ids = sessionParts(context).length === 0 ? [] : await idsOf(context, store);
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
  const search = stop.aborted ? null : await rebuildSearchOf(context, store);
  if (search !== null) await printSearch(context, search);
  const mirror = stop.aborted ? null : await rebuildMirrorOf(context, store);
  if (mirror !== null) await printMirror(context, mirror);
  return await close(context, outcomes, { search, mirror });
}

/** The parts that lie in the directories of sessions. */
function sessionParts({ args }: Context): readonly RebuildPart[] {
  const only = args.get(flags.onlyFlag);
  return only === undefined ? rebuildParts : rebuildParts.filter((part) => only.includes(part));
}

async function idsOf({ args, stop }: Context, store: Store): Promise<readonly string[]> {
  if (args.positionals.length === 0)
    return (await store.list({ sort: 'id', signal: stop })).map(({ id }) => id);
  const ids = args.positionals.map((text): SessionId => store.resolve(text));
  return [...new Set(ids)];
}

/** The failure of one of several is told with the others; of a single one it is the failure of the command. */
async function rebuildOne(
  context: Context,
  store: Store,
  id: string,
  { isAlone }: { readonly isAlone: boolean },
): Promise<Outcome> {
  const mode = context.args.has(flags.checkFlag) ? 'check' : 'publish';
  try {
    const report = await rebuildSession(store, id, { mode, only: sessionParts(context) });
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

/** What is derived from all sessions together; null where nobody asked for it. */
interface WholeOutcomes {
  readonly search: SearchOutcome | null;
  readonly mirror: MirrorOutcome | null;
}

async function close(
  { args, output }: Context,
  outcomes: readonly Outcome[],
  whole: WholeOutcomes,
): Promise<number> {
  const { search, mirror } = whole;
  const isCheck = args.has(flags.checkFlag);
  const failed = outcomes.filter(({ error }) => error !== null).length;
  const drift = outcomes.reduce((sum, { report }) => sum + (report?.driftCount ?? 0), 0);
  const counts = { sessions: outcomes.length, failed, drift };
  const told = {
    ...(search === null ? {} : { search: searchJson(search) }),
    ...(mirror === null ? {} : { mirror: mirrorJson(mirror) }),
  };
  if (output.form === 'json') {
    await output.document({ check: isCheck, sessions: outcomes.map(outcomeJson), ...told, summary: counts });
  } else if (output.form === 'json-lines') await output.summary({ check: isCheck, ...counts, ...told });
  else await note(output, { isCheck, ...counts, ...whole });
  const isFailed = failed > 0 || isSearchFailure(search) || isMirrorFailure(mirror);
  const isDrift = drift > 0 || isSearchDrift(search) || isMirrorDrift(mirror);
  return isFailed || (isCheck && isDrift) ? exits.negative : exits.done;
}

interface Counts extends WholeOutcomes {
  readonly isCheck: boolean;
  readonly sessions: number;
  readonly failed: number;
  readonly drift: number;
}

async function note(output: Output, counts: Counts): Promise<void> {
  const { isCheck, sessions, failed, drift, search, mirror } = counts;
  const what = isCheck ? 'compared' : 'rebuilt';
  const rest = failed === 0 ? '' : `, ${failed} failed`;
  const found = drift === 0 ? 'no difference' : `${drift} different`;
  if (sessions > 0 || (mirror === null && search === null))
    await output.note(output.shown`${what} ${sessions - failed} sessions: ${found}${rest}`);
  if (search !== null) await output.note(output.shown`search: ${search.outcome}`);
  if (mirror !== null) await output.note(output.shown`mirror: ${mirror.outcome}`);
}
