/**
 * The key of a store for the digits of its marks: `<root>/redaction.key`, 32 random bytes, mode 0600.
 *
 * It is no secret of the user's and opens nothing: who has it can only try out whether a mark stands for a text
 * that they guess. Lost, it is made anew, and marks of before and after it differ for the same secret.
 */

import { join } from 'node:path';
import { type Ownership, openOwnFile, publish, writeAll } from '@turnlog/fs';
import {
  errnoOf,
  type FileHandle,
  type FileSystem,
  type Ids,
  isTurnlogError,
  limits,
  type TurnlogError,
} from '@turnlog/kernel';
import { storeNames } from './layout.js';

/**
 * - `store`: the same secret has the same mark in every output of this store.
 * - `process`: only within this run, because the root could not take the file.
 */
export type RedactionKeyScope = 'store' | 'process';

/** Handed to `createRedactor`; never printed, logged or put into an error. */
export class RedactionKey {
  /** Why the root did not take the file; null for the key of a store. */
  readonly failure: TurnlogError | null;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, failure: TurnlogError | null) {
    this.#bytes = bytes;
    this.failure = failure;
  }

  get scope(): RedactionKeyScope {
    return this.failure === null ? 'store' : 'process';
  }

  /** The key itself. */
  reveal(): Uint8Array {
    return this.#bytes;
  }
}

export interface RedactionKeyPlace {
  readonly fs: FileSystem;
  readonly ids: Ids;
  readonly ownership: Ownership;
  /** Blocks for so many milliseconds; by default it really does. */
  readonly pause?: (ms: number) => void;
}

const keyBytes = 32;
const pauseMs = 5;

/**
 * The key of the store at `root`, made by whoever needs it first and may write there. Where it cannot be made (the
 * root takes no writes, is full, does not exist), it is one of this process: that must keep nobody from reading.
 *
 * @throws TURNLOG_UNSAFE_PATH when a link or somebody else's file stands in its place; TURNLOG_IO when it is there
 *   and cannot be read.
 */
export function openRedactionKey(place: RedactionKeyPlace, root: string): RedactionKey {
  const path = join(root, storeNames.redactionKey);
  const held = readKey(place, path);
  if (held !== null) return new RedactionKey(held, null);
  const made = newKey(place.ids);
  try {
    return new RedactionKey(createKey(place, path, made), null);
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_IO')) throw error;
    return new RedactionKey(made, error);
  }
}

function newKey(ids: Ids): Uint8Array {
  return Buffer.from(ids.randomHex(keyBytes), 'hex');
}

/** Null when there is none, or when nobody finished writing it. */
function readKey(place: RedactionKeyPlace, path: string): Uint8Array | null {
  for (let waitedMs = 0; waitedMs <= limits.redactionKeyWaitMsMax; waitedMs += pauseMs) {
    const bytes = readFile(place, path);
    if (bytes === null || isKey(bytes)) return bytes;
    // Another process has just created it, or a crash left it: the first is over in a moment.
    (place.pause ?? pauseBlocking)(pauseMs);
  }
  return null;
}

/** A power cut in the first write may leave a file of the right length that holds zeros: everybody would know that key. */
function isKey(bytes: Uint8Array): boolean {
  return bytes.length === keyBytes && bytes.some((byte) => byte !== 0);
}

function readFile({ fs, ownership }: RedactionKeyPlace, path: string): Uint8Array | null {
  if (fs.status(path) === null) return null;
  const file = openOwnFile(fs, path, 'read', ownership);
  try {
    tighten(file, ownership);
    const bytes = new Uint8Array(keyBytes + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count) {
      count = file.read(bytes.subarray(length), length);
    }
    return bytes.subarray(0, length);
  } finally {
    file.close();
  }
}

/**
 * Puts the key in its place: whoever creates the name decides, everybody else reads what they wrote. Only a file
 * that holds no key, as a crash leaves it, is replaced.
 *
 * @returns the key that stands there.
 */
function createKey(place: RedactionKeyPlace, path: string, bytes: Uint8Array): Uint8Array {
  const { fs, ids } = place;
  let file: FileHandle;
  try {
    file = fs.open(path, 'create');
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    const held = readKey(place, path);
    if (held !== null) return held;
    publish(fs, ids, path, bytes, { durability: 'durable' });
    return readKey(place, path) ?? bytes;
  }
  writeNew(fs, file, bytes);
  fs.syncDirectory(join(path, '..'));
  return bytes;
}

/** Leaves no name behind when the bytes cannot be written, and says the first thing that went wrong. */
function writeNew(fs: FileSystem, file: FileHandle, bytes: Uint8Array): void {
  try {
    try {
      writeAll(file, bytes);
      file.sync();
    } finally {
      file.close();
    }
  } catch (error) {
    removeUnfinished(fs, file.path);
    throw error;
  }
}

/** What stays is replaced by whoever needs the key next. */
function removeUnfinished(fs: FileSystem, path: string): void {
  try {
    fs.removeFile(path);
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_IO')) throw error;
  }
}

/** A key that others could read is closed to them, where this file system lets us. */
function tighten(file: FileHandle, ownership: Ownership): void {
  const { mode } = file.status();
  if (ownership.uid === null || (mode & 0o077) === 0) return;
  try {
    file.setMode(0o600);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === null) throw error;
    ownership.onModeWarning({ path: file.path, mode, errno });
  }
}

function pauseBlocking(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
