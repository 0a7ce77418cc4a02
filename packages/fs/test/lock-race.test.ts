import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createHost,
  createNodeFileSystem,
  createRandomIds,
  createSystemClock,
  createWriterLocks,
  type FilesystemKind,
} from '@turnlog/fs';
import type { HeldLock, TakeOver, WriterLocks } from '@turnlog/kernel';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';

/* Real processes on a real disk. The children run the compiled package: `pnpm run types` builds it. */

const openerPath = join(__dirname, 'children', 'lock-opener.mjs');
const openerCount = 16;
const roundCount = 100;
const fs = createNodeFileSystem();

interface Answer {
  readonly pid: number;
  readonly takenOver: TakeOver | null;
}

let directory: TemporaryDirectory;
const children: ChildProcess[] = [];
const stranded: HeldLock[] = [];

beforeEach(() => {
  directory = makeTemporaryDirectory();
});
afterEach(async () => {
  for (const child of children.splice(0)) await end(child);
  for (const lock of stranded.splice(0)) await lock.release();
  directory.remove();
});

async function start(...options: string[]): Promise<ChildProcess> {
  const child = fork(openerPath, options, { stdio: 'inherit' });
  children.push(child);
  await once(child, 'message');
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Sends a child into the race; resolves with what it displaced when it has left the lock. */
async function send(child: ChildProcess, into: string): Promise<Answer> {
  child.send({ directory: into });
  const [answer] = await once(child, 'message');
  return answer as Answer;
}

function locks(startOf = createHost().startOf, reach?: FilesystemKind['reach']): WriterLocks {
  const host = { ...createHost(), startOf };
  return createWriterLocks({
    fs,
    ids: createRandomIds(),
    clock: createSystemClock(),
    host,
    program: 'turnlog/test',
    ...(reach !== undefined && { filesystemKind: () => ({ name: 'as given', reach }) }),
  });
}

/** A directory whose lock was left by a process that has ended: no process has the start time 0. */
async function strandedLock(name: string): Promise<string> {
  const path = join(directory.path, name);
  fs.makeDirectory(path);
  stranded.push(await locks(() => '0').acquire(path, { mode: 'owned', waitMs: 0, onLost: () => undefined }));
  return path;
}

/** Who was in the lock, one after the other; fails when two were in it at once. */
function visitors(path: string): string[] {
  const lines = readFileSync(join(path, 'journal'), 'utf8').trimEnd().split('\n');
  const pids: string[] = [];
  for (let line = 0; line < lines.length; line += 2) {
    const pid = lines[line]?.replace('enter ', '') ?? '';
    expect(lines[line + 1]).toBe(`leave ${pid}`);
    pids.push(pid);
  }
  return pids;
}

describe('T-47 a dead owner’s lock and many openers', () => {
  test(`T-47 ${openerCount} processes at once, ${roundCount} rounds: one breaks the lock, one owner at a time, all get it`, async () => {
    const openers = await Promise.all(Array.from({ length: openerCount }, () => start()));
    for (let round = 0; round < roundCount; round += 1) {
      const path = await strandedLock(`round-${round}`);
      const answers = await Promise.all(openers.map((child) => send(child, path)));
      expect(new Set(visitors(path))).toEqual(new Set(openers.map((child) => `${child.pid}`)));
      expect(visitors(path)).toHaveLength(openerCount);
      expect(answers.filter((answer) => answer.takenOver !== null)).toMatchObject([
        { takenOver: { state: 'dead', pid: process.pid } },
      ]);
    }
  }, 120_000);

  test('T-47 a claimer killed after its claim: the next claim takes over', async () => {
    const path = await strandedLock('killed');
    const claimer = await start('--die-after-claim');
    claimer.send({ directory: path });
    await once(claimer, 'exit');
    expect(locks().inspect(path)?.state).toBe('dead');
    const openers = await Promise.all([start(), start(), start()]);
    const answers = await Promise.all(openers.map((child) => send(child, path)));
    expect(answers.filter((answer) => answer.takenOver !== null)).toHaveLength(1);
    expect(visitors(path)).toHaveLength(3);
    const claims = fs.list(path).filter((entry) => /^session\.lock\..*\.2$/.test(entry.name));
    expect(claims).toHaveLength(1);
  }, 30_000);

  test('T-47 a claimer frozen after its claim: the others wait, and when it goes on it gets the lock', async () => {
    const path = await strandedLock('frozen');
    const claimer = await start('--freeze-after-claim');
    const claimed = send(claimer, path);
    await untilStopped(claimer.pid ?? 0);
    const waiting = locks().acquire(path, { mode: 'owned', waitMs: 400, onLost: () => undefined });
    await expect(waiting).rejects.toMatchObject({ code: 'TURNLOG_LOCKED' });
    const opener = await start();
    const opened = send(opener, path);
    claimer.kill('SIGCONT');
    const answers = await Promise.all([claimed, opened]);
    expect(visitors(path)).toHaveLength(2);
    expect(answers[0]?.takenOver).toMatchObject({ state: 'dead' });
    expect(answers[1]?.takenOver).toBeNull();
  }, 30_000);
});

/** A lock directory whose owner is unknown beside an intent with `text` in it, as a killed process leaves it. */
function plantIntent(name: string, text: string): { readonly path: string; readonly intent: string } {
  const path = join(directory.path, name);
  fs.makeDirectory(path);
  const intent = join(path, 'session.owner.0123456789abcdef');
  const file = fs.open(intent, 'create');
  file.write(Buffer.from(text));
  file.close();
  fs.makeDirectory(join(path, 'session.lock'));
  return { path, intent };
}

const now = { mode: 'owned', waitMs: 0, onLost: () => undefined } as const;

test('an empty intent of before the start of the machine, as a power cut leaves it: the lock beside it is taken at once', async () => {
  const { path, intent } = plantIntent('cut', '');
  const anywhere = locks(undefined, 'network');
  // As young as it is, it may be that of a process on another machine that is about to write.
  await expect(anywhere.acquire(path, now)).rejects.toMatchObject({ code: 'TURNLOG_LOCKED' });
  const beforeStartMs = Date.now() - (createHost().uptimeMs() ?? 0) - 3_000;
  fs.setTimes(intent, beforeStartMs, beforeStartMs);
  const held = await anywhere.acquire(path, now);
  stranded.push(held);
  expect(held.takenOver).toMatchObject({ state: 'dead', pid: null });
  expect(fs.status(intent)).toBeNull();
});

describe('an intent that a killed process left beside the lock of a dead owner', () => {
  const begun = '{"v":1,"lock_id":"';

  test.each([
    ['empty', 'local', '', 'dead'],
    ['begun', 'local', begun, 'unknown'],
    ['empty', 'network', '', 'unknown'],
    ['empty', 'unknown', '', 'unknown'],
  ] as const)('%s, on a file system that is %s', async (_what, reach, text, state) => {
    const { path } = plantIntent(`${reach}-${state}`, text);
    const here = locks(undefined, reach);
    expect(here.inspect(path)?.state).toBe(state);
    const taking = here.acquire(path, now).then((held) => stranded.push(held));
    if (state === 'dead') await taking;
    else await expect(taking).rejects.toMatchObject({ code: 'TURNLOG_LOCKED' });
  });

  test('an intent of a living process beside an empty one counts', async () => {
    const { path } = plantIntent('both', '');
    const here = locks(undefined, 'local');
    stranded.push(await here.acquire(path, now));
    // What it is while the lock is given back: the record is an intent, the directory is still there.
    fs.rename(join(path, 'session.owner.json'), join(path, 'session.owner.fedcba9876543210'));
    expect(here.inspect(path)?.state).toBe('alive');
    fs.rename(join(path, 'session.owner.fedcba9876543210'), join(path, 'session.owner.json'));
  });
});

async function untilStopped(pid: number): Promise<void> {
  const clock = createSystemClock();
  for (let look = 0; look < 500; look += 1) {
    if (/\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return;
    await clock.sleep(10);
  }
  throw new Error('the claimer did not stop');
}
