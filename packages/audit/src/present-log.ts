import { type FileHandle, type FileSystem, limits } from '@turnlog/kernel';
import {
  type ArchivedPart,
  archivedParts,
  type ByteSource,
  type EvictionHeader,
  headerIn,
  LineFramer,
  type LogPaths,
  OpenArchive,
} from '@turnlog/log';

/**
 * The records of a log as they stood in its file when it was packed. What the cap has moved out since is put back in
 * front: the archives hold the old file's first bytes, so the old file is their contents one behind the other, each
 * without the header that replaced the one before, and then the rest of the present file.
 */
export interface PresentLog {
  readonly source: ByteSource;
  readonly length: number;
  /** The header of the present file; null when nothing has left it. */
  readonly header: EvictionHeader | null;
  /** Whether the source is more than the present file. */
  readonly isPutTogether: boolean;
  close(): void;
}

interface Segment {
  readonly source: ByteSource;
  /** What is passed over at its start. */
  readonly skip: number;
  readonly length: number;
}

/** The present file alone. */
export function presentFile(file: FileHandle): PresentLog {
  const length = file.status().size;
  const header = headerIn(file, length);
  return { source: file, length, header, isPutTogether: false, close: () => file.close() };
}

/**
 * The log as it was when so many records had left it; null when the archives do not reach back that far.
 * Owns the file from then on.
 *
 * @throws TURNLOG_IO for an archive that cannot be unpacked; TURNLOG_GONE for one that is not there.
 */
export function putTogether(
  fs: FileSystem,
  paths: LogPaths,
  present: PresentLog,
  evicted: number,
): PresentLog | null {
  const { header } = present;
  const parts = partsSince(archivedParts(fs, paths, header), header, evicted);
  if (parts === null) return null;
  const open: OpenArchive[] = [];
  const close = (): void => {
    for (const archive of open) archive.close();
  };
  try {
    const segments = parts.map((part, at): Segment => {
      const archive = new OpenArchive(fs, paths, part);
      open.push(archive);
      const skip = at === 0 ? 0 : firstLineEnd(archive.source);
      return { source: archive.source, skip, length: (part.namedBy?.archive?.raw_bytes ?? 0) - skip };
    });
    const skip = firstLineEnd(present.source);
    segments.push({ source: present.source, skip, length: present.length - skip });
    const length = segments.reduce((sum, segment) => sum + segment.length, 0);
    return { ...present, source: new JoinedSource(segments), length, isPutTogether: true, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** The archived parts from the one that begins behind `evicted` records on, if they lead to the file without a gap. */
function partsSince(
  parts: readonly ArchivedPart[],
  header: EvictionHeader | null,
  evicted: number,
): readonly ArchivedPart[] | null {
  const first = parts.findIndex(({ begins }) => (begins?.tree.size ?? 0) === evicted);
  if (first === -1 || header?.archive === null) return null;
  const since = parts.slice(first);
  return since.every(({ namedBy }) => namedBy !== null) ? since : null;
}

function firstLineEnd(source: ByteSource): number {
  const framer = new LineFramer(source, { from: 0, to: Number.MAX_SAFE_INTEGER });
  return framer.next() ? framer.nextOffset : 0;
}

/** Sources one behind the other. */
class JoinedSource implements ByteSource {
  readonly #segments: readonly Segment[];

  constructor(segments: readonly Segment[]) {
    this.#segments = segments;
  }

  read(into: Uint8Array, offset: number): number {
    let start = 0;
    for (const { source, skip, length } of this.#segments) {
      const at = offset - start;
      start += length;
      if (at >= length) continue;
      return source.read(
        into.subarray(0, Math.min(into.length, length - at, limits.hashBlockBytes)),
        skip + at,
      );
    }
    return 0;
  }
}
