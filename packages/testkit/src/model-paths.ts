import type { ModelDirectory, ModelNode } from './model-directory.js';
import { modelError } from './model-errors.js';

/** How many links one path may lead through. */
const linksMax = 40;

export interface Place {
  readonly parent: ModelDirectory;
  /** The absolute path of `parent` without links. */
  readonly parentPath: string;
  readonly name: string;
  readonly node: ModelNode | null;
}

/** The names of paths that were split before: a test asks for the same few again and again. */
const splits = new Map<string, readonly string[]>();
const splitsMax = 1_024;

function namesOf(path: string): readonly string[] {
  const known = splits.get(path);
  if (known !== undefined) return known;
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (splits.size >= splitsMax) splits.clear();
  splits.set(path, names);
  return names;
}

/** Finds what stands at `path` itself: links on the way are followed, one in the last part is not. */
export function findPlace(root: ModelDirectory, operation: string, path: string, linkCount = 0): Place {
  if (!path.startsWith('/')) throw modelError(operation, path, 'EINVAL');
  const names = namesOf(path);
  let parent = root;
  let parentPath = '';
  for (let at = 0; at < names.length - 1; at += 1) {
    const name = names[at] ?? '';
    const node = parent.visible.get(name) ?? null;
    if (node?.kind === 'directory') {
      parentPath = pathOf({ parent, parentPath, name, node });
      parent = node;
      continue;
    }
    const followed = follow(root, operation, path, { parent, parentPath, name, node }, linkCount);
    if (followed.node === null) throw modelError(operation, path, 'ENOENT');
    if (followed.node.kind !== 'directory') throw modelError(operation, path, 'ENOTDIR');
    parent = followed.node;
    parentPath = pathOf(followed);
  }
  const name = names.at(-1);
  if (name === undefined) return { parent: root, parentPath: '', name: '', node: root };
  return { parent, parentPath, name, node: parent.visible.get(name) ?? null };
}

/** Where a place leads when links are followed to their end. */
export function follow(
  root: ModelDirectory,
  operation: string,
  path: string,
  place: Place,
  linkCount = 0,
): Place {
  if (place.node?.kind !== 'link') return place;
  if (linkCount >= linksMax) throw modelError(operation, path, 'ELOOP');
  const { target } = place.node;
  const absolute = target.startsWith('/') ? target : normalized(`${place.parentPath}/${target}`);
  const next = findPlace(root, operation, absolute, linkCount + 1);
  return follow(root, operation, path, next, linkCount + 1);
}

export function pathOf(place: Place): string {
  return place.name === '' ? '/' : `${place.parentPath === '/' ? '' : place.parentPath}/${place.name}`;
}

function normalized(path: string): string {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}
