import { isTurnlogError } from '@turnlog/kernel';
import { Attempts, type EventName, type TriedAppend } from './attempts.js';
import { checkInvariants } from './check-invariants.js';
import type { CrashScenario, CrashWorld } from './crash-enumerator.js';
import { copyDisk } from './damage.js';
import type { EngineUnderTest, LogUnderTest, SharedLogUnderTest } from './engine-under-test.js';
import { FakeClock } from './fake-clock.js';
import { FakeLockTable } from './fake-locks.js';
import { type Fault, FaultFileSystem } from './fault-fs.js';
import { JudgedDisks } from './judged-disks.js';
import { ModelFileSystem } from './model-fs.js';
import { createTestMachine } from './test-machine.js';

export interface FaultOutcome {
  /** How many runs a fault struck. */
  readonly struckRuns: number;
  readonly violations: number;
  readonly examples: readonly string[];
}

const directory = '/store/s-1';
const sessionId = 's-1';
const examplesMax = 4;

/** A scenario whose calls of the file system fail, one run for each. */
export class FaultLoop {
  readonly #engine: EngineUnderTest;
  readonly #scenario: CrashScenario;
  readonly #judged = new JudgedDisks();
  #start: Promise<Start> | null = null;

  constructor(engine: EngineUnderTest, scenario: CrashScenario) {
    this.#engine = engine;
    this.#scenario = scenario;
  }

  /**
   * Runs the scenario again and again, failing its first call of the file system, its second, and so on, until a
   * run ends untouched. The scenario goes on whatever its calls answer. Then the fault is gone: the next append must
   * succeed, or the handle says that it is poisoned and works again once reopened; and all promises hold.
   */
  async run(faultAt: (call: number) => Fault): Promise<FaultOutcome> {
    const { name } = this.#scenario;
    this.#start ??= prepare(this.#engine, this.#scenario);
    const start = await this.#start;
    const examples: string[] = [];
    let violations = 0;
    for (let call = 1; ; call += 1) {
      const run = new FaultRun(this.#engine, this.#scenario, start, faultAt(call), this.#judged);
      const problems = await run.run();
      if (run.hitCount === 0) return { struckRuns: call - 1, violations, examples };
      if (problems.length === 0) continue;
      violations += 1;
      if (examples.length < examplesMax) {
        examples.push(`${name}, call ${call} (${run.struck}): ${problems.join('\n  ')}`);
      }
    }
  }
}

interface Start {
  readonly fs: ModelFileSystem;
  readonly attempts: Attempts;
}

async function prepare(engine: EngineUnderTest, scenario: CrashScenario): Promise<Start> {
  const fs = new ModelFileSystem({ clock: new FakeClock() });
  fs.makeDirectory('/store');
  const clock = new FakeClock('skips');
  const lockTable = new FakeLockTable();
  const machine = createTestMachine({ fs, clock, lockTable });
  const attempts = new Attempts();
  await scenario.prepare?.({ engine, machine, fs, clock, lockTable, directory, sessionId, attempts });
  return { fs: copyDisk(fs), attempts };
}

class FaultRun {
  readonly #engine: EngineUnderTest;
  readonly #scenario: CrashScenario;
  readonly #fs: ModelFileSystem;
  readonly #faults: FaultFileSystem;
  readonly #lasting: Fault['lasting'];
  readonly #attempts: TolerantAttempts;
  readonly #lockTable = new FakeLockTable();
  readonly #clock = new FakeClock('skips');
  readonly #problems: string[] = [];
  readonly #judged: JudgedDisks;
  #log: LogUnderTest | null = null;

  constructor(
    engine: EngineUnderTest,
    scenario: CrashScenario,
    start: Start,
    fault: Fault,
    judged: JudgedDisks,
  ) {
    this.#judged = judged;
    this.#engine = engine;
    this.#scenario = scenario;
    this.#fs = copyDisk(start.fs);
    this.#faults = new FaultFileSystem(this.#fs, fault);
    this.#lasting = fault.lasting;
    this.#attempts = new TolerantAttempts(start.attempts.list);
  }

  get hitCount(): number {
    return this.#faults.hitCount;
  }

  get struck(): string {
    const errors = this.#attempts.errors.map((error) => `${error}`);
    return `${this.#faults.firstStruck?.verb} ${this.#faults.firstStruck?.path}; ${errors.join(', ')}`;
  }

