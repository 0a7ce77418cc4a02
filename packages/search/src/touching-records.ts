import { ownList, ownMember, ownText } from '@turnlog/events';
import { effectiveRecords, type LogRecord } from '@turnlog/log';
import { ItemChain } from './item-chain.js';
import { wholeOf } from './packed/slices.js';
import { type PathTouch, pathTouchesOf } from './path-refs.js';
import { nowhere, type WorkingPlace } from './path-text.js';

/** A record that touches paths. */
export interface TouchingRecord {
  readonly session: string;
  readonly seq: number;
  readonly turn: number | null;
  /** Null when the time is unknown. */
  readonly ts: string | null;
  readonly touches: readonly PathTouch[];
}

const itemEvents: ReadonlySet<string> = new Set(['item.started', 'item.updated', 'item.completed']);

/**
 * The records of a log that touch paths, oldest first; of the snapshots of one item only the newest.
 *
 * @param isWanted which touches are kept: diffs are long, and few are asked for.
 */
export function touchingRecords(
  records: Iterable<LogRecord>,
  session: string,
  isWanted: (touch: PathTouch) => boolean = () => true,
): readonly TouchingRecord[] {
  return wholeOf(findTouching(records, session, isWanted));
}

/**
 * As `touchingRecords`, with a pause behind each record: logs are long, and others want their turn. What was found is
 * given when `isStopped` ends the work.
 */
export function* findTouching(
  records: Iterable<LogRecord>,
  session: string,
  isWanted: (touch: PathTouch) => boolean,
  isStopped: () => boolean = () => false,
): Generator<void, readonly TouchingRecord[], void> {
  const chain = new ItemChain();
  const found = new Map<number, TouchingRecord>();
  let place = nowhere;
  for (const { record } of effectiveRecords(records)) {
    yield;
    if (isStopped()) break;
    const { seq, turn, ts, type } = record;
    if (type === 'run.started' || type === 'log.evicted') place = placeAfter(place, record.readEvent());
    if (!itemEvents.has(type)) continue;
    const item = ownMember(record.readEvent(), 'item');
    const itemId = ownText(item, 'id');
    if (itemId === null) continue;
    const superseded = chain.add({ itemId, eventType: type, seq, tool: null, isKept: true });
    if (superseded !== null) found.delete(superseded);
    const touches = pathTouchesOf(item, place).filter(isWanted);
    if (touches.length > 0) found.set(seq, { session, seq, turn, ts, touches });
  }
  return [...found.values()];
}

/** Where the program runs, after a record that says so; the header of an eviction says it for those that went. */
function placeAfter(place: WorkingPlace, event: unknown): WorkingPlace {
  if (ownText(event, 'type') === 'log.evicted') {
    return ownList(event, 'carried').reduce<WorkingPlace>(
      (before, carried) => placeAfter(before, ownMember(carried, 'event')),
      place,
    );
  }
  if (ownText(event, 'type') !== 'run.started') return place;
  const directory = ownText(event, 'cwd');
  return { directory, workspace: ownText(event, 'workspace') ?? directory };
}
