import childProcess from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import { type AgentPorts, DivergenceError, divergenceText } from '@turnlog/replay';
import { passThrough } from '@turnlog/store';
import { FaultFileSystem, plantSecrets } from '@turnlog/testkit';
import { directory, livePorts, outcomeOf, ReplayWorld, runSteps, type Step, say } from './replay-world.js';

const steps: readonly Step[] = [
  { kind: 'ask', n: 1, chunks: 3 },
  { kind: 'call', name: 'read', n: 2, fate: 'ok' },
  { kind: 'call', name: 'read', n: 3, fate: 'error' },
  { kind: 'together', calls: [6, 7, 8] },
];

test('R-5 no port of the player reaches sockets, processes, files, the clock, or what is random', async () => {
  const world = new ReplayWorld();
  await world.record((ports) => runSteps(ports, steps), livePorts(world));
  const disk = new FaultFileSystem(world.disk);
  const player = await world.open({ fs: disk });
  const reading: ReadonlySet<string> = new Set(['open', 'read', 'status', 'close', 'resolve', 'list']);
  expect(disk.journal.filter(({ verb }) => !reading.has(verb))).toEqual([]);
  disk.journal.length = 0;
  const trapped: string[] = [];
  const trap = (name: string) => (): never => {
    trapped.push(name);
    throw new Error(`${name} is not to be reached`);
  };
  const traps = [
    jest.spyOn(net.Socket.prototype, 'connect').mockImplementation(trap('socket')),
    jest.spyOn(childProcess, 'spawn').mockImplementation(trap('process')),
    jest.spyOn(fs, 'openSync').mockImplementation(trap('file')),
    jest.spyOn(fs, 'writeSync').mockImplementation(trap('write')),
    jest.spyOn(Date, 'now').mockImplementation(trap('time')),
    jest.spyOn(Math, 'random').mockImplementation(trap('chance')),
    jest.spyOn(crypto, 'randomUUID').mockImplementation(trap('id')),
  ];
  try {
    await runSteps(player, steps);
    player.random();
    player.ids.next('other');
    await player.clock.sleep(1_000);
    player.clock.now();
    player.finish();
  } finally {
    for (const each of traps) each.mockRestore();
  }
  expect(trapped).toEqual([]);
  expect(disk.journal).toEqual([]);
});

test('R-6 the clock is that of the recording, stands still, or is moved; sleeps of hours end at once; ids follow their mode', async () => {
  const world = new ReplayWorld();
  const start = world.clock.now();
  const seen: number[] = [];
  const run = async (ports: AgentPorts): Promise<void> => {
    seen.push(ports.clock.now());
    await ports.tool('slow', { n: 1 });
    seen.push(ports.clock.now());
    await ports.clock.sleep(5 * 3_600_000);
    seen.push(ports.clock.now());
    say(ports, ports.ids.next('call'));
  };
  await world.record(run, livePorts(world));
  const recorded = seen.splice(0);
  expect(recorded).toEqual([start, start + 2, start + 2 + 5 * 3_600_000]);
  await world.replay(run);
  expect(seen.splice(0)).toEqual(recorded);
  await world.replay(run, { clock: 'fixed' });
  expect(seen.splice(0)).toEqual([start, start, start + 5 * 3_600_000]);
  const manual = await world.open({ clock: 'manual' });
  manual.clock.advance(7);
  manual.clock.advance(-100);
  await run(manual);
  expect(seen.splice(0)).toEqual([start + 7, start + 7, start + 7 + 5 * 3_600_000]);

  const told = new ReplayWorld();
  await told.record(async ({ log }) => {
    for (const id of ['b', 'a', 'b'])
      log.append({ type: 'item.completed', ...{ item: { id, type: 'plan', text: id } } });
    log.append({ type: 'user.message', ...{ id: 'm', origin: 'prompt', content: [] } });
  }, {});
  const { ids } = await told.open({ ids: 'recorded' });
  expect([ids.next('plan'), ids.next('plan'), ids.next('message'), ids.next()]).toEqual(['b', 'a', 'm', 'b']);
  const further = ids.next('plan');
  expect([ids.next('plan') === further, ['a', 'b'].includes(further)]).toEqual([false, false]);
  const seeded = [(await told.open({ ids: 'seeded' })).ids, (await told.open({ ids: 'seeded' })).ids];
  const made = seeded.map((each) => Array.from({ length: 50 }, () => each.next('plan')));
  expect(made[0]).toEqual(made[1]);
  expect(made[0]).toEqual([...(made[0] ?? [])].sort());
  expect(new Set(made[0]).size).toBe(50);
});

