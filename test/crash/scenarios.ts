import type {
  CrashScenario,
  CrashWorld,
  EngineOptions,
  EventName,
  LogUnderTest,
  TriedAppend,
} from '@turnlog/testkit';

/** What the crash enumeration stops at each call, and the fault loops fail each call of. */

async function openIn(world: CrashWorld, options: EngineOptions = {}): Promise<LogUnderTest> {
  const { engine, machine, directory, sessionId, attempts } = world;
  attempts.durability = options.durability ?? 'turn';
  return engine.open(machine, directory, sessionId, options);
}

function appendAll(
  world: CrashWorld,
  log: LogUnderTest,
  names: readonly EventName[],
  options: TriedAppend = {},
): void {
  for (const name of names) world.attempts.append(log, name, options);
}

/** A log of one closed turn and an open one, closed properly. */
async function prepareInTurn(world: CrashWorld): Promise<void> {
  const log = await openIn(world);
  appendAll(world, log, ['thread', 'start', 'note', 'complete', 'start', 'note']);
  await world.attempts.close(log);
}

async function prepareTurns(world: CrashWorld): Promise<void> {
  const log = await openIn(world);
  appendAll(world, log, ['thread', 'start', 'complete', 'start', 'fail']);
  await world.attempts.close(log);
}

function rewrite(world: CrashWorld, path: string, change: (content: Buffer) => Uint8Array): void {
  const { fs } = world;
  fs.plantFile(path, change(Buffer.from(fs.contentOf(path))));
}

/** The log as it was left, with other last bytes. */
function prepareTail(change: (content: Buffer) => Uint8Array): (world: CrashWorld) => Promise<void> {
  return async (world) => {
    const { fs, attempts, directory } = world;
    await prepareInTurn(world);
    const manifest = fs.contentOf(`${directory}/manifest.json`);
    const log = await openIn(world, { durability: 'buffered' });
    appendAll(world, log, ['note', 'note']);
    await log.close();
    // As if the process had been killed before it could sync or publish them.
    attempts.crash();
    fs.plantFile(`${directory}/manifest.json`, manifest);
    rewrite(world, `${directory}/events.jsonl`, change);
  };
}

async function openAndGoOn(world: CrashWorld): Promise<void> {
  const log = await openIn(world);
  appendAll(world, log, ['note', 'complete']);
  await world.attempts.close(log);
}

/** Resolves in any case, to what gives the result or throws the failure. */
function settled(promise: Promise<void>): Promise<() => void> {
  return promise.then(
    () => () => undefined,
    (error: unknown) => () => {
      throw error;
    },
  );
}

const bulk = 9_000;

