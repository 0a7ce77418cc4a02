import {
  closeSync,
  fchmodSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  readSync,
  writeSync,
} from 'node:fs';
import { assert, type FileHandle, type FileStatus } from '@turnlog/kernel';
import { ioError } from './file-errors.js';
import { fileStatus } from './node-file-status.js';

/** An open regular file of this machine. */
export class NodeFileHandle implements FileHandle {
  readonly path: string;
  readonly #descriptor: number;
  #isClosed = false;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  write(bytes: Uint8Array): number {
    return this.#run('write', (descriptor) => writeSync(descriptor, bytes));
  }

  read(into: Uint8Array, offset: number): number {
    return this.#run('read', (descriptor) => readSync(descriptor, into, 0, into.length, offset));
  }

  truncate(length: number): void {
    this.#run('truncate', (descriptor) => ftruncateSync(descriptor, length));
  }

  sync(): void {
    this.#run('sync', fsyncSync);
  }

  syncData(): void {
    this.#run('syncData', fdatasyncSync);
  }

  syncDataLater(): Promise<void> {
    assert(!this.#isClosed, 'a closed file was used');
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => {
        if (error === null) resolve();
        else reject(ioError('syncData', this.path, error));
      });
    });
  }

  status(): FileStatus {
    return this.#run('status', (descriptor) => fileStatus(fstatSync(descriptor, { bigint: true })));
  }

  setMode(mode: number): void {
    this.#run('setMode', (descriptor) => fchmodSync(descriptor, mode));
  }

  close(): void {
    // Marked first: the system has released the number even when it reports a failure.
    this.#run('close', (descriptor) => {
      this.#isClosed = true;
      closeSync(descriptor);
    });
  }

  /** A closed descriptor's number may belong to another file by now, so using it is stopped here. */
  #run<T>(operation: string, verb: (descriptor: number) => T): T {
    assert(!this.#isClosed, 'a closed file was used');
    try {
      return verb(this.#descriptor);
    } catch (error) {
      throw ioError(operation, this.path, error);
    }
  }
}
