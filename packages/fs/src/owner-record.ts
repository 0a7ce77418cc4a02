/*
 * session.owner.json, one line:
 *
 *   {"v":1,"lock_id":"<32 hex>","pid":4242,"pid_ns":"pid:[4026531836]","start":"8812345","host":"box",
 *    "boot_id":"6b1c…","mode":"owned","acquired_at":"2026-10-05T08:00:00.000Z","program":"turnlog/0.1.0",
 *    "lock":{"ino":"1311","birth_ns":"1791187200000000000"}}
 *
 * `lock` names the lock directory the record speaks for. It comes last because it is added last: an intent is
 * the record cut before it, and is completed by appending. A lease adds `until`, its deadline. The order of the
 * keys means nothing to a reader.
 */
import type { Host, LockMode, OwnerState } from '@turnlog/kernel';

export interface OwnerRecord {
  readonly lockId: string;
  readonly pid: number;
  readonly pidNamespace: string | null;
  readonly start: string | null;
  readonly host: string;
  readonly bootId: string | null;
  readonly mode: LockMode | null;
  readonly acquiredAt: string | null;
  readonly program: string | null;
  /** The lock directory; null in an intent that has not seen it yet, and in a claim. */
  readonly lock: LockIdentity | null;
  /** The deadline of a lease; null when the lock is held without one. */
  readonly leaseUntil: string | null;
}

/** Which lock directory: names are used again, inodes too, inode and time of birth together hardly ever. */
export interface LockIdentity {
  readonly inode: string;
  /** "0" where the system does not tell: then the inode alone decides. */
  readonly birthNs: string;
}

export function isSameLock(left: LockIdentity, right: LockIdentity): boolean {
  if (left.inode !== right.inode) return false;
  return left.birthNs === '0' || right.birthNs === '0' || left.birthNs === right.birthNs;
}

/** The beginning of a record, which says who writes it; `formatCompletion` makes it whole. */
export function formatIntent(record: OwnerRecord): string {
  return JSON.stringify({
    v: 1,
    lock_id: record.lockId,
    pid: record.pid,
    pid_ns: record.pidNamespace,
    start: record.start,
    host: record.host,
    boot_id: record.bootId,
    mode: record.mode,
    acquired_at: record.acquiredAt,
    program: record.program,
  }).slice(0, -1);
}

export function formatCompletion(lock: LockIdentity | null): string {
  const identity = lock === null ? null : { ino: lock.inode, birth_ns: lock.birthNs };
  return `,"lock":${JSON.stringify(identity)}}\n`;
}

/** A record or the beginning of one; null when the text is neither. What is not known is ignored. */
export function parseOwner(text: string): OwnerRecord | null {
  const value = parseObject(text) ?? parseObject(`${text}}`);
  if (value === null || own(value, 'v') !== 1) return null;
  const lockId = textOf(value, 'lock_id');
  const pid = own(value, 'pid');
  const host = textOf(value, 'host');
  if (lockId === null || !/^[0-9a-f]{32}$/.test(lockId) || host === null) return null;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return null;
  const mode = own(value, 'mode');
  return {
    lockId,
    pid,
    host,
    pidNamespace: textOf(value, 'pid_ns'),
    start: textOf(value, 'start'),
    bootId: textOf(value, 'boot_id'),
    mode: mode === 'owned' || mode === 'shared' ? mode : null,
    acquiredAt: textOf(value, 'acquired_at'),
    program: textOf(value, 'program'),
    lock: lockOf(own(value, 'lock')),
    leaseUntil: textOf(value, 'until'),
  };
}

/** What `judgeOwner` needs to know of the machine it runs on. */
export type OwnerFacts = Pick<Host, 'hostname' | 'bootId' | 'pidNamespace' | 'isAlive' | 'startOf'>;

/**
 * Whether the process that wrote `record` still runs.
 *
 * `dead` needs a proof: the machine has been started anew since, or the process is gone, or its number is used
 * by one that began at another time. `alive` needs the process itself. A record of another machine or of another
 * pid namespace proves neither: `unknown`.
 */
export function judgeOwner(record: OwnerRecord, facts: OwnerFacts): OwnerState {
  if (record.host !== facts.hostname) return 'unknown';
  if (record.bootId !== facts.bootId) {
    return record.bootId === null || facts.bootId === null ? 'unknown' : 'dead';
  }
  if (record.pidNamespace !== facts.pidNamespace) return 'unknown';
  if (!facts.isAlive(record.pid)) return 'dead';
  const start = facts.startOf(record.pid);
  return record.start === null || start === null || record.start === start ? 'alive' : 'dead';
}

type PlainObject = Readonly<Record<string, unknown>>;

function parseObject(text: string): PlainObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : null;
  } catch {
    // Not a record; the caller's answer for that is null.
    return null;
  }
}

function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own properties only: a record cannot borrow a field from the prototype. */
function own(value: PlainObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function textOf(value: PlainObject, key: string): string | null {
  const text = own(value, key);
  return typeof text === 'string' ? text : null;
}

function lockOf(value: unknown): LockIdentity | null {
  if (!isPlainObject(value)) return null;
  const inode = textOf(value, 'ino');
  const birthNs = textOf(value, 'birth_ns');
  return inode === null || birthNs === null ? null : { inode, birthNs };
}
