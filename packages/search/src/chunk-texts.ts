import { isTurnlogError } from '@turnlog/kernel';
import type { LogReader } from '@turnlog/log';
import type { Store } from '@turnlog/store';
import type { ChunkKey } from './chunk.js';
import { chunksOf } from './chunker.js';
import { documentsOf } from './documents.js';

/** How many logs are kept open between two texts: hits of one answer come from few sessions. */
const openLogsMax = 8;

/**
 * The texts of chunks, read from the logs when they are wanted: no index holds any. A record that left its log for an
 * archive is read from there.
 */
export class ChunkTexts {
  readonly #store: Store;
  /** The last used one last. */
  readonly #readers = new Map<string, LogReader>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Null when the chunk is not there any more: removed, dropped, or redacted since it was indexed. */
  text({ session, seq, n }: ChunkKey): string | null {
    const reader = this.#reader(session);
    if (reader === null) return null;
    try {
      for (const { document } of documentsOf(reader.readRange(seq, seq, { archived: true }), { session })) {
        if (document !== null) return chunksOf(document.text)[n] ?? null;
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
