import {
  type DirectoryEntry,
  errnoOf,
  type FileHandle,
  type FileStatus,
  type FileSystem,
  type OpenMode,
} from '@turnlog/kernel';
import { ModelDirectory, type ModelNode, type TableChange } from './model-directory.js';
import { CrashSignal, modelError, modelUnsafe } from './model-errors.js';
import { ModelFile, type NodeFacts } from './model-file.js';
import { type ModelDevice, ModelFileHandle } from './model-file-handle.js';
import { findPlace, follow, type Place, pathOf } from './model-paths.js';

export interface ModelOptions {
  /** Where times come from; by default each new node is one millisecond younger than the one before. */
  readonly clock?: { now(): number };
  /** The user who makes files; null models a system without users. By default 1000. */
  readonly uid?: number | null;
  /** How many bytes of content fit on the disk; null, the default, for no bound. */
  readonly spaceBytes?: number | null;
  /** Whether `syncDirectory` does anything or answers false. */
  readonly directorySync?: 'supported' | 'unsupported';
}

const firstMomentMs = 1_791_187_200_000;

/**
 * A file system in memory that knows what a crash may leave.
 *
 * Programs see each change at once. A disk holds for certain only what was synced: the content of a file with
 * `sync`, the names in a directory with `syncDirectory`. `enumerateDisks` gives the disks a crash may leave.
 * Modes, times and owners are durable at once.
 */
export class ModelFileSystem implements FileSystem, ModelDevice {
  readonly options: ModelOptions;
  readonly root: ModelDirectory;
  /** How many calls have changed something, or made something durable. */
  mutationCount = 0;
  /** How many handles are open. */
  openHandleCount = 0;
  #nextInode: number;
  #spaceBytes: number | null;
  #usedBytes = 0;
  #crashAt: number | null = null;
  #isDown = false;
  #beforeEachChange: () => void = () => undefined;

