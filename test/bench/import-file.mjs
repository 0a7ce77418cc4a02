// Importing one file into a new store, and the least that anybody who imports it must do.

import { closeSync, openSync, readSync } from 'node:fs';
import { importSources } from '../../packages/importers/dist/index.js';
import { openStore } from '../../packages/store/dist/index.js';

/**
 * Imports the file at `path` into a store at `root`, which must not exist yet. Every byte must be accounted for and
 * none refused.
 */
export async function importFile(root, path, { raw, onProgress = () => undefined }) {
  const store = await openStore({ root });
  const start = process.hrtime.bigint();
  const report = await importSources(
    { environment: store.environment, sessionsDirectory: store.ensureSessionsDirectory() },
    { sources: [{ path }], final: true, raw, onProgress },
  );
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  const [source] = report.sources;
  if (report.sources.length !== 1 || source.outcome !== 'new' || report.pendingBytes !== 0) {
    throw new Error(`the file was not imported: ${JSON.stringify(report.outcomes)}`, {
      cause: source?.error,
    });
  }
  return { ms, ledger: source.ledger, store, sessionId: source.sessionId };
}

const blockBytes = 1_048_576;

/** `JSON.parse` of each line of a file that is read in blocks; returns how many there are. */
export function parseLines(path) {
  const file = openSync(path, 'r');
  let buffer = Buffer.allocUnsafe(blockBytes);
  let kept = 0;
  let count = 0;
  for (;;) {
    if (kept === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
    const read = readSync(file, buffer, kept, buffer.length - kept, null);
    const filled = kept + read;
    let start = 0;
    for (let end = buffer.indexOf(0x0a); end !== -1 && end < filled; end = buffer.indexOf(0x0a, start)) {
      count += parse(buffer, start, end);
      start = end + 1;
    }
    if (read === 0) {
      count += parse(buffer, start, filled);
      break;
    }
    buffer.copyWithin(0, start, filled);
    kept = filled - start;
  }
  closeSync(file);
  return count;
}

function parse(buffer, start, end) {
  if (start === end) return 0;
  try {
    JSON.parse(buffer.toString('utf8', start, end));
  } catch {
    // Real files have damaged lines.
  }
  return 1;
}
