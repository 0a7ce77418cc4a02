import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSqlite, openMirror } from '@turnlog/mirror';
import { openStore, type Store } from '@turnlog/store';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { Child } from './child-process.js';

/* Real processes and a real disk. The children run the compiled packages: `pnpm run types` builds them. */

let temporary: TemporaryDirectory;
let root: string;
let store: Store;

beforeEach(async () => {
  temporary = makeTemporaryDirectory();
  root = join(temporary.path, 'store');
  store = await openStore({ root, cwd: '/', env: {} });
});
afterEach(() => temporary.remove());

async function write(session: string, from: number, to: number): Promise<void> {
  const log = await store.open(session);
  for (let at = from; at <= to; at += 1) {
    log.append({
      type: 'item.completed',
      item: { id: `i-${at % 4}`, type: 'agent_message', text: `words ${at}` },
    });
  }
  await log.close();
}

/** Kills a catch-up at every commit it makes, each time in a process of its own; returns how many were killed. */
async function killAtEveryCommit(moment: 'before' | 'after'): Promise<number> {
  for (let commit = 1; ; commit += 1) {
    const child = new Child('mirror-child.mjs', root, String(commit), moment);
    await child.ended();
    expect(child.errors).toBe('');
    expect(await count('record, cursor WHERE session = log AND record.offset >= cursor.offset')).toBe(0);
    if (child.lines.some((line) => line.startsWith('done'))) return commit - 1;
  }
}

async function count(what: string): Promise<number> {
  const path = join(root, 'mirror.sqlite');
  if (!existsSync(path)) return 0;
  const database = (await loadSqlite()).open(path, 'read-only');
  try {
    return database.prepare<{ readonly n: number }>(`SELECT count(*) AS n FROM ${what}`).get()?.n ?? -1;
  } finally {
    database.close();
  }
}

/** The failure that was met (B80): a cut inside of a character, and then the rest; one like it where it is not at hand. */
function halves(): { readonly first: Uint8Array; readonly rest: Uint8Array; readonly offset: number } {
  const folder = join(__dirname, '..', '..', '..', 'shared', 'cases', 'B80-half-line-then-rest');
  if (existsSync(folder)) {
    const [first, rest] = ['part1.bin', 'part2.bin'].map((name) => readFileSync(join(folder, name)));
    const expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
    return { first: first ?? Buffer.of(), rest: rest ?? Buffer.of(), offset: expected.offsetAfterPart1 };
  }
  const lines = ['one', 'half 你好 line'].map((text, at) => {
    const event = { type: 'item.completed', item: { id: 'i', type: 'agent_message', text } };
    return `${JSON.stringify({ schema_version: '0.18.0', seq: at + 1, ts: '2026-01-05T10:00:00.000Z', event })}\n`;
  });
  const [whole, offset] = [Buffer.from(lines.join('')), Buffer.byteLength(lines[0] ?? '')];
  const cut = whole.indexOf('你') + 1;
  return { first: whole.subarray(0, cut), rest: whole.subarray(cut), offset };
}

test('Q-17, B80: a catch-up killed at every commit leaves no record twice and loses none, its cursor is never ahead; 5 records and 3 more are 8; a half line waits for its rest', async () => {
  await write('a', 1, 5);
  // One makes the tables.
  expect(await killAtEveryCommit('before')).toBe(2);
  expect(await count('record')).toBe(5);
  await write('a', 6, 8);
  expect(await killAtEveryCommit('after')).toBe(1);
  expect(await count('record')).toBe(8);
  await write('b', 1, 2_500);
  expect(await killAtEveryCommit('before')).toBeGreaterThan(1);
  await write('b', 2_501, 5_000);
  expect(await killAtEveryCommit('after')).toBeGreaterThan(1);
  expect(await count('record')).toBe(5_008);
  const opened = await openMirror(store);
  if (opened.kind === 'off') throw new Error(opened.reason);
  const { mirror } = opened;
  expect((await mirror.check()).outcome).toBe('equal');

  const { first, rest, offset } = halves();
  mkdirSync(join(root, 'sessions/half'), { mode: 0o700 });
  const path = join(root, 'sessions/half/events.jsonl');
  writeFileSync(path, first, { mode: 0o600 });
  expect(await mirror.catchUp()).toMatchObject({ isComplete: true, failed: [] });
  expect(await count("record WHERE session = 'half'")).toBe(1);
  expect(await count(`cursor WHERE log = 'half' AND offset = ${offset}`)).toBe(1);
  mirror.close();
  const again = await openMirror(store);
  if (again.kind === 'off') throw new Error(again.reason);
  appendFileSync(path, rest);
  expect(await again.mirror.catchUp()).toMatchObject({ isComplete: true, failed: [] });
  expect(await count("record WHERE session = 'half'")).toBe(2);
  expect(await count(`cursor WHERE log = 'half' AND offset = ${first.length + rest.length}`)).toBe(1);
  again.mirror.close();
}, 240_000);
