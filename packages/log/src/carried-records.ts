import { formatTimestamp, parseEvent } from '@turnlog/events';
import { elementSpans, limits, memberSpans, nestingLevels, type Span, textOf } from '@turnlog/kernel';
import type { FramePlace } from './frame-step.js';
import type { ScannedRecord } from './scanner.js';
import { isPlainObject, workspaceOf } from './session-facts.js';

/**
 * Which events the header of an eviction carries over (C-16, C-62): the newest `matrix.updated` of each `spec.id`,
 * and what the manifest is made of. They are passed on as they were written. What an earlier header carried counts
 * like the records that it stands for.
 */

/** An event that left the log and is still needed. */
export interface CarriedEvent {
  readonly seq: number;
  readonly ts: string | null;
  /** The event as JSON, as it was written. */
  readonly text: string;
}

/** An event whose frame is open, in bytes of its own. */
interface HeldEvent {
  readonly seq: number;
  readonly ts: string | null;
  readonly bytes: Uint8Array;
  readonly event: Span;
}

/** Levels of a header around an event that it carries: envelope, event, list and entry. */
const levelsAround = 4;
/** `{"seq":…,"ts":"…","event":…},` at its longest, without the event. */
const entryFrameBytes = 80;

const setMembers = ['title', 'tags', 'archived'] as const;

/** Collects what has to be carried while the records that leave pass by, oldest first. */
export class CarriedRecords {
  #firstRun: CarriedEvent | null = null;
  /** By workspace, the newest last. */
  readonly #runs = new Map<string, CarriedEvent>();
  readonly #set = new Map<(typeof setMembers)[number], CarriedEvent>();
  readonly #matrices = new Map<string, CarriedEvent>();
  /** Those of a frame whose commit has not come. */
  #held: HeldEvent[] = [];

  /**
   * Notes one record, `place` being what it is to the frame around it: what came to nothing is not carried. The
   * header of an earlier eviction hands on what it carries.
   */
  note(record: ScannedRecord, place: FramePlace): void {
    if (place === 'commit') {
      for (const { seq, ts, bytes, event } of this.#held) this.#noteEvent(seq, ts, bytes, event);
    }
    if (place !== 'member') this.#held = [];
    const { type } = record.record;
    if (type === 'log.evicted') {
      for (const { seq, ts, event } of carriedIn(record.bytes, eventSpan(record))) {
        this.#noteEvent(seq, ts, record.bytes, event);
      }
    } else if (carriedTypes.has(type)) {
      const ts = record.tsMs === null ? null : formatTimestamp(record.tsMs);
      const [seq, event] = [record.seq, eventSpan(record)];
      if (place === 'member') this.#held.push({ seq, ts, bytes: record.bytes.slice(), event });
      else this.#noteEvent(seq, ts, record.bytes, event);
    }
  }

  /** Whether any matrix would be carried: only then it matters which ones stay in the log. */
  get hasMatrices(): boolean {
    return this.#matrices.size > 0;
  }

  /**
   * What is to be carried: first what the manifest is made of, by seq, then matrices by id, as long as they fit.
   *
   * @param keptMatrices ids of matrices that have a newer snapshot in the part of the log that stays.
   */
  list(keptMatrices: ReadonlySet<string>): readonly CarriedEvent[] {
    const facts = new Map<number, CarriedEvent>();
    const known = [
      this.#firstRun,
      ...[...this.#runs.values()].slice(-limits.workspacesMax),
      ...this.#set.values(),
    ];
    for (const event of known) {
      if (event !== null) facts.set(event.seq, event);
    }
    const matrices = [...this.#matrices]
      .filter(([id]) => !keptMatrices.has(id))
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([, event]) => event);
    return fitting([...[...facts.values()].sort((left, right) => left.seq - right.seq), ...matrices]);
  }

  #noteEvent(seq: number, ts: string | null, bytes: Uint8Array, span: Span): void {
    const event: unknown = parseEvent(bytes, span.start, span.end);
    if (!isPlainObject(event) || nestingLevels(bytes, span) + levelsAround > limits.writerNestingLevelsMax)
      return;
    const carried = { seq, ts, text: textOf(bytes, span).replaceAll('\r', ' ') };
    if (event['type'] === 'matrix.updated') {
      const id = matrixId(event);
      if (id !== null) this.#matrices.set(id, carried);
    } else if (event['type'] === 'run.started') {
      this.#noteRun(event, carried);
    } else if (event['type'] === 'journal.set') {
      for (const member of setMembers) if (event[member] !== undefined) this.#set.set(member, carried);
    }
  }

  #noteRun(event: Readonly<Record<string, unknown>>, carried: CarriedEvent): void {
    this.#firstRun ??= carried;
    const workspace = workspaceOf(event);
    if (workspace === null) return;
    // Set anew, so that the newest stands last.
    this.#runs.delete(workspace);
    this.#runs.set(workspace, carried);
  }
}

const carriedTypes: ReadonlySet<string> = new Set(['matrix.updated', 'run.started', 'journal.set']);

/** The id of the matrix that a `matrix.updated` shows; null when it does not say. */
export function matrixId(event: unknown): string | null {
  const spec = isPlainObject(event) ? event['spec'] : null;
  const id = isPlainObject(spec) ? spec['id'] : null;
  return typeof id === 'string' ? id : null;
}

/** Those that fit into what a header may carry, in order; the others stay in the archive only. */
function fitting(events: readonly CarriedEvent[]): readonly CarriedEvent[] {
  let bytes = 0;
  return events.filter(({ text }) => {
    const more = Buffer.byteLength(text) + entryFrameBytes;
    if (bytes + more > limits.carriedBytesMax) return false;
    bytes += more;
    return true;
  });
}

/** The entries of `carried` in a `log.evicted` event, their events by place. */
function carriedIn(
  bytes: Uint8Array,
  event: Span,
): readonly { readonly seq: number; readonly ts: string | null; readonly event: Span }[] {
  const list = memberSpans(bytes, event).get('carried');
  if (list === undefined) return [];
  return elementSpans(bytes, list).flatMap((entry) => {
    const members = memberSpans(bytes, entry);
    const [seq, ts, carried] = [members.get('seq'), members.get('ts'), members.get('event')];
    if (seq === undefined || carried === undefined) return [];
    const time: unknown = ts === undefined ? null : JSON.parse(textOf(bytes, ts));
    return [{ seq: Number(textOf(bytes, seq)), ts: typeof time === 'string' ? time : null, event: carried }];
  });
}

function eventSpan(record: ScannedRecord): Span {
  return { start: record.eventStart, end: record.eventEnd };
}
