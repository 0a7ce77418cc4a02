import {
  type DirectoryEntry,
  type FileHandle,
  type FileStatus,
  type FileSystem,
  type OpenMode,
  TurnlogError,
} from '@turnlog/kernel';

/** A verb of the port, of the file system or of an open file. `syncDataLater` counts as `syncData`. */
export type FaultVerb =
  | Exclude<keyof FileSystem, 'status'>
  | Exclude<keyof FileHandle, 'path' | 'status' | 'syncDataLater'>
  | 'status';

export interface Call {
  readonly verb: FaultVerb;
  /** The path as given; of a rename the one it renames from. */
  readonly path: string;
  /** Bytes given to a write or returned by a read; 0 for all else. */
  readonly byteCount: number;
}

export interface Fault {
  /** Which of the calls that `applies` accepts fails, counted from 1. */
  readonly call: number;
  readonly lasting: 'once' | 'from-then-on';
  /** An errno the call fails with, or a write that stores half of its bytes and reports success. */
  readonly effect: { readonly errno: string } | 'short-write';
  /** Which calls are counted; by default all, and for a short write all writes. */
  readonly applies?: (call: Omit<Call, 'byteCount'>) => boolean;
}

/**
 * Another file system whose n-th call fails. Nothing of a failing call happens, but that a file whose close
 * fails is closed all the same. Keeps a journal of all calls, also of those that failed.
 */
export class FaultFileSystem implements FileSystem {
  readonly journal: Call[] = [];
  /** How often the fault has struck. A scenario that ends with 0 was never touched. */
  hitCount = 0;
  /** The first call that the fault has struck. */
  firstStruck: Omit<Call, 'byteCount'> | null = null;
  readonly #inner: FileSystem;
  #fault: Fault | null;
  #matchCount = 0;

  constructor(inner: FileSystem, fault: Fault | null = null) {
    this.#inner = inner;
    this.#fault = fault;
  }

  /** Another fault, or none, from now on; counts from the next call. */
  setFault(fault: Fault | null): void {
    this.#fault = fault;
    this.#matchCount = 0;
  }

  /** How many calls of `verb` there were, on paths that `matches` accepts. */
  countOf(verb: FaultVerb, matches: (path: string) => boolean = () => true): number {
    return this.journal.filter((call) => call.verb === verb && matches(call.path)).length;
  }

  open(path: string, mode: OpenMode): FileHandle {
    return new FaultFileHandle(
      this,
      this.run('open', path, () => this.#inner.open(path, mode)),
    );
  }

  status(path: string): FileStatus | null {
    return this.run('status', path, () => this.#inner.status(path));
  }

  list(path: string): readonly DirectoryEntry[] {
    return this.run('list', path, () => this.#inner.list(path));
  }

  makeDirectory(path: string): void {
    this.run('makeDirectory', path, () => this.#inner.makeDirectory(path));
  }

  removeFile(path: string): void {
    this.run('removeFile', path, () => this.#inner.removeFile(path));
  }

  removeDirectory(path: string): void {
    this.run('removeDirectory', path, () => this.#inner.removeDirectory(path));
  }

  rename(from: string, to: string): void {
    this.run('rename', from, () => this.#inner.rename(from, to));
  }

  replaceDerived(path: string, bytes: Uint8Array): void {
    this.run('replaceDerived', path, () => {
      this.#inner.replaceDerived(path, this.isShort(path) ? bytes.subarray(0, bytes.length >> 1) : bytes);
    });
  }

  syncDirectory(path: string): boolean {
    return this.run('syncDirectory', path, () => this.#inner.syncDirectory(path));
  }

  setMode(path: string, mode: number): void {
    this.run('setMode', path, () => this.#inner.setMode(path, mode));
  }

  setTimes(path: string, accessedMs: number, modifiedMs: number): void {
    this.run('setTimes', path, () => this.#inner.setTimes(path, accessedMs, modifiedMs));
  }

  resolve(path: string): string {
    return this.run('resolve', path, () => this.#inner.resolve(path));
  }

  /** One call: written down, then failed or made. */
  run<T>(verb: FaultVerb, path: string, make: () => T): T {
    this.journal.push({ verb, path, byteCount: 0 });
    this.failIfDue(verb, path);
    return make();
  }

  /** @throws TURNLOG_IO when the fault strikes this call. */
  failIfDue(verb: FaultVerb, path: string): void {
    const fault = this.#fault;
    if (fault === null || fault.effect === 'short-write' || !this.#isDue(fault, verb, path)) return;
    const { errno } = fault.effect;
    const details = { operation: verb, path, errno };
    throw new TurnlogError('TURNLOG_IO', { details, message: `${verb} failed with ${errno}: ${path}` });
  }

  /** Whether this write is to stop half-way. */
  isShort(path: string): boolean {
    const fault = this.#fault;
    return fault !== null && fault.effect === 'short-write' && this.#isDue(fault, 'write', path);
  }

  #isDue(fault: Fault, verb: FaultVerb, path: string): boolean {
    if (fault.applies !== undefined && !fault.applies({ verb, path })) return false;
    this.#matchCount += 1;
    const isDue = fault.lasting === 'once' ? this.#matchCount === fault.call : this.#matchCount >= fault.call;
    if (!isDue) return false;
    this.hitCount += 1;
    this.firstStruck ??= { verb, path };
    return true;
  }
}

class FaultFileHandle implements FileHandle {
  readonly path: string;
  readonly #owner: FaultFileSystem;
  readonly #inner: FileHandle;

  constructor(owner: FaultFileSystem, inner: FileHandle) {
    this.path = inner.path;
    this.#owner = owner;
    this.#inner = inner;
  }

  write(bytes: Uint8Array): number {
    this.#owner.journal.push({ verb: 'write', path: this.path, byteCount: bytes.length });
    this.#owner.failIfDue('write', this.path);
    if (!this.#owner.isShort(this.path)) return this.#inner.write(bytes);
    const half = bytes.subarray(0, bytes.length >> 1);
    return half.length === 0 ? 0 : this.#inner.write(half);
  }

  read(into: Uint8Array, offset: number): number {
    const { journal } = this.#owner;
    const position = journal.push({ verb: 'read', path: this.path, byteCount: 0 }) - 1;
    this.#owner.failIfDue('read', this.path);
    const byteCount = this.#inner.read(into, offset);
    journal[position] = { verb: 'read', path: this.path, byteCount };
    return byteCount;
  }

  truncate(length: number): void {
    this.#owner.run('truncate', this.path, () => this.#inner.truncate(length));
  }

  sync(): void {
    this.#owner.run('sync', this.path, () => this.#inner.sync());
  }

  syncData(): void {
    this.#owner.run('syncData', this.path, () => this.#inner.syncData());
  }

  async syncDataLater(): Promise<void> {
    await this.#owner.run('syncData', this.path, () => this.#inner.syncDataLater());
  }

  status(): FileStatus {
    return this.#owner.run('status', this.path, () => this.#inner.status());
  }

  setMode(mode: number): void {
    this.#owner.run('setMode', this.path, () => this.#inner.setMode(mode));
  }

  close(): void {
    this.#inner.close();
    this.#owner.run('close', this.path, () => undefined);
  }
}
