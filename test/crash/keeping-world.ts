import { isTurnlogError } from '@turnlog/kernel';
import { Ledger, openStore, type Store } from '@turnlog/store';
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
import { runToEnd, type Snapshot, snapshotOf } from './disk-tools.js';

/** Whole directories that are moved and removed: what crashes and failing calls leave of them. */

export const root = '/store';

/** A store on a modelled disk, with a process of its own. */
export interface KeepingWorld {
  readonly store: Store;
  readonly fs: ModelFileSystem;
  readonly lockTable: FakeLockTable;
}

export interface KeepingScenario {
  readonly name: string;
  /** Moves the clock on, behind the preparation. */
  readonly laterMs?: number;
  /** Makes the disk that the scenario begins with; all of it is durable. */
  readonly prepare: (world: KeepingWorld) => Promise<void>;
  readonly run: (world: KeepingWorld) => Promise<void>;
  /** The next run, which finishes what a crash cut short; by default `run`. */
  readonly recover?: (world: KeepingWorld) => Promise<void>;
  /** What is wrong right after the crash, with what there was before. */
  readonly crashed?: (world: KeepingWorld, before: Snapshot) => readonly string[];
  /** What is wrong after a run that came to its end, whatever a crash then leaves; by default as `finished`. */
  readonly promised?: (world: KeepingWorld, before: Snapshot) => readonly string[];
  /** What is wrong once the next run has ended. */
  readonly finished: (world: KeepingWorld, before: Snapshot) => readonly string[];
}

export function namesIn(fs: ModelFileSystem, directory: string): readonly string[] {
  return fs.status(directory) === null ? [] : fs.list(directory).map(({ name }) => name);
}

/** The records of the ledger. */
export function ledgerOf({ store }: KeepingWorld): readonly Readonly<Record<string, unknown>>[] {
  const reader = new Ledger(store.environment, root).reader();
  if (reader === null) return [];
  try {
    return [...reader.records()].map((record) => ({ ...record.readEvent() }));
  } finally {
    reader.close();
  }
}

/** The directory of `id`, if it lies whole in just one of the two places it may be in; what is wrong otherwise. */
export function wholeIn(
  { fs }: KeepingWorld,
  id: string,
  before: Snapshot,
): { readonly place: string | null; readonly problems: readonly string[] } {
  const trash = namesIn(fs, `${root}/trash`).filter((name) => name.startsWith(`${id}.`));
  const here = namesIn(fs, `${root}/sessions`).includes(id) ? [`${root}/sessions/${id}`] : [];
  const places = [...here, ...trash.map((name) => `${root}/trash/${name}`)];
  const [place = null] = places;
  if (place === null || places.length > 1)
    return { place: null, problems: [`${id} lies in: ${places.join(', ')}`] };
  const prefix = `/sessions/${id}/`;
  const wanted = [...before].filter(([path]) => path.startsWith(prefix) || isInTrash(path, id));
  const found = snapshotOf(fs, place);
  const lost = wanted.filter(([path, bytes]) => found.get(insideOf(path)) !== bytes).map(([path]) => path);
  return { place, problems: lost.map((path) => `${path} is not whole in ${place}`) };
}

function isInTrash(path: string, id: string): boolean {
  return path.startsWith(`/trash/${id}.`);
}

/** A path below the store without its first two names. */
function insideOf(path: string): string {
  return `/${path.split('/').slice(3).join('/')}`;
}

async function worldOn(fs: ModelFileSystem, laterMs: number, seed: number): Promise<KeepingWorld> {
  return await worldWith(fs, fs, laterMs, seed);
}

async function worldWith(
  fs: ModelFileSystem,
  port: ModelFileSystem | FaultFileSystem,
  laterMs: number,
  seed: number,
): Promise<KeepingWorld> {
  const clock = new FakeClock('skips');
  clock.setNow(clock.now() + laterMs);
  const lockTable = new FakeLockTable();
  const environment = createTestMachine({ fs: port, clock, lockTable, seed });
  return { store: await openStore({ root, environment, cwd: '/', env: {} }), fs, lockTable };
}

async function prepared(scenario: KeepingScenario): Promise<ModelFileSystem> {
  const fs = new ModelFileSystem({ clock: new FakeClock() });
  await scenario.prepare(await worldOn(fs, 0, 1));
  return copyDisk(fs);
}

export interface KeepingOutcome {
  readonly crashPoints: number;
  readonly states: number;
  readonly problems: readonly string[];
}

