import { isTurnlogError } from '@turnlog/kernel';
import type {
  CapUnderTest,
  CrashScenario,
  CrashWorld,
  EngineOptions,
  EventName,
  LogUnderTest,
} from '@turnlog/testkit';

/** Evictions, and what they begin with: stopped at each call by the crash tier, failed at each by the fault loops. */

async function openIn(world: CrashWorld, options: EngineOptions = {}): Promise<LogUnderTest> {
  const { engine, machine, directory, sessionId, attempts } = world;
  attempts.durability = options.durability ?? 'turn';
  return engine.open(machine, directory, sessionId, options);
}

function appendAll(world: CrashWorld, log: LogUnderTest, names: readonly EventName[]): void {
  for (const name of names) world.attempts.append(log, name);
}

/** A thread and four turns of three records, without any cap, opened twice, and an open turn at the end. */
async function prepareLong(world: CrashWorld): Promise<void> {
  const first = await openIn(world);
  appendAll(world, first, ['thread', 'start', 'note', 'complete']);
  await world.attempts.close(first);
  const log = await openIn(world);
  for (const end of ['fail', 'complete', 'complete'] as const) appendAll(world, log, ['start', 'note', end]);
  world.attempts.append(log, 'note', { key: 'k-1' });
  appendAll(world, log, ['start', 'note']);
  await world.attempts.close(log);
}

/** Two turns that stay of seven records at most. */
export const cap: CapUnderTest = { maxEvents: 8, target: 0.9 };

function prepareCut(capUsed: CapUnderTest): (world: CrashWorld) => Promise<void> {
  return async (world) => {
    await prepareLong(world);
    const log = await openIn(world, { cap: capUsed });
    await log.maintain();
    appendAll(world, log, ['complete', 'start', 'note', 'complete', 'note']);
    await log.maintain();
    appendAll(world, log, ['start', 'note', 'complete', 'start']);
    await world.attempts.close(log);
  };
}

/** Closes the log as an agent would: one that finds its handle poisoned opens it again first. */
async function closeIn({ attempts }: CrashWorld, log: LogUnderTest): Promise<void> {
  try {
    log.sync();
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_POISONED')) throw error;
    await attempts.reopen(log);
  }
  await attempts.close(log);
}

async function evictIn(world: CrashWorld, capUsed: CapUnderTest): Promise<void> {
  const log = await openIn(world, { cap: capUsed });
  await log.maintain();
  await closeIn(world, log);
}

/** The log grows while turns leave it: every pause of the eviction is one append long. */
async function evictWhileAppending(world: CrashWorld, capUsed: CapUnderTest): Promise<void> {
  const { attempts } = world;
  const log = await openIn(world, { cap: capUsed });
  const done = log.maintain().then(
    () => true,
    () => true,
  );
  const names: readonly EventName[] = ['note', 'complete', 'start', 'note', 'complete', 'start'];
  for (const name of names) {
    attempts.append(log, name);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await done;
  // What is acknowledged now is in the new file only.
  attempts.append(log, 'complete');
  await closeIn(world, log);
}

const drop: CapUnderTest = { ...cap, archive: 'drop' };

export const evictionScenarios: readonly CrashScenario[] = [
  {
    name: 'eviction with archive',
    prepare: prepareLong,
    run: (world) => evictIn(world, cap),
    upkeep: { cap },
  },
  {
    name: 'eviction with drop',
    prepare: prepareLong,
    run: (world) => evictIn(world, drop),
    upkeep: { cap: drop },
  },
  {
    name: 'eviction with a failing hook',
    prepare: prepareLong,
    run: async (world) => {
      const log = await openIn(world, {
        cap: { ...cap, hook: () => Promise.reject(new Error('no summary')) },
      });
      await log.maintain();
      appendAll(world, log, ['complete', 'note']);
      await log.maintain();
      await closeIn(world, log);
    },
    upkeep: { cap },
  },
  {
    name: 'second eviction',
    prepare: prepareCut(cap),
    run: (world) => evictIn(world, { ...cap, maxEvents: 5 }),
    upkeep: { cap: { ...cap, maxEvents: 5 } },
  },
  {
    name: 'second eviction with drop',
    prepare: prepareCut(drop),
    run: (world) => evictIn(world, { ...drop, maxEvents: 5 }),
    upkeep: { cap: { ...drop, maxEvents: 5 } },
  },
  {
    name: 'eviction while appending',
    prepare: prepareLong,
    run: (world) => evictWhileAppending(world, cap),
    upkeep: { cap },
  },
];
