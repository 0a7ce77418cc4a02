import type { EventInput } from '@turnlog/log';
import fc from 'fast-check';
import {
  note,
  TestLog,
  threadCompleted,
  threadStarted,
  turnCompleted,
  turnFailed,
  turnStarted,
} from './support.js';

/** Events of all kinds that a log's state depends on. */
const events: fc.Arbitrary<readonly EventInput[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(turnStarted) },
    { weight: 3, arbitrary: fc.constant(turnCompleted) },
    fc.constantFrom(turnFailed, threadStarted, threadCompleted),
    { weight: 4, arbitrary: fc.nat(2_000).map((size) => note('n'.repeat(size))) },
    fc.record({
      type: fc.constant('run.started'),
      program: fc.constant('p'),
      cwd: fc.constantFrom('/a', '/b', '/c'),
      agent: fc.constantFrom('primary', 'subagent'),
    }),
    fc.record({ type: fc.constant('journal.set'), title: fc.constantFrom('one', 'two') }),
    fc.record({
      type: fc.constant('journal.set'),
      tags: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
    }),
    fc.constantFrom('m-1', 'm-2').map((id) => matrix(id)),
  ),
  { minLength: 1, maxLength: 60 },
);

function matrix(id: string): EventInput {
  return {
    type: 'matrix.updated',
    spec: { id, tasks: [], resources: {} },
    lifecycle: 'running',
    tasks: [],
    generation: null,
    revision: 1,
  };
}

const caps = fc.record({
  maxEvents: fc.integer({ min: 1, max: 20 }),
  target: fc.constantFrom(0.3, 0.8, 1),
  keepTurns: fc.integer({ min: 1, max: 3 }),
  archive: fc.constantFrom('gzip' as const, 'drop' as const),
});

/** What a writer's open makes of the log alone. */
async function derivedFromLog(test: TestLog): Promise<readonly string[]> {
  for (const name of ['manifest.json', 'index/turns.jsonl', 'index/keys.jsonl']) {
    if (test.disk.status(test.path(name)) !== null) test.remove(name);
  }
  const log = await test.open();
  expect(log.report.scan).toBe('full');
  await log.close();
  return derived(test);
}

function derived(test: TestLog): readonly string[] {
  return ['manifest.json', 'index/turns.jsonl', 'index/keys.jsonl'].map((name) =>
    test.disk.status(test.path(name)) === null
      ? ''
      : test.text(name).replace(/"generation":"[0-9a-f]{32}"/, ''),
  );
}

test('I3, I5: what is derived of a cut log without reading it is what reading it gives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(events, { minLength: 1, maxLength: 4 }), caps, async (rounds, cap) => {
      const test = new TestLog();
      const log = await test.open({ cap });
      const roots: string[] = [];
      for (const round of rounds) {
        for (const event of round) log.append(event);
        const { maintenance = [] } = await log.maintain();
        expect(maintenance.filter(({ step }) => step !== 'cap')).toEqual([]);
      }
      await log.close();
      const reader = test.read();
      const { size } = reader.root(reader.state.evicted === null ? 0 : 1);
      roots.push(String(size));
      reader.close();
      const before = derived(test);
      expect(await derivedFromLog(test)).toEqual(before);
    }),
  );
});
