import { formatTimestamp } from '@turnlog/events';
import { sha256Hex, sha256Text } from '@turnlog/kernel';
import type { DigestSet } from './digest-set.js';
import { isMembers, type SourceObject } from './source-object.js';
import { sourceTimeMs } from './source-time.js';
import type { RecordPlace, ThreadFormat, ThreadIdentity } from './thread-format.js';

/** What is known of the records of a file so far, as a JSON value. */
export interface PlacesState {
  readonly lastMs: number | null;
  /** Digests that came more than once, and how often. */
  readonly repeats: Readonly<Record<string, number>>;
}

type PlaceTimes = Pick<RecordPlace, 'tsMs' | 'statedTs' | 'isTimeDerived'>;

/** The place of an object. Texts that most records never need are made when they are asked for. */
class ObjectPlace implements RecordPlace {
  readonly file: string;
  readonly id: string | undefined;
  readonly tsMs: number | null;
  readonly statedTs: string | undefined;
  readonly isTimeDerived: boolean | undefined;
  readonly #object: SourceObject;
  readonly #occurrence: number;

  constructor(
    file: string,
    object: SourceObject,
    id: string | undefined,
    occurrence: number,
    times: PlaceTimes,
  ) {
    this.file = file;
    this.id = id;
    this.tsMs = times.tsMs;
    this.statedTs = times.statedTs;
    this.isTimeDerived = times.isTimeDerived;
    this.#object = object;
    this.#occurrence = occurrence;
  }

  get line(): number {
    return this.#object.line;
  }

  get offset(): number {
    return this.#object.offset;
  }

  get bytes(): number {
    return this.#object.length;
  }

  get sha256(): string {
    return this.#object.sha256;
  }

  get identity(): string {
    return this.id ?? `${Buffer.from(this.#object.sha256, 'hex').toString('base64url')}\0${this.#occurrence}`;
  }

  /** As a state keeps it. */
  toJSON(): RecordPlace {
    const { file, line, offset, bytes, sha256, id, identity, tsMs, statedTs, isTimeDerived } = this;
    return { file, line, offset, bytes, sha256, id, identity, tsMs, statedTs, isTimeDerived };
  }
}

/** Gives the records of a file their places: identity, occurrence, time. A record counts once it is noted. */
export class RecordPlaces {
  /** What the records are, by id or digest, and what they share with copies in other threads. */
  readonly records: DigestSet;
  readonly shared: DigestSet;
  readonly #format: ThreadFormat;
  readonly #file: string;
  readonly #repeats: Map<string, number>;
  #lastMs: number | null;

  constructor(
    format: ThreadFormat,
    file: string,
    state: PlacesState | null,
    sets: { readonly records: DigestSet; readonly shared: DigestSet },
  ) {
    this.#format = format;
    this.#file = file;
    this.records = sets.records;
    this.shared = sets.shared;
    this.#repeats = new Map(Object.entries(state?.repeats ?? {}));
    this.#lastMs = state?.lastMs ?? null;
  }

  placeOf(object: SourceObject): RecordPlace {
    const stated = this.#format.recordTime(object);
    const ms = sourceTimeMs(stated);
    const id = this.#format.recordId(object);
    const occurrence = id === undefined ? this.#occurrence(object) : 1;
    return new ObjectPlace(this.#file, object, id, occurrence, {
      tsMs: ms ?? this.#lastMs,
      statedTs: ms === null ? undefined : typeof stated === 'string' ? stated : formatTimestamp(ms),
      isTimeDerived: ms === null && this.#lastMs !== null ? true : undefined,
    });
  }

  /** Counts a record that was taken. */
  note(object: SourceObject, place: RecordPlace): void {
    this.#lastMs = place.tsMs;
    const { id } = place;
    const digest = id === undefined ? object.sha256 : sharedDigest(id);
    const isNew = this.records.add(digest);
    if (!isNew && id === undefined) this.#repeats.set(object.sha256, this.#occurrence(object));
    const shared = this.#format.sharing === 'noted' ? this.#format.sharedIdentity(object) : undefined;
    if (shared !== undefined) this.shared.add(shared === id ? digest : sharedDigest(shared));
  }

  state(): PlacesState {
    return { lastMs: this.#lastMs, repeats: Object.fromEntries(this.#repeats) };
  }

  /** The number of the occurrence that this object is, from 1. */
  #occurrence(object: SourceObject): number {
    if (!this.records.has(object.sha256)) return 1;
    return (this.#repeats.get(object.sha256) ?? 1) + 1;
  }
}

/** What is known before the first record: when the thread began, where the source says so. */
export function placesBefore({ startedMs }: Pick<ThreadIdentity, 'startedMs'>): PlacesState {
  return { lastMs: startedMs ?? null, repeats: {} };
}

/** What a file is called in the sessions of sub-agents that stand in it: they may have files of their own. */
export function childFile(file: string): string {
  return file.endsWith('p') ? file : `${file}p`;
}

/** What copies are recognised by, in one form for all formats: a digest in hex digits. */
export function sharedDigest(identity: string | Uint8Array): string {
  return typeof identity === 'string' ? sha256Text(identity, 'hex') : sha256Hex(identity);
}

export function isPlacesState(value: unknown): value is PlacesState {
  if (!isMembers(value) || !isMembers(value['repeats'])) return false;
  const { lastMs, repeats } = value;
  const isTime = lastMs === null || typeof lastMs === 'number';
  return isTime && Object.values(repeats).every((count) => typeof count === 'number');
}
