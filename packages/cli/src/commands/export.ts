import { basename, dirname, join, resolve } from 'node:path';
import { isTurnlogError, type SessionId, type TurnlogError } from '@turnlog/kernel';
import type { Store } from '@turnlog/store';
import {
  type ExportFormat,
  type ExportOptions,
  type ExportReport,
  exportDamage,
  exportFileName,
  exportSession,
  writeExport,
} from '@turnlog/views';
import type { Context } from '../command.js';
import { exits, shownCode } from '../exit-codes.js';
import { badFlag, type Flag, writtenFlag } from '../flag.js';
import * as flags from '../flags.js';
import { Progress, progressMode } from '../progress.js';

/** One document that was written, or why it was not. */
type Outcome = { readonly id: string } & (
  | { readonly file: WrittenFile; readonly error: null }
  | { readonly file: null; readonly error: TurnlogError }
);

interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly report: ExportReport;
  /** The file of damaged places; null where there is none. */
  readonly damagePath: string | null;
}

/** Makes documents of sessions: one to stdout, or each into a file of its own. */
export async function exportSessions(context: Context): Promise<number> {
  const { args, output } = context;
  const format = args.get(flags.exportFormatFlag) ?? 'md';
  checkFlags(context, format);
  const store = await context.openStore();
  const ids = [...new Set(args.positionals.map((text) => store.resolve(text)))];
  const [first] = ids;
  const out = args.get(flags.outFlag);
  if (out !== undefined) return await exportToFiles(context, { store, ids, format, out });
  if (first === undefined || ids.length > 1) {
    throw badFlag('several sessions go into a directory: say --out DIR', { sessions: ids.length });
  }
  if (output.form !== 'text') throw badFlag('the document itself goes to stdout: say --out FILE', {});
  return await exportToStdout(context, store, first, format);
}

/** What is said of only some formats, and which. */
const formatsOfFlag: readonly (readonly [flag: Flag<unknown>, formats: readonly ExportFormat[]])[] = [
  [flags.condensedFlag, ['md', 'html']],
  [flags.assetsFlag, ['md', 'html']],
  [flags.contentFlag, ['otlp']],
  [flags.rawExportFlag, ['jsonl']],
];

function checkFlags({ args, io }: Context, format: ExportFormat): void {
  for (const [flag, formats] of formatsOfFlag) {
    if (!args.has(flag) || formats.includes(format)) continue;
    throw badFlag(`${writtenFlag(flag)} is for --format ${formats.join(' or ')}`, {
      flag: flag.name,
      format,
    });
  }
  if (args.has(flags.outFlag)) return;
  if (args.has(flags.withDamageFlag)) throw badFlag('--with-damage makes a second file: say --out', {});
  if (io.isTty.stdout && !args.has(flags.forceFlag)) {
    throw badFlag('a document is no text for a terminal: say --out FILE, or --force to see it here', {});
  }
}

function optionsOf({ args, settings }: Context): ExportOptions {
  const assets = args.get(flags.assetsFlag);
  return {
    condensed: args.has(flags.condensedFlag),
    content: args.has(flags.contentFlag),
    raw: args.has(flags.rawExportFlag),
    zone: settings.zone,
    ...(assets === undefined ? {} : { assets }),
  };
}

