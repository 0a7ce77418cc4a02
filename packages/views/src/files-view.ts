import { formatTimestamp, listItems, pathArguments } from '@turnlog/events';
import { type JsonObject, limits } from '@turnlog/kernel';
import { beginningOf, ownList, ownMember, ownText } from './internal/members.js';
import {
  evolveSlimItems,
  type ItemPlace,
  noItems,
  type SlimItems,
  slimItemsFrom,
  slimItemsJson,
} from './internal/slim-items.js';
import { member } from './internal/stored-value.js';
import type { View } from './view.js';

/** A path that the session touched, as it is stored. */
export interface TouchedFile {
  readonly path: string;
  /** How many changes of the path are on record, by kind; unknown kinds count as they are stored. */
  readonly changes: ReadonlyMap<string, number>;
  /** How many calls of tools name it in their arguments. */
  readonly callCount: number;
  readonly first: ItemPlace;
  readonly last: ItemPlace;
}

export interface FilesState {
  readonly items: SlimItems;
}

/** Paths that were touched: by changes that are not known to have failed, and by what calls of tools name. */
export const filesView: View<FilesState> = {
  name: 'files',
  version: 1,
  initial: () => ({ items: noItems }),
  evolve: (state, record) => {
    const items = evolveSlimItems(state.items, record, slimItem);
    return items === state.items ? state : { items };
  },
  toJson: ({ items }) => ({ items: slimItemsJson(items) }),
  fromJson: (json) => ({ items: slimItemsFrom(member(json, 'items')) }),
  toDocument: (state) => ({ files: touchedFiles(state).map(fileJson) }),
};

function slimItem(item: Readonly<Record<string, unknown>>, type: string): JsonObject | null {
  if (type === 'file_change') {
    const changes = ownList(item, 'changes').slice(0, limits.itemPathsMax).flatMap(changeOf);
    return { changes, status: ownText(item, 'status') };
  }
  const named = pathsIn(ownMember(item, 'arguments'));
  return named.length === 0 ? null : { paths: named };
}

function changeOf(change: unknown): readonly JsonObject[] {
  const path = ownText(change, 'path');
  if (path === null || path === '') return [];
  return [{ path: beginningOf(path, limits.pathCodeUnitsMax), kind: ownText(change, 'kind') ?? 'unknown' }];
}

function pathsIn(given: unknown): readonly string[] {
  const found = pathArguments.flatMap((name): readonly unknown[] => {
    const value = ownMember(given, name);
    return Array.isArray(value) ? value.slice(0, limits.itemPathsMax) : [value];
  });
  const paths = found.filter((path): path is string => typeof path === 'string' && path !== '');
  return [...new Set(paths.map((path) => beginningOf(path, limits.pathCodeUnitsMax)))];
}

/** The touched paths in the order of their first touch. */
export function touchedFiles(state: FilesState): readonly TouchedFile[] {
  const files = new Map<string, TouchedFile>();
  for (const { item, firstPosition, position } of listItems(state.items)) {
    const places = { first: firstPosition, last: position };
    if (ownText(item, 'status') !== 'failed') {
      for (const change of ownList(item, 'changes')) noteChange(files, change, places);
    }
    for (const path of ownList(item, 'paths')) {
      if (typeof path === 'string') noteCall(files, path, places);
    }
  }
  return [...files.values()];
}

type Places = Pick<TouchedFile, 'first' | 'last'>;

function noteChange(files: Map<string, TouchedFile>, change: unknown, places: Places): void {
  const path = ownText(change, 'path');
  const kind = ownText(change, 'kind');
  if (path === null || kind === null) return;
  const known = fileAt(files, path, places);
  const changes = new Map(known.changes).set(kind, (known.changes.get(kind) ?? 0) + 1);
  files.set(path, { ...known, changes });
}

function noteCall(files: Map<string, TouchedFile>, path: string, places: Places): void {
  const known = fileAt(files, path, places);
  files.set(path, { ...known, callCount: known.callCount + 1 });
}

function fileAt(files: ReadonlyMap<string, TouchedFile>, path: string, places: Places): TouchedFile {
  const known = files.get(path);
  if (known === undefined) return { path, changes: new Map(), callCount: 0, ...places };
  return { ...known, last: places.last.seq > known.last.seq ? places.last : known.last };
}

function fileJson({ path, changes, callCount, first, last }: TouchedFile): JsonObject {
  const kinds = [...changes].map(([kind, count]): JsonObject => ({ kind, count }));
  return { path, changes: kinds, calls: callCount, first: placeJson(first), last: placeJson(last) };
}

function placeJson({ seq, turn, tsMs }: ItemPlace): JsonObject {
  return { seq, turn, ts: tsMs === null ? null : formatTimestamp(tsMs) };
}
