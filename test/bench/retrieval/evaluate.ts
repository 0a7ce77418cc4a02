import { type GoldQuery, type QueryClass, queryClasses } from './fact.js';
import { type ClassReport, type Found, reportOf } from './metrics.js';

export type Report = ReadonlyMap<QueryClass, ClassReport>;

export interface Evaluation {
  readonly report: Report;
  /** Ids of the hits of each query, in the order of the queries. */
  readonly ids: readonly (readonly string[])[];
  readonly tookMs: readonly number[];
}

/** Asks every query, and says how well each class is answered. */
export async function evaluate(
  queries: readonly GoldQuery[],
  ask: (query: GoldQuery) => Promise<Found>,
  nowMs: () => number,
): Promise<Evaluation> {
  const answers: (Found & { readonly query: GoldQuery })[] = [];
  const tookMs: number[] = [];
  for (const query of queries) {
    const startMs = nowMs();
    const found = await ask(query);
    tookMs.push(nowMs() - startMs);
    answers.push({ ...found, query });
  }
  const report = new Map<QueryClass, ClassReport>();
  for (const name of queryClasses) {
    const own = answers.filter(({ query }) => query.class === name);
    if (own.length > 0) report.set(name, reportOf(own));
  }
  return { report, ids: answers.map(({ ids }) => ids), tookMs };
}
