import { publish } from '@turnlog/fs';
import {
  type CrashScenario,
  type CrashWorld,
  createSeededIds,
  type EngineUnderTest,
  enumerateCrashes,
  type TestMachine,
} from '@turnlog/testkit';
import { realEngine } from './real-engine.js';

/*
 * Protocols that are known to be wrong. Each must be reported: an enumeration that finds nothing wrong with one
 * of them proves nothing about the engine either.
 */

/** The engine on a machine whose file system leaves out one verb and says it did it. */
function engineWithout(verb: 'syncData' | 'syncDirectory' | 'truncate'): EngineUnderTest {
  const change = (machine: TestMachine): TestMachine => ({
    ...machine,
    fs: fileSystemWithout(machine.fs, verb),
  });
  return {
    open: (machine, ...rest) => realEngine.open(change(machine), ...rest),
    transaction: (machine, ...rest) => realEngine.transaction(change(machine), ...rest),
  };
}

function fileSystemWithout(fs: TestMachine['fs'], verb: string): TestMachine['fs'] {
  const idle = <Target extends object>(target: Target, change: Readonly<Record<string, unknown>>): Target =>
    new Proxy(target, {
      get(inner, name): unknown {
        if (typeof name === 'string' && name in change) return change[name];
        const member: unknown = Reflect.get(inner, name, inner);
        return typeof member === 'function' ? member.bind(inner) : member;
      },
    });
  if (verb === 'syncDirectory') return idle(fs, { syncDirectory: () => true });
  return idle(fs, {
    open: (...given: Parameters<TestMachine['fs']['open']>) => {
      const file = fs.open(...given);
      if (verb === 'truncate') return idle(file, { truncate: () => undefined });
      return idle(file, { syncData: () => undefined, syncDataLater: () => Promise.resolve() });
    },
  });
}

async function prepareTurns({ engine, machine, directory, sessionId, attempts }: CrashWorld): Promise<void> {
  const log = await engine.open(machine, directory, sessionId, {});
  for (const name of ['thread', 'start', 'note', 'complete'] as const) attempts.append(log, name);
  await attempts.close(log);
}

async function appendDurably({ engine, machine, directory, sessionId, attempts }: CrashWorld): Promise<void> {
  attempts.durability = 'event';
  const log = await engine.open(machine, directory, sessionId, { durability: 'event' });
  for (const name of ['start', 'note', 'complete'] as const) attempts.append(log, name);
}

const wrong: readonly (readonly [
  name: string,
  engine: EngineUnderTest,
  scenario: CrashScenario,
  found: string,
])[] = [
  [
    'an append is acknowledged without a sync',
    engineWithout('syncData'),
    { name: 'unsynced', prepare: prepareTurns, run: appendDurably },
    'I1',
  ],
  [
    'the name of a new log is not synced',
    engineWithout('syncDirectory'),
    { name: 'unsynced name', run: appendDurably },
    'I1',
  ],
  [
    'the log is truncated and rewritten in place',
    realEngine,
    {
      name: 'rewrite in place',
      prepare: prepareTurns,
      run: async ({ fs, directory }) => {
        const content = fs.contentOf(`${directory}/events.jsonl`);
        const file = fs.open(`${directory}/events.jsonl`, 'append');
        file.truncate(0);
        file.write(content);
        file.sync();
        file.close();
      },
    },
    'I1',
  ],
  [
    'a swap is not synced before its rename',
    realEngine,
    {
      name: 'swap without sync',
      prepare: prepareTurns,
      run: async ({ fs, directory }) => {
        const path = `${directory}/events.jsonl`;
        publish(fs, createSeededIds(3), path, fs.contentOf(path), { durability: 'visible' });
        fs.syncDirectory(directory);
      },
    },
    'I1',
  ],
  [
    'the manifest is published before the log is synced',
    engineWithout('syncData'),
    {
      name: 'manifest first',
      prepare: prepareTurns,
      run: async ({ engine, machine, directory, sessionId, attempts }) => {
        const log = await engine.open(machine, directory, sessionId, { durability: 'buffered' });
        attempts.append(log, 'note');
        // Nothing is promised of it, and still its manifest must not be there without it.
        log.sync();
      },
    },
    'I4',
  ],
  [
    'a fragment is left where the next record goes',
    engineWithout('truncate'),
    {
      name: 'fragment kept',
      prepare: async (world) => {
        await prepareTurns(world);
        const path = `${world.directory}/events.jsonl`;
        world.fs.plantFile(
          path,
          Buffer.concat([world.fs.contentOf(path), Buffer.from('{"schema_version":"0.1')]),
        );
      },
      run: appendDurably,
    },
    '',
  ],
];

