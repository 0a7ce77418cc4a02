import { formatTimestamp } from '@turnlog/events';
import { sha256Hex } from '@turnlog/kernel';
import { cutLongTexts } from './long-text.js';
import { type Located, RecordEmitter, type RecordMarks } from './record-emitter.js';
import type { MappedEvent } from './stream-types.js';
import type { AssetPart, EmitterOptions, RecordPlace, ThreadStep } from './thread-format.js';

export interface ThreadEventsOptions {
  /** Name of the format, for keys. */
  readonly format: string;
  /** Takes the events of the session, and those of a sub-agent's, in the order in which they are emitted. */
  readonly onEvent: (event: MappedEvent, childSessionId: string | null) => void;
  /** Stores bytes durably. */
  readonly onAsset: (bytes: Uint8Array) => void;
  /** The newest time of the session so far. */
  readonly newestMs: number | null;
}

/** Writes the events of a thread: keys, times that never run backwards, provenance, assets. */
export class ThreadEvents implements ThreadStep {
  readonly #options: ThreadEventsOptions;
  readonly #newestMs = new Map<string | null, number>();

  constructor(options: ThreadEventsOptions) {
    this.#options = options;
    if (options.newestMs !== null) this.#newestMs.set(null, options.newestMs);
  }

  /** The newest time of the session; null while none is known. */
  get newestMs(): number | null {
    return this.#newestMs.get(null) ?? null;
  }

  emitter(place: RecordPlace, options: EmitterOptions = {}): RecordEmitter {
    const child = options.childSessionId ?? null;
    const tsMs = this.#clamped(place.tsMs, child);
    const { part } = options;
    const identity = options.identity ?? place.identity;
    return new RecordEmitter(
      this.#options.format,
      part === undefined ? identity : `${identity}\0${part}`,
      { object: new LocatedPlace(place), source: place },
      marksOf(place, tsMs, options),
      ({ event, key = '' }) => this.#take({ event, key, tsMs, isClean: true }, child),
      (members) => cutLongTexts(members, (bytes) => this.#store(bytes)),
    );
  }

  asset(bytes: Uint8Array, mediaType: string, name?: string): AssetPart {
    const sha256 = this.#store(bytes);
    const part = { type: 'asset', sha256, bytes: bytes.length, media_type: mediaType } as const;
    return name === undefined ? part : { ...part, name };
  }

  #take(event: MappedEvent, child: string | null): void {
    if (typeof event.tsMs === 'number') this.#newestMs.set(child, event.tsMs);
    this.#options.onEvent(event, child);
  }

  #clamped(tsMs: number | null, child: string | null): number | null {
    const newest = this.#newestMs.get(child) ?? null;
    if (tsMs === null || newest === null) return tsMs ?? newest;
    return Math.max(tsMs, newest);
  }

  #store(bytes: Uint8Array): string {
    this.#options.onAsset(bytes);
    return sha256Hex(bytes);
  }
}

/** A place, as provenance is written from it. */
class LocatedPlace implements Located {
  readonly #place: RecordPlace;

  constructor(place: RecordPlace) {
    this.#place = place;
  }

  get line(): number {
    return this.#place.line;
  }

  get offset(): number {
    return this.#place.offset;
  }

  get length(): number {
    return this.#place.bytes;
  }

  get sha256(): string {
    return this.#place.sha256;
  }
}

/** Whether a log writes the time just so. The forms are alike nearly always, so only the instants are compared. */
function isTextOf(statedTs: string, tsMs: number, statedMs: number | null): boolean {
  const isOfForm = statedTs.length === 24 && statedTs.endsWith('Z');
  return isOfForm ? tsMs === statedMs : statedTs === formatTimestamp(tsMs);
}

function marksOf(place: RecordPlace, tsMs: number | null, options: EmitterOptions): RecordMarks {
  const derived = [...(options.derived ?? []), ...(place.isTimeDerived === true ? ['ts'] : [])];
  const { statedTs } = place;
  const isOwnTime = tsMs === null || statedTs === undefined || isTextOf(statedTs, tsMs, place.tsMs);
  return {
    id: options.id ?? place.id,
    parent: options.parent,
    ts: isOwnTime ? undefined : statedTs,
    derived: derived.length === 0 ? undefined : derived,
  };
}
