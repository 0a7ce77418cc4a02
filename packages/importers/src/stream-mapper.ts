import type { LedgerClass } from './ledger.js';
import type { SourceObject } from './source-object.js';
import type { StepBuilder } from './step-builder.js';
import type { EarlierRuns, StreamKind } from './stream-types.js';

/** What became of one object: the class of the ledger and, for the counts, its kind. */
export interface Mapping {
  readonly place: LedgerClass;
  readonly kind: string;
}

/** The rules of one format. */
export interface StreamMapper {
  readonly kind: Exclude<StreamKind, 'auto'>;
  /** Emits what `object` says into `step`. A mapping of place `refused` names the reason as its kind. */
  map(object: SourceObject, step: StepBuilder): Mapping;
  continueFrom(earlier: EarlierRuns): void;
  end(step: StepBuilder): 'complete' | 'in-turn';
  /** Calls without a result so far. */
  readonly unansweredCount: number;
}
