import { isTurnlogError, limits } from '@turnlog/kernel';
import { historyLeaves, type LogReader } from '@turnlog/log';
import { type Finding, parseSessionId, type Store } from '@turnlog/store';
import { planRedaction } from './redaction-plan.js';

export interface UnfinishedOptions {
  /** `whole-log` also reads logs in which no statement is near the end. */
  readonly depth: 'metadata' | 'whole-log';
  readonly signal?: AbortSignal;
}

/**
 * Redactions that a crash has cut short (AU-25): the log says that records go, and they are still there. A statement
 * stands near the end of its log then, for nothing is appended while it is carried out.
 */
export async function unfinishedRedactions(
  store: Store,
  ids: readonly string[],
  { depth, signal }: UnfinishedOptions,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const id of ids) {
    // A signal comes only when the work makes room for it.
    await new Promise((resolve) => setImmediate(resolve));
    if (signal?.aborted === true) break;
    const found = findingOf(store, id, depth);
    if (found !== null) findings.push(found);
  }
  return findings;
}

function findingOf(store: Store, text: string, depth: UnfinishedOptions['depth']): Finding | null {
  const id = parseSessionId(text);
  const path = store.sessionDirectory(id);
  try {
    // Somebody may be at it.
    if (store.environment.locks.inspect(path)?.state === 'alive') return null;
    const reader = store.read(id, { unreadable: 'show' });
    try {
      const seqs = isWorthReading(reader, depth) ? unfinishedIn(store, reader) : [];
      if (seqs.length === 0) return null;
      const message = `the redaction of seq ${seqs.join(', ')} was begun and not finished; turnlog redact ${id} finishes it`;
      return { kind: 'redaction-unfinished', sessionId: id, path, message, repair: null, weight: 'fault' };
    } finally {
      reader.close();
    }
  } catch (error) {
    // What else is wrong with it is told by whoever looks at all of it.
    if (!isTurnlogError(error)) throw error;
    return null;
  }
}

function isWorthReading(reader: LogReader, depth: UnfinishedOptions['depth']): boolean {
  const isNear = reader.tail(limits.statementTailRecords).some(({ type }) => type === 'log.redaction');
  return isNear || depth === 'whole-log';
}

function unfinishedIn(store: Store, reader: LogReader): readonly number[] {
  const request = { seqs: [], reason: null, actor: '', guessable: 'accept' } as const;
  const { targets } = planRedaction(reader, () => historyLeaves(store.environment.fs, reader), request);
  return targets.filter(({ cause }) => cause === 'unfinished').map(({ record }) => record.seq);
}
