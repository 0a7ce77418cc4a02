import { isTurnlogError } from '@turnlog/kernel';
import { openStore, type Store } from '@turnlog/store';
import {
  copyDisk,
  createTestMachine,
  enumerateDisks,
  FakeClock,
  FakeLockTable,
  type Fault,
  FaultFileSystem,
  type JudgedDisks,
  lookBeforeEachCall,
  ModelFileSystem,
} from '@turnlog/testkit';
import { soakBudget } from '../figures.js';
import { runToEnd, type Snapshot, snapshotOf } from './disk-tools.js';

/** The ways of writing that are no log's: what crashes and failing calls leave of the files, and of the logs beside. */

export const root = '/store';

/** A process on a modelled disk. */
export interface PathWorld {
  readonly store: Store;
  readonly fs: ModelFileSystem;
  readonly lockTable: FakeLockTable;
  /** Says what the caller was told: it holds from then on. */
  readonly acknowledge: (what: string) => void;
}

/** What is known of the time before. */
export interface PathFacts {
  readonly before: Snapshot;
  readonly acknowledged: readonly string[];
}

export interface WritePath {
  readonly name: string;
  /** Makes the disk that the scenario begins with; all of it is durable. */
  readonly prepare: (world: PathWorld) => Promise<void>;
  readonly run: (world: PathWorld) => Promise<void>;
  /** What is wrong right after the crash, found by reading alone. */
  readonly crashed: (world: PathWorld, facts: PathFacts) => readonly string[];
  /** What is wrong once the same has been done again, to its end. */
  readonly finished: (world: PathWorld, facts: PathFacts) => readonly string[];
  /** Disks tried for each call; 48 by default. */
  readonly disksMax?: number;
}

export interface PathOutcome {
  readonly crashPoints: number;
  readonly states: number;
  readonly problems: readonly string[];
}

/** What the crash tier tries for each call; these paths try a part of it. */
const disksOfTier = soakBudget('TURNLOG_CRASH_DISKS', 96);
const laterMs = 7_200_000;
const problemsMax = 5;
const disksOfNextRun = 2;

interface Process {
  readonly world: PathWorld;
  readonly acknowledged: readonly string[];
}

/** A process that starts when the one before is long gone: whatever waits for a while has waited. */
async function startOn(
  fs: ModelFileSystem,
  seed: number,
  port: ModelFileSystem | FaultFileSystem = fs,
): Promise<Process> {
  const clock = new FakeClock('skips');
  clock.setNow(clock.now() + seed * laterMs);
  const lockTable = new FakeLockTable();
  const environment = createTestMachine({ fs: port, clock, lockTable, seed });
  const acknowledged: string[] = [];
  const acknowledge = (what: string): void => void acknowledged.push(what);
  const store = await openStore({ root, environment, cwd: '/', env: {} });
  return { world: { store, fs, lockTable, acknowledge }, acknowledged };
}

async function prepared({ prepare }: WritePath): Promise<ModelFileSystem> {
  const fs = new ModelFileSystem({ clock: new FakeClock() });
  await prepare((await startOn(fs, 1)).world);
  return copyDisk(fs);
}

