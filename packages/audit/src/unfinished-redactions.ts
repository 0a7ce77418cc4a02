import { isTurnlogError, limits } from '@turnlog/kernel';
import { historyLeaves, type LogReader } from '@turnlog/log';
import { type Finding, parseSessionId, type Store } from '@turnlog/store';
import { planRedaction } from './redaction-plan.js';

/**
 * Redactions that a crash has cut short (AU-25): the log says that records go, and they are still there. A statement
 * stands near the end of its log then, for nothing is appended while it is carried out.
 *
 * @param depth `whole-log` reads logs in which no such statement is near the end, too.
 */
export function unfinishedRedactions(
  store: Store,
  ids: readonly string[],
  depth: 'metadata' | 'whole-log',
): readonly Finding[] {
  return ids.flatMap((text): readonly Finding[] => {
    const id = parseSessionId(text);
    const directory = store.sessionDirectory(id);
    try {
      // Somebody may be at it.
      if (store.environment.locks.inspect(directory)?.state === 'alive') return [];
      const reader = store.read(id, { unreadable: 'show' });
      try {
        const seqs = isWorthReading(reader, depth) ? unfinishedIn(store, reader) : [];
        if (seqs.length === 0) return [];
        const message = `the redaction of seq ${seqs.join(', ')} was begun and not finished; turnlog redact ${id} finishes it`;
        const base = { kind: 'redaction-unfinished', sessionId: id, path: directory } as const;
        return [{ ...base, message, repair: null, weight: 'fault' }];
      } finally {
        reader.close();
      }
    } catch (error) {
      // What else is wrong with it is told by whoever looks at all of it.
      if (!isTurnlogError(error)) throw error;
      return [];
    }
  });
}

function isWorthReading(reader: LogReader, depth: 'metadata' | 'whole-log'): boolean {
  const isNear = reader.tail(limits.statementTailRecords).some(({ type }) => type === 'log.redaction');
  return isNear || depth === 'whole-log';
}

function unfinishedIn(store: Store, reader: LogReader): readonly number[] {
  const request = { seqs: [], reason: null, actor: '', guessable: 'accept' } as const;
  const { targets } = planRedaction(reader, () => historyLeaves(store.environment.fs, reader), request);
  return targets.filter(({ cause }) => cause === 'unfinished').map(({ record }) => record.seq);
}
