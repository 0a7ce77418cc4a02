import { checkArchives, type HistoryLeaf, historyLeaves, openLogReader, openOwnedLog } from '@turnlog/log';
import { SeededRandom } from '@turnlog/testkit';
import { Child } from './child-process.js';
import { RealLog } from './real-log.js';

/*
 * SIGKILL keeps what the operating system has: this proves that a redaction that is cut short at any moment leaves one
 * of the two logs with its archives, not that anything was synced. That is what the crash tier is for.
 */

const cycles = Number(process.env['TURNLOG_KILL_CYCLES'] ?? 40) / 2;
let log: RealLog;

beforeEach(() => {
  log = new RealLog();
});

afterEach(() => {
  log.remove();
});

/** All records, archived ones first, once a writer has opened the log; its archives are those that its headers name. */
async function leavesOf(): Promise<readonly HistoryLeaf[]> {
  const machine = log.machine();
  await (await openOwnedLog(machine, log.directory, 's-1')).close();
  const reader = openLogReader(machine.fs, log.directory, 's-1');
  try {
    const faults = checkArchives(machine.fs, reader, 'whole').filter(({ kind }) => kind !== 'unnamed');
    expect(faults).toEqual([]);
    return [...historyLeaves(machine.fs, reader)];
  } finally {
    reader.close();
  }
}

/** What the statements say: the leaf of each record that goes, by its number. */
function statedIn(leaves: readonly HistoryLeaf[]): ReadonlyMap<number, string> {
  const stated = new Map<number, string>();
  for (const { record } of leaves.filter((each) => each.record.type === 'log.redaction')) {
    const { indexes, leaves: hashes } = JSON.parse(Buffer.from(record.bytes).toString('utf8')).event;
    for (const [at, index] of indexes.entries()) stated.set(index, hashes[at]);
  }
  return stated;
}

/** What the children said over all their lives. */
class Said {
  readonly acknowledged = new Map<string, number>();
  readonly tried = new Set<number>();
  readonly gone = new Set<number>();

  take(child: Child): void {
    for (const text of child.after('ack')) {
      const [name = '', seq = ''] = text.split(':');
      this.acknowledged.set(name, Number(seq));
    }
    for (const seq of child.after('try')) this.tried.add(Number(seq));
    for (const seq of child.after('gone')) this.gone.add(Number(seq));
  }
}

/** One life of a child, which ends somewhere in a redaction. */
async function live(cycle: number, random: SeededRandom, said: Said): Promise<void> {
  const child = new Child('redacting-child.mjs', log.directory, String(cycle));
  // By what it has done, not by time: a busy machine is killed at the same places.
  await child.saidTimes(random.below(2) === 0 ? 'try' : 'written', 1 + random.below(3));
  const pauseMs = random.below(8);
  await new Promise((resolve) => {
    setTimeout(resolve, pauseMs);
  });
  child.signal('SIGKILL');
  await child.ended();
  expect(child.errors).toBe('');
  said.take(child);
}

function expectKept(leaves: readonly HistoryLeaf[], { acknowledged, tried, gone }: Said): void {
  const bySeq = new Map(leaves.map((leaf) => [leaf.record.seq, leaf.record]));
  for (const [name, seq] of acknowledged) {
    const record = bySeq.get(seq);
    const isThere = record?.type === 'x.test.note' && Buffer.from(record.bytes).includes(`"${name}"`);
    const isRedacted = record?.type === 'log.redacted' && tried.has(seq);
    expect([name, isThere || isRedacted]).toEqual([name, true]);
  }
  for (const seq of gone) expect([seq, bySeq.get(seq)?.type]).toEqual([seq, 'log.redacted']);
  const stated = statedIn(leaves);
  for (const { index, record } of leaves.filter((each) => each.record.type === 'log.redacted')) {
    expect([index, stated.get(index)]).toEqual([index, record.leaf()]);
  }
}

test(
  'I1, I2: a process that is killed again and again while it redacts leaves the old log or the new one, and each that is gone was spoken of before',
  async () => {
    const random = new SeededRandom(20_261_006);
    const said = new Said();
    let cutLives = 0;
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      await live(cycle, random, said);
      // What lies about: a rewrite was under way, at one step or another.
      if (log.hasTraces()) cutLives += 1;
      if (cycle % 5 === 4) await leavesOf();
    }
    const leaves = await leavesOf();
    expect(leaves.map(({ index, record }) => record.seq - index)).toEqual(leaves.map(() => 1));
    expectKept(leaves, said);
    const { acknowledged, gone } = said;
    expect([gone.size > 0, cutLives > 0, acknowledged.size > cycles]).toEqual([true, true, true]);
  },
  60_000 + cycles * 2_000,
);
