import type { SessionInfo } from '../chunk.js';
import type { ChunkSource } from './chunk-source.js';
import { type LogEntry, type SeqSpan, type TakenIn, uniteSpans } from './log-table.js';
import { uniteLogs } from './merge-order.js';
import { isSameInfo } from './source-facts.js';

/** What is known of a session besides its chunks. */
export type SessionEntry = Omit<LogEntry, 'firstOrdinal'>;

/** A piece of a log that was taken in, and how far that brought it. */
export interface TakenStep {
  readonly taken: TakenIn;
  readonly span: SeqSpan | null;
  readonly info: Pick<SessionInfo, 'workspaces' | 'agent'>;
  readonly unindexedBytes: number;
}

/** What all sources of an index together know of each session. */
export class SessionTable {
  #entries = new Map<string, SessionEntry>();
  /** Rises when anything changes that filters ask of a session. */
  revision = 0;

  /** Begins anew with what sources say. */
  readFrom(sources: readonly ChunkSource[]): void {
    const entries = new Map<string, LogEntry[]>();
    for (const { logs, tombstones } of sources) {
      for (const [log, entry] of logs.entries()) {
        if (tombstones.isVoid(log)) continue;
        const known = entries.get(entry.session);
        if (known === undefined) entries.set(entry.session, [entry]);
        else known.push(entry);
      }
    }
    this.#entries = new Map([...entries].map(([session, held]) => [session, uniteLogs(held)]));
    this.revision += 1;
  }

  ids(): readonly string[] {
    return [...this.#entries.keys()];
  }

  entry(session: string): SessionEntry | null {
    return this.#entries.get(session) ?? null;
  }

  /** Null when nothing is known of the session. */
  info(session: string): SessionInfo | null {
    const entry = this.#entries.get(session);
    return entry === undefined ? null : { session, workspaces: entry.workspaces, agent: entry.agent };
  }

  note(session: string, step: TakenStep): void {
    const before = this.entry(session);
    if (before === null || !isSameInfo(before, step.info)) this.revision += 1;
    this.#entries.set(session, entryAfter(session, before, step));
  }

  remove(session: string): void {
    if (this.#entries.delete(session)) this.revision += 1;
  }

  /** Bytes of text of all sessions that were too far inside of records to be indexed. */
  get unindexedBytes(): number {
    let bytes = 0;
    for (const { unindexedBytes } of this.#entries.values()) bytes += unindexedBytes;
    return bytes;
  }
}

/** What is known behind a further piece of a log. */
export function entryAfter(
  session: string,
  before: SessionEntry | null,
  { taken, span, info, unindexedBytes }: TakenStep,
): SessionEntry {
  return {
    session,
    taken,
    workspaces: info.workspaces,
    agent: info.agent,
    spans: spansWith(before?.spans ?? [], span),
    unindexedBytes: (before?.unindexedBytes ?? 0) + unindexedBytes,
  };
}

/** Most pieces follow the one before: then there is nothing to be put in order. */
function spansWith(spans: readonly SeqSpan[], span: SeqSpan | null): readonly SeqSpan[] {
  return span === null ? spans : uniteSpans([...spans, span]);
}
