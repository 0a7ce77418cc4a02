import type { LogRedactionEvent } from '@turnlog/events';
import { limits, TurnlogError } from '@turnlog/kernel';
import type { HistoryLeaf, LogReader, LogRecord, RedactedLeaf } from '@turnlog/log';
import { readStatement, type StatedLeaf } from './redaction-statement.js';

/** Which records of a log become their leaf hashes (AU-22). Looks and decides; nothing is changed here. */

export interface RedactionRequest {
  /** Records that are to go. */
  readonly seqs: readonly number[];
  /** A short code, as `secret` or `gdpr`; null finishes what was begun, for the reason that was given then. */
  readonly reason: string | null;
  /** Who says so. */
  readonly actor: string;
  /** `refuse`: a short record without a salt stays, for what stood there can be guessed from its hash. */
  readonly guessable: 'accept' | 'refuse';
}

/** Why a record goes: somebody named it, it sums up one that goes, or its redaction was begun before. */
export type RedactionCause = 'named' | 'summary' | 'unfinished';

export interface PlannedRedaction extends RedactedLeaf {
  readonly leaf: string;
  readonly cause: RedactionCause;
  /** Short and without a salt. */
  readonly isGuessable: boolean;
  /** Whether the log says so already. */
  readonly isStated: boolean;
}

export interface RedactionPlan {
  /** In the order of the history; empty when there is nothing to do. */
  readonly targets: readonly PlannedRedaction[];
  /** What the log is to be told; null when it says all of it already. */
  readonly statement: LogRedactionEvent | null;
}

/**
 * @param leaves gives the history of the log from its start, at each call anew.
 * @throws TURNLOG_NOT_FOUND for a seq that the log never had; TURNLOG_GONE for one that was dropped, or redacted before;
 *   TURNLOG_RESERVED_RECORD for a record that holds the log together; TURNLOG_GUESSABLE; TURNLOG_RECORD_TOO_LARGE
 *   for too much at once.
 */
export function planRedaction(
  reader: LogReader,
  leaves: () => Iterable<HistoryLeaf>,
  request: RedactionRequest,
): RedactionPlan {
  const survey = new Survey(new Set(request.seqs));
  for (const leaf of leaves()) survey.note(leaf);
  checkFound(reader, request, survey);
  const found = [...survey.named, ...survey.unfinished(leaves)];
  const derived = summariesOf(found, survey.summaries);
  const targets = plannedOf([...found, ...derived], survey, request);
  checkGuessable(targets, request);
  return { targets, statement: statementOf(targets, request) };
}

interface Found {
  readonly leaf: HistoryLeaf;
  readonly cause: RedactionCause;
}

/** What one reading of the history tells. */
class Survey {
  readonly named: Found[] = [];
  /** Seqs of the request that were met, and those of them that are redacted. */
  readonly metSeqs = new Set<number>();
  readonly redactedSeqs = new Set<number>();
  readonly summaries: HistoryLeaf[] = [];
  /** What was said about records, by their index. */
  readonly #stated = new Map<number, StatedLeaf>();
  readonly #redacted = new Set<number>();
  #namedBytes = 0;
  readonly #seqs: ReadonlySet<number>;

  constructor(seqs: ReadonlySet<number>) {
    this.#seqs = seqs;
  }

  note(leaf: HistoryLeaf): void {
    const { index, record } = leaf;
    const { type, seq } = record;
    if (type === 'log.redaction') {
      for (const stated of readStatement(index, record)) this.#noteStated(stated);
    }
    if (type === 'log.redacted') this.#redacted.add(index);
    if (type === 'log.summary') this.summaries.push(leaf);
    if (!this.#seqs.has(seq)) return;
    this.metSeqs.add(seq);
    if (type === 'log.redacted') this.redactedSeqs.add(seq);
    else this.#noteNamed(leaf);
  }

  /** What was said of this very record; null when nothing was. */
  statedOf({ index, record }: HistoryLeaf): StatedLeaf | null {
    const stated = this.#stated.get(index);
    return stated !== undefined && stated.leaf === record.leaf() ? stated : null;
  }

  /** Records of which it was said that they go, and that are still there. */
  unfinished(leaves: () => Iterable<HistoryLeaf>): readonly Found[] {
    const open = new Set([...this.#stated.keys()].filter((index) => !this.#redacted.has(index)));
    for (const { leaf } of this.named) open.delete(leaf.index);
    if (open.size === 0) return [];
    const found: Found[] = [];
    for (const leaf of leaves()) {
      if (!open.has(leaf.index) || !isRedactable(leaf.record.type) || this.statedOf(leaf) === null) continue;
      found.push({ leaf, cause: 'unfinished' });
    }
    return found;
  }

  /** What goes is held until it has gone, so it may not be too much at once. */
  #noteNamed(leaf: HistoryLeaf): void {
    this.#namedBytes += leaf.record.length;
    if (this.#namedBytes > limits.redactedAtOnceBytes) {
      throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', {
        details: { redactedAtOnceBytes: limits.redactedAtOnceBytes },
        message: `the records have more than ${limits.redactedAtOnceBytes} bytes together: redact them in several runs`,
      });
    }
    this.named.push({ leaf, cause: 'named' });
  }