/** Stops a scenario at each of its calls; on every disk that may be left it is run again, and stopped there too. */
export async function enumerateWritePath(path: WritePath): Promise<PathOutcome> {
  const start = await prepared(path);
  const before = snapshotOf(start);
  const disksMax = Math.ceil(((path.disksMax ?? 48) * disksOfTier) / 96);
  const problems: string[] = [];
  const seen = new Map<string, Set<string>>();
  let states = 0;

  const note = (where: string, found: readonly string[]): void => {
    for (const problem of found) {
      if (problems.length < problemsMax) problems.push(`${path.name}, ${where}: ${problem}`);
    }
  };
  const look = async (
    disk: ModelFileSystem,
    acknowledged: readonly string[],
    where: string,
  ): Promise<void> => {
    states += 1;
    const facts = { before, acknowledged };
    const { world } = await startOn(disk, 3);
    const bytes = JSON.stringify([...snapshotOf(disk)]);
    note(where, path.crashed(world, facts));
    if (JSON.stringify([...snapshotOf(disk)]) !== bytes) note(where, ['looking changed something']);
    await path.run(world);
    note(where, path.finished(world, facts));
    note(where, leftIn(world));
  };
  const knownWith = (acknowledged: readonly string[]): Set<string> => {
    const known = seen.get(acknowledged.join()) ?? new Set();
    seen.set(acknowledged.join(), known);
    return known;
  };
  const crashNextRun = async (
    fs: ModelFileSystem,
    before: readonly string[],
    where: string,
  ): Promise<void> => {
    const { world, acknowledged } = await startOn(fs, 2);
    const found: { left: ModelFileSystem; told: readonly string[]; call: number }[] = [];
    await lookBeforeEachCall(
      fs,
      () => path.run(world),
      (call) => {
        const seen = knownWith(acknowledged);
        const told = [...before, ...acknowledged];
        for (const left of enumerateDisks(fs, 1, {
          disksMax: disksOfNextRun,
          imagesMax: disksOfNextRun,
          seen,
        })) {
          found.push({ left, told, call });
        }
      },
    );
    for (const { left, told, call } of found) {
      await look(left, told, `${where}, then call ${call} of the next run`);
    }
  };

  let crashPoints = 0;
  for (let isEnded = false; !isEnded; crashPoints += 1) {
    const fs = copyDisk(start);
    const { world, acknowledged } = await startOn(fs, 1);
    fs.crashAt(crashPoints);
    isEnded = await runToEnd(() => path.run(world), fs);
    const limits = { disksMax, imagesMax: disksMax, seen: knownWith(acknowledged) };
    for (const disk of enumerateDisks(fs, 1, limits)) {
      const pristine = copyDisk(disk);
      await look(disk, acknowledged, `call ${crashPoints}`);
      await crashNextRun(pristine, acknowledged, `call ${crashPoints}`);
    }
  }
  return { crashPoints, states, problems };
}

function leftIn({ fs, lockTable }: PathWorld): readonly string[] {
  return [
    ...(fs.openHandleCount === 0 ? [] : [`I8 ${fs.openHandleCount} files are open`]),
    ...(lockTable.holders.size === 0 ? [] : ['I8 a lock is held']),
  ];
}

export interface FaultedPath {
  readonly struck: number;
  readonly problems: readonly string[];
}

/** Fails each call of a scenario, one after the other; then the fault is gone and it is run again. */
export async function failWritePath(
  path: WritePath,
  faultAt: (call: number) => Fault,
  judged: JudgedDisks,
): Promise<FaultedPath> {
  const start = await prepared(path);
  const before = snapshotOf(start);
  const problems: string[] = [];
  for (let call = 1; ; call += 1) {
    const fs = copyDisk(start);
    const faults = new FaultFileSystem(fs);
    const { world, acknowledged } = await startOn(fs, 2, faults);
    faults.setFault(faultAt(call));
    const found: string[] = [];
    try {
      await path.run(world);
    } catch (error) {
      if (!isTurnlogError(error)) found.push(`an untyped error: ${String(error)}`);
    }
    if (faults.hitCount === 0) return { struck: call - 1, problems };
    faults.setFault(null);
    found.push(...leftIn(world));
    const facts = { before, acknowledged };
    found.push(
      ...(await judged.judge(fs, JSON.stringify([fs.openHandleCount, acknowledged]), async () => {
        const next = (await startOn(fs, 3)).world;
        const crashed = path.crashed(next, facts);
        await path.run(next);
        return [...crashed, ...path.finished(next, facts), ...leftIn(next)];
      })),
    );
    const struck = `${faults.firstStruck?.verb} ${faults.firstStruck?.path}`;
    problems.push(...found.map((problem) => `${path.name}, call ${call} (${struck}): ${problem}`));
    if (problems.length > problemsMax) return { struck: call, problems };
  }
}
