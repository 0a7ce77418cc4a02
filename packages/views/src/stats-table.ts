import { addMeasures, type Measures, nothing } from './stats-measures.js';

export const statsDimensions = ['day', 'session', 'workspace', 'model', 'tool'] as const;

/** What rows can be made by. */
export type StatsDimension = (typeof statsDimensions)[number];

/** What a row is about; only what rows are made by is there. Null is what nobody knows. */
export interface StatsKey {
  /** `YYYY-MM-DD` in the zone of the report. */
  readonly day?: string | null;
  readonly session?: string;
  readonly workspace?: string | null;
  readonly model?: string | null;
  readonly tool?: string;
}

export interface StatsRow {
  readonly key: StatsKey;
  readonly measures: Measures;
  /** Sessions that it is made of, sub-agents that were rolled up not counted apart. */
  readonly sessionCount: number;
}

interface OpenRow {
  readonly key: StatsKey;
  readonly sessions: Set<string>;
  measures: Measures;
}

/** Adds up rows by the wanted dimensions. */
export class StatsTable {
  readonly #by: readonly StatsDimension[];
  readonly #rows = new Map<string, OpenRow>();

  constructor(by: readonly StatsDimension[]) {
    this.#by = by;
  }

  add(full: StatsKey & { readonly session: string }, measures: Measures): void {
    if (this.#by.length === 0) return;
    const key: StatsKey = Object.fromEntries(this.#by.map((name) => [name, full[name] ?? null]));
    const name = JSON.stringify(this.#by.map((dimension) => key[dimension] ?? null));
    const row = this.#rows.get(name) ?? { key, sessions: new Set<string>(), measures: nothing };
    row.measures = addMeasures(row.measures, measures);
    row.sessions.add(full.session);
    this.#rows.set(name, row);
  }

  /** In the order of their keys, by code units; what is unknown comes last. */
  rows(): readonly StatsRow[] {
    return [...this.#rows.values()]
      .sort((left, right) => this.#compare(left.key, right.key))
      .map(({ key, measures, sessions }) => ({ key, measures, sessionCount: sessions.size }));
  }

  #compare(left: StatsKey, right: StatsKey): number {
    for (const dimension of this.#by) {
      const [a, b] = [left[dimension] ?? null, right[dimension] ?? null];
      if (a === b) continue;
      if (a === null || b === null) return a === null ? 1 : -1;
      return a < b ? -1 : 1;
    }
    return 0;
  }
}