  /** An empty disk, or one that holds the durable `tree`. */
  constructor(options: ModelOptions = {}, tree?: { root: ModelDirectory; nextInode: number }) {
    this.options = options;
    this.#nextInode = tree?.nextInode ?? 2;
    this.root = tree?.root ?? new ModelDirectory(this.#newFacts(0o755, 0), new Map());
    this.#spaceBytes = options.spaceBytes ?? null;
    if (tree !== undefined) this.#countUses(tree.root);
  }

  get nextInode(): number {
    return this.#nextInode;
  }

  /** Stops the machine at mutating call `call`, counted from 0 on: that call and all later ones do nothing. */
  crashAt(call: number): void {
    this.#crashAt = call;
  }

  /** `look` is called before each call that changes something, with the disk as a crash at that call leaves it. */
  beforeEachChange(look: () => void): void {
    this.#beforeEachChange = look;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Whether the machine has stopped. */
  get isDown(): boolean {
    return this.#isDown;
  }

  setSpace(spaceBytes: number | null): void {
    this.#spaceBytes = spaceBytes;
  }

  open(path: string, mode: OpenMode): FileHandle {
    this.observe();
    const place = findPlace(this.root, 'open', path);
    if (mode === 'create') return this.#create(path, place);
    if (place.node === null) throw modelError('open', path, 'ENOENT');
    if (place.node.kind !== 'file') throw modelUnsafe(path, 'it is not a regular file');
    return this.#handle(path, mode, place.node);
  }

  status(path: string): FileStatus | null {
    this.observe();
    try {
      const { node } = findPlace(this.root, 'status', path);
      return node === null ? null : this.statusOf(node);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  list(path: string): readonly DirectoryEntry[] {
    this.observe();
    const directory = this.#directory('list', path);
    return [...directory.visible]
      .map(([name, node]): DirectoryEntry => ({ name, kind: node.kind }))
      .sort((left, right) => Buffer.compare(Buffer.from(left.name), Buffer.from(right.name)));
  }

  makeDirectory(path: string): void {
    this.observe();
    const place = findPlace(this.root, 'makeDirectory', path);
    if (place.node !== null) throw modelError('makeDirectory', path, 'EEXIST');
    this.mutate();
    this.#set(place, new ModelDirectory(this.#newFacts(0o700), new Map()));
  }

  removeFile(path: string): void {
    this.observe();
    const place = findPlace(this.root, 'removeFile', path);
    if (place.node === null) throw modelError('removeFile', path, 'ENOENT');
    if (place.node.kind === 'directory') throw modelError('removeFile', path, 'EISDIR');
    this.mutate();
    this.#set(place, null);
    this.#drop(place.node);
  }

  removeDirectory(path: string): void {
    this.observe();
    const place = findPlace(this.root, 'removeDirectory', path);
    if (place.node === null) throw modelError('removeDirectory', path, 'ENOENT');
    if (place.node.kind !== 'directory') throw modelError('removeDirectory', path, 'ENOTDIR');
    if (place.node.visible.size > 0) throw modelError('removeDirectory', path, 'ENOTEMPTY');
    this.mutate();
    this.#set(place, null);
  }

  rename(from: string, to: string): void {
    this.observe();
    const source = findPlace(this.root, 'rename', from);
    const { node } = source;
    if (node === null) throw modelError('rename', from, 'ENOENT', { to });
    const target = findPlace(this.root, 'rename', to);
    const errno = target.node === null ? null : refusalToReplace(node, target.node);
    if (errno !== null) throw modelError('rename', from, errno, { to });
    this.mutate();
    if (target.node === node) return;
    this.#move(source, target, node);
    if (target.node !== null) this.#drop(target.node);
  }

  /**
   * As the library was measured to do it: one write whose count is not looked at, no sync, then the rename. A
   * disk with room for a part of the bytes gets a file that is cut short, and the call returns.
   */
  replaceDerived(path: string, bytes: Uint8Array): void {
    const status = this.status(path);
    if (status !== null && status.kind !== 'file') throw modelUnsafe(path, 'it is not a regular file');
    const temporary = `${path}.${this.#nextInode}`;
    const file = this.open(temporary, 'create');
    try {
      try {
        file.write(bytes);
      } finally {
        if (!this.#isDown) file.close();
      }
      this.rename(temporary, path);
    } catch (error) {
      if (!this.#isDown) this.removeFile(temporary);
      throw error;
    }
  }

  syncDirectory(path: string): boolean {
    this.observe();
    const directory = this.#directory('syncDirectory', path);
    if (this.options.directorySync === 'unsupported') return false;
    this.mutate();
    directory.sync();
    return true;
  }

  setMode(path: string, mode: number): void {
    const node = this.#existing('setMode', path);
    if (node.kind === 'link') throw modelUnsafe(path, 'it is a link');
    this.mutate();
    node.facts.mode = mode;
  }

  setTimes(path: string, _accessedMs: number, modifiedMs: number): void {
    const node = this.#existing('setTimes', path);
    this.mutate();
    node.facts.modifiedMs = modifiedMs;
  }

  resolve(path: string): string {
    this.observe();
    const place = follow(this.root, 'resolve', path, findPlace(this.root, 'resolve', path));
    if (place.node === null) throw modelError('resolve', path, 'ENOENT');
    return pathOf(place);
  }

  /** Puts a durable file there, with its directories, as somebody else might have; replaces what had the name. */
  plantFile(path: string, content: Uint8Array, facts: { mode?: number; uid?: number } = {}): void {
    const image = Uint8Array.from(content);
    const file = new ModelFile(this.#newFacts(facts.mode ?? 0o600, facts.uid), image);
    this.#usedBytes += image.length;
    file.useCount = 1;
    this.#plant(path, file);
  }

  plantDirectory(path: string, facts: { mode?: number; uid?: number } = {}): void {
    this.#plant(path, new ModelDirectory(this.#newFacts(facts.mode ?? 0o700, facts.uid), new Map()));
  }

  plantLink(path: string, target: string, facts: { uid?: number } = {}): void {
    this.#plant(path, { kind: 'link', facts: this.#newFacts(0o777, facts.uid), target });
  }

  /** The content programs see, read behind their back. */
  contentOf(path: string): Uint8Array {
    const { node } = findPlace(this.root, 'read', path);
    if (node === null) throw modelError('read', path, 'ENOENT');
    if (node.kind !== 'file') throw modelError('read', path, 'EISDIR');
    return Uint8Array.from(node.visible);
  }

  observe(): void {
    if (this.#isDown) throw new CrashSignal();
  }

  mutate(): void {
    this.observe();
    if (this.#crashAt === this.mutationCount) {
      this.#isDown = true;
      throw new CrashSignal();
    }
    this.#beforeEachChange();
    this.mutationCount += 1;
  }

  now(): number {
    return this.options.clock?.now() ?? firstMomentMs + this.#nextInode;
  }

  statusOf(node: ModelNode): FileStatus {
    const { facts } = node;
    const { mode, uid, modifiedMs, birthNs } = facts;
    const size = sizeOf(node);
    return { kind: node.kind, size, mode, uid, device: '1', inode: `${facts.inode}`, modifiedMs, birthNs };
  }

  takeSpace(byteCount: number): number {
    const granted =
      this.#spaceBytes === null
        ? byteCount
        : Math.max(0, Math.min(byteCount, this.#spaceBytes - this.#usedBytes));
    this.#usedBytes += granted;
    return granted;
  }

  giveSpace(byteCount: number): void {
    this.#usedBytes -= byteCount;
  }

  closed(file: ModelFile): void {
    this.openHandleCount -= 1;
    this.release(file);
  }

  release(file: ModelFile): void {
    file.useCount -= 1;
    if (file.useCount === 0) this.#usedBytes -= file.length;
  }

  #create(path: string, place: Place): FileHandle {
    if (place.node !== null) throw modelError('open', path, 'EEXIST');
    this.mutate();
    const file = new ModelFile(this.#newFacts(0o600), new Uint8Array(0));
    file.useCount = 1;
    this.#set(place, file);
    return this.#handle(path, 'create', file);
  }

  #handle(path: string, mode: OpenMode, file: ModelFile): FileHandle {
    this.openHandleCount += 1;
    return new ModelFileHandle(this, path, mode, file);
  }

  #existing(operation: string, path: string): ModelNode {
    this.observe();
    const { node } = findPlace(this.root, operation, path);
    if (node === null) throw modelError(operation, path, 'ENOENT');
    return node;
  }

  #directory(operation: string, path: string): ModelDirectory {
    const node = this.#existing(operation, path);
    if (node.kind === 'link') throw modelUnsafe(path, 'it is a link');
    if (node.kind !== 'directory') throw modelError(operation, path, 'ENOTDIR');
    return node;
  }

  #set(place: Place, node: ModelNode | null): void {
    place.parent.apply({ sets: [[place.name, node]], after: null });
    place.parent.facts.modifiedMs = this.now();
  }

  #move(source: Place, target: Place, node: ModelNode): void {
    const leave: readonly [string, null] = [source.name, null];
    const arrive: readonly [string, ModelNode] = [target.name, node];
    if (source.parent === target.parent) {
      source.parent.apply({ sets: [leave, arrive], after: null });
      return;
    }
    const change: TableChange = { sets: [arrive], after: null };
    target.parent.apply(change);
    source.parent.apply({ sets: [leave], after: { directory: target.parent, change } });
  }

  #plant(path: string, node: ModelNode): void {
    const parentPath = path.slice(0, path.lastIndexOf('/'));
    if (parentPath !== '' && this.status(parentPath) === null) this.plantDirectory(parentPath);
    const { parent, name } = findPlace(this.root, 'open', path);
    parent.apply({ sets: [[name, node]], after: null });
    parent.sync();
  }

  #drop(node: ModelNode): void {
    if (node.kind === 'file') this.release(node);
  }

  #countUses(directory: ModelDirectory): void {
    for (const node of directory.visible.values()) {
      if (node.kind === 'directory') this.#countUses(node);
      if (node.kind !== 'file') continue;
      node.useCount += 1;
      if (node.useCount === 1) this.#usedBytes += node.length;
    }
  }

  #newFacts(mode: number, owner?: number): NodeFacts {
    const inode = this.#nextInode;
    this.#nextInode += 1;
    const modifiedMs = this.now();
    const uid = owner ?? (this.options.uid === undefined ? 1000 : this.options.uid);
    return { inode, mode, uid, modifiedMs, birthNs: `${modifiedMs}${`${inode}`.padStart(6, '0').slice(-6)}` };
  }
}

function refusalToReplace(node: ModelNode, target: ModelNode): string | null {
  if (node === target) return null;
  if (target.kind !== 'directory') return node.kind === 'directory' ? 'ENOTDIR' : null;
  if (node.kind !== 'directory') return 'EISDIR';
  return target.visible.size > 0 ? 'ENOTEMPTY' : null;
}

/** A link is as long as what it says. */
function sizeOf(node: ModelNode): number {
  if (node.kind === 'link') return Buffer.byteLength(node.target);
  return node.kind === 'file' ? node.length : 0;
}
