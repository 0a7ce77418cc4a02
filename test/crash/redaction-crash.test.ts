import { isTurnlogError } from '@turnlog/kernel';
import {
  copyDisk,
  enumerateDisks,
  FakeClock,
  FaultFileSystem,
  lookBeforeEachCall,
  ModelFileSystem,
} from '@turnlog/testkit';
import { runToEnd } from './disk-tools.js';
import {
  type AuditedWorld,
  canariesIn,
  cut,
  finishRedaction,
  goingSeqs,
  partedSeqs,
  prepare,
  problemsOf,
  redact,
  redactedCount,
  reopen,
  worldOn,
} from './redaction-world.js';

/** Disks for each call that is stopped at, and for each call of the recovery. */
const disksMax = 6;
const recoveryDisksMax = 2;

async function prepared(second: 'gzip' | 'drop' = 'gzip'): Promise<ModelFileSystem> {
  const fs = new ModelFileSystem({ clock: new FakeClock() });
  await prepare(fs, second);
  return copyDisk(fs);
}

type Run = (world: AuditedWorld) => Promise<void>;
type Check = (world: AuditedWorld) => Promise<readonly string[]>;

/** What is wrong on any disk that a crash at any call of `run` may leave, once a writer has opened the log. */
async function crashEverywhere(
  start: ModelFileSystem,
  run: Run,
  check: Check,
): Promise<{ readonly states: number; readonly problems: readonly string[] }> {
  const seen = new Set<string>();
  const problems: string[] = [];
  let states = 0;
  const examine = async (disk: ModelFileSystem, where: string): Promise<void> => {
    states += 1;
    const world = await worldOn(disk, 3);
    await reopen(world.store);
    const found = await check(world);
    if (problems.length < 5) problems.push(...found.map((problem) => `${where}: ${problem}`));
  };
  const crashRecovery = async (fs: ModelFileSystem, where: string): Promise<void> => {
    const { store } = await worldOn(fs, 4);
    const found: { left: ModelFileSystem; call: number }[] = [];
    await lookBeforeEachCall(
      fs,
      () => reopen(store),
      (call) => {
        const limits = { disksMax: recoveryDisksMax, imagesMax: 2, seen };
        for (const left of enumerateDisks(fs, 1, limits)) found.push({ left, call });
      },
    );
    for (const { left, call } of found) await examine(left, `${where}, then call ${call} of the next open`);
  };
  for (let call = 0, isDone = false; !isDone; call += 1) {
    const fs = copyDisk(start);
    const world = await worldOn(fs, 2);
    fs.crashAt(call);
    isDone = await runToEnd(() => run(world), fs);
    for (const disk of enumerateDisks(fs, 1, { disksMax, imagesMax: disksMax, seen })) {
      const pristine = copyDisk(disk);
      await examine(disk, `call ${call}`);
      await crashRecovery(pristine, `call ${call}`);
    }
  }
  return { states, problems };
}

async function checkRedacted(world: AuditedWorld, seqs: readonly number[]): Promise<readonly string[]> {
  const count = redactedCount(world, seqs);
  const found = [...(await problemsOf(world))];
  if (count !== 0 && count !== seqs.length) found.push(`${count} of them are redacted`);
  if (count > 0) found.push(...canariesIn(world, seqs).map((canary) => `${canary} is still there`));
  await finishRedaction(world.store, seqs);
  found.push(...(await problemsOf(world)), ...canariesIn(world, seqs));
  if (redactedCount(world, seqs) !== seqs.length) found.push('saying it again did not finish it');
  return found;
}

test.each([
  ['of records in two archives and the log', goingSeqs, 'gzip'],
  ['that leaves the first line as it is, and a shorter log', partedSeqs, 'drop'],
] as const)(
  'A-14: a crash at any call of a redaction %s leaves the old log or the new one, every pack verifies, and saying it again finishes',
  async (_name, seqs, second) => {
    const counts = new Set<number>();
    const { states, problems } = await crashEverywhere(
      await prepared(second),
      ({ store }) => redact(store, seqs),
      async (world) => {
        counts.add(redactedCount(world, seqs));
        return await checkRedacted(world, seqs);
      },
    );
    expect(problems).toEqual([]);
    expect(counts).toEqual(new Set([0, seqs.length]));
    expect(states).toBeGreaterThan(80);
  },
  240_000,
);

test('A-14: a crash at any call of an eviction leaves the old log or the new one, and every pack verifies', async () => {
  const { states, problems } = await crashEverywhere(
    await prepared(),
    ({ store }) => cut(store, 4),
    problemsOf,
  );
  expect(problems).toEqual([]);
  expect(states).toBeGreaterThan(50);
}, 240_000);

test('I7: a redaction whose n-th call fails is typed, leaves one of the two logs, and can be said again', async () => {
  const start = await prepared();
  const problems: string[] = [];
  for (let call = 1; problems.length < 5; call += 1) {
    const fs = copyDisk(start);
    const faults = new FaultFileSystem(fs);
    const { store } = await worldOn(fs, 2, faults);
    faults.setFault({ call, lasting: 'once', effect: { errno: call % 2 === 0 ? 'EIO' : 'ENOSPC' } });
    try {
      await redact(store, goingSeqs);
    } catch (error) {
      if (!isTurnlogError(error)) problems.push(`call ${call}: an untyped error: ${String(error)}`);
    }
    if (faults.hitCount === 0) break;
    const world = await worldOn(fs, 3);
    await reopen(world.store);
    problems.push(...(await checkRedacted(world, goingSeqs)).map((problem) => `call ${call}: ${problem}`));
  }
  expect(problems).toEqual([]);
}, 240_000);
