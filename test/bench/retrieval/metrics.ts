import type { GoldQuery, QueryClass } from './fact.js';
import { Prng } from './prng.js';

/** What was found for a query: ids of chunks, the best first, and how many of them hold the whole of the query. */
export interface Found {
  readonly ids: readonly string[];
  readonly wholes: number;
}

export const measures = ['hit@1', 'hit@5', 'hit@10', 'recall@10', 'mrr@10', 'ndcg@10'] as const;

export type Measure = (typeof measures)[number];

export interface Score {
  readonly mean: number;
  /** 95 of 100 draws of as many queries lie in between. */
  readonly low: number;
  readonly high: number;
}

export interface ClassReport {
  readonly queries: number;
  readonly scores: Readonly<Record<Measure, Score>>;
  /** The part of the queries for which nothing holds the whole of what was asked. */
  readonly clean: number;
}

const draws = 1_000;

/** What one query comes to, each between 0 and 1; 0 where there is nothing to be found. */
export function scoresOf(gold: readonly string[], ids: readonly string[]): Readonly<Record<Measure, number>> {
  const ranks = ids.slice(0, 10).flatMap((id, at) => (gold.includes(id) ? [at + 1] : []));
  const [first = Number.POSITIVE_INFINITY] = ranks;
  const hit = (within: number): number => (first <= within ? 1 : 0);
  const gain = (rank: number): number => 1 / Math.log2(rank + 1);
  const ideal = gold.slice(0, 10).reduce((sum, _id, at) => sum + gain(at + 1), 0);
  const found = ranks.reduce((sum, rank) => sum + gain(rank), 0);
  return {
    'hit@1': hit(1),
    'hit@5': hit(5),
    'hit@10': hit(10),
    'recall@10': gold.length === 0 ? 0 : ranks.length / gold.length,
    'mrr@10': ranks.length === 0 ? 0 : 1 / first,
    'ndcg@10': ideal === 0 ? 0 : found / ideal,
  };
}

export function reportOf(answers: readonly (Found & { readonly query: GoldQuery })[]): ClassReport {
  const each = answers.map(({ query, ids }) => scoresOf(query.gold, ids));
  const score = (measure: Measure): Score => interval(each.map((scores) => scores[measure]));
  return {
    queries: answers.length,
    scores: {
      'hit@1': score('hit@1'),
      'hit@5': score('hit@5'),
      'hit@10': score('hit@10'),
      'recall@10': score('recall@10'),
      'mrr@10': score('mrr@10'),
      'ndcg@10': score('ndcg@10'),
    },
    clean: mean(answers.map(({ wholes }) => (wholes === 0 ? 1 : 0))),
  };
}

/** The mean with the interval of a bootstrap of a fixed seed. */
export function interval(values: readonly number[]): Score {
  const random = new Prng('bootstrap');
  const means = Array.from({ length: draws }, () => mean(values.map(() => random.pick(values))));
  means.sort((left, right) => left - right);
  const at = (part: number): number => means[Math.floor(part * draws)] ?? 0;
  return { mean: mean(values), low: at(0.025), high: at(0.975) };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** What a class must reach without a model (SE-50); of paraphrases it is only told. */
export const gates: Readonly<
  Partial<Record<QueryClass, { readonly measure: Measure | 'clean'; readonly least: number }>>
> = {
  'exact-id': { measure: 'hit@1', least: 1 },
  path: { measure: 'hit@1', least: 0.99 },
  error: { measure: 'hit@5', least: 0.98 },
  command: { measure: 'hit@5', least: 0.95 },
  decision: { measure: 'hit@5', least: 0.9 },
  many: { measure: 'recall@10', least: 0.85 },
  script: { measure: 'hit@5', least: 0.95 },
  none: { measure: 'clean', least: 1 },
};

/** What a class of questions for a model must reach with one, in a hybrid search. */
export const modelGate = { queryClass: 'paraphrase', measure: 'hit@5', least: 0.6 } as const;

/** A class may lie so much below its baseline, and no more. */
export const baselineSlack = 0.01;

export function measured(report: ClassReport, measure: Measure | 'clean'): number {
  return measure === 'clean' ? report.clean : report.scores[measure].mean;
}
