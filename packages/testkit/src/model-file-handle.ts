import { assert, type FileHandle, type FileStatus, type OpenMode } from '@turnlog/kernel';
import { modelError } from './model-errors.js';
import type { ModelFile } from './model-file.js';

/** What a handle needs of its file system: the crash switch, the clock and the space. */
export interface ModelDevice {
  observe(): void;
  mutate(): void;
  now(): number;
  statusOf(file: ModelFile): FileStatus;
  /** Takes up to so many bytes of space and returns how many it got. */
  takeSpace(byteCount: number): number;
  giveSpace(byteCount: number): void;
  /** A handle of the file was closed. */
  closed(file: ModelFile): void;
}

export class ModelFileHandle implements FileHandle {
  readonly path: string;
  readonly #device: ModelDevice;
  readonly #mode: OpenMode;
  readonly #file: ModelFile;
  #isClosed = false;

  constructor(device: ModelDevice, path: string, mode: OpenMode, file: ModelFile) {
    this.path = path;
    this.#device = device;
    this.#mode = mode;
    this.#file = file;
    file.useCount += 1;
  }

  write(bytes: Uint8Array): number {
    this.#use();
    if (this.#mode === 'read') throw modelError('write', this.path, 'EBADF');
    if (bytes.length === 0) return 0;
    this.#device.mutate();
    const count = this.#device.takeSpace(bytes.length);
    if (count === 0) throw modelError('write', this.path, 'ENOSPC');
    this.#file.append(count === bytes.length ? bytes : bytes.subarray(0, count));
    this.#file.facts.modifiedMs = this.#device.now();
    return count;
  }

  read(into: Uint8Array, offset: number): number {
    this.#use();
    const from = this.#file.visible.subarray(offset, offset + into.length);
    into.set(from);
    return from.length;
  }

  truncate(length: number): void {
    this.#use();
    if (this.#mode === 'read') throw modelError('truncate', this.path, 'EINVAL');
    this.#device.mutate();
    this.#device.giveSpace(this.#file.length - length);
    this.#file.truncate(length);
    this.#file.facts.modifiedMs = this.#device.now();
  }

  sync(): void {
    this.#use();
    this.#device.mutate();
    this.#file.sync();
  }

  syncData(): void {
    this.sync();
  }

  /** Durable at once and told later, as the system may do it. */
  async syncDataLater(): Promise<void> {
    this.sync();
    await Promise.resolve();
    this.#device.observe();
  }

  status(): FileStatus {
    this.#use();
    return this.#device.statusOf(this.#file);
  }

  setMode(mode: number): void {
    this.#use();
    this.#device.mutate();
    this.#file.facts.mode = mode;
  }

  close(): void {
    this.#use();
    this.#isClosed = true;
    this.#device.closed(this.#file);
  }

  #use(): void {
    assert(!this.#isClosed, 'a closed file was used');
    this.#device.observe();
  }
}
