import type { OpenEnum } from './open-enum.js';

/**
 * Frames make several records one fact: begin, members, commit, in one write. A session log has those of the
 * family `journal`, the ledger those of `job`.
 */

export const journalFrameKinds = ['plan', 'result', 'round', 'final', 'recover', 'append'] as const;
export const jobFrameKinds = ['distilled', 'memory'] as const;

interface FrameBegin {
  /** Its name; the commit repeats it. */
  frame: string;
  /** Seq of the claim under which it was written; null where nobody has to hold one. */
  fence: number | null;
}

interface FrameCommit {
  frame: string;
  /** How many records stand between begin and commit. */
  count: number;
  /** SHA-256 over the leaf hashes of these records, 32 bytes each, in their order. */
  sha256: string;
}

interface FrameVoid {
  frame: string;
  reason: string;
}

export interface JournalBeginEvent extends FrameBegin {
  type: 'journal.begin';
  kind: OpenEnum<typeof journalFrameKinds>;
}

export interface JournalCommitEvent extends FrameCommit {
  type: 'journal.commit';
}

/** Says that the frame before it never took effect. */
export interface JournalVoidEvent extends FrameVoid {
  type: 'journal.void';
}

export interface JobBeginEvent extends FrameBegin {
  type: 'job.begin';
  kind: OpenEnum<typeof jobFrameKinds>;
}

export interface JobCommitEvent extends FrameCommit {
  type: 'job.commit';
}

export interface JobVoidEvent extends FrameVoid {
  type: 'job.void';
}

/** What the engine writes around the members of a frame. */
export type FrameEvent =
  | JournalBeginEvent
  | JournalCommitEvent
  | JournalVoidEvent
  | JobBeginEvent
  | JobCommitEvent
  | JobVoidEvent;
