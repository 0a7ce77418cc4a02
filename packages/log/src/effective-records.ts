import { limits } from '@turnlog/kernel';
import { type BrokenFrame, type FramedRecord, type OpenFrame, stepFrame } from './frame-step.js';
import { isPlainObject } from './session-facts.js';

/** A record that counts. */
export interface EffectiveRecord<Kind> {
  readonly record: Kind;
  /** Whether all of the frame that it belongs to has been given: only there a cursor may stand. */
  readonly isSettled: boolean;
}

/** What is needed of a record to tell whether it counts. */
export interface CountingRecord extends FramedRecord {
  readonly seq: number;
}

/**
 * The records that have an effect, in their order: the one iterator between a log and everything that folds it, be
 * it a session's or the ledger. Begin, members and commit of a frame are given together when the commit has been
 * read and fits, and none of them otherwise. A frame that is open at the end of what is read is held back.
 *
 * No more is held than the records of one frame, of which there are at most `limits.frameRecordsMax`.
 *
 * @param onBroken told of each commit that does not fit: nothing of its frame has an effect. No crash makes one.
 */
export function* effectiveRecords<Kind extends CountingRecord>(
  records: Iterable<Kind>,
  onBroken: (frame: BrokenFrame) => void = () => undefined,
): Iterable<EffectiveRecord<Kind>> {
  let open: OpenFrame | null = null;
  let beginSeq = 0;
  let held: Kind[] = [];
  for (const record of records) {
    const before: OpenFrame | null = open;
    const { open: after, place } = stepFrame(before, record);
    open = after;
    switch (place) {
      case 'begin':
        beginSeq = record.seq;
        held = [record];
        break;
      case 'member':
        // A frame that is too long can only be broken.
        if (after !== null && after.memberCount <= limits.frameRecordsMax) held.push(record);
        else held = [];
        break;
      case 'commit':
        for (const member of held) yield { record: member, isSettled: false };
        held = [];
        yield { record, isSettled: true };
        break;
      case 'alone':
        held = [];
        yield { record, isSettled: true };
        break;
      default:
        held = [];
        onBroken({
          beginSeq: place === 'no-begin' ? null : beginSeq,
          commitSeq: record.seq,
          frame: before?.frame ?? nameIn(record.readEvent()),
          fault: place,
        });
    }
  }
}

function nameIn(event: unknown): string | null {
  const name = isPlainObject(event) ? event['frame'] : null;
  return typeof name === 'string' ? name : null;
}
