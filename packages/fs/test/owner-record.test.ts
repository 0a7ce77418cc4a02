import type { OwnerState } from '@turnlog/kernel';
import {
  formatCompletion,
  formatIntent,
  isSameLock,
  judgeOwner,
  type OwnerFacts,
  type OwnerRecord,
  parseOwner,
} from '../src/owner-record.js';

const record: OwnerRecord = {
  lockId: '0123456789abcdef0123456789abcdef',
  pid: 42,
  pidNamespace: 'pid:[1]',
  start: '420',
  host: 'box',
  bootId: 'boot-1',
  mode: 'owned',
  acquiredAt: '2026-10-05T08:00:00.000Z',
  program: 'turnlog/0.1.0',
  lock: { inode: '1311', birthNs: '1791187200000000000' },
  leaseUntil: null,
};

function factsOf(change: Partial<OwnerFacts> = {}): OwnerFacts {
  return {
    hostname: 'box',
    bootId: 'boot-1',
    pidNamespace: 'pid:[1]',
    isAlive: () => true,
    startOf: () => '420',
    ...change,
  };
}

test('an intent and its completion are one record on one line', () => {
  const text = formatIntent(record) + formatCompletion(record.lock);
  expect(text.indexOf('\n')).toBe(text.length - 1);
  expect(parseOwner(text)).toEqual(record);
});

test('an intent alone is a record that names no lock', () => {
  expect(parseOwner(formatIntent(record))).toEqual({ ...record, lock: null });
});

test('the written keys are those of the format', () => {
  const text = formatIntent(record) + formatCompletion(record.lock);
  expect(JSON.parse(text)).toEqual({
    v: 1,
    lock_id: record.lockId,
    lock: { ino: '1311', birth_ns: '1791187200000000000' },
    pid: 42,
    pid_ns: 'pid:[1]',
    start: '420',
    host: 'box',
    boot_id: 'boot-1',
    mode: 'owned',
    acquired_at: '2026-10-05T08:00:00.000Z',
    program: 'turnlog/0.1.0',
  });
});

test('unknown keys are ignored, a lease is seen', () => {
  const text = JSON.stringify({
    v: 1,
    lock_id: record.lockId,
    pid: 1,
    host: 'h',
    colour: 'red',
    until: '2026-10-05T08:05:00.000Z',
  });
  expect(parseOwner(text)).toMatchObject({ pid: 1, leaseUntil: '2026-10-05T08:05:00.000Z', start: null });
});

test.each([
  ['nothing', ''],
  ['half a record', formatIntent(record).slice(0, 40)],
  ['no object', '[1]'],
  ['another version', JSON.stringify({ v: 2, lock_id: record.lockId, pid: 1, host: 'h' })],
  ['a pid that is none', JSON.stringify({ v: 1, lock_id: record.lockId, pid: -1, host: 'h' })],
  ['a pid as text', JSON.stringify({ v: 1, lock_id: record.lockId, pid: '1', host: 'h' })],
  ['an id with a path in it', JSON.stringify({ v: 1, lock_id: '../../etc', pid: 1, host: 'h' })],
  [
    'fields of the prototype',
    `{"v":1,"__proto__":{"lock_id":"${record.lockId}","pid":1,"host":"h"},"host":"h"}`,
  ],
  ['noise', '\u0000\u0001'],
])('%s is no record', (_name, text) => {
  expect(parseOwner(text)).toBeNull();
});

test.each<[string, OwnerState, Partial<OwnerRecord>, Partial<OwnerFacts>]>([
  ['the same process', 'alive', {}, {}],
  ['a process of unknown start', 'alive', { start: null }, {}],
  ['a process whose start is not told', 'alive', {}, { startOf: () => null }],
  ['no process of that number', 'dead', {}, { isAlive: () => false }],
  ['the number used again', 'dead', {}, { startOf: () => '421' }],
  ['the machine started anew', 'dead', { bootId: 'boot-0' }, {}],
  ['started anew, another namespace', 'dead', { bootId: 'boot-0', pidNamespace: 'pid:[2]' }, {}],
  ['another host', 'unknown', { host: 'other' }, { isAlive: () => false }],
  ['another host started anew', 'unknown', { host: 'other', bootId: 'boot-0' }, {}],
  ['another pid namespace', 'unknown', { pidNamespace: 'pid:[2]' }, { isAlive: () => false }],
  ['a boot id only here', 'unknown', { bootId: null }, { isAlive: () => false }],
  ['a boot id only there', 'unknown', {}, { bootId: null }],
  [
    'a system that tells nothing, process gone',
    'dead',
    { bootId: null, pidNamespace: null, start: null },
    { bootId: null, pidNamespace: null, isAlive: () => false },
  ],
])('%s: %s', (_name, state, change, facts) => {
  expect(judgeOwner({ ...record, ...change }, factsOf(facts))).toBe(state);
});

test('a lock is the same by inode and birth, by inode alone where births are unknown', () => {
  expect(isSameLock({ inode: '1', birthNs: '5' }, { inode: '1', birthNs: '5' })).toBe(true);
  expect(isSameLock({ inode: '1', birthNs: '5' }, { inode: '1', birthNs: '6' })).toBe(false);
  expect(isSameLock({ inode: '1', birthNs: '0' }, { inode: '1', birthNs: '6' })).toBe(true);
  expect(isSameLock({ inode: '1', birthNs: '0' }, { inode: '2', birthNs: '0' })).toBe(false);
});
