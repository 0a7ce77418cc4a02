import type { MaintenanceReport } from './maintenance-report.js';

/** What a call has to tell besides its own result. */
export interface FlushResult {
  /** Failures of earlier upkeep that have not been told yet; what was appended is safe all the same. */
  readonly maintenance?: readonly MaintenanceReport[];
}

/** What one append brought. */
export interface AppendResult extends FlushResult {
  readonly seq: number;
  /** The turn the record belongs to; null outside turns, and for a duplicate. */
  readonly turn: number | null;
  /** True when the key had been used for the same event before: nothing was stored, `seq` is the first record's. */
  readonly duplicate?: true;
}

export interface BatchResult extends FlushResult {
  readonly seqs: readonly number[];
}

/** What one frame brought. */
export interface FrameResult extends FlushResult {
  readonly beginSeq: number;
  /** Of the members, in their order. */
  readonly seqs: readonly number[];
  readonly commitSeq: number;
}
