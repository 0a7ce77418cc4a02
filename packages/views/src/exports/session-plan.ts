import { evolveItems, type ItemsState, initialItems, listCalls, listItems } from '@turnlog/events';
import { effectiveRecords, type LogReader, type LogRecord } from '@turnlog/log';
import { ownMember, ownText } from '../internal/members.js';
import { type ToolsState, toolsView } from '../tools-view.js';
import { type UsageState, usageView } from '../usage-view.js';
import { type ViewRecord, viewRecord } from '../view.js';

/** Where a record stands: in the file of its log, or in an archive. */
export interface RecordPlace {
  readonly archive: string | null;
  readonly offset: number;
  readonly length: number;
  readonly seq: number;
}

/** A name for the place of a record that no other has. */
export function placeKey({ archive, offset }: Pick<RecordPlace, 'archive' | 'offset'>): string {
  return `${archive ?? ''}:${offset}`;
}

/** An item as it is to be shown: once, where it was first said, as it was last said. */
export interface PlannedItem {
  readonly last: RecordPlace;
  readonly isCompleted: boolean;
  /** Null for what calls nothing. */
  readonly call: PlannedCall | null;
}

export interface PlannedCall {
  readonly callId: string;
  /** The newest record of each of its outputs. */
  readonly outputs: readonly RecordPlace[];
  readonly isAnswered: boolean;
}

/** What must be known of a log before the first line of a document can be written. */
export interface SessionPlan {
  /** By the place of an item's first record, see `placeKey`; outputs that stand with their call are not there. */
  readonly items: ReadonlyMap<string, PlannedItem>;
  readonly usage: UsageState;
  readonly tools: ToolsState;
  readonly recordCount: number;
  /** What the first `run.started` says; null when there is none. Not redacted. */
  readonly run: SessionRun | null;
}

/** The program that ran, and the call that started it, where it is a sub-agent. */
export interface SessionRun {
  readonly program: string | null;
  readonly version: string | null;
  readonly parentSession: string | null;
  readonly parentCall: string | null;
}

/**
 * The records of a log that have an effect, up to a seq.
 *
 * @param toSeq the last one of those that a fork shares; null for all.
 */
export function* recordsUpTo(reader: LogReader, toSeq: number | null): Iterable<LogRecord> {
  for (const { record } of effectiveRecords(reader.history())) {
    if (toSeq === null || record.seq <= toSeq) yield record;
  }
}

/** Reads the log once. What is kept grows with the number of items, not with what they hold. */
export function planSession(reader: LogReader, toSeq: number | null): SessionPlan {
  let usage = usageView.initial(reader.sessionId);
  let tools = toolsView.initial(reader.sessionId);
  let items: ItemsState<RecordPlace> = initialItems();
  let recordCount = 0;
  let run: SessionRun | null = null;
  for (const record of recordsUpTo(reader, toSeq)) {
    const seen = viewRecord(record);
    usage = usageView.evolve(usage, seen);
    tools = toolsView.evolve(tools, seen);
    items = withItem(items, seen, record);
    if (run === null && seen.type === 'run.started') run = runOf(seen);
    recordCount += 1;
  }
  return { items: plannedItems(items), usage, tools, recordCount, run };
}

function runOf(seen: ViewRecord): SessionRun {
  const event = seen.readEvent();
  const parent = ownMember(event, 'parent');
  return {
    program: ownText(event, 'program'),
    version: ownText(event, 'version'),
    parentSession: ownText(parent, 'session'),
    parentCall: ownText(parent, 'call_id'),
  };
}

const itemEvents: ReadonlySet<string> = new Set(['item.started', 'item.updated', 'item.completed']);

function withItem(
  items: ItemsState<RecordPlace>,
  seen: ViewRecord,
  { archive, offset, length, seq }: LogRecord,
): ItemsState<RecordPlace> {
  if (!itemEvents.has(seen.type)) return items;
  const item = ownMember(seen.readEvent(), 'item');
  const [id, type] = [ownText(item, 'id'), ownText(item, 'type')];
  if (id === null || type === null) return items;
  const slim = {
    id,
    type,
    call_id: ownText(item, 'call_id'),
    tool_call_id: ownText(item, 'tool_call_id'),
    status: ownText(item, 'status'),
  };
  return evolveItems(items, { type: seen.type, item: slim }, { archive, offset, length, seq });
}

function plannedItems(state: ItemsState<RecordPlace>): ReadonlyMap<string, PlannedItem> {
  const calls = new Map(listCalls(state).map((call) => [placeKey(call.call.firstPosition), call]));
  const attached = new Set(
    [...calls.values()].flatMap(({ outputs }) => outputs.map(({ firstPosition }) => placeKey(firstPosition))),
  );
  const planned = new Map<string, PlannedItem>();
  for (const { firstPosition, position, isCompleted } of listItems(state)) {
    if (attached.has(placeKey(firstPosition))) continue;
    const found = calls.get(placeKey(firstPosition));
    const call =
      found === undefined
        ? null
        : {
            callId: found.callId,
            outputs: found.outputs.map((output) => output.position),
            isAnswered: found.isAnswered,
          };
    planned.set(placeKey(firstPosition), { last: position, isCompleted, call });
  }
  return planned;
}
