import { resolve } from 'node:path';
import { type ImportReport, type ImportTarget, importStreamFile, importVtcode } from '@turnlog/importers';
import { isTurnlogError, type TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import type { Context } from '../command.js';
import { exits, shownCode } from '../exit-codes.js';
import * as flags from '../flags.js';
import { importKinds } from '../import-kinds.js';
import { type FoundSource, type Search, searchSources, usualPlaces } from '../import-sources.js';
import type { Output } from '../output/output.js';
import type { Shown } from '../output/shown.js';

/** What became of one source. */
type Outcome = { readonly source: FoundSource } & (
  | { readonly report: ImportReport; readonly error: null }
  | { readonly report: null; readonly error: TurnlogError }
);

/** Brings other agents' files into sessions. Doing it again changes nothing. */
export async function importSources(context: Context): Promise<number> {
  const store = await context.openStore();
  const search = findSources(context, store);
  const isDry = context.args.has(flags.dryRunFlag);
  const outcomes = isDry ? [] : await importAll(context, store, search.found);
  const summary = summaryOf(search, outcomes);
  await printClosing(context, search, outcomes, summary, isDry);
  const hasTrouble = summary.failed > 0 || summary.refused > 0 || search.found.length === 0;
  return hasTrouble ? exits.negative : exits.done;
}

/** One after the other, each told as soon as it is done. */
async function importAll(
  context: Context,
  store: Store,
  sources: readonly FoundSource[],
): Promise<readonly Outcome[]> {
  const { output, stop } = context;
  const outcomes: Outcome[] = [];
  for (const source of sources) {
    if (stop.aborted) break;
    const outcome = await importOne(context, store, source);
    outcomes.push(outcome);
    if (output.form === 'json-lines') await output.row(outcomeJson(outcome));
    else if (output.form === 'text') await printOutcome(context, outcome);
  }
  return outcomes;
}

function findSources({ args, cwd }: Context, store: Store): Search {
  const { fs } = store.environment;
  const search: Search = { found: [], counts: { unknown: 0, links: 0, unreadable: 0 } };
  const named = args.positionals.filter((text) => !isAgentName(text));
  const agents = importKinds.filter((kind) => args.positionals.includes(kind));
  const kinds =
    args.get(flags.sourceKindFlag) ?? (named.length === 0 && agents.length > 0 ? agents : importKinds);
  for (const path of named) searchSources(fs, resolve(cwd, path), kinds, search);
  if (named.length > 0 && agents.length === 0) return search;
  const paths = args.get(flags.pathFlag)?.map((path) => resolve(cwd, path));
  const places = paths ?? usualPlaces(cwd).filter((path) => fs.status(path) !== null);
  for (const path of places) searchSources(fs, path, agents.length > 0 ? agents : kinds, search);
  return search;
}

function isAgentName(text: string): boolean {
  return importKinds.some((kind) => kind === text);
}

async function importOne({ args, cwd }: Context, store: Store, source: FoundSource): Promise<Outcome> {
  const target: ImportTarget = {
    environment: store.environment,
    sessionsDirectory: store.ensureSessionsDirectory(),
  };
  try {
    const report =
      source.kind === 'vtcode'
        ? await importVtcode(target, source.path)
        : await importStreamFile(target, source.path, {
            from: source.kind,
            workspace: cwd,
            final: args.has(flags.finalFlag),
          });
    return { source, report, error: null };
  } catch (error) {
    // The others of the batch are imported all the same.
    if (isTurnlogError(error)) return { source, report: null, error };
    throw error;
  }
}

function outcomeJson({ source, report, error }: Outcome): Readonly<Record<string, unknown>> {
  if (report === null) {
    return {
      ...source,
      state: 'failed',
      session: null,
      error: { code: shownCode(error.code), message: error.message },
    };
  }
  const { state, sessionId, childSessionIds, records, damageCount, pendingBytes, ledger, refused } = report;
  return {
    ...source,
    state,
    session: sessionId,
    children: childSessionIds,
    records,
    damage: damageCount,
    pending_bytes: pendingBytes,
    ledger,
    refused,
    error: null,
  };
}

async function printOutcome({ output }: Context, { source, report, error }: Outcome): Promise<void> {
  if (report === null) {
    await output.warn(output.shown`${source.path}: ${shownCode(error.code)}: ${error.message}`);
    return;
  }
  const damage = report.damageCount === 0 ? '' : `, ${report.damageCount} damaged`;
  const session = report.sessionId ?? '-';
  await output.lines([
    output.shown`${session}  ${report.state}, ${report.records} records${damage}  ${source.path}`,
  ]);
}

interface Summary {
  readonly sources: number;
  readonly imported: number;
  readonly unchanged: number;
  readonly failed: number;
  /** Sources of which some bytes could not be taken. */
  readonly refused: number;
  readonly unknown: number;
  readonly links: number;
  readonly unreadable: number;
}

function summaryOf(search: Search, outcomes: readonly Outcome[]): Summary {
  const reports = outcomes.flatMap(({ report }) => (report === null ? [] : [report]));
  const unchanged = reports.filter(({ state }) => state === 'unchanged' || state === 'empty').length;
  return {
    sources: search.found.length,
    imported: reports.length - unchanged,
    unchanged,
    failed: outcomes.length - reports.length,
    refused: reports.filter((report) => report.refused.length > 0).length,
    ...search.counts,
  };
}

async function printClosing(
  { output }: Context,
  search: Search,
  outcomes: readonly Outcome[],
  summary: Summary,
  isDry: boolean,
): Promise<void> {
  if (output.form === 'json') {
    const sources = isDry ? search.found : outcomes.map(outcomeJson);
    await output.document({ dry_run: isDry, sources, summary });
  } else if (output.form === 'json-lines') await output.summary({ ...summary });
  else {
    if (isDry)
      await output.lines(search.found.map(({ kind, path }) => output.shown`would import ${kind}  ${path}`));
    await output.note(closingNote(output, summary, isDry));
  }
}

function closingNote({ shown }: Output, summary: Summary, isDry: boolean): Shown {
  const { sources, imported, unchanged, failed, refused, unknown, links, unreadable } = summary;
  const counted: readonly (readonly [count: number, what: string])[] = [
    [failed, 'failed'],
    [refused, 'with refused bytes'],
    [unknown, 'unknown'],
    [links, 'links'],
    [unreadable, 'unreadable'],
  ];
  const rest = counted.map(([count, what]) => (count === 0 ? '' : `, ${count} ${what}`)).join('');
  if (sources === 0) return shown`nothing to import${rest}`;
  return isDry
    ? shown`nothing was changed${rest}`
    : shown`imported ${imported}, unchanged ${unchanged}${rest}`;
}