async function looksFor(turns: number): Promise<number> {
  const world = new ReplayWorld();
  const run = async (ports: AgentPorts): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) {
      ports.log.append({ type: 'turn.started' });
      for (let at = 0; at < 8; at += 1) say(ports, `${turn} ${at}`);
      for (let at = 0; at < 2; at += 1) await ports.tool('read', { n: turn * 2 + at });
      ports.log.append({ type: 'turn.completed', usage: {} });
    }
  };
  await world.record(run, { tool: async () => 'text' });
  const disk = new FaultFileSystem(world.disk);
  const player = await world.replay(run, { fs: disk });
  expect(disk.journal.filter(({ path }) => path.includes('assets'))).toEqual([]);
  expect([player.report().appended, player.report().served]).toEqual([turns * 10, turns * 2]);
  return player.report().looks;
}

test('R-16 the work of a replay grows with its records and exchanges, and no blob is read', async () => {
  const whole = await looksFor(1_000);
  expect(whole).toBe(12_000);
  expect(await looksFor(500)).toBe(whole / 2);
});

test('R-11 no secret of any kind is in a file of the fixture, and the same code still replays', async () => {
  const planted = plantSecrets(120, 11);
  const world = new ReplayWorld();
  const run = async (ports: AgentPorts): Promise<void> => {
    for (const { text, json } of planted) {
      const answer = await outcomeOf(ports.tool('read', { path: `/x/${text}`, given: json }));
      const failure = await outcomeOf(ports.port('other')({ text }));
      let streamed = '';
      for await (const delta of ports.model({ messages: [text] })) streamed += delta;
      ports.log.append({
        type: 'x.test.told',
        ...{ text, lengths: [answer.length > 0, failure.length > 0, streamed.length > 0] },
      });
    }
  };
  await world.record(run, {
    tool: async (_name, args) => args,
    others: {
      other: async (request) => {
        throw new Error(String(Reflect.get(Object(request), 'text')));
      },
    },
    model: async function* (request) {
      const text = String(Reflect.get(Object(request), 'messages'));
      yield text.slice(0, text.length / 2);
      yield text.slice(text.length / 2);
    },
  });
  const all = Object.values(world.files()).join('\n');
  const found = planted.filter(({ secrets }) =>
    secrets.some((secret) => all.includes(secret) || all.includes(JSON.stringify(secret).slice(1, -1))),
  );
  expect(found.map(({ name }) => name)).toEqual([]);
  expect(new Set(planted.map(({ kind }) => kind)).size).toBe(6);
  expect(all).toContain('[redacted:');
  const player = await world.replay(run);
  expect(player.report().served).toBe(planted.length * 3);
});

test('RE-8: a fixture that was recorded without the redactor replays as it stands, and reports are redacted all the same', async () => {
  const [{ text, secrets }] = plantSecrets(1, 3) as [ReturnType<typeof plantSecrets>[number]];
  const world = new ReplayWorld();
  const runWith =
    (more: string) =>
    async (ports: AgentPorts): Promise<void> => {
      await ports.tool('read', { path: text });
      ports.log.append({ type: 'x.test.told', ...{ text: `${text}${more}` } });
    };
  await world.record(runWith(''), { tool: async () => text }, { egress: passThrough });
  expect(secrets.some((secret) => world.files()['events.jsonl']?.includes(secret))).toBe(true);
  expect((await world.replay(runWith(''))).report().served).toBe(1);
  const failure: unknown = await world.replay(runWith(' and more')).catch((error: unknown) => error);
  const told = failure instanceof DivergenceError ? divergenceText(failure.divergence) : '';
  expect(told).toContain('/text');
  expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);
});

test('RE-18: a fixture that is recorded from a replay is the same fixture', async () => {
  const world = new ReplayWorld();
  await world.record((ports) => runSteps(ports, steps), livePorts(world));
  const first = world.files();
  const player = await world.open();
  await world.record(
    (ports) => runSteps(ports, steps),
    { model: player.model, tool: player.tool },
    { clock: player.clock, existing: 'replace' },
  );
  expect(world.files()).toEqual(first);
  expect(world.disk.status(directory)?.kind).toBe('directory');
});
