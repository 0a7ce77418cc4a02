import type { EventInput } from '@turnlog/log';
import type { Ledger } from './ledger.js';

/**
 * What a line stream holds. `events`: our own lines `{"event":{…},"key"?}`, and bare events when asked for by
 * name; `codex-exec`: `codex exec --json`; `claude-stream`: `claude -p --output-format stream-json --verbose`;
 * `auto`: the first object decides.
 */
export type StreamKind = 'auto' | 'events' | 'codex-exec' | 'claude-stream';

/** Where mapped events say they come from; without it they carry no `src`. */
export interface StreamSource {
  /** Name of the file in the session's records, as in "f1". */
  readonly file: string;
  readonly path: string;
  readonly name: string;
}

export interface StreamOptions {
  readonly from: StreamKind;
  /** The user's words, where the stream does not hold them. They open the first turn. */
  readonly prompt?: string;
  /** Where the agent works, for `run.started`. */
  readonly workspace?: string;
  /** Milliseconds since the epoch. Asked only for the suggested id of own input; no event depends on it. */
  readonly now: () => number;
  /** Given for files: every event ends with `src`, and `run.source` names the file. */
  readonly source?: StreamSource;
}

/** An event to be appended. `key` is there wherever the same line read again must not be stored twice. */
export interface MappedEvent {
  readonly event: EventInput;
  readonly key?: string;
  /** Milliseconds since the epoch, where the source knows when it was; null where it does not. */
  readonly tsMs?: number | null;
  /** The text was written here, on one line and of whole characters: it need not be looked through once more. */
  readonly isClean?: boolean;
}

/** Bytes that became no event. The reason is one word. */
export interface Refusal {
  /** Physical line, from 1. */
  readonly line: number;
  readonly reason: string;
  /** Place and length in bytes, from the first byte of the stream. */
  readonly offset: number;
  readonly length: number;
  /** Empty for a line that was too long to be held. */
  readonly sha256: string;
}

/** Events of a session of its own: a sub-agent's. */
export interface ChildEvents {
  /** Suggested id of the child, `<parent>.<call id>`. */
  readonly sessionId: string;
  readonly events: readonly MappedEvent[];
}

/** What one line, or the end, gave. */
export interface StreamStep {
  readonly events: readonly MappedEvent[];
  /** Events of sub-agents. They go to sessions of their own, never into this one. */
  readonly children: readonly ChildEvents[];
  readonly refused: readonly Refusal[];
  /** Suggested session id, in the step in which it becomes known: `codex-<thread>`, `claude-<session>`. */
  readonly sessionId?: string;
}

export interface StreamEnd extends StreamStep {
  /** `in-turn`: a foreign stream ended inside a turn; `turn.failed` "stream ended" is among the events. */
  readonly outcome: 'complete' | 'in-turn';
}

/** What a stream must know of the session it goes on in. */
export interface EarlierRuns {
  /** How many runs of the thread the session holds: one for each `thread.started`. */
  readonly runCount: number;
  /** Whether a record with this key is in the session. */
  readonly hasKey: (key: string) => boolean;
  /** The run that this stream begins with, when it is known to be one of these; otherwise the stream finds out. */
  readonly sameRun?: number;
}

/** A pure fold over lines: the same lines give the same events, and what was emitted never changes. */
export interface EventStream {
  /** `auto` until the first object has decided. */
  readonly kind: StreamKind;
  /**
   * Takes one line without its 0x0A. `unended` says that no 0x0A ended it, for the byte counts.
   *
   * @throws TURNLOG_UNKNOWN_SOURCE when the first object is not of the kind that was asked for, or of none.
   */
  push(line: Uint8Array, ending?: 'line-feed' | 'unended'): StreamStep;
  /** Counts a line that is longer than a reader takes; its bytes are not here. */
  skip(lineBytes: number): StreamStep;
  /**
   * To be called, at most once, between the step that gave `sessionId` and the next, when that session exists:
   * a resumed thread counts its runs on, and a stream that was sent before keeps its keys.
   */
  continueFrom(earlier: EarlierRuns): void;
  end(): StreamEnd;
  /** Where the bytes so far went. */
  readonly ledger: Ledger;
  /** Calls that have no result so far. At the end they stay started: nothing is invented. */
  readonly unansweredCount: number;
}
