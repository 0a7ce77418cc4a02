import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { filesBelow } from './source-tree.js';

const folder = resolve(__dirname, '../golden');

/** A golden is never changed: a changed line is a new file, which `node test/tidy/pin.mjs goldens` adds. */
test('every file under test/golden has the bytes it was frozen with', () => {
  const found = filesBelow(folder)
    .filter((name) => name !== 'SHA256SUMS')
    .map((name) => `${digestOf(join(folder, name))}  ${name}`);
  const pinned = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').split('\n');
  expect([...found, '']).toEqual(pinned);
  expect(found.length).toBeGreaterThan(0);
});

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
