import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHost } from '@turnlog/fs';
import { parseProcessFacts } from '../src/host.js';

const host = createHost();

test('this process is alive, has a start time and a host name', () => {
  expect(host.pid).toBe(process.pid);
  expect(host.isAlive(host.pid)).toBe(true);
  expect(host.startOf(host.pid)).toMatch(/^\d+$/);
  expect(host.hostname).not.toBe('');
  expect(host.bootId).toMatch(/^[0-9a-f-]{36}$/);
  expect(host.pidNamespace).toMatch(/^pid:\[\d+\]$/);
});

test('the machine has been running for longer than this process', () => {
  expect(host.uptimeMs()).toBeGreaterThan(process.uptime() * 1_000);
});

test('an ended process is not alive and has no start time', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const pid = child.pid ?? 0;
  expect(host.isAlive(pid)).toBe(true);
  expect(host.startOf(pid)).toMatch(/^\d+$/);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect([host.isAlive(pid), host.startOf(pid)]).toEqual([false, null]);
});

const fieldsAfterName = `S ${Array.from({ length: 18 }, (_, position) => position + 4).join(' ')} 8812345 23 24`;

test.each([
  ['a plain name', `4242 (node) ${fieldsAfterName}`],
  ['spaces and parentheses', `4242 (a b) c (d)) ${fieldsAfterName}`],
  ['a line break', `4242 (a\nb) ${fieldsAfterName}\n`],
])('the start time is field 22: %s', (_name, text) => {
  expect(parseProcessFacts(text)).toEqual({ state: 'S', start: '8812345' });
});

test.each(['', '4242', '4242 (node', '4242 (node) S 1 2'])(
  'text that is no status tells nothing: %j',
  (text) => {
    expect(parseProcessFacts(text)).toBeNull();
  },
);
