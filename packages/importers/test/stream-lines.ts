import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EventInput, LineFramer } from '@turnlog/log';
import {
  type EventStream,
  type MappedEvent,
  openEventStream,
  type Refusal,
  type StreamOptions,
} from '../src/index.js';

const corpusRoot = join(__dirname, '..', '..', '..', '..', 'shared', 'corpus');

/** Whether the files of other agents are there; they do not belong to this repository. */
export const hasCorpus: boolean = existsSync(corpusRoot);

export function corpusPath(...names: readonly string[]): string {
  return join(corpusRoot, ...names);
}

export function corpusBytes(...names: readonly string[]): Uint8Array {
  return readFileSync(corpusPath(...names));
}

/** Says once that tests on other agents' files did not run. */
export function sayWithoutCorpus(suite: string): void {
  if (!hasCorpus)
    process.stderr.write(`${suite}: the files of other agents are not here; their tests did not run\n`);
}

export interface Folded {
  readonly events: readonly MappedEvent[];
  readonly children: ReadonlyMap<string, readonly MappedEvent[]>;
  readonly refused: readonly Refusal[];
  readonly sessionId: string | null;
  readonly outcome: string;
  readonly stream: EventStream;
}

export const plainOptions: StreamOptions = { from: 'auto', now: () => 0 };

/** Folds bytes, read in pieces of `pieceBytes`. */
export function fold(bytes: Uint8Array, options: StreamOptions = plainOptions, pieceBytes = 65_536): Folded {
  const stream = openEventStream(options);
  return foldInto(stream, bytes, pieceBytes);
}

export function foldInto(stream: EventStream, bytes: Uint8Array, pieceBytes = 65_536): Folded {
  const source = {
    read: (into: Uint8Array, offset: number): number => {
      const piece = bytes.subarray(offset, offset + Math.min(into.length, pieceBytes));
      into.set(piece);
      return piece.length;
    },
  };
  const framer = new LineFramer(source, { from: 0, to: bytes.length, blockBytes: pieceBytes });
  const events: MappedEvent[] = [];
  const children = new Map<string, MappedEvent[]>();
  const refused: Refusal[] = [];
  let sessionId: string | null = null;
  const take = (step: ReturnType<EventStream['push']>): void => {
    events.push(...step.events);
    refused.push(...step.refused);
    sessionId = step.sessionId ?? sessionId;
    for (const child of step.children) {
      children.set(child.sessionId, [...(children.get(child.sessionId) ?? []), ...child.events]);
    }
  };
  while (framer.next()) {
    const line = framer.bytes.subarray(framer.start, framer.end);
    take(stream.push(line, framer.isTerminated ? 'line-feed' : 'unended'));
  }
  const end = stream.end();
  take(end);
  return { events, children, refused, sessionId, outcome: end.outcome, stream };
}

/** The value of an event that was passed on as text. */
export function eventOf(event: EventInput): Readonly<Record<string, unknown>> {
  return JSON.parse(textOf(event)) as Record<string, unknown>;
}

export function textOf(event: EventInput): string {
  return 'raw' in event ? event.raw : JSON.stringify(event);
}

export function typesOf(events: readonly MappedEvent[]): readonly string[] {
  return events.map(({ event }) => String(eventOf(event)['type']));
}

export function linesOf(...values: readonly unknown[]): Uint8Array {
  return new TextEncoder().encode(
    values.map((value) => `${typeof value === 'string' ? value : JSON.stringify(value)}\n`).join(''),
  );
}
