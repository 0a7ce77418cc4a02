import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createNodeFileSystem } from '@turnlog/fs';
import { openLogReader } from '@turnlog/log';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { Child } from './child-process.js';

/* Real processes, real locks, a real disk. The children run the compiled packages: `pnpm run types` builds them. */

const recordCount = 150;
const fs = createNodeFileSystem();
let temporary: TemporaryDirectory;

beforeEach(() => {
  temporary = makeTemporaryDirectory();
});
afterEach(() => temporary.remove());

/** The names of all notes in the log of a directory; one that was taken while it was being made has none. */
function notesIn(directory: string): readonly string[] {
  if (!fs.list(directory).some(({ name }) => name === 'events.jsonl')) return [];
  const reader = openLogReader(fs, directory, 's-1');
  try {
    return [...reader.records()].map((record) => String({ name: '', ...record.readEvent() }.name));
  } finally {
    reader.close();
  }
}

test('T-76 a writer and a remover race for one session, again and again: one of the two wins, and nothing is lost', async () => {
  const root = join(temporary.path, 'store');
  const writer = new Child('keeping-child.mjs', 'write', root, '1', String(recordCount));
  const remover = new Child('keeping-child.mjs', 'remove', root);
  const written = await writer.ended();
  writeFileSync(`${root}.stop`, '');
  const ended = [written, await remover.ended()];
  expect([...ended, writer.errors, remover.errors]).toEqual([0, 0, '', '']);

  const removed = remover.lines.filter((line) => line.startsWith('removed ')).map((line) => line.slice(8));
  const trash = fs.list(join(root, 'trash')).map(({ name }) => name);
  expect([...trash].sort()).toEqual([...removed].sort());
  const left = fs.list(join(root, 'sessions')).map(({ name }) => join(root, 'sessions', name));
  const places = [...trash.map((name) => join(root, 'trash', name)), ...left];
  const found = places.flatMap(notesIn);
  const wanted = Array.from({ length: recordCount }, (_, index) => `r-${index + 1}`);
  expect([...found].sort()).toEqual([...wanted].sort());
  // Both came to their turn, and no lock stayed with what was moved.
  expect(removed.length).toBeGreaterThan(2);
  for (const place of places) {
    const names = fs.list(place).map(({ name }) => name);
    expect(names.filter((name) => name === 'session.lock' || name === 'session.owner.json')).toEqual([]);
  }
  const ledger = openLogReader(fs, join(root, 'ledger'), 'ledger');
  const records = [...ledger.records()].map((record) => String({ trash: '', ...record.readEvent() }.trash));
  ledger.close();
  expect([...records].sort()).toEqual([...removed].sort());
}, 120_000);