/** Stops a scenario at each of its calls, and on every disk that may be left runs the next one, which is stopped too. */
export async function enumerateKeeping(scenario: KeepingScenario): Promise<KeepingOutcome> {
  const { laterMs = 0, run, recover = run, crashed, finished, promised = finished } = scenario;
  const start = await prepared(scenario);
  const before = snapshotOf(start, root);
  const problems: string[] = [];
  const seen = new Set<string>();
  let states = 0;

  const finish = async (disk: ModelFileSystem, where: string): Promise<void> => {
    states += 1;
    const world = await worldOn(disk, laterMs, 8);
    const note = (found: readonly string[]): void => {
      if (problems.length < 5)
        problems.push(...found.map((problem) => `${scenario.name}, ${where}: ${problem}`));
    };
    note(crashed?.(world, before) ?? []);
    if (isLedgerNoise(disk)) {
      // Only a first write can leave this, of which nobody was told: nothing is done before somebody has looked.
      await expect(recover(world)).rejects.toMatchObject({ code: 'TURNLOG_LOG_UNREADABLE' });
      note(crashed?.(world, before) ?? []);
      return;
    }
    await recover(world);
    note(finished(world, before));
    note(leftIn(world));
  };

  const crashNextRun = async (fs: ModelFileSystem, where: string): Promise<void> => {
    if (isLedgerNoise(fs)) return;
    const world = await worldOn(fs, laterMs, 9);
    const found: { left: ModelFileSystem; call: number }[] = [];
    await lookBeforeEachCall(
      fs,
      () => recover(world),
      (call) => {
        const limits = { disksMax: 2, imagesMax: 2, seen };
        for (const left of enumerateDisks(fs, 1, limits)) found.push({ left, call });
      },
    );
    for (const { left, call } of found) await finish(left, `${where}, then call ${call} of the next run`);
  };

  let crashPoints = 0;
  for (let isDone = false; !isDone; crashPoints += 1) {
    const fs = copyDisk(start);
    const world = await worldOn(fs, laterMs, 2);
    fs.crashAt(crashPoints);
    isDone = await runToEnd(() => run(world), fs);
    if (isDone) {
      for (const disk of enumerateDisks(fs, 1, { disksMax: 48, imagesMax: 48 })) {
        const found = promised(await worldOn(disk, laterMs, 8), before);
        problems.push(...found.map((problem) => `${scenario.name}, promised: ${problem}`));
      }
    }
    for (const disk of enumerateDisks(fs, 1, { disksMax: 48, imagesMax: 48, seen })) {
      const pristine = copyDisk(disk);
      await finish(disk, `call ${crashPoints}`);
      await crashNextRun(pristine, `call ${crashPoints}`);
    }
  }
  return { crashPoints, states, problems };
}

/** Whether a torn first write left whole lines in the ledger of which none is a record. */
function isLedgerNoise(fs: ModelFileSystem): boolean {
  const path = `${root}/ledger/events.jsonl`;
  const lines =
    fs.status(path) === null ? [] : Buffer.from(fs.contentOf(path)).toString('latin1').split('\n');
  return lines.length > 1 && !lines.some((line) => line.startsWith('{"schema_version"'));
}

function leftIn({ fs, lockTable }: KeepingWorld): readonly string[] {
  const problems: string[] = [];
  if (fs.openHandleCount !== 0) problems.push(`I8 ${fs.openHandleCount} files are open`);
  if (lockTable.holders.size !== 0) problems.push('I8 a lock is held');
  // A temp file in a log directory goes when a writer opens the log; what is being purged nobody opens.
  for (const path of snapshotOf(fs, root).keys()) {
    if (path.includes('/.purge-')) problems.push(`I8 ${path} is left`);
  }
  return problems;
}

/** Fails each call of a scenario, one after the other; then the fault is gone and the next run finishes. */
export async function failKeeping(
  scenario: KeepingScenario,
  faultAt: (call: number) => Fault,
  judged: JudgedDisks,
): Promise<{ readonly struck: number; readonly problems: readonly string[] }> {
  const { laterMs = 0, run, recover = run, crashed, finished } = scenario;
  const start = await prepared(scenario);
  const before = snapshotOf(start, root);
  const problems: string[] = [];
  for (let call = 1; ; call += 1) {
    const fs = copyDisk(start);
    const faults = new FaultFileSystem(fs);
    const world = await worldWith(fs, faults, laterMs, 2);
    faults.setFault(faultAt(call));
    try {
      await run(world);
    } catch (error) {
      if (!isTurnlogError(error)) problems.push(`call ${call}: an untyped error: ${String(error)}`);
    }
    if (faults.hitCount === 0) return { struck: call - 1, problems };
    const what = `${scenario.name}, call ${call} (${faults.firstStruck?.verb} ${faults.firstStruck?.path})`;
    faults.setFault(null);
    const held = world.lockTable.holders.size === 0 ? [] : ['I8 a lock is held after the failure'];
    const judgement = await judged.judge(fs, `${fs.openHandleCount} open`, async () => {
      const next = await worldOn(fs, laterMs, 8);
      const found = crashed?.(next, before) ?? [];
      await recover(next);
      return [...found, ...finished(next, before), ...leftIn(next)];
    });
    problems.push(...[...held, ...judgement].map((problem) => `${what}: ${problem}`));
    if (problems.length > 5) return { struck: call, problems };
  }
}
