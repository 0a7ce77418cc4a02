import { appendFileSync, existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { openOwnedLog } from '@turnlog/log';
import { SeededRandom } from '@turnlog/testkit';
import { Child } from './child-process.js';
import { RealLog } from './real-log.js';

/*
 * SIGKILL keeps what the operating system has: these tests prove that nothing of it is lost or mixed, not that
 * anything was synced. That is what the crash tier is for.
 */

const cycles = Number(process.env['TURNLOG_KILL_CYCLES'] ?? 40);
/** A check reads the whole log: a long run makes no more than forty, for its log grows with each life. */
const checkedEvery = Math.max(10, Math.ceil(cycles / 40));
const random = new SeededRandom(20_261_005);
let log: RealLog;

beforeEach(() => {
  log = new RealLog();
});

afterEach(() => {
  log.remove();
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

interface Said {
  readonly tried: Set<string>;
  readonly acknowledged: Map<string, number>;
}

/** One life of a writer, from its open to its kill. */
async function liveAndDie(durability: string, cycle: number, said: Said): Promise<void> {
  const child = new Child('owned-child.mjs', log.directory, durability, String(cycle));
  await child.said('open');
  await pause(random.below(51));
  child.signal('SIGKILL');
  await child.ended();
  expect(child.errors).toBe('');
  for (const name of child.after('try')) said.tried.add(name);
  for (const text of child.after('ack')) {
    const [name = '', seq = ''] = text.split(':');
    said.acknowledged.set(name, Number(seq));
  }
}

test.each(['turn', 'event'])(
  'I1, I2: a writer of class %s that is killed again and again: acknowledged ⊆ recovered ⊆ sent',
  async (durability) => {
    const said: Said = { tried: new Set(), acknowledged: new Map() };
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      await liveAndDie(durability, cycle, said);
      if (cycle % checkedEvery === checkedEvery - 1) await log.check();
    }
    await log.check();
    const { records } = log.read();
    const notes = records.filter(({ event }) => event['type'] === 'x.test.note');
    const found = new Map(notes.map(({ event, seq }) => [String(event['name']), seq]));
    expect(found.size).toBe(notes.length);
    for (const name of found.keys()) expect(said.tried).toContain(name);
    for (const [name, seq] of said.acknowledged) expect([name, found.get(name)]).toEqual([name, seq]);
    expect(said.acknowledged.size).toBeGreaterThan(cycles);
  },
  60_000 + cycles * 10_000,
);

test('T-41 two processes with 500 appends of 64 KiB: the second is LOCKED with pid and host, and no bytes mix', async () => {
  const first = new Child('bulk-child.mjs', log.directory, 'a', '500', 'pause');
  await first.said('open');
  const second = new Child('bulk-child.mjs', log.directory, 'b', '500');
  expect(await second.said('refused')).toBe(`refused TURNLOG_LOCKED ${first.pid} ${hostname()}`);
  first.signal('SIGUSR2');
  expect(await first.ended()).toBe(0);
  expect(await second.ended()).toBe(0);
  const { records, isDamaged } = log.read();
  expect(isDamaged).toBe(false);
  expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
  for (const [index, { event }] of records.entries()) {
    const producer = index < 500 ? 'a' : 'b';
    expect([event['producer'], event['number']]).toEqual([producer, index % 500]);
    expect(event['text']).toBe(producer.repeat(65_536));
  }
}, 60_000);

describe('T-43 an owner that stood still past the stale time does not throw', () => {
  test.each(['freeze', 'block'])(
    'and goes on with an unchanged log: %s',
    async (how) => {
      const child = new Child('frozen-child.mjs', log.directory, how);
      await child.said('open');
      if (how === 'freeze') {
        child.signal('SIGSTOP');
        await pause(3_200);
        // Alive, though silent: nobody takes the log from it.
        await expect(openOwnedLog(log.machine(), log.directory, 's-1')).rejects.toMatchObject({
          code: 'TURNLOG_LOCKED',
          details: { pid: child.pid, host: hostname() },
        });
        child.signal('SIGCONT');
      }
      expect(await child.ended()).toBe(0);
      expect(child.lines).not.toContain('unhandled');
      expect(child.lines).not.toContain('uncaught');
      const failed = child.after('failed');
      if (failed.length > 0) {
        expect(failed).toEqual(['TURNLOG_POISONED TURNLOG_LOCK_LOST']);
        expect(child.after('reopened')).toEqual([JSON.stringify({ lost: null, kept: { from: 2, to: 2 } })]);
      }
      expect(log.names()).toEqual(['first', 'held', 'second']);
      await log.check();
    },
    30_000,
  );

  test('and learns which seqs were not written when somebody displaced it and wrote', async () => {
    const child = new Child('frozen-child.mjs', log.directory, 'freeze');
    await child.said('open');
    child.signal('SIGSTOP');
    await pause(200);
    const other = await openOwnedLog(log.machine(), log.directory, 's-1', { force: 'displace' });
    other.append({ raw: '{"type":"x.test.note","name":"other"}' });
    await other.close();
    child.signal('SIGCONT');
    expect(await child.ended()).toBe(0);
    expect(child.lines).not.toContain('unhandled');
    expect(child.lines).not.toContain('uncaught');
    expect(child.after('failed')).toEqual([
      expect.stringMatching(/^TURNLOG_POISONED TURNLOG_LOCK_LOST|^TURNLOG_LOCK_LOST/),
    ]);
    // The record that it held, and the one whose sync failed, if that was accepted.
    expect(child.after('reopened')).toEqual([
      expect.stringMatching(/^\{"lost":\{"from":2,"to":[23]\},"kept":null\}$/),
    ]);
    expect(log.names()).toEqual(['first', 'other', 'gap', 'second']);
    await log.check();
  }, 30_000);
});

describe('T-20 durable records stay, no line is cut, the exit hook never throws', () => {
  test.each([
    ['exit', 0, ['one', 'two', 'three']],
    ['throw', 1, ['one', 'two', 'three']],
    ['signal', null, ['one']],
  ] as const)(
    'three appends, then %s',
    async (ending, code, durable) => {
      const child = new Child('ending-child.mjs', log.directory, ending);
      await child.said('open');
      if (ending === 'signal') child.signal('SIGTERM');
      expect(await child.ended()).toBe(code);
      expect(child.errors.includes('uncaught error of the program')).toBe(ending === 'throw');
      const { bytes, isDamaged } = log.read();
      expect([isDamaged, bytes.at(-1)]).toEqual([false, 0x0a]);
      expect(log.names().slice(0, durable.length)).toEqual(durable);
      await log.check();
    },
    20_000,
  );

  test('exit right after open: the session is valid or absent', async () => {
    const child = new Child('ending-child.mjs', log.directory, 'at-once');
    expect(await child.ended()).toBe(0);
    expect(child.errors).toBe('');
    if (existsSync(join(log.directory, 'events.jsonl'))) expect(log.read().bytes).toHaveLength(0);
    const opened = await openOwnedLog(log.machine(), log.directory, 's-1');
    opened.append({ raw: '{"type":"x.test.note","name":"later"}' });
    await opened.close();
    await log.check();
  }, 20_000);
});

test('two openers race for a dead owner’s log: one gets it, the other is LOCKED, and the torn tail is mended once', async () => {
  for (let round = 0; round < 5; round += 1) {
    const said: Said = { tried: new Set(), acknowledged: new Map() };
    await liveAndDie('event', round, said);
    appendFileSync(join(log.directory, 'events.jsonl'), '{"schema_version":"0.18.0","seq":');
    const results = await Promise.allSettled(
      [1, 2].map(() => openOwnedLog(log.machine(), log.directory, 's-1')),
    );
    const opened = results.filter((result) => result.status === 'fulfilled');
    const refused = results.filter((result) => result.status === 'rejected');
    expect([opened.length, refused.length]).toEqual([1, 1]);
    expect(refused[0]?.reason).toMatchObject({ code: 'TURNLOG_LOCKED', details: { pid: process.pid } });
    expect(opened[0]?.value.report.recovered).toHaveLength(1);
    await opened[0]?.value.close();
    const reports = log.names().filter((name) => name === 'torn_tail');
    expect(reports).toHaveLength(round + 1);
  }
  await log.check();
}, 60_000);
