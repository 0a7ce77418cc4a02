/**
 * Writes a log of so many MiB to this disk, then opens, tails and lists it, and prints what that took. The writing is
 * that of somebody else's program: lines of the contract, with nothing derived beside them.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openLogReader } from '../../../packages/log/dist/index.js';
import { openStore } from '../../../packages/store/dist/index.js';

const { root, mebibytes } = JSON.parse(process.argv[2]);
const directory = join(root, 'sessions', 'large');
mkdirSync(directory, { recursive: true, mode: 0o700 });

const lineBytes = 4_096;
const linesPerBlock = 256;
const pad = 'x'.repeat(lineBytes);

function lineOf(seq) {
  const type = seq === 1 ? '"turn.started","pad":"' : '"error","message":"';
  const head = `{"schema_version":"0.18.0","seq":${seq},"ts":"2026-10-05T08:00:00.000Z","event":{"type":${type}`;
  return `${head}${pad.slice(0, lineBytes - head.length - 4)}"}}\n`;
}

const file = openSync(join(directory, 'events.jsonl'), 'wx', 0o600);
let seq = 0;
for (let block = 0; block < mebibytes; block += 1) {
  const lines = Array.from({ length: linesPerBlock }, () => {
    seq += 1;
    return lineOf(seq);
  });
  const bytes = Buffer.from(lines.join(''));
  if (writeSync(file, bytes) !== bytes.length) throw new Error('the disk took only a part');
}
closeSync(file);

const peak = { heap: 0, rss: 0 };
function look() {
  const { heapUsed, rss } = process.memoryUsage();
  peak.heap = Math.max(peak.heap, heapUsed);
  peak.rss = Math.max(peak.rss, rss);
}

const store = await openStore({ root, cwd: '/', env: {} });
const reader = openLogReader(store.environment.fs, directory, 'large');
look();
const tail = reader.tail(50).map((record) => record.seq);
look();
const { eventCount } = reader.state.lifecycle;
reader.close();
const [listed] = await store.list();
look();
process.stdout.write(
  JSON.stringify({
    lines: seq,
    eventCount,
    tail: [tail[0], tail.at(-1), tail.length],
    listed: listed?.events,
    peak,
  }),
);
