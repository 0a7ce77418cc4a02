// Appending, one durability class against the same class: P-1, P-2.

import { closeSync, fdatasyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openOwnedLog } from '../../../packages/log/dist/index.js';
import { BareWriter } from '../bare-writer.mjs';
import { makeTurns } from '../generate.mjs';
import { createEnvironment, option, peerVersion, requirePeer, withDirectory } from '../machine.mjs';
import { rateRows, rotate, timed } from '../measure.mjs';
import { digestOfLines, digestOfTexts, expectSame } from '../stored-events.mjs';

const Database = requirePeer('better-sqlite3');
const pino = requirePeer('pino');

/** Runs one variant in a fresh directory and looks at what it stored. */
function variant(name, directory, expected, body) {
  let round = 0;
  return {
    name,
    run: async () => {
      round += 1;
      const path = join(directory, `${name.replace(/\W+/g, '-')}-${round}`);
      const { ms, digest } = await body(path);
      if (digest !== null) expectSame(name, digest, expected);
      rmSync(path, { recursive: true, force: true });
      return ms;
    },
  };
}

async function turnlog(path, durability, work) {
  const log = await openOwnedLog(createEnvironment(), path, 's-bench', { durability });
  const ms = timed(() => work(log));
  await log.close();
  return { ms, digest: digestOfLines(join(path, 'events.jsonl')) };
}

function bare(path, work) {
  const writer = new BareWriter(path);
  const ms = timed(() => work(writer));
  writer.close();
  return { ms, digest: digestOfLines(path) };
}

function sqlite(path, batches) {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE events (seq INTEGER PRIMARY KEY, ts TEXT NOT NULL, event TEXT NOT NULL)');
  const insert = database.prepare('INSERT INTO events (ts, event) VALUES (?, ?)');
  const store = database.transaction((events) => {
    for (const event of events) insert.run('2026-10-05T08:30:00.125Z', JSON.stringify(event));
  });
  const ms = timed(() => {
    for (const events of batches) store(events);
  });
  const texts = database.prepare('SELECT event FROM events ORDER BY seq').pluck().all();
  database.close();
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  return { ms, digest: digestOfTexts(texts) };
}

function pinoLines(path, batches, { isSynced }) {
  const destination = pino.destination({ dest: path, sync: true });
  const logger = pino(destination);
  const descriptor = openSync(path, 'a');
  const ms = timed(() => {
    for (const events of batches) {
      for (const event of events) logger.info({ event });
      if (isSynced) fdatasyncSync(descriptor);
    }
    destination.flushSync();
  });
  closeSync(descriptor);
  destination.end();
  return { ms, digest: digestOfLines(path) };
}

async function buffered(directory, turns) {
  const events = turns.flat();
  const expected = digestOfTexts(events.map((event) => JSON.stringify(event)));
  const of = (name, body) => variant(name, directory, expected, body);
  const appendAll = (writer) => {
    for (const event of events) writer.append(event);
    writer.flush();
  };
  const appendDurable = (writer) => {
    appendAll(writer);
    writer.sync();
  };
  const variants = [
    of('turnlog', (path) => turnlog(path, 'buffered', appendAll)),
    of('turnlog, sync and publish', (path) => turnlog(path, 'buffered', appendDurable)),
    of('stringify + UTF-8 + write, fdatasync', (path) => bare(path, appendDurable)),
    of('stringify + UTF-8 + write', (path) => bare(path, appendAll)),
    of('stringify + UTF-8', () => {
      const writer = new BareWriter(null);
      return { ms: timed(() => appendAll(writer)), digest: null };
    }),
    of('pino', (path) => pinoLines(path, [events], { isSynced: false })),
  ];
  return rotate(variants, { repetitions: 9, warmUps: 2 });
}

async function turnDurable(directory, turns) {
  const expected = digestOfTexts(turns.flat().map((event) => JSON.stringify(event)));
  const of = (name, body) => variant(name, directory, expected, body);
  const variants = [
    of('turnlog', (path) =>
      turnlog(path, 'turn', (log) => {
        for (const events of turns) for (const event of events) log.append(event);
      }),
    ),
    of('bound: buffer + fdatasync', (path) =>
      bare(path, (writer) => {
        for (const events of turns) {
          for (const event of events) writer.append(event);
          writer.sync();
        }
      }),
    ),
    of('better-sqlite3 WAL FULL', (path) => sqlite(path, turns)),
    of('pino + fdatasync', (path) => pinoLines(path, turns, { isSynced: true })),
  ];
  return rotate(variants, { repetitions: 9 });
}

async function eventDurable(directory, turns) {
  const events = turns.flat();
  const expected = digestOfTexts(events.map((event) => JSON.stringify(event)));
  const of = (name, body) => variant(name, directory, expected, body);
  const variants = [
    of('turnlog', (path) =>
      turnlog(path, 'event', (log) => {
        for (const event of events) log.append(event);
      }),
    ),
    of('bound: write + fdatasync', (path) =>
      bare(path, (writer) => {
        for (const event of events) {
          writer.append(event);
          writer.sync();
        }
      }),
    ),
    of('better-sqlite3 WAL FULL', (path) =>
      sqlite(
        path,
        events.map((event) => [event]),
      ),
    ),
  ];
  return rotate(variants, { repetitions: 9 });
}

const comparisons = {
  buffered: {
    run: buffered,
    eventCount: 40_000,
    references: ['stringify + UTF-8', 'stringify + UTF-8 + write', 'pino'],
  },
  turn: {
    run: turnDurable,
    eventCount: 20_000,
    references: ['bound: buffer + fdatasync', 'better-sqlite3 WAL FULL', 'pino + fdatasync'],
  },
  event: {
    run: eventDurable,
    eventCount: 2_000,
    references: ['bound: write + fdatasync', 'better-sqlite3 WAL FULL'],
  },
};

const name = option('case', 'buffered');
const { run, eventCount, references } = comparisons[name];
const turns = makeTurns(Number(option('events', eventCount)));
const events = turns.flat();
const bytes = events.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)) + 78, 0);
const times = await withDirectory((directory) => run(directory, turns));
const result = {
  title: `append, ${name}`,
  note: `${events.length} events in ${turns.length} turns, ${Math.round(bytes / events.length)} bytes a record; pino ${peerVersion('pino')}, better-sqlite3 ${peerVersion('better-sqlite3')}`,
  rows: rateRows(times, { 'events/s': events.length, 'MB/s': bytes / 1e6 }, references),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
