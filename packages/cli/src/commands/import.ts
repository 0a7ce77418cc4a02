import {
  type BatchReport,
  findSources,
  type ImportRequest,
  type ImportTarget,
  importSources as importThem,
  placesOf,
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
import { wakerOf } from '../waker.js';

/** Brings other agents' files into sessions. Doing it again changes nothing. */
export async function importSources(context: Context): Promise<number> {
  const { args, output } = context;
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
  const report = await importOnce(context, store, request);
  await printReport(output, report, { mode: isWatching ? 'pass' : 'whole' });
  if (isWatching) await watch(context, store, request);
  return exitFor(report);
}

async function importOnce(context: Context, store: Store, request: ImportRequest): Promise<BatchReport> {
  const { args, io, output, clock, stop } = context;
  const target: ImportTarget = {
    environment: store.environment,
    sessionsDirectory: store.ensureSessionsDirectory(),
  };
  const progress = new Progress(output, clock, progressMode(io, args));
  try {
    return await importThem(target, {
      ...request,
      signal: stop,
      onProgress: ({ doneBytes, totalBytes }) =>
        progress.update({ phase: 'import', done: doneBytes, total: totalBytes, unit: 'bytes' }),
    });
  } finally {
    await progress.end();
  }
}

/** What is missed by a watcher is found by looking again after so long. */
const passMs = 30_000;
/** Agents put their files so many folders below their place. */
const levelsWatched = 6;

async function watch(context: Context, store: Store, request: ImportRequest): Promise<void> {
  const { clock, output, stop } = context;
  const { fs } = store.environment;
  const places = placesOf(request)
    .map(({ path }) => path)
    .filter((path) => fs.status(path) !== null);
  const waker = wakerOf(context, store, places, { depth: levelsWatched });
  await output.note(output.shown`watching ${places.length} places; Ctrl-C ends it`);
  try {
    while (!stop.aborted) {
      await Promise.race([clock.sleep(passMs, stop), waker.next()]);
      if (stop.aborted) return;
      const report = await importOnce(context, store, request);
      await printReport(output, report, { mode: 'pass' });
    }
  } finally {
    await waker.close();
  }
}

/** A file that was named and is in no known format is an invalid input; all other trouble is a negative result. */
function exitFor(report: BatchReport): number {
  const unknown = report.sources.find(({ error }) => isTurnlogError(error, 'TURNLOG_UNKNOWN_SOURCE'));
  if (unknown?.error !== undefined && unknown.error !== null) return exitOf(unknown.error);
  const isKnown = report.sources.some(({ outcome }) => outcome !== 'unknown');
  return report.isWhole && isKnown ? exits.done : exits.negative;
}
