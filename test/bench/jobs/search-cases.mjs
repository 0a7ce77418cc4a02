// What searching costs in single cases, each beside the one that it is to be compared with. No goals.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openMirror } from '../../../packages/mirror/dist/index.js';
import { blame, noFilters, openSearch, winkEngine } from '../../../packages/search/dist/index.js';
import { packedEngine } from '../../../packages/search/dist/packed/packed-engine.js';
import { openStore } from '../../../packages/store/dist/index.js';
import { createChunks, wordAt } from '../chunk-texts.mjs';
import { createEnvironment, option, withDirectory } from '../machine.mjs';
import { latencies, timed } from '../measure.mjs';

const chunkCount = Number(option('chunks', 50_000));
const sessionChunks = 100;
const repetitions = 40;
const endless = 3_600_000;
const path = 'src/core/log-store.ts';
const searcher = { zone: 'UTC', redact: (text) => text, resolveWorkspace: (given) => given };
const help = { textVerdict: () => true, dayOf: () => '' };

async function fill(store) {
  store.ensureSessionsDirectory();
  const next = createChunks();
  for (let at = 0; at < chunkCount; at += sessionChunks) {
    const log = await store.open(`s${at / sessionChunks}`);
    for (let item = 0; item < sessionChunks; item += 1) {
      log.append({ type: 'item.completed', item: { id: `i${item}`, type: 'agent_message', text: next() } });
    }
    if (at % (10 * sessionChunks) === 0) {
      const changes = [{ path, kind: 'update' }];
      log.append({
        type: 'item.completed',
        item: { id: 'f', type: 'file_change', changes, status: 'completed' },
      });
    }
    await log.close();
  }
}

function planOf(words, asOf = null) {
  const terms = words.map((text) => ({ kind: 'token', text }));
  const rest = {
    whole: null,
    required: [],
    excluded: [],
    minScore: 0,
    group: 'none',
    limit: 10,
    after: null,
  };
  return {
    ...rest,
    terms,
    filters: noFilters,
    asOf,
    nowMs: Date.now(),
    counting: 'saturating',
    facets: 'none',
  };
}

function sample(run) {
  run();
  return Array.from({ length: repetitions }, () => timed(run));
}

async function sampleLater(run, count = repetitions) {
  const times = [];
  for (let turn = -1; turn < count; turn += 1) {
    const start = process.hrtime.bigint();
    await run(turn);
    if (turn >= 0) times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  return times;
}

const row = (what, times) => ({ case: what, 'p50 ms': latencies(times).p50, 'p95 ms': latencies(times).p95 });

const result = await withDirectory(async (directory) => {
  const environment = createEnvironment();
  const store = await openStore({ root: join(directory, 'store'), cwd: '/', env: {}, environment });
  await fill(store);
  const engine = await packedEngine(store).open();
  await engine.catchUp(endless);
  const ask = (plan) => engine.index.query(plan, help);
  const [common, rare] = [wordAt(0), wordAt(30_000)];
  const now = { tsMs: Date.now(), session: null };
  const rows = [
    row(
      'a rare word',
      sample(() => ask(planOf([rare]))),
    ),
    row(
      'with the commonest word',
      sample(() => ask(planOf([common, rare]))),
    ),
    row(
      'four words, now',
      sample(() => ask(planOf([20, 200, 2_000, 20_000].map(wordAt)))),
    ),
    row(
      'the same, as of now',
      sample(() => ask(planOf([20, 200, 2_000, 20_000].map(wordAt), now))),
    ),
  ];
  rows.push(
    row(`nothing new in ${store.ids().length} sessions`, await sampleLater(() => engine.catchUp(endless))),
  );
  const appended = await sampleLater(async (turn) => {
    const log = await store.open('s7');
    log.append({ type: 'item.completed', item: { id: `n${turn}`, type: 'agent_message', text: 'news' } });
    await log.close();
  });
  await engine.catchUp(endless);
  const both = await sampleLater(async (turn) => {
    const log = await store.open('s7');
    log.append({ type: 'item.completed', item: { id: `m${turn}`, type: 'agent_message', text: 'news' } });
    await log.close();
    await engine.catchUp(endless);
  });
  rows.push(row('an append to one of them', appended), row('the append, and catching up', both));
  engine.close();

  const search = openSearch(store);
  const query = { path, line: null };
  await search.search({ text: 'log-store.ts', waitMs: endless }, searcher);
  rows.push(
    row('search for a base name', await sampleLater(() => search.search({ text: 'log-store.ts' }, searcher))),
    row('blame of the path', await sampleLater(() => blame(store, query, searcher.redact), 5)),
  );
  const scan = () => search.search({ text: '=>', waitMs: endless }, searcher);
  rows.push(row('no word: a scan of chunks', await sampleLater(scan, 5)));
  search.close();

  const wink = await winkEngine(store).open();
  const winkStart = process.hrtime.bigint();
  await wink.catchUp(endless);
  rows.push(row('wink: reading all logs', [Number(process.hrtime.bigint() - winkStart) / 1e6]));
  rows.push(
    row(
      'wink: four words',
      sample(() => wink.index.query(planOf([20, 200, 2_000, 20_000].map(wordAt)), help)),
    ),
  );
  wink.close();

  const opened = await openMirror(store);
  if (opened.kind === 'available') {
    const start = process.hrtime.bigint();
    await opened.mirror.catchUp();
    rows.push(row('mirror: building it', [Number(process.hrtime.bigint() - start) / 1e6]));
    const four = planOf([20, 200, 2_000, 20_000].map(wordAt));
    rows.push(
      row(
        'mirror: four words',
        sample(() => opened.mirror.index.query(four, help)),
      ),
    );
    const logs = store
      .ids()
      .reduce((sum, id) => sum + statSync(join(store.root, 'sessions', id, 'events.jsonl')).size, 0);
    const share = statSync(opened.mirror.path).size / logs;
    rows.push({ case: 'mirror: its size, of that of the logs', 'p50 ms': '', 'p95 ms': '', ratio: share });
    opened.mirror.close();
  }
  return rows;
});

process.stdout.write(
  JSON.stringify({
    title: `single cases of searching, ${chunkCount.toLocaleString('en-US')} chunks`,
    note: `${chunkCount / sessionChunks} sessions; ${repetitions} repetitions of each`,
    rows: result,
  }),
);
