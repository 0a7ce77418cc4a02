import { basename } from 'node:path';
import { type FileHandle, type FileSystem, isTurnlogError, type TurnlogError } from '@turnlog/kernel';
import { detectSource } from './detect.js';
import { discoverSources } from './discover-sources.js';
import { type ImportRequest, placesOf } from './import-sources.js';
import { headOf } from './source-files.js';
import { threadFormats } from './thread-formats.js';
import { threadFormatOf } from './thread-source.js';

/** The head of a file that streams and logs are recognised by. */
const headBytesMax = 65_536;

export interface FoundSource {
  readonly path: string;
  /** Name of its format; null when it is in none that is asked for. */
  readonly format: string | null;
}

export interface FoundSources {
  readonly found: readonly FoundSource[];
  readonly linkCount: number;
  readonly unreadable: readonly { readonly path: string; readonly error: TurnlogError }[];
}

type FindRequest = Pick<ImportRequest, 'sources' | 'places' | 'from' | 'sinceMs'>;

/** What an import of the same request would look at, and what it would take each file for. Nothing is written. */
export function findSources(fs: FileSystem, request: FindRequest): FoundSources {
  const { files, links, unreadable, missing } = discoverSources(fs, placesOf(request));
  const failed = [...missing, ...unreadable];
  const found: FoundSource[] = [];
  for (const { path, status } of files) {
    if (status.size === 0 || status.modifiedMs < (request.sinceMs ?? Number.NEGATIVE_INFINITY)) continue;
    try {
      const format = formatOf(fs, path);
      const isWanted = format !== null && (request.from?.includes(format) ?? true);
      found.push({ path, format: isWanted ? format : null });
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      failed.push({ path, error });
    }
  }
  return { found, linkCount: links.length, unreadable: failed };
}

function formatOf(fs: FileSystem, path: string): string | null {
  let file: FileHandle | null = null;
  try {
    file = fs.open(path, 'read');
    const format = threadFormatOf(file, threadFormats);
    if (format !== undefined) return format.name;
    const kind = detectSource(headOf(file, headBytesMax), basename(path));
    return kind === 'unknown' || kind === 'events' ? null : kind;
  } finally {
    file?.close();
  }
}