async function exportToStdout(
  context: Context,
  store: Store,
  id: SessionId,
  format: ExportFormat,
): Promise<number> {
  const { output, stop } = context;
  const document = exportSession({ store, id, format, redactor: output.egress, options: optionsOf(context) });
  for (const chunk of document) {
    if (stop.aborted) break;
    await output.exactly(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  }
  await noteDamage(context, id, document.report);
  return exits.done;
}

async function noteDamage({ output }: Context, id: string, { damage }: ExportReport): Promise<void> {
  if (damage.count === 0) return;
  await output.note(output.shown`${id}: ${damage.count} damaged places, ${damage.bytes} bytes, are left out`);
}

interface FilesRequest {
  readonly store: Store;
  readonly ids: readonly SessionId[];
  readonly format: ExportFormat;
  readonly out: string;
}

async function exportToFiles(context: Context, request: FilesRequest): Promise<number> {
  const { args, io, output, clock, stop } = context;
  const { store, ids, format } = request;
  const target = targetOf(context, request);
  const progress = new Progress(output, clock, progressMode(io, args));
  const outcomes: Outcome[] = [];
  try {
    for (const [position, id] of ids.entries()) {
      // A turn of the event loop: a signal is heard between two documents.
      await new Promise((done) => setImmediate(done));
      if (stop.aborted) break;
      progress.update({ phase: 'export', done: position, total: ids.length, unit: 'sessions' });
      const outcome = exportOne(context, store, id, { format, target, isAlone: ids.length === 1 });
      outcomes.push(outcome);
      await printOutcome(context, outcome);
    }
  } finally {
    await progress.end();
  }
  return await close(context, outcomes);
}

/** Names of the files; sessions never share one. @throws TURNLOG_NOT_FOUND for a directory that is not there */
function targetOf({ cwd }: Context, { store, ids, format, out }: FilesRequest): (id: SessionId) => string {
  const path = resolve(cwd, out);
  const { fs } = store.environment;
  const isDirectory = fs.status(path)?.kind === 'directory';
  if (isDirectory) return (id) => join(path, exportFileName(id, format));
  if (ids.length > 1 || out.endsWith('/')) {
    throw badFlag(`--out must be a directory that exists: ${out}`, { path });
  }
  return () => path;
}

interface FileRequest {
  readonly format: ExportFormat;
  readonly target: (id: SessionId) => string;
  readonly isAlone: boolean;
}

/** The failure of one of several is told with the others; of a single one it is the failure of the command. */
function exportOne(context: Context, store: Store, id: SessionId, request: FileRequest): Outcome {
  try {
    return { id, file: writeOne(context, store, id, request), error: null };
  } catch (error) {
    if (request.isAlone || !isTurnlogError(error)) throw error;
    return { id, file: null, error };
  }
}

function writeOne(
  context: Context,
  store: Store,
  id: SessionId,
  { format, target }: FileRequest,
): WrittenFile {
  const { args, output } = context;
  const path = target(id);
  const force = { force: args.has(flags.forceFlag) };
  const redactor = output.egress;
  const document = exportSession({ store, id, format, redactor, options: optionsOf(context) });
  const { bytes, sha256 } = writeExport(store.environment, path, document, force);
  const { report } = document;
  if (!args.has(flags.withDamageFlag) || report.damage.count === 0) {
    return { path, bytes, sha256, report, damagePath: null };
  }
  const name = basename(path) === exportFileName(id, format) ? exportFileName(id, 'damage') : null;
  const damagePath = join(dirname(path), name ?? `${basename(path)}.damage.ndjson`);
  writeExport(store.environment, damagePath, exportDamage({ store, id, redactor }), force);
  return { path, bytes, sha256, report, damagePath };
}

async function printOutcome(context: Context, outcome: Outcome): Promise<void> {
  const { output } = context;
  const { id, file, error } = outcome;
  if (output.form === 'json-lines') await output.row(outcomeJson(outcome));
  if (output.form !== 'text') return;
  const { shown } = output;
  if (file === null) {
    await output.warn(shown`${id}: ${shownCode(error.code)}: ${error.message}`);
    return;
  }
  await output.lines([shown`${file.path}`]);
  await noteDamage(context, id, file.report);
}

function outcomeJson({ id, file, error }: Outcome): Readonly<Record<string, unknown>> {
  if (file === null) {
    return { id, path: null, error: { code: shownCode(error.code), message: error.message } };
  }
  const { path, bytes, sha256, damagePath, report } = file;
  return {
    id,
    path,
    bytes,
    sha256,
    records: report.recordCount,
    rewritten: report.rewrittenCount,
    damage: { ...report.damage, path: damagePath },
    skipped: Object.fromEntries(report.skipped),
    error: null,
  };
}

async function close({ output }: Context, outcomes: readonly Outcome[]): Promise<number> {
  const failed = outcomes.filter(({ error }) => error !== null).length;
  const counts = { exported: outcomes.length - failed, failed };
  if (output.form === 'json') await output.document({ exports: outcomes.map(outcomeJson), summary: counts });
  else if (output.form === 'json-lines') await output.summary(counts);
  return failed > 0 ? exits.negative : exits.done;
}
