import { type HistoryLeaf, isText, type LogRecord, ownMembers } from '@turnlog/log';

/** What the records of an imported session say of the files they were made from (import specification, IM-20). */

export interface ImportedSources {
  /** Digests of the blobs that hold the bytes of those files. */
  readonly rawCopies: ReadonlySet<string>;
  /** Where the files lay when they were imported. */
  readonly paths: readonly string[];
}

/** The name, within its session, of the file that an event was made from; null when it was not imported. */
export function importedFileOf(event: unknown): string | null {
  const file = memberOf(memberOf(event, 'src'), 'file');
  return isText(file) ? file : null;
}

/** Whether a record tells of a pass of the importer over one of `files`: it names the pieces of their raw copies. */
export function isImportPass(record: LogRecord, files: ReadonlySet<string>): boolean {
  return record.type === 'run.imported' && isOneOf(files, memberOf(record.readEvent(), 'file'));
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
    const path = memberOf(event, 'path');
    if (isOneOf(files, memberOf(event, 'file')) && isText(path)) paths.add(path);
  }
  return { rawCopies, paths: [...paths] };
}

function piecesOf(pass: unknown): readonly string[] {
  const raw = memberOf(pass, 'raw');
  return Array.isArray(raw) ? raw.map((piece) => memberOf(piece, 'asset')).filter(isText) : [];
}

function isOneOf(files: ReadonlySet<string>, file: unknown): boolean {
  return isText(file) && files.has(file);
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return ownMembers({ ...value })?.[name];
}
