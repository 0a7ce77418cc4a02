import { assert } from '@turnlog/kernel';
import { Attempts } from './attempts.js';
import { type CheckDepth, checkInvariants, type Subject } from './check-invariants.js';
import { lookBeforeEachCall } from './crash-moments.js';
import { copyDisk, enumerateDisks } from './damage.js';
import type { EngineOptions, EngineUnderTest } from './engine-under-test.js';
import { FakeClock } from './fake-clock.js';
import { FakeLockTable } from './fake-locks.js';
import { readHistory } from './history-model.js';
import { ModelFileSystem } from './model-fs.js';
import { createTestMachine, type TestMachine } from './test-machine.js';

/** Everything a scenario works on. A new one is made for each run, so all runs are alike. */
export interface CrashWorld {
  readonly engine: EngineUnderTest;
  readonly machine: TestMachine;
  readonly fs: ModelFileSystem;
  readonly clock: FakeClock;
  readonly lockTable: FakeLockTable;
  readonly directory: string;
  readonly sessionId: string;
  /** What was tried and promised, for the comparison with what a crash left. */
  readonly attempts: Attempts;
}

export interface CrashScenario {
  readonly name: string;
  /** Makes the disk that the scenario begins with. No crash happens here; all of it is durable afterwards. */
  readonly prepare?: (world: CrashWorld) => Promise<void> | void;
  /** What is stopped at each of its calls that change something. */
  readonly run: (world: CrashWorld) => Promise<void>;
  /** How the log is opened after the crash. */
  readonly options?: EngineOptions;
  /** Whether `prepare` cuts the log as no crash would. */
  readonly isCutFromOutside?: true;
  /** How the log is opened at the end to finish what was interrupted; by default it is not. */
  readonly upkeep?: EngineOptions;
  /** Told of each disk that a crash left, before anything is opened: to see that the hard cases are among them. */
  readonly observe?: (disk: ModelFileSystem, directory: string) => void;
}

export interface CrashLimits {
  /** Disks tried for each crash point, and for each crash point of a recovery. */
  readonly disksMax?: number;
  readonly recoveryDisksMax?: number;
  readonly seed?: number;
}

export interface CrashOutcome {
  /** Calls of the scenario that a crash was tried at. */
  readonly crashPoints: number;
  /** Distinct disks that were opened and checked, those left by crashes during recovery included. */
  readonly states: number;
  /** How many of them were left by a crash during recovery. */
  readonly recoveryStates: number;
  /** What was wrong with some of them; the first few in words. */
  readonly violations: number;
  readonly examples: readonly string[];
}

const directory = '/store/s-1';
const sessionId = 's-1';
const examplesMax = 5;

/**
 * Runs a scenario, stops it at each call that changes something, and opens every disk that the crash may leave
 * with the real engine; then stops that recovery at each of its own calls and does the same with what is left.
 */
export async function enumerateCrashes(
  engine: EngineUnderTest,
  scenario: CrashScenario,
  limits: CrashLimits = {},
): Promise<CrashOutcome> {
  return new Enumeration(engine, scenario, limits).run();
}

interface Start {
  readonly fs: ModelFileSystem;
  readonly attempts: Attempts;
  /** Leaves of what the log held then. */
  readonly leaves: readonly Buffer[];
}

class Enumeration {
  readonly #engine: EngineUnderTest;
  readonly #scenario: CrashScenario;
  readonly #limits: Required<CrashLimits>;
  /** Digests of disks by what was promised before the crash: the same disk may be right for one and not for another. */
  readonly #seen = new Map<string, Set<string>>();
  readonly #examples: string[] = [];
  #states = 0;
  #recoveryStates = 0;
  #violations = 0;
  #leavesBefore: readonly Buffer[] = [];

  constructor(engine: EngineUnderTest, scenario: CrashScenario, limits: CrashLimits) {
    this.#engine = engine;
    this.#scenario = scenario;
    this.#limits = { disksMax: 96, recoveryDisksMax: 3, seed: 1, ...limits };
  }

  async run(): Promise<CrashOutcome> {
    const start = await this.#prepare();
    this.#leavesBefore = start.leaves;
    const whole = this.#world(start);
    await this.#scenario.run(whole);
    const crashPoints = whole.fs.mutationCount;
    for (let call = 0; call <= crashPoints; call += 1) {
      const world = this.#world(start);
      world.fs.crashAt(call);
      await runUntilCrash(() => this.#scenario.run(world), world.fs);
      world.attempts.crash();
      await this.#checkDisks(world.fs, world.attempts, `call ${call}`);
    }
    return {
      crashPoints: crashPoints + 1,
      states: this.#states,
      recoveryStates: this.#recoveryStates,
      violations: this.#violations,
      examples: this.#examples,
    };
  }

  async #prepare(): Promise<Start> {
    const fs = new ModelFileSystem({ clock: new FakeClock() });
    fs.makeDirectory('/store');
    const world = this.#world({ fs: copyDisk(fs), attempts: new Attempts(), leaves: [] });
    await this.#scenario.prepare?.(world);
    return { fs: copyDisk(world.fs), attempts: world.attempts, leaves: leavesOn(world.fs) };
  }

