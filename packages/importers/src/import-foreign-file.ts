import { TurnlogError } from '@turnlog/kernel';
import { plainReport, type SourceReport } from './batch-report.js';
import type { ImportReport } from './import-report.js';
import { importStreamFile, type StreamFileOptions } from './import-stream-file.js';
import type { ImportTarget } from './import-target.js';
import { importVtcode } from './import-vtcode.js';

/**
 * Imports a file that holds no thread of its own format: a log of VT Code, which is taken over byte for byte and
 * so needs no copy of its bytes, or a saved stream.
 */
export async function importForeignFile(
  target: ImportTarget,
  path: string,
  kind: 'vtcode' | StreamFileOptions['from'],
  options: Omit<StreamFileOptions, 'from'>,
): Promise<SourceReport> {
  const report =
    kind === 'vtcode'
      ? await importVtcode(target, path)
      : await importStreamFile(target, path, { ...options, from: kind });
  return reportOf(path, kind, report);
}

function reportOf(path: string, format: string, report: ImportReport): SourceReport {
  const { state, sessionId, childSessionIds, ledger, refused, pendingBytes, unansweredCount } = report;
  return {
    ...plainReport(path, state),
    format,
    sessionId,
    childSessionIds,
    ledger,
    refused,
    pendingBytes,
    unansweredCount,
  };
}

/** A source that was named and is in no format that can be read. */
export function unknownSource(path: string): SourceReport {
  const error = new TurnlogError('TURNLOG_UNKNOWN_SOURCE', { details: { path } });
  return { ...plainReport(path, 'failed'), error };
}
