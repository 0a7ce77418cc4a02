import type { Ledger } from './ledger.js';
import type { Refusal } from './stream-types.js';

/**
 * What an import did.
 *
 * `new`: the first session of this thread. `grown`: the source holds what an earlier import held, and more.
 * `rewritten`: an earlier import of the same thread held other bytes. `unchanged`: these very bytes are in the
 * store, nothing was done. `empty`: the source holds no byte yet.
 */
export type ImportState = 'new' | 'grown' | 'rewritten' | 'unchanged' | 'empty';

export interface ImportReport {
  readonly state: ImportState;
  /** The session that holds the source now; null for an empty source. */
  readonly sessionId: string | null;
  /** Sessions of sub-agents that were found in the source. */
  readonly childSessionIds: readonly string[];
  readonly source: {
    readonly kind: 'vtcode' | 'codex-exec' | 'claude-stream';
    /** As the source has it: data, not a checked id. */
    readonly sessionId: string;
    readonly path: string;
    readonly name: string;
    readonly bytes: number;
    readonly sha256: string;
  };
  /** Bytes behind the last whole line, not imported yet: they wait for more. */
  readonly pendingBytes: number;
  /** Records of the source, and damaged places in it. */
  readonly records: number;
  readonly damageCount: number;
  readonly unansweredCount: number;
  /** Number of the first turn; uncertain when nothing in the source proves it. */
  readonly turnBase: { readonly value: number; readonly isCertain: boolean };
  readonly schemaVersions: readonly string[];
  /** `bytes = mapped + kept + refused`; with the pending ones these are all bytes of the source. */
  readonly ledger: Ledger;
  /** The first 1,000; the ledger counts all. */
  readonly refused: readonly Refusal[];
}
