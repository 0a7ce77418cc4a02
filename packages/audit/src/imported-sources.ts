import { ownList, ownMember, ownText } from '@turnlog/events';
import type { HistoryLeaf, LogRecord } from '@turnlog/log';

/** What the records of an imported session say of the files they were made from (import specification, IM-20). */

export interface ImportedSources {
  /** Digests of the blobs that hold the bytes of those files. */
  readonly rawCopies: ReadonlySet<string>;
  /** Where the files lay when they were imported. */
  readonly paths: readonly string[];
}

/** The name, within its session, of the file that an event was made from; null when it was not imported. */
export function importedFileOf(event: unknown): string | null {
  return ownText(ownMember(event, 'src'), 'file');
}

/** Whether a record tells of a pass of the importer over one of `files`: it names the pieces of their raw copies. */
export function isImportPass(record: LogRecord, files: ReadonlySet<string>): boolean {
  return record.type === 'run.imported' && isOneOf(files, ownText(record.readEvent(), 'file'));
}

export function findImportedSources(
  leaves: Iterable<HistoryLeaf>,
  files: ReadonlySet<string>,
): ImportedSources {
  const rawCopies = new Set<string>();
  const paths = new Set<string>();
  if (files.size === 0) return { rawCopies, paths: [] };
  for (const { record } of leaves) {
    if (isImportPass(record, files)) for (const digest of piecesOf(record.readEvent())) rawCopies.add(digest);
    if (record.type !== 'run.source') continue;
    const event = record.readEvent();
    const path = ownText(event, 'path');
    if (isOneOf(files, ownText(event, 'file')) && path !== null) paths.add(path);
  }
  return { rawCopies, paths: [...paths] };
}

function piecesOf(pass: unknown): readonly string[] {
  return ownList(pass, 'raw').flatMap((piece) => ownText(piece, 'asset') ?? []);
}

function isOneOf(files: ReadonlySet<string>, file: string | null): boolean {
  return file !== null && files.has(file);
}