  #world(start: Start): CrashWorld {
    const clock = new FakeClock('skips');
    const fs = copyDisk(start.fs);
    const lockTable = new FakeLockTable();
    const machine = createTestMachine({ fs, clock, lockTable });
    const attempts = new Attempts(start.attempts.list);
    return { engine: this.#engine, machine, fs, clock, lockTable, directory, sessionId, attempts };
  }

  async #checkDisks(crashed: ModelFileSystem, attempts: Attempts, where: string): Promise<void> {
    const seen = this.#seenFor(attempts);
    const { disksMax, seed } = this.#limits;
    for (const disk of enumerateDisks(crashed, seed, { disksMax, imagesMax: disksMax, seen })) {
      const pristine = copyDisk(disk);
      this.#scenario.observe?.(disk, directory);
      await this.#check(disk, attempts, where, 'thorough');
      await this.#crashRecovery(pristine, attempts, where);
    }
  }

  /** Stops the open after a crash at each of its own calls. */
  async #crashRecovery(fs: ModelFileSystem, attempts: Attempts, where: string): Promise<void> {
    const seen = this.#seenFor(attempts);
    const { recoveryDisksMax: disksMax, seed } = this.#limits;
    const { engine, clock, options = {} } = this.#subject(fs);
    const machine = createTestMachine({ fs, clock, seed: 7 });
    const open = async (): Promise<void> => {
      // What an open answers is judged where nothing stops it.
      await engine.open(machine, directory, sessionId, options).catch(() => undefined);
    };
    const found: { readonly disk: ModelFileSystem; readonly call: number }[] = [];
    await lookBeforeEachCall(fs, open, (call) => {
      const limits = { disksMax, imagesMax: disksMax, seen };
      for (const disk of enumerateDisks(fs, seed, limits)) found.push({ disk, call });
    });
    for (const { disk, call } of found) {
      this.#recoveryStates += 1;
      this.#scenario.observe?.(disk, directory);
      await this.#check(disk, attempts, `${where}, then call ${call} of the recovery`, 'recovery');
    }
  }

  async #check(disk: ModelFileSystem, attempts: Attempts, where: string, depth: CheckDepth): Promise<void> {
    this.#states += 1;
    const problems = await checkInvariants(this.#subject(disk), attempts, depth);
    if (problems.length === 0) return;
    this.#violations += 1;
    if (this.#examples.length < examplesMax) {
      this.#examples.push(`${this.#scenario.name}, ${where}: ${problems.join('\n  ')}`);
    }
  }

  #subject(fs: ModelFileSystem): Subject {
    const clock = new FakeClock('skips');
    const { options = {}, isCutFromOutside = false, upkeep } = this.#scenario;
    const expected = { options, isCutFromOutside, leavesBefore: this.#leavesBefore };
    const finished = upkeep === undefined ? {} : { upkeep };
    return { engine: this.#engine, fs, clock, directory, sessionId, ...expected, ...finished };
  }

  #seenFor(attempts: Attempts): Set<string> {
    const promises = attempts.list.map(({ fate }) => fate.charAt(0)).join('');
    let seen = this.#seen.get(promises);
    if (seen === undefined) {
      seen = new Set();
      this.#seen.set(promises, seen);
    }
    return seen;
  }
}

/** Of what ends with its 0x0A: nobody was promised a record behind it, and a crash may tear the line end it is given. */
function leavesOn(fs: ModelFileSystem): readonly Buffer[] {
  const read = (name: string): Buffer | null => {
    const path = `${directory}/${name}`;
    return fs.status(path) === null ? null : Buffer.from(fs.contentOf(path));
  };
  const content = read('events.jsonl') ?? Buffer.alloc(0);
  return readHistory(content.subarray(0, content.lastIndexOf(0x0a) + 1), read).leaves;
}

/** Runs `work` to its end or to the crash; whether it came to its end. Any other failure is one of the scenario. */
async function runUntilCrash(work: () => Promise<void>, fs: ModelFileSystem): Promise<boolean> {
  try {
    await work();
  } catch (error) {
    if (!fs.isDown) throw error;
  }
  return !fs.isDown;
}

/** One line for people who want to know how much was tried. */
export function describeCrashes(outcomes: readonly CrashOutcome[]): string {
  const sum = (of: (outcome: CrashOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  assert(outcomes.length > 0, 'nothing was enumerated');
  const states = sum(({ states }) => states);
  const recovery = sum(({ recoveryStates }) => recoveryStates);
  const violations = sum(({ violations }) => violations);
  return `${states} crash states enumerated (${recovery} of them in a recovery), ${violations} violated an invariant`;
}
