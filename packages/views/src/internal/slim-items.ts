import { evolveItems, type ItemsState, initialItems, listItems, type UnknownItem } from '@turnlog/events';
import type { JsonObject, JsonValue } from '@turnlog/kernel';
import type { ViewRecord } from '../view.js';
import { isPlainObject, ownMember } from './members.js';
import { boolean, list, member, number, orNull, WrongShape } from './stored-value.js';

/** Where an item was said. */
export interface ItemPlace {
  readonly seq: number;
  readonly turn: number | null;
  readonly tsMs: number | null;
}

export type SlimItems = ItemsState<ItemPlace>;

/** An item without what a view does not need: `id` and `type` are always there, and all values are JSON. */
export type SlimItem = UnknownItem & { readonly [member: string]: JsonValue };

export const noItems: SlimItems = initialItems();

const itemEvents: ReadonlySet<string> = new Set(['item.started', 'item.updated', 'item.completed']);

/**
 * The items after one more record, each of them slimmed down; see `evolveItems` for which records describe one
 * item. `slim` gives null for items that the view has no use for.
 */
export function evolveSlimItems(
  state: SlimItems,
  record: ViewRecord,
  slim: (item: Readonly<Record<string, unknown>>, type: string) => JsonObject | null,
): SlimItems {
  if (!itemEvents.has(record.type)) return state;
  const item = ownMember(record.readEvent(), 'item');
  const id = ownMember(item, 'id');
  const type = ownMember(item, 'type');
  if (!isPlainObject(item) || typeof id !== 'string' || typeof type !== 'string') return state;
  const kept = slim(item, type);
  if (kept === null) return state;
  const place = { seq: record.seq, turn: record.turn, tsMs: record.tsMs };
  return evolveItems(state, { type: record.type, item: { ...kept, id, type } }, place);
}

/** All items with where they were first and last said, to be published. */
export function slimItemsJson(state: SlimItems): readonly JsonObject[] {
  return listItems(state).map(({ item, isCompleted, firstPosition, position }) => ({
    item: item as SlimItem,
    completed: isCompleted,
    first: placeJson(firstPosition),
    last: placeJson(position),
  }));
}

function placeJson({ seq, turn, tsMs }: ItemPlace): JsonValue {
  return [seq, turn, tsMs];
}

/** The items that were published. They come back by saying each of them again, from its start to its last word. */
export function slimItemsFrom(value: unknown): SlimItems {
  let state = noItems;
  for (const entry of list(value)) {
    const item = member(entry, 'item');
    if (!isSlimItem(item)) throw new WrongShape('no item');
    state = evolveItems(state, { type: 'item.started', item }, placeFrom(member(entry, 'first')));
    const type = boolean(member(entry, 'completed')) ? 'item.completed' : 'item.updated';
    state = evolveItems(state, { type, item }, placeFrom(member(entry, 'last')));
  }
  return state;
}

function isSlimItem(value: unknown): value is SlimItem {
  return typeof ownMember(value, 'id') === 'string' && typeof ownMember(value, 'type') === 'string';
}

function placeFrom(value: unknown): ItemPlace {
  const [seq, turn, tsMs] = list(value);
  return { seq: number(seq), turn: orNull(turn, number), tsMs: orNull(tsMs, number) };
}
