import { SeededRandom } from '@turnlog/testkit';
import { soakBudget, tellFigure } from '../figures.js';
import { Child } from './child-process.js';
import { RealLog } from './real-log.js';

/*
 * SIGKILL keeps what the operating system has: this proves that nothing of it is lost, mixed or written twice, not
 * that anything was synced. That is what the crash tier is for.
 */

const producers = Array.from({ length: 16 }, (_, index) => String.fromCharCode(0x61 + index));
const appends = soakBudget('TURNLOG_SHARED_APPENDS', 30);
/** How often each producer is killed: the first times soon, then about every two hundred records. */
const kills = 2 + Math.floor(appends / 200);

interface Tally {
  killed: number;
  lives: number;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Kills a producer at any moment of its work: while it waits, a moment after an acknowledgement, or in between. */
async function killSometime(child: Child, left: number, random: SeededRandom): Promise<void> {
  if (random.below(2) === 0) {
    await pause(100 + random.below(300));
  } else {
    const count = 1 + random.below(Math.max(1, Math.min(left, Math.ceil((1.5 * appends) / kills))));
    await child.saidTimes('ack', count);
    await pause(random.below(12));
  }
  child.signal('SIGKILL');
}

/** Starts a producer again and again until it has everything acknowledged. */
async function produce(
  directory: string,
  producer: string,
  random: SeededRandom,
  tally: Tally,
): Promise<void> {
  for (let acknowledged = 0, life = 0; acknowledged < appends; life += 1) {
    const from = String(acknowledged + 1);
    const child = new Child('shared-child.mjs', directory, producer, from, String(appends));
    tally.lives += 1;
    await child.said('open');
    const end = life < kills ? killSometime(child, appends - acknowledged, random) : null;
    if ((await child.ended()) === null) tally.killed += 1;
    await end;
    expect(child.errors).toBe('');
    acknowledged = Math.max(acknowledged, ...child.after('ack').map(Number));
  }
}

test(
  'T-51 sixteen processes share a log and are killed at random: each acknowledged record once, in its producer’s order',
  async () => {
    const log = new RealLog();
    const tally: Tally = { killed: 0, lives: 0 };
    try {
      const random = new SeededRandom(20_261_005);
      await Promise.all(producers.map((producer) => produce(log.directory, producer, random, tally)));
      const names = log.names();
      expect(new Set(names).size).toBe(names.length);
      const expected = Array.from({ length: appends }, (_, index) => index + 1);
      for (const producer of producers) {
        const own = names
          .filter((name) => name.startsWith(`${producer}-`))
          .map((name) => Number(name.slice(2)));
        expect({ producer, own }).toEqual({ producer, own: expected });
      }
      expect(names).toHaveLength(producers.length * appends);
      await log.check();
    } finally {
      log.remove();
    }
    expect(tally.killed).toBeGreaterThan(producers.length);
    tellFigure(
      'shared appends',
      `${producers.length} processes × ${appends} records, ${tally.killed} times killed -9, every record once and in order`,
    );
  },
  600_000 + appends * 2_000,
);
