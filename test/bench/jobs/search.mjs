// Searching by the packed engine against FTS5 of SQLite, wink and other libraries, all over the same texts: P-7, P-8, P-9.

import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { noFilters } from '../../../packages/search/dist/filters.js';
import { packedEngine } from '../../../packages/search/dist/packed/packed-engine.js';
import { openStore } from '../../../packages/store/dist/index.js';
import { createChunks, createQueries } from '../chunk-texts.mjs';
import { createEnvironment, option, peerVersion, requirePeer, root, withDirectory } from '../machine.mjs';
import { latencies, rotate, summary } from '../measure.mjs';
import { FlexSearchPeer, MiniSearchPeer, OramaPeer } from '../search-peers.mjs';

const chunkCount = Number(option('chunks', 100_000));
const queryCount = Number(option('queries', 100));
const repetitions = 5;
const warmUpMs = 500;
const sessionChunks = 1_000;
const turnChunks = 22;
const rowsWanted = 10;
const endless = 3_600_000;
/** More take the peers that live in memory gigabytes and minutes. */
const inMemoryChunksMax = 100_000;

const Database = requirePeer('better-sqlite3');
const wink = createRequire(join(root, 'packages/search/package.json'))('wink-bm25-text-search');
const elapsed = (start) => Number(process.hrtime.bigint() - start) / 1e6;

function memoryBytes() {
  // What arrays held is let go behind the first collection, and counted as gone by the second.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function bytesBelow(path) {
  const status = statSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0);
}

const messages = (texts) =>
  texts.map((text, at) => ({ type: 'item.completed', item: { id: `i${at}`, type: 'agent_message', text } }));

class Packed {
  name = 'packed';

  constructor(directory) {
    this.directory = directory;
  }

  async prepare(texts) {
    const options = {
      root: join(this.directory, 'store'),
      cwd: '/',
      env: {},
      environment: createEnvironment(),
    };
    this.store = await openStore(options);
    this.store.ensureSessionsDirectory();
    for (let at = 0; at < texts.length; at += sessionChunks) {
      await this.append(`s${at / sessionChunks}`, texts.slice(at, at + sessionChunks));
    }
  }

  async append(session, texts) {
    const log = await this.store.open(session);
    for (const event of messages(texts)) log.append(event);
    await log.close();
  }

  async open() {
    this.engine = await packedEngine(this.store).open();
  }

  async build() {
    await this.open();
    await this.engine.catchUp(endless);
  }

  async addTurn(texts, turn) {
    await this.append(`turn${turn}`, texts);
    const start = process.hrtime.bigint();
    await this.engine.catchUp(endless);
    return start;
  }

  query(words) {
    const plan = {
      terms: words.map((text) => ({ kind: 'token', text })),
      whole: null,
      required: [],
      excluded: [],
      filters: noFilters,
      asOf: null,
      nowMs: Date.now(),
      minScore: 0,
      group: 'none',
      limit: rowsWanted,
      after: null,
      counting: 'saturating',
      facets: 'none',
    };
    return this.engine.index.query(plan, { textVerdict: () => 'match', dayOf: () => '' }).hits.length;
  }

  close() {
    this.engine.close();
  }

  get diskBytes() {
    // Segments that were replaced stay for a minute; they are no part of the index.
    return this.engine.index.segments.reduce((sum, { listed }) => sum + listed.bytes, 0);
  }
}

class Fts5 {
  name = `FTS5 (better-sqlite3 ${peerVersion('better-sqlite3')})`;

  constructor(directory) {
    this.path = join(directory, 'fts5.db');
  }

  async prepare(texts) {
    this.texts = texts;
  }

  async open() {
    this.database = new Database(this.path);
    this.database.pragma('journal_mode = WAL');
    this.database.pragma('synchronous = NORMAL');
    this.database.exec("CREATE VIRTUAL TABLE IF NOT EXISTS chunks USING fts5(text, content='')");
    this.insert = this.database.prepare('INSERT INTO chunks(rowid, text) VALUES (?, ?)');
    this.select = this.database.prepare(
      `SELECT rowid, bm25(chunks) AS score FROM chunks WHERE chunks MATCH ? ORDER BY score LIMIT ${rowsWanted}`,
    );
  }

  #add(texts) {
    this.database.exec('BEGIN');
    for (const text of texts) {
      this.count = (this.count ?? 0) + 1;
      this.insert.run(this.count, text);
    }
    this.database.exec('COMMIT');
  }

  async build() {
    await this.open();
    this.#add(this.texts);
  }

  async addTurn(texts) {
    const start = process.hrtime.bigint();
    this.#add(texts);
    return start;
  }

  query(words) {
    return this.select.all(words.map((word) => `"${word}"`).join(' OR ')).length;
  }

  close() {
    this.database.pragma('wal_checkpoint(TRUNCATE)');
    this.database.close();
  }

  get diskBytes() {
    return bytesBelow(this.path);
  }
}

class Wink {
  name = 'wink';

  async prepare(texts) {
    this.texts = texts;
  }

  #empty() {
    this.engine = wink();
    this.engine.defineConfig({ fldWeights: { text: 1 } });
    this.engine.definePrepTasks([(text) => text.split(' ')]);
  }

  async build() {
    this.#empty();
    for (const [at, text] of this.texts.entries()) this.engine.addDoc({ text }, at);
    this.engine.consolidate();
  }

  async open() {
    this.#empty();
    this.engine.importJSON(this.exported);
  }

  query(words) {
    return this.engine.search(words.join(' '), rowsWanted).length;
  }

  close() {
    this.exported = this.engine.exportJSON();
    this.engine = null;
  }

  get diskBytes() {
    return null;
  }
}