/** A log that is cut in the right way, with what `change` makes of its header put in its place, durably. */
function cutWith(name: string, change: (header: string, world: CrashWorld) => string): CrashScenario {
  return {
    name,
    prepare: async (world) => {
      const log = await world.engine.open(world.machine, world.directory, world.sessionId, {});
      for (const event of ['start', 'complete', 'start', 'complete', 'start'] as const) {
        world.attempts.append(log, event);
      }
      await world.attempts.close(log);
    },
    run: async (world) => {
      const { engine, machine, directory, sessionId, fs } = world;
      const cap = { maxEvents: 3, target: 1 };
      const log = await engine.open(machine, directory, sessionId, { cap });
      await log.maintain();
      await log.close();
      const path = `${directory}/events.jsonl`;
      const content = Buffer.from(fs.contentOf(path)).toString();
      const end = content.indexOf('\n');
      const changed = change(content.slice(0, end), world) + content.slice(end);
      publish(fs, createSeededIds(3), path, Buffer.from(changed), { durability: 'durable' });
    },
  };
}

const withoutNumbers = (header: string): string => header.replace(/"last_turn":\d+/, '"last_turn":0');

const wrongEvictions: readonly (readonly [name: string, scenario: CrashScenario, found: string])[] = [
  [
    'how many turns have left stands in the manifest only',
    cutWith('count in the manifest', withoutNumbers),
    'I2',
  ],
  [
    'how many turns have left stands in a marker that recovery removes',
    cutWith('count in the marker', (header, { fs, directory }) => {
      const marker = `{"turnlog":"pending-rewrite","v":1,"kind":"evict","last_turn":2}\n`;
      const path = `${directory}/index/pending-rewrite.json`;
      publish(fs, createSeededIds(4), path, Buffer.from(marker), { durability: 'durable' });
      return withoutNumbers(header);
    }),
    'I2',
  ],
  [
    'the header has no hash tree of what has left',
    cutWith('header without tree', (header) =>
      header.replace(
        /"tree":\{[^}]*\}/,
        '"tree":{"size":0,"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","frontier":[]}',
      ),
    ),
    'I1',
  ],
  [
    'the header names an archive that is not there',
    cutWith('no archive', (header, { fs, directory }) => {
      for (const { name } of fs.list(`${directory}/archive`)) fs.removeFile(`${directory}/archive/${name}`);
      return header;
    }),
    'I1',
  ],
];

test.each(wrongEvictions)('%s: reported', async (_name, scenario, found) => {
  const outcome = await enumerateCrashes(realEngine, scenario, { disksMax: 12 });
  expect(outcome.violations).toBeGreaterThan(0);
  expect(outcome.examples.join('\n')).toContain(found);
});

test('the same eviction with the header as it is is not reported', async () => {
  const outcome = await enumerateCrashes(
    realEngine,
    cutWith('right', (header) => header),
    { disksMax: 12 },
  );
  expect(outcome.examples).toEqual([]);
  expect(outcome.violations).toBe(0);
});

test.each(wrong)('%s: reported', async (_name, engine, scenario, found) => {
  const outcome = await enumerateCrashes(engine, scenario).catch((error: unknown) => String(error));
  if (typeof outcome === 'string') {
    expect(outcome).toContain(found === '' ? 'Error' : found);
    return;
  }
  expect(outcome.violations).toBeGreaterThan(0);
  expect(outcome.examples.join('\n')).toContain(found);
});

test('the same scenarios with the engine as it is are not reported', async () => {
  const scenario: CrashScenario = { name: 'right', prepare: prepareTurns, run: appendDurably };
  const outcome = await enumerateCrashes(realEngine, scenario);
  expect(outcome.examples).toEqual([]);
  expect(outcome.violations).toBe(0);
});