  async run(): Promise<readonly string[]> {
    await this.#tryScenario();
    this.#faults.setFault(null);
    if (this.#log !== null) await this.#goOn(this.#log);
    const { openHandleCount } = this.#fs;
    if (openHandleCount !== 0) this.#problems.push(`I8 ${openHandleCount} files stay open`);
    if (this.#lockTable.holders.size !== 0) this.#problems.push('I8 the lock is still held');
    // Whatever fails for good can be removed by nobody: the next open does it.
    if (this.#lasting === 'once') this.#checkLeftOvers();
    const { options = {}, isCutFromOutside = false } = this.#scenario;
    const fs = copyDisk(this.#fs);
    const clock = new FakeClock('skips');
    const subject = { engine: this.#engine, fs, clock, directory, sessionId, options, isCutFromOutside };
    const attempts = new Attempts(this.#attempts.list);
    attempts.crash();
    const found = await this.#judged.judge(fs, JSON.stringify(attempts.list), () =>
      checkInvariants(subject, attempts, 'recovery'),
    );
    return [...this.#problems, ...found];
  }

  async #tryScenario(): Promise<void> {
    try {
      await this.#scenario.run(this.#world());
    } catch (error) {
      if (!isTurnlogError(error)) this.#note('the scenario ended with an untyped error', error);
    }
    for (const error of this.#attempts.errors) {
      if (!isTurnlogError(error)) this.#note('a call failed with an untyped error', error);
    }
  }

  #checkLeftOvers(): void {
    for (const path of [directory, `${directory}/index`, `${directory}/archive`]) {
      if (this.#fs.status(path) === null) continue;
      for (const { name } of this.#fs.list(path)) {
        if (/^\.t-|pending/.test(name)) this.#problems.push(`I8 ${path}/${name} is left`);
      }
    }
  }

  #world(): CrashWorld {
    const machine = createTestMachine({ fs: this.#faults, clock: this.#clock, lockTable: this.#lockTable });
    const engine: EngineUnderTest = {
      open: async (...given) => {
        this.#log = await this.#engine.open(...given);
        return this.#log;
      },
      transaction: (...given) => this.#engine.transaction(...given),
    };
    const common = { fs: this.#fs, clock: this.#clock, lockTable: this.#lockTable, attempts: this.#attempts };
    return { engine, machine, directory, sessionId, ...common };
  }

  /** The fault is gone: the handle works, or says that it is poisoned and works once reopened. */
  async #goOn(log: LogUnderTest): Promise<void> {
    const attempts = this.#attempts;
    attempts.isStrict = true;
    try {
      if (!this.#tryAppend(log)) {
        await attempts.reopen(log);
        attempts.append(log, 'note', { durability: 'event' });
      }
      await attempts.close(log);
    } catch (error) {
      if (!attempts.isClosed) this.#note('work does not go on', error);
    }
  }

  #tryAppend(log: LogUnderTest): boolean {
    try {
      this.#attempts.append(log, 'note', { durability: 'event' });
      return true;
    } catch (error) {
      if (isTurnlogError(error, 'TURNLOG_POISONED') || isTurnlogError(error, 'TURNLOG_LOCK_LOST'))
        return false;
      throw error;
    }
  }

  #note(what: string, error: unknown): void {
    const text = error instanceof Error ? `${error.stack?.split('\n').slice(0, 6).join(' ')}` : String(error);
    this.#problems.push(`I7 ${what}: ${text}`);
  }
}

/** Attempts of a scenario that goes on after a failure, as an agent does that must not fail because of its log. */
class TolerantAttempts extends Attempts {
  isStrict = false;
  isClosed = false;
  readonly errors: unknown[] = [];

  override append(log: SharedLogUnderTest, name: EventName, options: TriedAppend = {}): number {
    return this.#tolerate(() => super.append(log, name, options), 0);
  }

  override appendBatch(log: SharedLogUnderTest, names: readonly EventName[], padding = 0): readonly number[] {
    return this.#tolerate(() => super.appendBatch(log, names, padding), []);
  }

  override flush(log: LogUnderTest): void {
    this.#tolerate(() => super.flush(log), undefined);
  }

  override sync(log: LogUnderTest): void {
    this.#tolerate(() => super.sync(log), undefined);
  }

  override commit(log: LogUnderTest): Promise<void> {
    return super.commit(log).catch((error: unknown) => this.#tolerated(error));
  }

  override async close(log: LogUnderTest): Promise<void> {
    this.isClosed = true;
    return super.close(log).catch((error: unknown) => this.#tolerated(error));
  }

  override reopen(log: LogUnderTest): Promise<void> {
    return super.reopen(log).catch((error: unknown) => this.#tolerated(error));
  }

  #tolerate<Result>(call: () => Result, otherwise: Result): Result {
    try {
      return call();
    } catch (error) {
      this.#tolerated(error);
      return otherwise;
    }
  }

  #tolerated(error: unknown): void {
    if (this.isStrict) throw error;
    this.errors.push(error);
  }
}
