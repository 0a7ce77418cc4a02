/*
 * Appends turns to a log with a cap, on the real file system, and says what that has cost: bytes given to the file
 * system, and the largest heap. One line of JSON.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOwnedLog } from '../../../packages/log/dist/index.js';
import { realMachine } from '../../kill/machine.mjs';

const { events, maxEvents, perTurn } = JSON.parse(process.argv[2]);
const directory = mkdtempSync(join(tmpdir(), 'turnlog-capped-'));
const written = { log: 0, rewrite: 0, archive: 0, derived: 0 };
let calls = 0;
let peakHeap = 0;
let peakBuffers = 0;

function kindOf(path) {
  if (path.endsWith('/events.jsonl')) return 'log';
  if (path.includes('/archive/')) return 'archive';
  if (path.includes('/index/')) return 'derived';
  // Both a new log and a manifest are written under such a name; a manifest is short.
  return 'rewrite';
}

/** The file system, counting what is written through it. */
function counting(fs) {
  const wrap = (file) =>
    new Proxy(file, {
      get(target, name) {
        const member = Reflect.get(target, name, target);
        if (name === 'write') {
          return (bytes) => {
            calls += 1;
            written[kindOf(target.path)] += bytes.length;
            return target.write(bytes);
          };
        }
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  return new Proxy(fs, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (name === 'open') return (...given) => wrap(target.open(...given));
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

function look() {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  peakHeap = Math.max(peakHeap, heapUsed);
  peakBuffers = Math.max(peakBuffers, arrayBuffers);
}

try {
  const machine = realMachine();
  const log = await openOwnedLog({ ...machine, fs: counting(machine.fs) }, join(directory, 's-1'), 's-1', {
    durability: 'buffered',
    cap: { maxEvents },
  });
  const failures = [];
  log.onMaintenance(({ step, cause }) => failures.push(`${step} ${cause}`));
  let most = 0;
  for (let count = 0; count < events; ) {
    log.append({ raw: '{"type":"turn.started"}' });
    for (let part = 2; part < perTurn; part += 1) {
      log.append({ raw: `{"type":"x.test.note","x_text":"${'t'.repeat(120)}"}` });
    }
    log.append({ raw: '{"type":"turn.completed","usage":{}}' });
    count += perTurn;
    most = Math.max(most, log.state.lifecycle.eventCount);
    if (count % (perTurn * 100) === 0) {
      await log.maintain();
      look();
    }
  }
  await log.maintain();
  const { evicted, lifecycle } = log.state;
  const lastSeq = log.lastSeq;
  await log.close();
  const result = { written, calls, peakHeap, peakBuffers, evicted, lastSeq, most, failures };
  process.stdout.write(`${JSON.stringify({ ...result, eventCount: lifecycle.eventCount })}\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
