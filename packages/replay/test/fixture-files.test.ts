import { checkFixture, type LivePorts, openFixture, record, withFixture } from '@turnlog/replay';
import { FaultFileSystem, type FaultVerb } from '@turnlog/testkit';
import { directory, ReplayWorld, type say } from './replay-world.js';

const ports: LivePorts = { tool: async () => 'text' };

async function run({ tool, log, ids }: Parameters<typeof say>[0]): Promise<unknown> {
  log.append({ type: 'x.test.a', ...{ id: ids.next() } });
  return await tool('read', {});
}

test('R-9 a missing fixture fails in CI and nothing is written; once records elsewhere; never records nowhere', async () => {
  const world = new ReplayWorld();
  const base = { name: 'run', clock: world.clock, environment: world.machine };
  const with_ = (
    env: Readonly<Record<string, string>>,
    mode?: 'once' | 'always' | 'never',
  ): Promise<unknown> =>
    withFixture(directory, ports, run, { ...base, env, ...(mode === undefined ? {} : { mode }) });
  const refused = expect.objectContaining({ code: 'TURNLOG_REPLAY_MISS' });
  await expect(with_({ CI: 'true' })).rejects.toEqual(refused);
  await expect(with_({}, 'never')).rejects.toEqual(refused);
  await expect(with_({ TURNLOG_FIXTURES: 'never' }, 'always')).rejects.toEqual(refused);
  await expect(with_({ TURNLOG_FIXTURES: 'sometimes' })).rejects.toEqual(
    expect.objectContaining({ code: 'TURNLOG_BAD_CONFIG' }),
  );
  expect(world.disk.list('/fixtures')).toEqual([]);
  expect(await with_({})).toBe('text');
  const first = world.files();
  let calls = 0;
  const counted: LivePorts = {
    tool: async () => {
      calls += 1;
      return 'other';
    },
  };
  for (const env of [{}, { CI: 'true' }]) {
    expect(await withFixture(directory, counted, run, { ...base, env })).toBe('text');
  }
  expect([calls, world.files()]).toEqual([0, first]);
  expect(await withFixture(directory, counted, run, { ...base, env: {}, mode: 'always' })).toBe('other');
  expect(calls).toBe(1);
  expect(world.files()).not.toEqual(first);
});

const changing: ReadonlySet<FaultVerb> = new Set([
  'write',
  'sync',
  'rename',
  'makeDirectory',
  'removeFile',
  'removeDirectory',
  'syncDirectory',
  'close',
]);

test.each(['no', 'an old'])(
  'R-10 a recording that ends at any write leaves no fixture or a whole one, with %s one before',
  async (before) => {
    let strikes = 0;
    for (let call = 1; ; call += 1) {
      const world = new ReplayWorld();
      if (before === 'an old') await world.record(run, ports);
      const old = before === 'an old' ? world.files() : null;
      const disk = new FaultFileSystem(world.disk, {
        call,
        lasting: 'from-then-on',
        effect: { errno: 'EIO' },
        applies: ({ verb }) => changing.has(verb),
      });
      const environment = { ...world.machine, fs: disk };
      const options = { name: 'run', clock: world.clock, environment, existing: 'replace' } as const;
      const done = record(directory, { tool: async () => 'newer' }, run, options).then(
        () => true,
        () => false,
      );
      const isDone = await done;
      if (world.disk.status(directory) !== null) {
        checkFixture(world.disk, directory);
        const isOld = JSON.stringify(world.files()) === JSON.stringify(old);
        expect([call, isOld || world.files()['exchanges.jsonl']?.includes('newer')]).toEqual([call, true]);
      }
      if (isDone && disk.hitCount === 0) break;
      strikes += 1;
    }
    expect(strikes).toBeGreaterThan(10);
  },
);

test('a fixture that stands there is kept unless it is to be replaced, and so is anything else', async () => {
  const world = new ReplayWorld();
  await world.record(run, ports);
  const first = world.files();
  await expect(world.record(run, ports)).rejects.toEqual(
    expect.objectContaining({ code: 'TURNLOG_NEEDS_YES' }),
  );
  expect(world.files()).toEqual(first);
  expect(world.disk.list('/fixtures').map(({ name }) => name)).toEqual(['run']);
  await expect(openFixture('/fixtures/none', { fs: world.disk })).rejects.toEqual(
    expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }),
  );
});

test('code that fails while it is recorded leaves nothing', async () => {
  const world = new ReplayWorld();
  const failing = async (): Promise<void> => {
    throw new RangeError('no');
  };
  await expect(world.record(failing, ports)).rejects.toThrow('no');
  expect(world.disk.list('/fixtures')).toEqual([]);
});

test('the folder of the first fixture is made, private as all that is made', async () => {
  const world = new ReplayWorld();
  const options = { name: 'run', clock: world.clock, environment: world.machine };
  await record('/fixtures/deeper/run', ports, run, options);
  checkFixture(world.disk, '/fixtures/deeper/run');
  expect(world.disk.status('/fixtures/deeper')?.mode).toBe(0o700);
});
