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
