import { limits } from '@turnlog/kernel';
import type { LogRecord } from '@turnlog/log';
import { ownMember, ownText } from './internal/members.js';

/** A record that counts. */
export interface EffectiveRecord {
  readonly record: LogRecord;
  /** Whether all of the frame that it belongs to has been given: only there a cursor may stand. */
  readonly isSettled: boolean;
}

interface OpenFrame {
  readonly frame: string | null;
  readonly records: LogRecord[];
}

/**
 * The records that have an effect. Those between a begin and its commit are one fact: all are given when the
 * commit has been read and its count is right, and none when the frame stays unfinished or is broken. A frame that
 * is open at the end of the log is held back.
 */
export function* effectiveRecords(records: Iterable<LogRecord>): Iterable<EffectiveRecord> {
  let open: OpenFrame | null = null;
  for (const record of records) {
    if (record.type === 'journal.begin') {
      open = { frame: ownText(record.readEvent(), 'frame'), records: [record] };
      continue;
    }
    if (open === null) {
      yield { record, isSettled: true };
      continue;
    }
    if (isMember(record) && open.records.length < limits.frameRecordsMax) {
      open.records.push(record);
      continue;
    }
    if (isCommitOf(open, record)) {
      for (const member of open.records) yield { record: member, isSettled: false };
    }
    open = null;
    yield { record, isSettled: true };
  }
}

/** What ends a frame, and what never stands in one. */
function isMember({ type }: LogRecord): boolean {
  if (type === 'journal.commit' || type === 'journal.void' || type === 'log.recovered') return false;
  return !/^(?:turn|thread)\./.test(type) && type !== 'user.message';
}

function isCommitOf({ frame, records }: OpenFrame, record: LogRecord): boolean {
  if (record.type !== 'journal.commit' || frame === null) return false;
  const commit = record.readEvent();
  return ownText(commit, 'frame') === frame && ownMember(commit, 'count') === records.length - 1;
}
