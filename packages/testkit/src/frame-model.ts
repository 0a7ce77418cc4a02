import type { NaiveRecord } from './log-model.js';

/**
 * What has to hold of frames in a log that a writer has opened, in the plainest way: each begin has its members and
 * commit directly behind it, or its void behind what a crash has left of them.
 */

const marks: ReadonlySet<string> = new Set(
  ['journal', 'job'].flatMap((family) => ['begin', 'commit', 'void'].map((name) => `${family}.${name}`)),
);

/** Whether the engine wrote the record around the members of a frame. */
export function isFrameMark({ event }: Pick<NaiveRecord, 'event'>): boolean {
  return marks.has(String(event['type']));
}

/**
 * What is wrong with the frames, each sentence with the id of what it breaks.
 *
 * @param isPromised whether the record of that text was said to be durable.
 */
export function frameProblems(
  records: readonly NaiveRecord[],
  isPromised: (text: string) => boolean,
): readonly string[] {
  const reading = new FrameReading(isPromised);
  for (const record of records) reading.take(record);
  return reading.end();
}

interface NaiveFrame {
  readonly name: unknown;
  readonly members: NaiveRecord[];
  /** Whether a recovery was reported behind it. */
  isReported: boolean;
}

class FrameReading {
  readonly #problems: string[] = [];
  readonly #isPromised: (text: string) => boolean;
  #open: NaiveFrame | null = null;

  constructor(isPromised: (text: string) => boolean) {
    this.#isPromised = isPromised;
  }

  take(record: NaiveRecord): void {
    const type = String(record.event['type']);
    if (!isFrameMark(record)) {
      if (this.#open !== null) this.#member(this.#open, record, type);
    } else if (type.endsWith('.begin')) this.#begin(record);
    else this.#endOf(record, type);
  }

  end(): readonly string[] {
    if (this.#open !== null) this.#problems.push('L-54 the last frame has neither commit nor void');
    return this.#problems;
  }

  #member(open: NaiveFrame, record: NaiveRecord, type: string): void {
    if (type === 'log.recovered') open.isReported = true;
    else if (open.isReported)
      this.#problems.push(`L-54 record ${record.seq} stands before the void of its frame`);
    else open.members.push(record);
  }

  #begin({ event, seq }: NaiveRecord): void {
    if (this.#open !== null) this.#problems.push(`L-54 the frame before seq ${seq} has no void`);
    this.#open = { name: event['frame'], members: [], isReported: false };
  }

  #endOf({ event, seq }: NaiveRecord, type: string): void {
    const open = this.#open;
    this.#open = null;
    if (open === null || open.name !== event['frame']) {
      this.#problems.push(`C-58 ${type} at seq ${seq} ends no frame`);
    } else if (type.endsWith('.void')) {
      const isLost = open.members.some(({ text }) => this.#isPromised(text));
      if (isLost) this.#problems.push(`I1 the frame at seq ${seq} was durable and is void`);
    } else if (open.isReported || event['count'] !== open.members.length) {
      this.#problems.push(`C-58 the frame that ends at seq ${seq} is broken`);
    }
  }
}