/** Times of single queries: each variant asks all of them in a row, the variants taking turns. */
async function queryTimes(variants, queries) {
  const times = new Map(variants.map(({ name }) => [name, []]));
  const runs = variants.map((variant) => ({
    name: variant.name,
    run: () => {
      const own = queries.map((words) => queryMs(variant, words));
      times.get(variant.name).push(...own);
      return own.length;
    },
  }));
  for (const variant of variants) warmUp(variant, queries);
  await rotate(runs, { repetitions, warmUps: 0, collects: false });
  return times;
}

/** All queries once, and on until their code has been compiled as well as it will be. */
function warmUp(variant, queries) {
  const start = process.hrtime.bigint();
  do for (const words of queries) variant.query(words);
  while (elapsed(start) < warmUpMs);
}

/** The same when each query comes between those of the others, so that it finds the caches full of what they left. */
function coldQueryTimes(variants, queries) {
  const times = new Map(variants.map(({ name }) => [name, []]));
  for (const words of queries) {
    for (const variant of variants) times.get(variant.name).push(queryMs(variant, words));
  }
  return times;
}

function queryMs(variant, words) {
  const start = process.hrtime.bigint();
  variant.query(words);
  return elapsed(start);
}

async function timesByWords(variants, queries) {
  const rows = [];
  for (const count of [1, 2]) {
    const shorter = queries.map((words) => words.slice(0, count));
    for (const [name, own] of await queryTimes(variants, shorter)) {
      const { p50, p95 } = latencies(own);
      rows.push({ words: count, variant: name, 'p50 ms': p50, 'p95 ms': p95 });
    }
  }
  return rows;
}

async function buildAndOpen(variant, words) {
  const before = memoryBytes();
  const used = process.cpuUsage();
  const building = process.hrtime.bigint();
  await variant.build();
  const buildMs = elapsed(building);
  const { user, system } = process.cpuUsage(used);
  variant.close();
  const opening = process.hrtime.bigint();
  await variant.open();
  const openMs = elapsed(opening);
  variant.query(words);
  return {
    buildMs,
    buildCpuMs: (user + system) / 1_000,
    openMs,
    firstMs: elapsed(opening),
    memory: Math.max(1, memoryBytes() - before),
  };
}

async function turnTimes(variants, nextChunk, queries) {
  let turn = 0;
  return await rotate(
    variants.map((variant) => ({
      name: variant.name,
      run: async () => {
        turn += 1;
        const start = await variant.addTurn(Array.from({ length: turnChunks }, nextChunk), turn);
        variant.query(queries[turn % queries.length]);
        return elapsed(start);
      },
    })),
    { repetitions: 31 },
  );
}

const { rows, byWords } = await withDirectory(async (directory) => {
  const nextChunk = createChunks();
  const texts = Array.from({ length: chunkCount }, nextChunk);
  const nextQuery = createQueries(4);
  const queries = Array.from({ length: queryCount }, nextQuery);

  const variants = [new Packed(directory), new Fts5(directory)];
  if (chunkCount <= inMemoryChunksMax) {
    variants.push(
      new Wink(),
      new MiniSearchPeer(rowsWanted),
      new OramaPeer(rowsWanted),
      new FlexSearchPeer(rowsWanted),
    );
  }
  const built = new Map();
  for (const variant of variants) {
    await variant.prepare(texts);
    built.set(variant.name, await buildAndOpen(variant, queries[0]));
  }
  const asked = await queryTimes(variants, queries);
  const askedCold = coldQueryTimes(variants, queries);
  const turns = await turnTimes(variants.slice(0, 2), nextChunk, queries);
  const rows = variants.map((variant) => {
    const { buildMs, buildCpuMs, openMs, firstMs, memory } = built.get(variant.name);
    const { p50, p95 } = latencies(asked.get(variant.name));
    const cold = latencies(askedCold.get(variant.name));
    return {
      variant: variant.name,
      'query p50 ms': p50,
      'p95 ms': p95,
      'between others p50 ms': cold.p50,
      'between others p95 ms': cold.p95,
      'build chunks/s': Math.round((chunkCount / buildMs) * 1_000),
      'per s of CPU': Math.round((chunkCount / buildCpuMs) * 1_000),
      'open ms': openMs,
      'open + first query ms': firstMs,
      'turn + query ms': turns.has(variant.name) ? summary(turns.get(variant.name)).median : '',
      'memory MiB': memory / 1_048_576,
      'on disk MiB': variant.diskBytes === null ? '' : variant.diskBytes / 1_048_576,
    };
  });
  const byWords = await timesByWords(variants, queries);
  for (const variant of variants) variant.close();
  return { rows, byWords };
});

const among = `in ${chunkCount.toLocaleString('en-US')} chunks`;
process.stdout.write(
  JSON.stringify([
    {
      title: `search ${among}`,
      note: `four words of middling rarity, ${queryCount} queries, ${repetitions} times in a row and once each between those of the others; packed builds from logs, the peers from texts in memory; a turn has ${turnChunks} chunks`,
      rows,
    },
    { title: `one and two words ${among}`, note: 'the first words of the same queries', rows: byWords },
  ]),
);
