// How well searches find what was planted in a generated world, by class of question; and LoCoMo, where LOCOMO_JSON
// names its file. Every engine that answers must find the same chunks in the same order.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mirrorEngine, openMirror } from '../../../packages/mirror/dist/index.js';
import {
  energeticEncoderProvider,
  hashEncoderProvider,
  openSearch,
} from '../../../packages/search/dist/index.js';
import { openStore } from '../../../packages/store/dist/index.js';
import { createEnvironment, option, withDirectory } from '../machine.mjs';
import '../retrieval/register.mjs';

const { evaluate } = await import('../retrieval/evaluate.ts');
const { askedAtMs, generateWorld } = await import('../retrieval/generate.ts');
const { locomoScores, readLocomo } = await import('../retrieval/locomo.ts');
const { baselineSlack, gates, measured, measures, modelGate } = await import('../retrieval/metrics.ts');

const seed = option('seed', 'gate-1');
const size = option('size', 's');
const engines = option('engines', 'packed,fts5,wink').split(',');
/** `hash` or `model`: the paraphrases are asked again in hybrid searches; `none`: they are not. */
const hybrid = option('hybrid', 'hash');
const baseline = JSON.parse(readFileSync(new URL('../retrieval/baseline.json', import.meta.url), 'utf8'));
const endless = 86_400_000;
const reader = { zone: 'UTC', redact: (text) => text, resolveWorkspace: (path) => path };
const elapsed = (start) => Number(process.hrtime.bigint() - start) / 1e6;
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

function writeLog(root, session, log) {
  const place = join(root, 'sessions', session);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  writeFileSync(join(place, 'events.jsonl'), log, { mode: 0o600 });
}

/** A store whose clock stands at the moment at which the world is asked. */
async function openAt(root, now) {
  const environment = createEnvironment();
  const clock = Object.assign(Object.create(environment.clock), { now: () => now });
  return await openStore({ root, environment: { ...environment, clock }, cwd: '/', env: {} });
}

function bytesBelow(path) {
  const status = statSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0);
}

const quantile = (values, part) =>
  [...values].sort((a, b) => a - b)[Math.floor(part * (values.length - 1))] ?? 0;

function askBy(search, request) {
  return async ({ text }) => {
    const answer = await search.search({ text, waitMs: endless, ...request }, reader);
    if (request.engine !== undefined && answer.engine !== request.engine)
      throw new Error(`${answer.engine} answered`);
    return {
      ids: answer.hits.map(({ id }) => id),
      wholes: answer.hits.filter(({ tier }) => tier === 1).length,
    };
  };
}

/** A class may be no more than a point below what was once reached. */
function verdict(name, reached, least) {
  const before = baseline[`${seed} ${size}`]?.[name] ?? least;
  if (reached < least) return 'missed';
  return reached < before - baselineSlack ? `below its baseline of ${before}` : 'reached';
}

function classRows(report) {
  return [...report].map(([name, one]) => {
    const gate = gates[name];
    const ndcg = one.scores['ndcg@10'];
    return {
      class: name,
      queries: one.queries,
      ...Object.fromEntries(measures.map((measure) => [measure, one.scores[measure].mean])),
      'ndcg@10 of 95 in 100 draws': `${ndcg.low.toFixed(3)} to ${ndcg.high.toFixed(3)}`,
      gate: gate === undefined ? 'reported' : `${gate.measure} ≥ ${gate.least}`,
      result: gate === undefined ? '' : verdict(name, measured(one, gate.measure), gate.least),
    };
  });
}

