import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { ownLines, turn } from '../support.js';
import { bin, build, turnlog } from './program.js';

const mebibyte = 1024 * 1024;

/** The most that the program may keep on its heap, in MiB: an eighth of what the largest log here would need. */
const oldSpaceMax = 128;

let directory: TemporaryDirectory;

beforeAll(build, 120_000);

beforeEach(() => {
  directory = makeTemporaryDirectory();
});

afterEach(() => directory.remove());

/** Loaded before the program: a native module ends it, and its memory is told when it is done. */
const preload = `
const { writeFileSync } = require('node:fs');
process.dlopen = (module, path) => { throw new Error('native: ' + path); };
let heap = 0;
const look = () => { gc(); heap = Math.max(heap, process.memoryUsage().heapUsed); };
setInterval(look, 50).unref();
const write = process.stdout.write;
let writes = 0;
process.stdout.write = function (...given) {
  // What is held when the first of it is printed, and now and then from there on.
  writes += 1;
  if (Number.isInteger(Math.log2(writes))) look();
  return write.apply(this, given);
};
process.on('exit', () => {
  const rss = process.resourceUsage().maxRSS * 1024;
  writeFileSync(process.env.TOLD, JSON.stringify({ heap, rss }));
});
`;

interface Outcome {
  readonly code: number | null;
  readonly stderr: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly lineCount: number;
  readonly lastLine: string;
  /** The most that was held on the heap at any look, and of memory at all; 0 when the program did not say. */
  readonly heap: number;
  readonly rss: number;
}

/** Runs the program without native modules, in a small heap, and keeps of what it prints a digest and the end. */
async function measured(argv: readonly string[]): Promise<Outcome> {
  const told = join(directory.path, 'told.json');
  const loaded = join(directory.path, 'preload.cjs');
  writeFileSync(loaded, preload);
  writeFileSync(told, '{"heap":0,"rss":0}');
  const node = ['--expose-gc', `--max-old-space-size=${oldSpaceMax}`, '--require', loaded];
  const child = spawn(process.execPath, [...node, ...argv], { env: { ...process.env, TOLD: told } });
  const digest = createHash('sha256');
  let bytes = 0;
  let lineCount = 0;
  let end = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    digest.update(chunk);
    bytes += chunk.length;
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) lineCount += 1;
    end = `${end}${chunk.subarray(-4_096).toString()}`.slice(-4_096);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const lastLine = end.trimEnd().split('\n').at(-1) ?? '';
  const figures: { readonly heap: number; readonly rss: number } = JSON.parse(readFileSync(told, 'utf8'));
  return { code, stderr, bytes, sha256: digest.digest('hex'), lineCount, lastLine, ...figures };
}

/** Adds sessions to a store until it has so many; all are one and the same but for the id. */
function growTo(root: string, before: number, count: number): void {
  const sessions = join(root, 'sessions');
  if (before === 0) turnlog(root, ['record', 'copy-0'], ownLines(turn));
  const log = join(sessions, 'copy-0', 'events.jsonl');
  const manifest = readFileSync(join(sessions, 'copy-0', 'manifest.json'), 'utf8');
  for (let number = Math.max(before, 1); number < count; number += 1) {
    const id = `copy-${number}`;
    mkdirSync(join(sessions, id), { mode: 0o700 });
    // The same file under another name: a new one for each would take longer than all the rest.
    linkSync(log, join(sessions, id, 'events.jsonl'));
    const own = manifest.replace('"session_id":"copy-0"', `"session_id":"${id}"`);
    writeFileSync(join(sessions, id, 'manifest.json'), own, { mode: 0o600 });
  }
}

/** A store with one session `large`, whose log has so many lines of one length; the digest of the log. */
function largeLog(root: string, lineBytes: number, lineCount: number): string {
  const session = join(root, 'sessions', 'large');
  mkdirSync(session, { recursive: true, mode: 0o700 });
  const file = openSync(join(session, 'events.jsonl'), 'wx', 0o600);
  const digest = createHash('sha256');
  const line = Buffer.alloc(lineBytes, 'word and ');
  line.write('"}}}\n', lineBytes - 5);
  for (let seq = 1; seq <= lineCount; seq += 1) {
    const item = '"event":{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"';
    line.write(`{"schema_version":"0.18.0","seq":${seq},"ts":"2026-01-05T10:00:00.000Z",${item}`);
    writeSync(file, line);
    digest.update(line);
  }
  closeSync(file);
  return digest.digest('hex');
}

