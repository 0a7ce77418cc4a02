import { sha256Hex, TurnlogError } from '@turnlog/kernel';
import { streamKindOf } from './detect.js';
import { type Ledger, LedgerBook } from './ledger.js';
import { type LinePart, lineParts } from './line-objects.js';
import { SourceObject } from './source-object.js';
import { StepBuilder } from './step-builder.js';
import type { StreamMapper } from './stream-mapper.js';
import type {
  EarlierRuns,
  EventStream,
  StreamEnd,
  StreamKind,
  StreamOptions,
  StreamStep,
} from './stream-types.js';

const byteOrderMark = [0xef, 0xbb, 0xbf] as const;

/** Makes the mapper of a kind. */
export type MapperMaker = (kind: Exclude<StreamKind, 'auto'>, options: StreamOptions) => StreamMapper;

/** Lines in, events out: finds the objects of each line, lets the first decide, keeps the books. */
export class LineStream implements EventStream {
  readonly #options: StreamOptions;
  readonly #makeMapper: MapperMaker;
  readonly #book = new LedgerBook();
  #mapper: StreamMapper | null = null;
  #line = 0;
  #offset = 0;

  constructor(options: StreamOptions, makeMapper: MapperMaker) {
    this.#options = options;
    this.#makeMapper = makeMapper;
  }

  get kind(): StreamKind {
    return this.#mapper?.kind ?? 'auto';
  }

  get ledger(): Ledger {
    return this.#book.read();
  }

  get unansweredCount(): number {
    return this.#mapper?.unansweredCount ?? 0;
  }

  push(given: Uint8Array, ending: 'line-feed' | 'unended' = 'line-feed'): StreamStep {
    const step = new StepBuilder();
    // Whoever reads lines uses the same memory for the next one; what is read of this one may be held longer.
    const line = given.slice();
    this.#line += 1;
    const isMarked = this.#offset === 0 && byteOrderMark.every((byte, at) => line[at] === byte);
    const parts = lineParts(line, isMarked ? byteOrderMark.length : 0, line.length);
    let framing = line.length;
    for (const part of parts) {
      framing -= part.end - part.start;
      this.#take(line, part, ending === 'unended' && part === parts.at(-1), step);
    }
    const endBytes = ending === 'line-feed' ? 1 : 0;
    this.#book.addFraming(framing + endBytes);
    this.#offset += line.length + endBytes;
    return step.take();
  }

  skip(lineBytes: number): StreamStep {
    const step = new StepBuilder();
    this.#line += 1;
    this.#book.add('refused', 'too-long', lineBytes);
    this.#book.addFraming(1);
    step.refuse({
      line: this.#line,
      reason: 'too-long',
      offset: this.#offset,
      length: lineBytes,
      sha256: '',
    });
    this.#offset += lineBytes + 1;
    return step.take();
  }

  continueFrom(earlier: EarlierRuns): void {
    this.#mapper?.continueFrom(earlier);
  }

  end(): StreamEnd {
    const step = new StepBuilder();
    const outcome = this.#mapper?.end(step) ?? 'complete';
    return { ...step.take(), outcome };
  }

  #take(line: Uint8Array, part: LinePart, isUnended: boolean, step: StepBuilder): void {
    const length = part.end - part.start;
    if (part.kind === 'refused') {
      const isCut = isUnended && part.reason === 'bad-json';
      this.#refuse(line, part, isCut ? 'torn-tail' : part.reason, step);
      return;
    }
    const object = new SourceObject(line, part, this.#line, this.#offset + part.start);
    this.#mapper ??= this.#decide(object);
    const { place, kind } = this.#mapper.map(object, step);
    if (place === 'refused') this.#refuse(line, part, kind, step);
    else this.#book.add(place, kind, length);
  }

  #refuse(line: Uint8Array, part: LinePart, reason: string, step: StepBuilder): void {
    const length = part.end - part.start;
    this.#book.add('refused', reason, length);
    step.refuse({
      line: this.#line,
      reason,
      offset: this.#offset + part.start,
      length,
      sha256: sha256Hex(line.subarray(part.start, part.end)),
    });
  }

  #decide(object: SourceObject): StreamMapper {
    const { from } = this.#options;
    const found = streamKindOf(object.value);
    const isFitting = from === 'events' ? isOwnInput(object, found) : found !== null;
    if (!isFitting || (from !== 'auto' && from !== 'events' && from !== found)) {
      const details = { from, found: found ?? 'unknown', line: object.line, offset: object.offset };
      throw new TurnlogError('TURNLOG_UNKNOWN_SOURCE', { details });
    }
    return this.#makeMapper(from === 'auto' ? (found ?? 'events') : from, this.#options);
  }
}

/** Input that was called our own may hold bare events, and these look like other agents' lines. */
function isOwnInput(object: SourceObject, found: StreamKind | null): boolean {
  return found === 'events' || object.type !== '';
}
