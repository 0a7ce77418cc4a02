import { ownMember } from '@turnlog/events';
import { isTurnlogError } from '@turnlog/kernel';
import type { LogReader } from '@turnlog/log';
import type { Store } from '@turnlog/store';
import type { ChunkFields, ChunkKey } from './chunk.js';
import { chunksOf } from './chunker.js';
import { documentsOf, type RecordDocument } from './documents.js';
import { namedPaths } from './path-refs.js';
import { comparablePath } from './path-text.js';

/** A chunk as it may be shown. */
export interface ShownChunk {
  readonly text: string;
  readonly paths: readonly string[];
}

/** How many logs are kept open between two texts: hits of one answer come from few sessions. */
const openLogsMax = 8;

/** How many long texts are kept as they were shown: hits are often pieces of one. */
const shownTextsMax = 8;

/**
 * The texts of chunks, read from the logs when they are wanted: no index holds any. A record that left its log for an
 * archive is read from there.
 */
export class ChunkTexts {
  readonly #store: Store;
  /** The last used one last. */
  readonly #readers = new Map<string, LogReader>();
  /** Whole texts without secrets, by their record; the last one last. */
  readonly #shown = new Map<string, string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Null when the chunk is not there any more: removed, dropped, or redacted since it was indexed. */
  text(key: ChunkKey): string | null {
    const document = this.#find(key)?.document ?? null;
    return document === null ? null : (chunksOf(document.text)[key.n] ?? null);
  }

  /**
   * The text and the paths without secrets. A secret may be longer than a chunk, or lie in two of them, and a path is
   * none any more when it has been made comparable: so the redactor sees the whole text, and the paths as they stand
   * in the log.
   */
  shown(fields: ChunkFields, redact: (text: string) => string): ShownChunk {
    const found = this.#find(fields);
    const document = found?.document ?? null;
    if (found === null || document === null) return { text: '', paths: fields.paths.map(redact) };
    const chunks = chunksOf(document.text);
    const chunk = redact(chunks[fields.n] ?? '');
    const text = chunks.length === 1 ? chunk : linesAlsoIn(this.#whole(fields, document.text, redact), chunk);
    const named = namedPaths(ownMember(found.record.readEvent(), 'item'));
    const paths = named.map((path) => comparablePath(redact(path)));
    return { text, paths: named.length === 0 ? fields.paths.map(redact) : [...new Set(paths)] };
  }

  #whole({ session, seq }: ChunkKey, text: string, redact: (text: string) => string): string {
    const name = `${session}:${seq}`;
    const known = this.#shown.get(name) ?? redact(text);
    this.#shown.delete(name);
    this.#shown.set(name, known);
    for (const oldest of this.#shown.keys()) {
      if (this.#shown.size <= shownTextsMax) break;
      this.#shown.delete(oldest);
    }
    return known;
  }

  #find({ session, seq }: ChunkKey): RecordDocument | null {
    const reader = this.#reader(session);
    if (reader === null) return null;
    try {
      for (const found of documentsOf(reader.readRange(seq, seq, { archived: true }), { session })) {
        if (found.document !== null) return found;
      }
      return null;
    } catch (error) {
      if (isTurnlogError(error, 'TURNLOG_GONE')) return null;
      throw error;
    }
  }

  close(): void {
    for (const reader of this.#readers.values()) reader.close();
    this.#readers.clear();
  }

  #reader(session: string): LogReader | null {
    const known = this.#readers.get(session) ?? this.#open(session);
    if (known === null) return null;
    this.#readers.delete(session);
    this.#readers.set(session, known);
    for (const [oldest, reader] of this.#readers) {
      if (this.#readers.size <= openLogsMax) break;
      reader.close();
      this.#readers.delete(oldest);
    }
    return known;
  }

  #open(session: string): LogReader | null {
    try {
      return this.#store.read(session);
    } catch (error) {
      if (isTurnlogError(error, 'TURNLOG_NOT_FOUND')) return null;
      throw error;
    }
  }
}

/** What stands for a line that is not shown. */
const hidden = '…';

/** The lines of `chunk` that are left in `whole` too; the first and the last one may be parts of lines. */
function linesAlsoIn(whole: string, chunk: string): string {
  if (whole.includes(chunk)) return chunk;
  const known = new Set(whole.split('\n'));
  const lines = chunk.split('\n');
  return lines
    .map((line, at) => {
      const isCut = at === 0 || at === lines.length - 1;
      return known.has(line) || (isCut && whole.includes(line)) ? line : hidden;
    })
    .join('\n');
}
