import { limits } from '@turnlog/kernel';
import { checkFixture, DivergenceError, RawJson } from '@turnlog/replay';
import {
  directory,
  livePorts,
  outcomeOf,
  ReplayWorld,
  randomSteps,
  runSteps,
  type Step,
  type say,
} from './replay-world.js';

test('R-2 a hundred random agents are recorded and replayed without divergence', async () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const world = new ReplayWorld();
    const ports = livePorts(world);
    const steps = randomSteps(seed);
    await world.record((given) => runSteps(given, steps), ports);
    const live = ports.calls();
    checkFixture(world.disk, directory);
    const player = await world.replay((given) => runSteps(given, steps));
    expect([seed, player.report().served, ports.calls()]).toEqual([seed, live, live]);
  }
});

test('R-7 streams keep their chunks; one that was given up ends there; one that failed fails after as many', async () => {
  const world = new ReplayWorld();
  const run = async (
    ports: Parameters<Parameters<ReplayWorld['record']>[0]>[0],
  ): Promise<readonly string[]> => {
    const seen: string[] = [];
    for await (const delta of ports.port('whole')({})) seen.push(delta);
    for await (const delta of ports.port('whole')({})) {
      seen.push(delta);
      if (seen.length === 5) break;
    }
    try {
      for await (const delta of ports.port('broken')({})) seen.push(delta);
    } catch (error) {
      seen.push(error instanceof Error ? `${error.name}: ${error.message}` : '');
    }
    return seen;
  };
  let live: readonly string[] = [];
  await world.record(
    async (ports) => {
      live = await run(ports);
    },
    {
      others: {
        whole: async function* () {
          yield 'a';
          yield 'bc';
          yield '';
        },
        broken: async function* () {
          yield 'x';
          yield 'y';
          throw new RangeError('cut off');
        },
      },
    },
  );
  expect(live).toEqual(['a', 'bc', '', 'a', 'bc', 'x', 'y', 'RangeError: cut off']);
  let replayed: readonly string[] = [];
  await world.replay(async (ports) => {
    replayed = await run(ports);
  });
  expect(replayed).toEqual(live);
  const lines = world
    .files()
    ['exchanges.jsonl']?.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines?.map(({ outcome, response }) => [outcome, response])).toEqual([
    ['ok', 'abc'],
    ['cancelled', 'abc'],
    ['error', 'xy'],
  ]);
  const player = await world.open();
  const greedy = async (): Promise<void> => {
    for await (const _ of player.port('whole')({})) expect(_).toEqual(expect.any(String));
    for await (const _ of player.port('whole')({})) expect(_).toEqual(expect.any(String));
  };
  await expect(greedy()).rejects.toMatchObject({ divergence: { kind: 'port-closed' } });
});

const rawValues =
  '{"big":2512292042121000001,"huge":1e400,"minus":-0,"one":1.0,"lone":"\\ud800","__proto__":{"a":1},"z":1,"a":2}';

function nested(levels: number): string {
  return `${'['.repeat(levels)}${']'.repeat(levels)}`;
}

