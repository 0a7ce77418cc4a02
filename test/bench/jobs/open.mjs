// Opening, scanning and reading parts, by size of the log: P-4. Files are in the page cache.

import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { closeSync, createReadStream, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
// biome-ignore lint/style/noRestrictedImports: the naive reader is what a scan is measured against
import { createInterface } from 'node:readline';
import { createNodeFileSystem } from '../../../packages/fs/dist/index.js';
import { openLogReader, openOwnedLog, Scanner } from '../../../packages/log/dist/index.js';
import { buildLog } from '../build-log.mjs';
import { createEnvironment, option, peerVersion, requirePeer, withDirectory } from '../machine.mjs';
import { latencies, rateRows, rotate, timed } from '../measure.mjs';

const ndjson = requirePeer('ndjson');
const largest = Number(option('records', 1_000_000));
const sizes = [1_000, 10_000, 100_000, 1_000_000].filter((records) => records <= largest);
const fs = createNodeFileSystem();
const env = createEnvironment(fs);

async function buildAll(directory) {
  const logs = [];
  for (const records of sizes) {
    const path = join(directory, `log-${records}`);
    logs.push({ path, ...(await buildLog(env, path, { recordCount: records })) });
  }
  return logs;
}

/** Latencies of one call on logs of all sizes, in rotating order. */
async function byRecords(logs, call, rounds = 60) {
  const ms = new Map(logs.map(({ path }) => [path, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (let place = 0; place < logs.length; place += 1) {
      const log = logs[(round + place) % logs.length];
      const took = await call(log);
      if (round >= 10) ms.get(log.path).push(took);
    }
  }
  const rows = logs.map(({ path, records, turns }) => ({ records, turns, ...latencies(ms.get(path)) }));
  return rows.map((row) => ({ ...row, [`× ${rows[0].records} records`]: row.p50 / rows[0].p50 }));
}

const openReader = (log) => {
  let reader;
  const ms = timed(() => {
    reader = openLogReader(fs, log.path, 's-bench');
  });
  reader.close();
  return ms;
};

async function openWriter(log) {
  const start = process.hrtime.bigint();
  const writer = await openOwnedLog(env, log.path, 's-bench');
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (writer.report.scan !== 'none') throw new Error('the metadata of the log is not healthy');
  await writer.close();
  return ms;
}

/** Runs `work` on an open reader and measures only that. */
const onReader = (work) => (log) => {
  const reader = openLogReader(fs, log.path, 's-bench');
  const ms = timed(() => work(reader, log));
  reader.close();
  return ms;
};

let pick = 12_345;
const somewhere = (turns) => {
  pick = (pick * 48_271) % 2_147_483_647;
  return 1 + (pick % turns);
};

function count(records) {
  let found = 0;
  for (const _ of records) found += 1;
  return found;
}

const readLatencies = async (logs) => [
  {
    title: 'open for reading',
    note: 'healthy metadata, milliseconds',
    rows: await byRecords(logs, openReader),
  },
  {
    title: 'open for writing',
    note: 'healthy metadata, with the lock, milliseconds',
    rows: await byRecords(logs, openWriter),
  },
  {
    title: 'tail(50)',
    note: 'on an open reader, milliseconds',
    rows: await byRecords(
      logs,
      onReader((reader) => reader.tail(50)),
    ),
  },
  {
    title: 'open and tail(50)',
    note: 'what `turnlog tail` does, milliseconds',
    rows: await byRecords(logs, (log) => {
      return timed(() => {
        const reader = openLogReader(fs, log.path, 's-bench');
        reader.tail(50);
        reader.close();
      });
    }),
  },
  {
    title: 'read one turn',
    note: 'any turn, first use of the index included, milliseconds',
    rows: await byRecords(
      logs,
      onReader((reader, log) => count(reader.readTurn(somewhere(log.turns)))),
    ),
  },
];

/** Each line: cut at 0x0A, checked to be UTF-8, parsed. What a careful reader must do at least. */
function scanByHand(path, expected) {
  const descriptor = openSync(path, 'r');
  let block = Buffer.allocUnsafe(1_048_576);
  let kept = 0;
  let found = 0;
  for (;;) {
    const read = readSync(descriptor, block, kept, block.length - kept, null);
    if (read === 0) break;
    const filled = kept + read;
    let start = 0;
    for (let end = block.indexOf(0x0a); end !== -1 && end < filled; end = block.indexOf(0x0a, start)) {
      const line = block.subarray(start, end);
      if (!isUtf8(line)) throw new Error('not UTF-8');
      JSON.parse(line.latin1Slice === undefined ? line.toString() : line.utf8Slice(0, line.length));
      found += 1;
      start = end + 1;
    }
    block.copyWithin(0, start, filled);
    kept = filled - start;
    if (kept === block.length) block = Buffer.concat([block, Buffer.allocUnsafe(block.length)]);
  }
  closeSync(descriptor);
  if (found !== expected) throw new Error(`${found} lines instead of ${expected}`);
}

async function scanWithReadline(path, expected) {
  let found = 0;
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    JSON.parse(line);
    found += 1;
  }
  if (found !== expected) throw new Error(`${found} lines instead of ${expected}`);
}

function scanWithNdjson(path, expected) {
  return new Promise((resolve, reject) => {
    let found = 0;
    createReadStream(path)
      .pipe(ndjson.parse())
      .on('data', () => {
        found += 1;
      })
      .on('error', reject)
      .on('end', () => (found === expected ? resolve() : reject(new Error(`${found} lines`))));
  });
}

async function timedLater(work) {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function scanPieces(log) {
  const file = fs.open(join(log.path, 'events.jsonl'), 'read');
  const scanner = new Scanner(file, { to: log.bytes });
  let found = 0;
  while (scanner.next() !== null) found += 1;
  file.close();
  if (found !== log.records) throw new Error(`${found} records instead of ${log.records}`);
}

async function scans(log) {
  const events = join(log.path, 'events.jsonl');
  const reading = (work) => () => {
    const reader = openLogReader(fs, log.path, 's-bench');
    const ms = timed(() => work(reader));
    reader.close();
    return ms;
  };
  const variants = [
    { name: 'turnlog: judge every line', run: () => timed(() => scanPieces(log)) },
    {
      name: 'turnlog: records()',
      run: reading((reader) => {
        if (count(reader.records()) !== log.records) throw new Error('not all records came');
      }),
    },
    {
      name: 'turnlog: records() and their events',
      run: reading((reader) => {
        for (const record of reader.records()) record.readEvent();
      }),
    },
    { name: '0x0A + UTF-8 + JSON.parse', run: () => timed(() => scanByHand(events, log.records)) },
    { name: 'readline + JSON.parse', run: () => timedLater(() => scanWithReadline(events, log.records)) },
    { name: 'ndjson', run: () => timedLater(() => scanWithNdjson(events, log.records)) },
    { name: 'wc -l', run: () => timed(() => spawnSync('wc', ['-l', events])) },
  ];
  return rotate(variants, { repetitions: 7 });
}

/** Opening a log whose derived files are gone reads all of it, as a writer also to hash it. */
async function openWithoutMetadata(directory) {
  const path = join(directory, 'bare');
  const built = await buildLog(env, path, { recordCount: Math.min(largest, 100_000) });
  const forget = () => {
    rmSync(join(path, 'manifest.json'), { force: true });
    rmSync(join(path, 'index'), { recursive: true, force: true });
  };
  const events = join(path, 'events.jsonl');
  const variants = [
    {
      name: 'turnlog: open for reading, full scan',
      run: () => {
        forget();
        return openReader({ path });
      },
    },
    {
      name: 'turnlog: open for writing, full scan, publish',
      run: async () => {
        forget();
        const start = process.hrtime.bigint();
        const writer = await openOwnedLog(env, path, 's-bench');
        const ms = Number(process.hrtime.bigint() - start) / 1e6;
        if (writer.report.scan !== 'full') throw new Error('not all was scanned');
        await writer.close();
        return ms;
      },
    },
    { name: '0x0A + UTF-8 + JSON.parse', run: () => timed(() => scanByHand(events, built.records)) },
  ];
  const times = await rotate(variants, { repetitions: 7 });
  return rateRows(times, { 'MB/s': built.bytes / 1e6, 'records/s': built.records }, [
    '0x0A + UTF-8 + JSON.parse',
  ]);
}

const results = await withDirectory(async (directory) => {
  const logs = await buildAll(directory);
  const scanned = logs.find(({ records }) => records >= Math.min(largest, 100_000));
  const references = ['0x0A + UTF-8 + JSON.parse', 'readline + JSON.parse', 'ndjson', 'wc -l'];
  return [
    ...(await readLatencies(logs)),
    {
      title: 'full scan',
      note: `${scanned.records} records, ${Math.round(scanned.bytes / 1e6)} MB; ndjson ${peerVersion('ndjson')}`,
      rows: rateRows(
        await scans(scanned),
        { 'MB/s': scanned.bytes / 1e6, 'records/s': scanned.records },
        references,
      ),
    },
    {
      title: 'open without metadata',
      note: 'all of the log is read',
      rows: await openWithoutMetadata(directory),
    },
  ];
});
process.stdout.write(`${JSON.stringify(results)}\n`);