async function startsWithoutNativeModules(): Promise<void> {
  const loading = await measured(['-e', "process.dlopen({ exports: {} }, '/any.node')"]);
  expect(loading.stderr).toContain('native: /any.node');
  for (const argv of [
    ['--version'],
    ['--help'],
    ['sessions', '--help'],
    ['--root', directory.path, 'sessions'],
  ]) {
    const { code, stderr } = await measured([bin, ...argv]);
    expect([argv, code, stderr.includes('native')]).toEqual([argv, 0, false]);
  }
}

/** Ten thousand directories are made, read and removed much faster where no disk has to keep them. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

async function listsInConstantMemory(): Promise<void> {
  const root = mkdtempSync(join(parent, 'turnlog-test-'));
  try {
    await listsFrom(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

async function listsFrom(root: string): Promise<void> {
  const list = (...more: string[]): Promise<Outcome> =>
    measured([bin, '--root', root, 'sessions', '--jsonl', ...more]);
  growTo(root, 0, 1_000);
  const small = await list('--limit', '50');
  growTo(root, 1_000, 10_000);
  const large = await list('--limit', '50');
  const whole = await list();
  const counts = [small, large, whole].map(({ lastLine }) => JSON.parse(lastLine).summary);
  expect(counts.map(({ listed, matching, unreadable }) => [listed, matching, unreadable])).toEqual([
    [50, 1_000, 0],
    [50, 10_000, 0],
    [10_000, 10_000, 0],
  ]);
  // The names in the directory are held, and nothing else that grows with their number.
  expect(large.heap - small.heap).toBeLessThan(2 * mebibyte);
  // All that is printed is held, which shows that the figures would tell.
  expect(whole.heap - large.heap).toBeGreaterThan(3 * mebibyte);
}

async function exportsInConstantMemory(): Promise<void> {
  const sizes = { small: 64, large: 1_024 };
  const raw: Outcome[] = [];
  for (const [name, count] of Object.entries(sizes)) {
    const root = join(directory.path, name);
    const sha256 = largeLog(root, mebibyte, count);
    const outcome = await measured([bin, '--root', root, 'export', 'large', '--format', 'jsonl', '--raw']);
    expect([outcome.code, outcome.stderr]).toEqual([0, '']);
    expect([outcome.bytes, outcome.sha256]).toEqual([count * mebibyte, sha256]);
    raw.push(outcome);
  }
  expectSameMemory(raw);
}

async function redactedExportsInConstantMemory(): Promise<void> {
  const redacted: Outcome[] = [];
  for (const [name, count] of [
    ['short', 64],
    ['long', 512],
  ] as const) {
    const root = join(directory.path, name);
    largeLog(root, 65_536, count);
    const outcome = await measured([bin, '--root', root, 'export', 'large', '--format', 'jsonl']);
    expect([outcome.code, outcome.lineCount]).toEqual([0, count]);
    redacted.push(outcome);
  }
  expectSameMemory(redacted);
}

function expectSameMemory([small, large]: readonly Outcome[]): void {
  expect(small?.heap).toBeGreaterThan(0);
  expect((large?.heap ?? 0) - (small?.heap ?? 0)).toBeLessThan(4 * mebibyte);
  expect((large?.rss ?? 0) - (small?.rss ?? 0)).toBeLessThan(64 * mebibyte);
}

test('I-26 the start loads no native module, 10,000 sessions are listed and 1 GiB is exported in constant memory', async () => {
  await startsWithoutNativeModules();
  await listsInConstantMemory();
  await exportsInConstantMemory();
}, 240_000);

test(
  'an export with secrets taken out needs no more memory for eight times the log',
  redactedExportsInConstantMemory,
  120_000,
);
