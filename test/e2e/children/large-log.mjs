/**
 * Opens, tails and lists a log far larger than the heap it runs in, and prints what that cost; with `folds`, also
 * makes all views and a document of it.
 *
 * The log is a file that is computed when it is read: lines of given lengths, each a record of our own. So it
 * needs no disk, and every read is counted.
 */
import { TurnlogError } from '../../../packages/kernel/dist/index.js';
import { openLogReader } from '../../../packages/log/dist/index.js';
import { openStore, passThrough } from '../../../packages/store/dist/index.js';
import { exportSession, runFolds, views } from '../../../packages/views/dist/index.js';

const request = JSON.parse(process.argv[2]);
const directory = '/root/sessions/large';
const events = `${directory}/events.jsonl`;

/** Lengths of the lines with their 0x0A, and where each begins. */
function layOut({ totalBytes, lineBytes, lines }) {
  const count = lines ?? Math.floor(totalBytes / lineBytes);
  const starts = new Float64Array(count + 1);
  for (let index = 0; index < count; index += 1) {
    // Without a total, lines of very different lengths: up to 900 KB.
    const length = lines === undefined ? lineBytes : 200 + ((index * 7_919) % 900) * 1_000;
    starts[index + 1] = starts[index] + length;
  }
  return starts;
}

const starts = layOut(request);
const size = starts[starts.length - 1];

function head(index) {
  const type = index === 0 ? '"turn.started"' : '"error","message":"';
  return Buffer.from(
    `{"schema_version":"0.18.0","seq":${index + 1},"ts":"2026-10-05T08:00:00.000Z","event":{"type":${type}`,
  );
}

const back = Buffer.from('"}}\n');
const headMax = 200;

/** The bytes of a line from `from` on, as many as fit behind `at`: only these are made, for a read is far shorter. */
function copyLine(index, from, into, at) {
  const length = starts[index + 1] - starts[index];
  const end = Math.min(length, from + into.length - at);
  into.fill(0x78, at, at + end - from);
  if (from < headMax) {
    const front = index === 0 ? Buffer.from(`${head(0)},"pad":"`) : head(index);
    if (from < front.length) front.copy(into, at, from, Math.min(front.length, end));
  }
  const backAt = length - back.length;
  const backFrom = Math.max(backAt, from);
  if (end > backFrom) back.copy(into, at + backFrom - from, backFrom - backAt, end - backAt);
  return end - from;
}

function indexAt(offset) {
  let low = 0;
  let high = starts.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle;
  }
  return low;
}

const cost = { reads: 0, bytes: 0, largestRead: 0 };
const status = (kind, bytes) => ({
  kind,
  size: bytes,
  mode: kind === 'file' ? 0o600 : 0o700,
  uid: 1000,
  device: '1',
  inode: kind === 'file' ? '3' : '2',
  modifiedMs: 0,
  birthNs: '0',
});

const file = {
  path: events,
  status: () => status('file', size),
  read(into, offset) {
    let filled = 0;
    for (let index = indexAt(offset); filled < into.length && index < starts.length - 1; index += 1) {
      const from = offset + filled - starts[index];
      filled += copyLine(index, from, into, filled);
    }
    cost.reads += 1;
    cost.bytes += filled;
    cost.largestRead = Math.max(cost.largestRead, into.length);
    return filled;
  },
  close() {},
};

function missing(operation, path) {
  return Object.assign(new Error(`${operation} ${path}`), { code: 'ENOENT' });
}

const fs = {
  open(path) {
    if (path === events) return file;
    throw new TurnlogError('TURNLOG_IO', {
      details: { operation: 'open', path, errno: 'ENOENT' },
      cause: missing('open', path),
    });
  },
  status(path) {
    if (path === events) return status('file', size);
    return directory.startsWith(path) ? status('directory', 0) : null;
  },
  list(path) {
    if (path === '/root/sessions') return [{ name: 'large', kind: 'directory' }];
    if (path === '/root') return [{ name: 'sessions', kind: 'directory' }];
    return path === directory ? [{ name: 'events.jsonl', kind: 'file' }] : [];
  },
  resolve: (path) => path,
};

const peak = { heap: 0, buffers: 0 };
function look() {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  peak.heap = Math.max(peak.heap, heapUsed);
  peak.buffers = Math.max(peak.buffers, arrayBuffers);
}

const reader = openLogReader(fs, directory, 'large');
look();
const opened = { ...cost };
const tail = reader.tail(50).map((record) => record.seq);
look();
const tailed = { reads: cost.reads - opened.reads, bytes: cost.bytes - opened.bytes };
const { eventCount } = reader.state.lifecycle;
reader.close();

const store = await openStore({
  root: '/root',
  environment: { fs, ownership: { uid: 1000, onModeWarning: () => undefined } },
  cwd: '/',
  env: {},
});
const listed = await store.list();
look();
let exported = 0;
if (request.folds === 1) {
  const whole = store.read('large');
  const folds = views.map((view) => view.fromStart(whole));
  runFolds(whole, folds);
  look();
  for (const chunk of exportSession({ reader: whole, format: 'otlp', redactor: passThrough })) {
    exported += chunk.length;
    look();
  }
  whole.close();
}

process.stdout.write(
  JSON.stringify({
    size,
    lines: starts.length - 1,
    eventCount,
    tail: [tail[0], tail.at(-1), tail.length],
    opened,
    tailed,
    listed: listed.map(({ id, events: count, error }) => ({ id, events: count, error })),
    exported,
    peak,
  }),
);