async function runWorld(directory) {
  const root = join(directory, 'store');
  const world = generateWorld(seed, size, (session, log) => writeLog(root, session, log));
  const store = await openAt(root, askedAtMs);
  const search = openSearch(store, [mirrorEngine(store)]);
  const start = process.hrtime.bigint();
  await search.search({ text: 'x', waitMs: endless }, reader);
  const buildMs = elapsed(start);
  if (engines.includes('fts5')) {
    const opened = await openMirror(store);
    if (opened.kind === 'off') throw new Error(`no mirror here: ${opened.reason}`);
    await opened.mirror.rebuild();
    opened.mirror.close();
  }
  const found = new Map();
  for (const engine of engines)
    found.set(engine, await evaluate(world.queries, askBy(search, { engine }), nowMs));
  const [[, first], ...others] = [...found];
  for (const [engine, { ids }] of others) {
    if (JSON.stringify(ids) !== JSON.stringify(first.ids)) throw new Error(`${engine} finds other chunks`);
  }
  const speed = [...found].map(([engine, { tookMs }]) => ({
    engine,
    'p50, ms': quantile(tookMs, 0.5),
    'p99, ms': quantile(tookMs, 0.99),
  }));
  const indexBytes = bytesBelow(join(root, 'search'));
  const results = [
    {
      title: `retrieval, seed ${seed}, size ${size}`,
      note: `${world.records} records, SHA-256 ${world.sha256}; the same chunks in the same order by ${engines.join(', ')}`,
      rows: classRows(first.report),
    },
    {
      title: 'retrieval, cost',
      note: `packed index: ${(indexBytes / 1e6).toFixed(1)} MB, built in ${(buildMs / 1000).toFixed(1)} s; each search looks at every log first`,
      rows: speed,
    },
    ...(hybrid === 'none' ? [] : [await runParaphrases(store, world)]),
  ];
  search.close();
  return results;
}

/** Questions in other words, for which vectors are there. */
async function runParaphrases(store, { queries }) {
  const provider = hybrid === 'model' ? energeticEncoderProvider : hashEncoderProvider;
  const search = openSearch(store, [], [provider]);
  const asked = queries.filter((query) => query.class === modelGate.queryClass);
  const start = process.hrtime.bigint();
  const { report } = await evaluate(asked, askBy(search, { mode: 'hybrid' }), nowMs);
  const seconds = elapsed(start) / 1000;
  search.close();
  const score = report.get(modelGate.queryClass).scores;
  const gate = hybrid === 'model' ? `hit@5 ≥ ${modelGate.least}` : 'reported';
  return {
    title: `paraphrases, hybrid with ${provider.name}`,
    note: `all chunks encoded and ${asked.length} questions asked in ${seconds.toFixed(0)} s`,
    rows: [{ ...Object.fromEntries(measures.map((measure) => [measure, score[measure].mean])), gate }],
  };
}

async function runLocomo(directory, path) {
  const set = readLocomo(JSON.parse(readFileSync(path, 'utf8')));
  const root = join(directory, 'locomo');
  for (const { session, log } of set.sessions) writeLog(root, session, log);
  const store = await openAt(root, Date.UTC(2024, 0, 1));
  const search = openSearch(store, []);
  const answers = [];
  for (const question of set.questions) {
    const filters = new Map([['workspace', [question.workspace]]]);
    const { hits } = await search.search(
      { text: question.text, filters, limit: 100, waitMs: endless },
      reader,
    );
    answers.push({ question, ids: hits.map(({ id }) => id) });
  }
  search.close();
  const categories = [...new Set(answers.map(({ question }) => question.category))].sort();
  const row = (name, some) => ({ category: name, ...locomoScores(some) });
  return {
    title: 'LoCoMo, lexical',
    note: `${set.sessions.length} sessions of ${path}; questions are asked within their conversation`,
    rows: [
      ...categories.map((name) =>
        row(
          name,
          answers.filter(({ question }) => question.category === name),
        ),
      ),
      row('all', answers),
    ],
  };
}

await withDirectory(async (directory) => {
  const results = await runWorld(directory);
  const path = process.env.LOCOMO_JSON;
  if (path !== undefined) results.push(await runLocomo(directory, path));
  process.stdout.write(JSON.stringify(results));
});
