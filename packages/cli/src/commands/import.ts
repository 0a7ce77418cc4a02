import {
  type BatchReport,
  findSources,
  type ImportRequest,
  type ImportTarget,
  importSources as importThem,
  placesOf,
  watchSources,
} from '@turnlog/importers';
import { isTurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import type { Context } from '../command.js';
import { exitOf } from '../error-envelope.js';
import { exits } from '../exit-codes.js';
import { badFlag } from '../flag.js';
import * as flags from '../flags.js';
import { importRequestOf } from '../import-request.js';
import { printFound, printReport } from '../output/import-report.js';
import { Progress, progressMode } from '../progress.js';
import { importForHook } from './import-hook.js';

/** Brings other agents' files into sessions. Doing it again changes nothing. */
export async function importSources(context: Context): Promise<number> {
  const { args, output } = context;
  if (args.has(flags.hookFlag)) return await importForHook(context);
  const isWatching = args.has(flags.watchFlag);
  if (isWatching && output.form === 'json') {
    throw badFlag('--watch never ends by itself and cannot print one document: say --jsonl', {});
  }
  const store = await context.openStore();
  const request = importRequestOf(context, store.environment.fs);
  if (args.has(flags.dryRunFlag)) {
    const found = findSources(store.environment.fs, request);
    await printFound(output, found);
    return found.found.some(({ format }) => format !== null) ? exits.done : exits.negative;
  }
  if (isWatching) return await watch(context, store, request);
  const report = await importOnce(context, store, request);
  await printReport(output, report, { mode: 'whole' });
  return exitFor(report);
}

function targetIn(store: Store): ImportTarget {
  return { environment: store.environment, sessionsDirectory: store.ensureSessionsDirectory() };
}

async function importOnce(context: Context, store: Store, request: ImportRequest): Promise<BatchReport> {
  const { args, io, output, clock, stop } = context;
  const progress = new Progress(output, clock, progressMode(io, args));
  try {
    return await importThem(targetIn(store), {
      ...request,
      signal: stop,
      onProgress: ({ doneBytes, totalBytes }) =>
        progress.update({ phase: 'import', done: doneBytes, total: totalBytes, unit: 'bytes' }),
    });
  } finally {
    await progress.end();
  }
}

/** Imports what is there and what comes, until it is stopped, or nobody reads any more what is told. */
async function watch(context: Context, store: Store, request: ImportRequest): Promise<number> {
  const { output, stop } = context;
  const ending = new AbortController();
  stop.addEventListener('abort', () => ending.abort(), { once: true });
  let failure: unknown = null;
  let telling = output.note(output.shown`watching ${placesOf(request).length} places; Ctrl-C ends it`);
  await watchSources(targetIn(store), request, {
    signal: ending.signal,
    onReport: (report) => {
      telling = telling
        .then(() => printReport(output, report, { mode: 'pass' }))
        .catch((error: unknown) => {
          failure ??= error;
          ending.abort();
        });
    },
    onWarning: ({ message }) => void output.note(output.shown`${message}`),
  });
  await telling;
  if (failure !== null) throw failure;
  return exits.done;
}

/** A file that was named and is in no known format is an invalid input; all other trouble is a negative result. */
function exitFor(report: BatchReport): number {
  const unknown = report.sources.find(({ error }) => isTurnlogError(error, 'TURNLOG_UNKNOWN_SOURCE'));
  if (unknown?.error !== undefined && unknown.error !== null) return exitOf(unknown.error);
  const isKnown = report.sources.some(({ outcome }) => outcome !== 'unknown');
  return report.isWhole && isKnown ? exits.done : exits.negative;
}
