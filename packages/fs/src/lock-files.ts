import { join } from 'node:path';
import {
  type Clock,
  errnoOf,
  type FileHandle,
  type FileStatus,
  type FileSystem,
  type Host,
  type Ids,
  type LockMode,
  limits,
} from '@turnlog/kernel';
import { childPath } from './contained-path.js';
import { unsafePath } from './file-errors.js';
import type { FilesystemKind } from './filesystem-kind.js';
import { formatCompletion, formatIntent, type OwnerRecord, parseOwner } from './owner-record.js';
import { writeAll } from './write-all.js';

/** What all parts of the writer lock share. */
export interface LockContext {
  readonly fs: FileSystem;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly host: Host;
  /** Name and version of the program, for the owner record. */
  readonly program: string;
  /** What a directory lies on: only of a local one all processes see what is done there in the same order. */
  readonly filesystemKind: (path: string) => FilesystemKind;
  readonly staleMs: number;
  readonly updateMs: number;
}

/** How far the time a coarse file system keeps may lie from the one that was set. */
export const coarseTimeMs = 2_000;

const intentPattern = /^session\.owner\.[0-9a-f]{16}$/;
const claimPattern = /^session\.lock\.[0-9a-f]{16}\.[0-9]{1,4}$/;

export function lockPathOf(directory: string): string {
  return childPath(directory, 'session.lock');
}

export function ownerPathOf(directory: string): string {
  return join(directory, 'session.owner.json');
}

/** `key`: 16 hex digits that name the judged lock. */
export function claimPathOf(directory: string, key: string, attempt: number): string {
  return join(directory, `session.lock.${key}.${attempt}`);
}

export function newIntentPath(context: LockContext, directory: string): string {
  return join(directory, `session.owner.${context.ids.randomHex(8)}`);
}

/** A record of this process, about a lock directory that does not exist yet. */
export function describeSelf(context: LockContext, mode: LockMode): OwnerRecord {
  const { host, clock } = context;
  return {
    lockId: context.ids.randomHex(16),
    pid: host.pid,
    pidNamespace: host.pidNamespace,
    start: host.startOf(host.pid),
    host: host.hostname,
    bootId: host.bootId,
    mode,
    acquiredAt: new Date(clock.now()).toISOString(),
    program: context.program,
    lock: null,
    leaseUntil: null,
  };
}

/**
 * Creates a claim, or an intent that will never be completed; returns its status.
 *
 * @throws TURNLOG_IO EEXIST when it is taken.
 */
export function createOwnerFile(fs: FileSystem, path: string, record: OwnerRecord): FileStatus {
  const file = fs.open(path, 'create');
  try {
    writeAll(file, Buffer.from(formatIntent(record) + formatCompletion(null)));
    return file.status();
  } finally {
    file.close();
  }
}

export interface OwnerFile {
  /** Null when the content is no record. */
  readonly record: OwnerRecord | null;
  readonly status: FileStatus;
}

/** Reads an owner record, an intent or a claim; null when there is none. */
export function readOwnerFile(fs: FileSystem, path: string): OwnerFile | null {
  let file: FileHandle;
  try {
    file = fs.open(path, 'read');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const status = file.status();
    if (status.size > limits.smallFileBytesMax) return { record: null, status };
    return { record: parseOwner(readText(file, status.size)), status };
  } finally {
    file.close();
  }
}

/**
 * Whether an intent or claim that holds no record is one of before the machine's present start, by `nowMs`. Whoever
 * makes one writes into it before doing anything with the lock, but the bytes are not synced: a power cut may take
 * them and leave the name, and has ended whoever made it.
 */
export function isFromBeforeStart(context: LockContext, file: OwnerFile, nowMs: number): boolean {
  const uptimeMs = context.host.uptimeMs();
  return uptimeMs !== null && file.status.modifiedMs + coarseTimeMs < nowMs - uptimeMs;
}

function readText(file: FileHandle, size: number): string {
  const bytes = new Uint8Array(size);
  let length = 0;
  while (length < size) {
    const count = file.read(bytes.subarray(length), length);
    if (count === 0) break;
    length += count;
  }
  return Buffer.from(bytes.buffer, 0, length).toString('utf8');
}

/** The lock directory; null when nobody holds the lock. @throws TURNLOG_UNSAFE_PATH when it is none. */
export function lockStatus(fs: FileSystem, directory: string): FileStatus | null {
  const path = lockPathOf(directory);
  const status = fs.status(path);
  if (status !== null && status.kind !== 'directory') {
    throw unsafePath(path, `it is a ${status.kind}, not a directory`);
  }
  return status;
}

/** The paths of all intents in `directory`. */
export function intentPaths(fs: FileSystem, directory: string): string[] {
  return pathsMatching(fs, directory, intentPattern);
}

export function claimPaths(fs: FileSystem, directory: string): string[] {
  return pathsMatching(fs, directory, claimPattern);
}

function pathsMatching(fs: FileSystem, directory: string, pattern: RegExp): string[] {
  return fs
    .list(directory)
    .filter(({ name }) => pattern.test(name))
    .map(({ name }) => join(directory, name));
}

export function removeDirectoryIfPresent(fs: FileSystem, path: string): void {
  try {
    fs.removeDirectory(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