test('R-8 values survive recording, file and replay by their stored text, and are compared by it', async () => {
  const world = new ReplayWorld();
  // With the members around it, the deepest that a reader takes.
  const deep = nested(limits.readerNestingLevelsMax - 2);
  const ports = {
    tool: (name: string) => Promise.resolve(new RawJson(name === 'deep' ? deep : rawValues)),
  };
  const events = [
    `{"type":"x.test.values","value":${rawValues}}`,
    `{"type":"x.test.deep","value":${nested(limits.writerNestingLevelsMax - 2)}}`,
  ];
  await world.record(async ({ tool, log }) => {
    await tool('values', new RawJson(rawValues));
    await tool('deep', new RawJson(deep));
    for (const raw of events) log.append({ raw });
  }, ports);
  checkFixture(world.disk, directory);
  const player = await world.open();
  expect(await player.text('tool', { name: 'values', arguments: new RawJson(rawValues) })).toBe(rawValues);
  expect(await player.text('tool', { name: 'deep', arguments: new RawJson(deep) })).toBe(deep);
  for (const raw of events) player.log.append({ raw });
  player.finish();

  const again = await world.open();
  const live: unknown = await again.tool('values', new RawJson(rawValues));
  expect(Object.getOwnPropertyDescriptor(live, '__proto__')?.value).toEqual({ a: 1 });
  expect(Reflect.get(Object(live), 'big')).toBe(2512292042121000001n);
  expect(Object.getPrototypeOf(live)).toBe(Object.prototype);

  for (const [from, to, path] of [
    ['1.0', '1', '/value/one'],
    ['2512292042121000001', '2512292042121000002', '/value/big'],
    ['1e400', '1e401', '/value/huge'],
    ['-0', '0', '/value/minus'],
    ['\\ud800', '\\ud801', '/value/lone'],
    ['{"a":1}', '{"a":2}', '/value/__proto__/a'],
  ] as const) {
    const other = await world.open();
    await other.tool('values', new RawJson(rawValues));
    await other.tool('deep', new RawJson(deep));
    const raw = (events[0] ?? '').replace(from, to);
    expect(() => other.log.append({ raw })).toThrow(
      expect.objectContaining({ divergence: expect.objectContaining({ kind: 'event-differs' }) }),
    );
    await expect(outcome(() => other.finish())).resolves.toEqual([path]);
  }
  const numeric = await world.open({ numbers: 'value' });
  await numeric.tool('values', new RawJson(rawValues));
  await numeric.tool('deep', new RawJson(deep));
  numeric.log.append({ raw: (events[0] ?? '').replace('1.0', '10e-1').replace('-0', '0.0') });
});

async function outcome(work: () => void): Promise<readonly string[]> {
  try {
    work();
  } catch (error) {
    if (error instanceof DivergenceError) return error.divergence.diff.map(({ path }) => path);
    throw error;
  }
  return await Promise.resolve([]);
}

const order: readonly Step[] = [
  { kind: 'call', name: 'read', n: 1, fate: 'ok' },
  { kind: 'call', name: 'write', n: 2, fate: 'ok' },
  { kind: 'call', name: 'read', n: 3, fate: 'ok' },
];

test('R-4 strict takes the recorded order, keyed any, loose what has the name; a group may come in any order', async () => {
  const world = new ReplayWorld();
  const call = (n: number): Step => order[n] ?? { kind: 'say', text: '' };
  const calls = async (
    ports: Parameters<typeof say>[0],
    steps: readonly Step[],
  ): Promise<readonly string[]> => {
    const seen: string[] = [];
    for (const step of steps) {
      if (step.kind === 'call')
        seen.push(await outcomeOf(ports.tool(step.name, { n: step.n, fate: step.fate })));
    }
    return seen;
  };
  await world.record((ports) => calls(ports, order), livePorts(world));
  const swapped = [call(1), call(0), call(2)];
  await expect(world.replay((ports) => calls(ports, swapped))).rejects.toMatchObject({
    divergence: { kind: 'wrong-order', at: { exchange: 1 }, nearest: { exchange: 2, distance: 0 } },
  });
  await world.replay((ports) => calls(ports, swapped), { match: 'keyed' });
  const never: Step = { kind: 'call', name: 'read', n: 9, fate: 'ok' };
  await expect(
    world.replay((ports) => calls(ports, [never, call(1), call(2)]), { match: 'keyed' }),
  ).rejects.toMatchObject({ divergence: { kind: 'request-differs' } });
  const loose = await world.replay((ports) => calls(ports, [never, call(1), call(2)]), { match: 'loose' });
  expect(loose.report().divergences).toMatchObject([
    { kind: 'request-differs', diff: [{ path: '/arguments/n', expected: 1, got: 9 }] },
  ]);

  const parallel = new ReplayWorld();
  const together = async (ports: Parameters<typeof say>[0], ns: readonly number[]): Promise<string> => {
    const done: number[] = [];
    await Promise.all(
      ns.map(async (n) => {
        await ports.tool('slow', { n });
        done.push(n);
      }),
    );
    return done.join(' ');
  };
  let recorded = '';
  await parallel.record(async (ports) => {
    recorded = await together(ports, [3, 1, 2]);
  }, livePorts(parallel));
  for (const arrival of [
    [3, 1, 2],
    [2, 1, 3],
    [1, 3, 2],
  ]) {
    let replayed = '';
    await parallel.replay(async (ports) => {
      replayed = await together(ports, arrival);
    });
    expect(replayed).toBe(recorded);
  }
});
