import { SeededRandom } from '@turnlog/testkit';
import { Child } from './child-process.js';
import { RealLog } from './real-log.js';

/*
 * SIGKILL keeps what the operating system has: this proves that an eviction that is cut short at any moment loses and
 * repeats nothing, not that anything was synced. That is what the crash tier is for.
 */

const cycles = Number(process.env['TURNLOG_KILL_CYCLES'] ?? 40) / 2;
let log: RealLog;

beforeEach(() => {
  log = new RealLog();
});

afterEach(() => {
  log.remove();
});

test.each(['gzip', 'drop'])(
  'I1, I2: a writer that is killed again and again while turns leave its log (%s): nothing is lost or numbered twice',
  async (archive) => {
    const random = new SeededRandom(20_261_005);
    const tried = new Set<string>();
    const acknowledged = new Map<string, number>();
    let cutLives = 0;
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const child = new Child('evicting-child.mjs', log.directory, archive, String(cycle));
      // By what it has done, not by time: a busy machine is killed at the same places.
      await child.said(`ack ${cycle}-${random.below(16)}b`);
      const pauseMs = random.below(8);
      await new Promise((resolve) => {
        setTimeout(resolve, pauseMs);
      });
      child.signal('SIGKILL');
      await child.ended();
      expect(child.errors).toBe('');
      expect(child.after('failed')).toEqual([]);
      for (const name of child.after('try')) tried.add(name);
      for (const text of child.after('ack')) {
        const [name = '', seq = ''] = text.split(':');
        acknowledged.set(name, Number(seq));
      }
      // What lies about: an eviction was under way, at one step or another.
      if (log.hasTraces()) cutLives += 1;
      if (cycle % 5 === 4) await log.check();
    }
    await log.check();
    const { whole, leaves, droppedTo, droppedTurns, log: kept } = log.history();
    expect(kept.header).not.toBeNull();
    const seqs = whole.records.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => droppedTo + 1 + index));
    expect(leaves).toHaveLength(droppedTo + seqs.length);
    const turns = whole.turns.map(({ turn }) => turn);
    expect(turns).toEqual(turns.map((_, index) => droppedTurns + 1 + index));
    const found = new Map(whole.records.map(({ event, seq }) => [String(event['name']), seq]));
    const names = whole.records.flatMap(({ event }) => (event['name'] === undefined ? [] : [event['name']]));
    expect(names.filter((name) => !tried.has(String(name)))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    for (const [name, seq] of acknowledged) {
      if (seq > droppedTo) expect([name, found.get(name)]).toEqual([name, seq]);
    }
    const summaries = whole.records.filter(({ event }) => event['type'] === 'log.summary');
    expect(new Set(summaries.map(({ event }) => event['id'])).size).toBe(summaries.length);
    expect(acknowledged.size).toBeGreaterThan(cycles);
    expect(cutLives).toBeGreaterThan(0);
  },
  60_000 + cycles * 2_000,
);
