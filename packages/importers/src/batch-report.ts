import type { TurnlogError } from '@turnlog/kernel';
import { type Ledger, LedgerBook } from './ledger.js';
import type { Refusal } from './stream-types.js';

/**
 * What became of one file.
 *
 * `new`, `grown`, `rewritten`, `unchanged`: as `ImportState`. `conflict`: another file of this thread was imported,
 * and each has records that the other lacks; nothing was merged. `recorded-live`: the thread was recorded as it ran.
 * `waiting`: no record of it can be decided yet. `empty`: no byte. `needs-sqlite`: a database. `unknown`: no format
 * that can be read. `failed`: `error` says why.
 */
export const sourceOutcomes = [
  'new',
  'grown',
  'rewritten',
  'unchanged',
  'conflict',
  'recorded-live',
  'waiting',
  'empty',
  'needs-sqlite',
  'unknown',
  'failed',
] as const;

export type SourceOutcome = (typeof sourceOutcomes)[number];

export interface SourceReport {
  readonly path: string;
  readonly outcome: SourceOutcome;
  /** Name of the format; null when it is unknown. */
  readonly format: string | null;
  readonly sessionId: string | null;
  readonly childSessionIds: readonly string[];
  /** A new session that goes on from another one. */
  readonly isForked: boolean;
  /** Where the bytes went that this pass added. */
  readonly ledger: Ledger;
  /** The first 1,000; the ledger counts all. */
  readonly refused: readonly Refusal[];
  /** Bytes that are not in yet: they wait for more. */
  readonly pendingBytes: number;
  /** Records that an earlier pass found, and that the file does not hold any more. */
  readonly vanishedCount: number;
  readonly unansweredCount: number;
  readonly withoutUsageCount: number;
  /** For a conflict: the file that was imported. */
  readonly conflictsWith: string | null;
  readonly error: TurnlogError | null;
}

const emptyLedger: Ledger = new LedgerBook().read();

/** A report of a file that nothing else is to be said of. */
export function plainReport(path: string, outcome: SourceOutcome): SourceReport {
  return {
    path,
    outcome,
    format: null,
    sessionId: null,
    childSessionIds: [],
    isForked: false,
    ledger: emptyLedger,
    refused: [],
    pendingBytes: 0,
    vanishedCount: 0,
    unansweredCount: 0,
    withoutUsageCount: 0,
    conflictsWith: null,
    error: null,
  };
}

/** What an import of many files did. */
export interface BatchReport {
  readonly sources: readonly SourceReport[];
  /** Files by outcome. */
  readonly outcomes: Readonly<Record<SourceOutcome, number>>;
  readonly forkedCount: number;
  readonly linkCount: number;
  readonly unreadable: readonly { readonly path: string; readonly error: TurnlogError }[];
  /** Sums over all files. */
  readonly ledger: Ledger;
  readonly pendingBytes: number;
  readonly unansweredCount: number;
  readonly withoutUsageCount: number;
  /** Files that were imported although some of their bytes hold no record. */
  readonly damagedCount: number;
  /** Nothing was refused, in conflict, unreadable or failed. */
  readonly isWhole: boolean;
}

export function sumUp(
  sources: readonly SourceReport[],
  links: readonly string[],
  unreadable: BatchReport['unreadable'],
): BatchReport {
  const outcomes = Object.fromEntries(sourceOutcomes.map((outcome) => [outcome, 0])) as Record<
    SourceOutcome,
    number
  >;
  for (const { outcome } of sources) outcomes[outcome] += 1;
  const sum = (of: (source: SourceReport) => number): number =>
    sources.reduce((total, source) => total + of(source), 0);
  const ledger = addLedgers(sources.map((source) => source.ledger));
  return {
    sources,
    outcomes,
    forkedCount: sum(({ isForked }) => (isForked ? 1 : 0)),
    linkCount: links.length,
    unreadable,
    ledger,
    pendingBytes: sum(({ pendingBytes }) => pendingBytes),
    unansweredCount: sum(({ unansweredCount }) => unansweredCount),
    withoutUsageCount: sum(({ withoutUsageCount }) => withoutUsageCount),
    damagedCount: sum((source) => (source.ledger.refused > 0 ? 1 : 0)),
    isWhole: outcomes.conflict + outcomes.failed === 0 && unreadable.length === 0 && refusedIn(ledger) === 0,
  };
}

function refusedIn(ledger: Ledger): number {
  return Object.entries(ledger.records)
    .filter(([name]) => name.startsWith('refused:'))
    .reduce((sum, [, count]) => sum + count, 0);
}

function addLedgers(ledgers: readonly Ledger[]): Ledger {
  const records = new Map<string, number>();
  for (const ledger of ledgers) {
    for (const [name, count] of Object.entries(ledger.records)) {
      records.set(name, (records.get(name) ?? 0) + count);
    }
  }
  const sum = (of: (ledger: Ledger) => number): number =>
    ledgers.reduce((total, ledger) => total + of(ledger), 0);
  return {
    bytes: sum((ledger) => ledger.bytes),
    mapped: sum((ledger) => ledger.mapped),
    echo: sum((ledger) => ledger.echo),
    repeat: sum((ledger) => ledger.repeat),
    inherited: sum((ledger) => ledger.inherited),
    framing: sum((ledger) => ledger.framing),
    kept: sum((ledger) => ledger.kept),
    refused: sum((ledger) => ledger.refused),
    records: Object.fromEntries([...records].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
