import { KeyedSlots } from './internal/keyed-slots.js';
import { isLooseObject, ownMember, ownText } from './internal/loose-value.js';
import type { ThreadItem, UnknownItem } from './thread-item.js';
import type { TurnlogEvent, UnknownEvent } from './turnlog-event.js';

/**
 * One item as its newest record describes it. Records are snapshots: nothing is merged, so what the newest one
 * leaves out is gone. Type, status and everything else stand as they are stored, also where they are unknown.
 */
export interface FoldedItem<Position> {
  readonly id: string;
  readonly type: string;
  readonly item: ThreadItem | UnknownItem;
  /** Whether an `item.completed` of it has been seen; later snapshots do not take that back. */
  readonly isCompleted: boolean;
  /** How many records describe it. */
  readonly recordCount: number;
  /** The record that it was first seen in, and the one that made its present state. */
  readonly firstPosition: Position;
  readonly position: Position;
}

/** A call of a tool, once, however many records describe it. */
export interface FoldedCall<Position> {
  /** The name of the call: `tool_call_id` where it has one, else the id of its item. */
  readonly callId: string;
  readonly call: FoldedItem<Position>;
  readonly outputs: readonly FoldedItem<Position>[];
  /** Whether the call has ended, or an output of it has. */
  readonly isAnswered: boolean;
}

interface Slot<Position> {
  readonly folded: FoldedItem<Position>;
  /** Of an output: the slot of its call; null when no item of that id was seen before it. */
  readonly callSlot: number | null;
}

/** The items of the events so far. A later state never changes an earlier one. */
export interface ItemsState<Position> {
  readonly slots: KeyedSlots<Slot<Position>>;
  /** Item records without id or type, and events too deep to be read: they describe no item that has a name. */
  readonly namelessCount: number;
}

/** Before the first event. */
export function initialItems<Position>(): ItemsState<Position> {
  return { slots: KeyedSlots.empty(), namelessCount: 0 };
}

type ItemEventType = 'item.started' | 'item.updated' | 'item.completed';

function itemEventType(type: string): ItemEventType | null {
  return type === 'item.started' || type === 'item.updated' || type === 'item.completed' ? type : null;
}

function isItem(value: unknown): value is UnknownItem {
  return isLooseObject(value) && ownText(value, 'id') !== null && ownText(value, 'type') !== null;
}

/**
 * The items after one more event (C-11). Records of one id describe one item and the last one wins, but an
 * `item.started` behind the completion of its id begins a new item: producers use ids again. Events of no item
 * change nothing. Members of a frame without commit are not to be given.
 *
 * @param event null when it is nested too deep to be read.
 * @param position of its record, in whatever terms the caller wants it back.
 */
export function evolveItems<Position>(
  state: ItemsState<Position>,
  event: TurnlogEvent | UnknownEvent | null,
  position: Position,
): ItemsState<Position> {
  if (event === null) return { ...state, namelessCount: state.namelessCount + 1 };
  const type = itemEventType(event.type);
  if (type === null) return state;
  const item = ownMember(event, 'item');
  if (!isItem(item)) return { ...state, namelessCount: state.namelessCount + 1 };
  const known = state.slots.newest(item.id);
  const present = known === null ? null : state.slots.at(known);
  const isNew = present === null || (type === 'item.started' && present.folded.isCompleted);
  if (known === null || isNew) return { ...state, slots: added(state, item, type, position) };
  return { ...state, slots: state.slots.replace(known, next(state, present, item, type, position)) };
}

function added<Position>(
  state: ItemsState<Position>,
  item: UnknownItem,
  type: ItemEventType,
  position: Position,
): KeyedSlots<Slot<Position>> {
  const folded = {
    id: item.id,
    type: item.type,
    item,
    isCompleted: type === 'item.completed',
    recordCount: 1,
    firstPosition: position,
    position,
  };
  return state.slots.add(item.id, { folded, callSlot: callSlotOf(state, item) });
}

function next<Position>(
  state: ItemsState<Position>,
  present: Slot<Position>,
  item: UnknownItem,
  type: ItemEventType,
  position: Position,
): Slot<Position> {
  const { folded } = present;
  const isSameCall = callIdOf(folded.item) === callIdOf(item);
  return {
    folded: {
      ...folded,
      type: item.type,
      item,
      isCompleted: folded.isCompleted || type === 'item.completed',
      recordCount: folded.recordCount + 1,
      position,
    },
    callSlot: isSameCall ? present.callSlot : callSlotOf(state, item),
  };
}

/** The item that an output belongs to: the newest of that id by now, because ids are used again. */
function callSlotOf<Position>(state: ItemsState<Position>, item: UnknownItem): number | null {
  const callId = callIdOf(item);
  return callId === null ? null : state.slots.newest(callId);
}

function callIdOf(item: ThreadItem | UnknownItem): string | null {
  return item.type === 'tool_output' ? ownText(item, 'call_id') : null;
}

/** All items in the order they were first seen in. */
export function listItems<Position>(state: ItemsState<Position>): readonly FoldedItem<Position>[] {
  return [...state.slots.values()].map(({ folded }) => folded);
}

/** The types of items that call something and may be left without an answer. */
const callTypes: ReadonlySet<string> = new Set(['tool_invocation', 'mcp_tool_call', 'command_execution']);

/** The calls of tools, with the outputs that belong to them, in the order they were first seen in. */
export function listCalls<Position>(state: ItemsState<Position>): readonly FoldedCall<Position>[] {
  const slots = [...state.slots.values()];
  const outputsOf = new Map<number, FoldedItem<Position>[]>();
  for (const { folded, callSlot } of slots) {
    if (callSlot === null) continue;
    const outputs = outputsOf.get(callSlot);
    if (outputs === undefined) outputsOf.set(callSlot, [folded]);
    else outputs.push(folded);
  }
  return slots.flatMap(({ folded: call }, slot) => {
    const outputs = outputsOf.get(slot) ?? [];
    if (!callTypes.has(call.type) && outputs.length === 0) return [];
    const callId = ownText(call.item, 'tool_call_id') ?? call.id;
    return [{ callId, call, outputs, isAnswered: [call, ...outputs].some(hasEnded) }];
  });
}

/** The calls that have neither ended nor an output that has: what a crash leaves behind. */
export function unansweredCalls<Position>(state: ItemsState<Position>): readonly FoldedCall<Position>[] {
  return listCalls(state).filter(({ isAnswered }) => !isAnswered);
}

/** The outputs of which no call was seen, as after an eviction. */
export function strayOutputs<Position>(state: ItemsState<Position>): readonly FoldedItem<Position>[] {
  return [...state.slots.values()]
    .filter(({ folded, callSlot }) => folded.type === 'tool_output' && callSlot === null)
    .map(({ folded }) => folded);
}

function hasEnded<Position>({ isCompleted, item }: FoldedItem<Position>): boolean {
  const status = ownText(item, 'status');
  return isCompleted || status === 'completed' || status === 'failed';
}