/** Writing, syncing, publishing. */
export const writingScenarios: readonly CrashScenario[] = [
  {
    name: 'first open',
    run: async (world) => {
      await openIn(world);
    },
  },
  {
    name: 'first append',
    options: { durability: 'event' },
    run: async (world) => {
      const log = await openIn(world, { durability: 'event' });
      appendAll(world, log, ['thread', 'note']);
    },
  },
  {
    name: 'buffer overflow',
    run: async (world) => {
      const log = await openIn(world);
      for (let count = 0; count < 9; count += 1) world.attempts.append(log, 'note', { padding: bulk });
      world.attempts.append(log, 'note');
    },
  },
  {
    name: 'buffer overflow, class buffered',
    options: { durability: 'buffered' },
    run: async (world) => {
      const log = await openIn(world, { durability: 'buffered' });
      for (let count = 0; count < 17; count += 1) world.attempts.append(log, 'note', { padding: bulk });
      world.attempts.sync(log);
    },
  },
  {
    name: 'turn end',
    run: async (world) => {
      const log = await openIn(world);
      appendAll(world, log, ['thread', 'start', 'note', 'complete', 'start', 'note', 'fail', 'start', 'end']);
    },
  },
  {
    name: 'class event over turns',
    prepare: prepareTurns,
    run: async (world) => {
      const log = await openIn(world, { durability: 'event' });
      appendAll(world, log, ['start', 'note', 'complete', 'note']);
    },
  },
  {
    name: 'flush, sync, commit',
    run: async (world) => {
      const { attempts } = world;
      const log = await openIn(world, { durability: 'buffered' });
      appendAll(world, log, ['start', 'note']);
      attempts.flush(log);
      attempts.append(log, 'note');
      attempts.flush(log);
      attempts.append(log, 'complete');
      attempts.sync(log);
      attempts.append(log, 'note');
      // Each is watched from the start: a crash may end the scenario before it waits for them.
      const first = settled(attempts.commit(log));
      // Written while the first commit is under way, and none of its business.
      attempts.append(log, 'note');
      attempts.flush(log);
      (await first)();
      const second = settled(attempts.commit(log));
      attempts.append(log, 'note');
      const third = settled(attempts.commit(log));
      (await second)();
      (await third)();
      attempts.append(log, 'note', { durability: 'event' });
    },
  },
  {
    name: 'many flushes',
    options: { durability: 'buffered' },
    prepare: prepareTurns,
    run: async (world) => {
      const log = await openIn(world, { durability: 'buffered' });
      for (const name of ['start', 'note', 'note', 'complete', 'start', 'note'] as const) {
        world.attempts.append(log, name);
        world.attempts.flush(log);
      }
      await world.attempts.commit(log);
    },
  },
  {
    name: 'close',
    run: async (world) => {
      const log = await openIn(world);
      appendAll(world, log, ['start', 'note']);
      await world.attempts.close(log);
    },
  },
  {
    name: 'an unused session is removed at close',
    run: async (world) => {
      await world.attempts.close(await openIn(world));
    },
  },
  {
    name: 'keyed appends',
    run: async (world) => {
      const { attempts } = world;
      const log = await openIn(world);
      attempts.append(log, 'note', { key: 'k-1' });
      attempts.append(log, 'start', { key: 'k-2' });
      attempts.append(log, 'complete', { key: 'k-3' });
      attempts.append(log, 'note', { key: 'k-1', again: 0 });
      attempts.append(log, 'note', { key: 'k-4', durability: 'event' });
      attempts.append(log, 'note', { key: 'k-4', again: 3 });
      attempts.append(log, 'note', { key: 'k-5' });
      await attempts.close(log);
    },
  },
  {
    name: 'keyed retries after reopening',
    prepare: async (world) => {
      const log = await openIn(world);
      for (const key of ['k-0', 'k-1', 'k-2']) world.attempts.append(log, 'note', { key });
      await world.attempts.close(log);
    },
    run: async (world) => {
      const { attempts } = world;
      const log = await openIn(world);
      attempts.append(log, 'note', { key: 'k-1', again: 1 });
      attempts.append(log, 'start', { key: 'k-3' });
      attempts.append(log, 'complete', { key: 'k-4' });
      attempts.append(log, 'complete', { key: 'k-4', again: 4 });
      attempts.sync(log);
    },
  },
  {
    name: 'batches',
    run: async (world) => {
      const log = await openIn(world);
      world.attempts.appendBatch(log, ['thread', 'start', 'note']);
      world.attempts.appendBatch(log, ['note', 'complete']);
      world.attempts.appendBatch(log, ['note', 'note', 'note'], 30_000);
      world.attempts.flush(log);
    },
  },
  {
    name: 'shared transactions',
    run: async (world) => {
      const { engine, machine, directory, sessionId, attempts } = world;
      attempts.durability = 'buffered';
      for (let round = 0; round < 3; round += 1) {
        await engine.transaction(machine, directory, sessionId, (log) => {
          attempts.append(log, 'start');
          attempts.append(log, 'note', { key: `k-${round}` });
          attempts.append(log, 'complete');
        });
        attempts.noteDurable();
      }
    },
  },
  {
    name: 'a shared transaction longer than the buffer',
    prepare: prepareTurns,
    run: async (world) => {
      const { engine, machine, directory, sessionId, attempts } = world;
      attempts.durability = 'buffered';
      await engine.transaction(machine, directory, sessionId, (log) => {
        for (let count = 0; count < 9; count += 1) attempts.append(log, 'note', { padding: bulk });
      });
      attempts.noteDurable();
    },
  },
  {
    name: 'gap after a refused append',
    options: { durability: 'event' },
    prepare: prepareTurns,
    run: async (world) => {
      const { fs, attempts } = world;
      const log = await openIn(world, { durability: 'event' });
      fs.setSpace(fs.usedBytes + 20);
      for (const name of ['note', 'start'] as const) ignoreFull(() => attempts.append(log, name));
      fs.setSpace(null);
      appendAll(world, log, ['start', 'complete']);
      await attempts.close(log);
    },
  },
  {
    name: 'poisoned, then reopened',
    run: async (world) => {
      const { attempts, lockTable, directory } = world;
      const log = await openIn(world);
      appendAll(world, log, ['start', 'note', 'complete', 'note']);
      lockTable.lose(directory, new Error('lost'));
      await attempts.reopen(log);
      appendAll(world, log, ['start', 'complete']);
      await attempts.close(log);
    },
  },
];