  #noteStated(stated: StatedLeaf): void {
    if (this.#stated.has(stated.index)) return;
    if (this.#stated.size >= limits.redactedRecordsMax) {
      throw new TurnlogError('TURNLOG_RECORD_TOO_LARGE', {
        details: { redactedRecordsMax: limits.redactedRecordsMax },
        message: `the log speaks of more than ${limits.redactedRecordsMax} redacted records`,
      });
    }
    this.#stated.set(stated.index, stated);
  }
}

/** Families whose records are what the log itself, and the work of agents, goes by. */
const heldTogetherBy = /^(?:log|journal|job)\./;
/** Those of them that only say something in words. */
const wordsOnly: ReadonlySet<string> = new Set([
  'log.summary',
  'journal.summary',
  'journal.snapshot',
  'journal.set',
]);

/** Whether a record of that type can be redacted without the log coming apart. */
export function isRedactable(type: string): boolean {
  return !heldTogetherBy.test(type) || wordsOnly.has(type);
}

function checkFound(reader: LogReader, { seqs }: RedactionRequest, survey: Survey): void {
  for (const seq of seqs) if (!survey.metSeqs.has(seq)) throw notThere(reader, seq);
  const [redacted] = survey.redactedSeqs;
  if (redacted !== undefined) {
    throw new TurnlogError('TURNLOG_GONE', {
      details: { sessionId: reader.sessionId, seqs: [...survey.redactedSeqs], reason: 'redacted' },
      message: `the record of seq ${redacted} has been redacted before`,
    });
  }
  for (const { leaf } of survey.named) {
    const { type, seq } = leaf.record;
    if (isRedactable(type)) continue;
    throw new TurnlogError('TURNLOG_RESERVED_RECORD', {
      details: { sessionId: reader.sessionId, seq, type },
      message: `the record of seq ${seq} is a ${type}, which the log is held together by: it cannot be redacted`,
    });
  }
}

function notThere(reader: LogReader, seq: number): TurnlogError {
  const { evicted, order } = reader.state;
  const { sessionId, firstReadableSeq: firstSeq } = reader;
  const isDropped = seq <= (evicted?.toSeq ?? 0) && seq <= order.highestSeq;
  if (!isDropped) {
    return new TurnlogError('TURNLOG_NOT_FOUND', {
      details: { sessionId, seq, lastSeq: order.highestSeq },
      message: `there is no record of seq ${seq} in ${sessionId}`,
    });
  }
  return new TurnlogError('TURNLOG_GONE', {
    details: { sessionId, seq, firstSeq },
    message: `the record of seq ${seq} was dropped from ${sessionId}: only its hash is left`,
  });
}

/** The summaries that were made of what goes, and those that were made of such. */
function summariesOf(found: readonly Found[], summaries: readonly HistoryLeaf[]): readonly Found[] {
  const gone = found.map(({ leaf }) => leaf.record.seq);
  const known = new Set(found.map(({ leaf }) => leaf.index));
  const derived: Found[] = [];
  // A summary comes behind what it sums up, so one pass meets all of them.
  for (const leaf of summaries) {
    const range = rangeOf(leaf.record);
    if (range === null || !gone.some((seq) => seq >= range.from && seq <= range.to)) continue;
    gone.push(leaf.record.seq);
    if (!known.has(leaf.index)) derived.push({ leaf, cause: 'summary' });
  }
  return derived;
}

function rangeOf(record: LogRecord): { readonly from: number; readonly to: number } | null {
  const event: Readonly<Record<string, unknown>> = { ...record.readEvent() };
  const { from_seq: from, to_seq: to } = event;
  return typeof from === 'number' && typeof to === 'number' ? { from, to } : null;
}

function plannedOf(
  found: readonly Found[],
  survey: Survey,
  request: RedactionRequest,
): readonly PlannedRedaction[] {
  return found
    .map(({ leaf, cause }): PlannedRedaction => {
      const stated = survey.statedOf(leaf);
      const { record } = leaf;
      const isShort = record.length < limits.guessableRecordBytesMax;
      return {
        ...leaf,
        leaf: record.leaf(),
        cause,
        reason: stated?.reason ?? request.reason ?? '',
        actor: stated?.actor ?? request.actor,
        isGuessable: isShort && record.salt() === null,
        isStated: stated !== null,
      };
    })
    .sort((one, other) => one.index - other.index);
}

/** What was begun is finished whatever was thought of it then. */
function checkGuessable(targets: readonly PlannedRedaction[], { guessable }: RedactionRequest): void {
  const seqs = targets
    .filter(({ isGuessable, isStated }) => isGuessable && !isStated)
    .map(({ record }) => record.seq);
  const [seq] = seqs;
  if (seq === undefined || guessable === 'accept') return;
  throw new TurnlogError('TURNLOG_GUESSABLE', {
    details: { seqs, recordBytesMax: limits.guessableRecordBytesMax },
    message: `the record of seq ${seq} is short and has no salt: what stood there can be guessed from the hash that stays`,
  });
}

function statementOf(
  targets: readonly PlannedRedaction[],
  { reason, actor }: RedactionRequest,
): LogRedactionEvent | null {
  const unsaid = targets.filter(({ isStated }) => !isStated);
  if (unsaid.length === 0) return null;
  if (reason === null || reason === '') {
    throw new TurnlogError('TURNLOG_BAD_FLAG', {
      details: { flag: 'reason' },
      message: 'a redaction needs a reason',
    });
  }
  return {
    type: 'log.redaction',
    indexes: unsaid.map(({ index }) => index),
    leaves: unsaid.map(({ leaf }) => leaf),
    reason,
    actor,
  };
}