/** Opening what an earlier process, or somebody else, left. */
export const openingScenarios: readonly CrashScenario[] = [
  { name: 'reopen in a turn', prepare: prepareInTurn, run: openAndGoOn },
  {
    name: 'torn tail: fragment',
    prepare: prepareTail((content) => content.subarray(0, content.length - 40)),
    run: openAndGoOn,
  },
  {
    name: 'torn tail: missing newline',
    prepare: prepareTail((content) => content.subarray(0, content.length - 1)),
    run: openAndGoOn,
  },
  {
    name: 'torn tail: zeros',
    prepare: prepareTail((content) => Buffer.concat([content, Buffer.alloc(512)])),
    run: openAndGoOn,
  },
  {
    name: 'torn tail: half a record in zeros',
    prepare: prepareTail((content) => Buffer.concat([content.subarray(0, -70), Buffer.alloc(70)])),
    run: openAndGoOn,
  },
  ...([0, 30] as const).map(
    (fragmentBytes): CrashScenario => ({
      name: `lost tail, ${fragmentBytes} bytes of a fragment`,
      isCutFromOutside: true,
      prepare: async (world) => {
        await prepareInTurn(world);
        const { attempts, directory } = world;
        // Cut from outside: what was promised of the last two is void.
        for (const attempt of attempts.list.slice(-2)) attempt.fate = 'tried';
        rewrite(world, `${directory}/events.jsonl`, (content) => {
          const lines = content.toString('latin1').split('\n');
          const kept = `${lines.slice(0, -3).join('\n')}\n`;
          return Buffer.from(kept + lines.slice(-3).join('\n').slice(0, fragmentBytes), 'latin1');
        });
      },
      run: openAndGoOn,
    }),
  ),
  ...(['manifest.json', 'index/turns.jsonl', 'index/keys.jsonl'] as const).flatMap((name) => [
    derivedScenario(`${name} missing at open`, name, null),
    derivedScenario(`${name} empty at open`, name, () => Buffer.alloc(0)),
    derivedScenario(`${name} cut at open`, name, (content) => content.subarray(0, content.length - 25)),
    derivedScenario(`${name} of zeros at open`, name, (content) => Buffer.alloc(content.length)),
  ]),
  {
    name: 'stale manifest and index at open',
    prepare: async (world) => {
      await prepareKeyed(world);
      const { fs, directory } = world;
      const names = ['manifest.json', 'index/turns.jsonl', 'index/keys.jsonl'];
      const before = names.map((name) => fs.contentOf(`${directory}/${name}`));
      const log = await openIn(world);
      appendAll(world, log, ['note', 'complete', 'start', 'note']);
      world.attempts.append(log, 'complete', { key: 'k-9' });
      await world.attempts.close(log);
      for (const [position, name] of names.entries()) {
        fs.plantFile(`${directory}/${name}`, before[position] ?? Buffer.alloc(0));
      }
    },
    run: openAndGoOn,
  },
];

async function prepareKeyed(world: CrashWorld): Promise<void> {
  const log = await openIn(world);
  appendAll(world, log, ['thread', 'start', 'complete']);
  for (const key of ['k-1', 'k-2']) world.attempts.append(log, 'note', { key });
  appendAll(world, log, ['start', 'complete', 'start']);
  await world.attempts.close(log);
}

function derivedScenario(
  name: string,
  file: string,
  change: ((content: Buffer) => Uint8Array) | null,
): CrashScenario {
  return {
    name,
    prepare: async (world) => {
      await prepareKeyed(world);
      const path = `${world.directory}/${file}`;
      if (change === null) world.fs.removeFile(path);
      else rewrite(world, path, change);
    },
    run: async (world) => {
      const { attempts } = world;
      const log = await openIn(world);
      attempts.append(log, 'note', { key: 'k-2', again: 4 });
      attempts.append(log, 'note', { key: 'k-3' });
      attempts.append(log, 'complete');
      await attempts.close(log);
    },
  };
}

function ignoreFull(append: () => void): void {
  try {
    append();
  } catch (error) {
    const { details } = error as { details?: { errno?: unknown } };
    if (details?.errno !== 'ENOSPC') throw error;
  }
}
