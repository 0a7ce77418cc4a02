import {
  type CleanUpPlan,
  type CleanUpReport,
  carryOutCleanUp,
  Ledger,
  planCleanUp,
  type RetentionOptions,
  retentionPolicy,
} from '@turnlog/store';
import { TestStore } from './support.js';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

export interface AgedSession {
  readonly ageMs: number;
  readonly status?: 'active' | 'completed';
  readonly forkedFrom?: string;
  /** How the newest time is written, given the instant. */
  readonly written?: (ms: number) => string;
}

function completion(id: string): object {
  return {
    type: 'thread.completed',
    thread_id: id,
    session_id: id,
    subtype: 'success',
    outcome_code: 'completed',
    usage: { input_tokens: 1, cached_input_tokens: 0, cache_creation_tokens: 0, output_tokens: 1 },
    num_turns: 1,
  };
}

/** A store whose sessions have the ages that a test gives them. */
export class BoundedStore extends TestStore {
  add(id: string, { ageMs, status = 'completed', forkedFrom, written }: AgedSession): void {
    const at = (ms: number): string => new Date(ms).toISOString();
    const nowMs = this.clock.now();
    const origin = forkedFrom === undefined ? {} : { forked_from: { session: forkedFrom, seq: 3 } };
    const events: readonly object[] = [
      { type: 'run.started', program: 'agent', cwd: '/w', ...origin },
      { type: 'turn.started' },
      { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
      ...(status === 'completed' ? [completion(id)] : []),
    ];
    const lines = events.map((event, index) => {
      const isLast = index === events.length - 1;
      const ms = nowMs - ageMs - (events.length - 1 - index) * 1_000;
      const ts = isLast && written !== undefined ? written(ms) : at(ms);
      return `${JSON.stringify({ schema_version: '0.18.0', seq: index + 1, ts, event })}\n`;
    });
    this.plant(id, lines);
  }

  ids(): readonly string[] {
    return this.disk.list(`${this.root}/sessions`).map(({ name }) => name);
  }

  trash(): readonly string[] {
    const path = `${this.root}/trash`;
    return this.disk.status(path) === null ? [] : this.disk.list(path).map(({ name }) => name);
  }

  async plan(options: RetentionOptions, keep: readonly string[] = []): Promise<CleanUpPlan> {
    return planCleanUp(await this.open(), { policy: retentionPolicy(options), keep });
  }

  /** Plans and carries out. */
  async cleanUp(
    options: RetentionOptions,
    more: { readonly keep?: readonly string[]; readonly purge?: 'everything' } = {},
  ): Promise<CleanUpReport> {
    const store = await this.open();
    const plan = planCleanUp(store, { policy: retentionPolicy(options), ...more });
    return await carryOutCleanUp(store, plan);
  }

  /** The ids that a clean-up removes, in its order. */
  async removed(
    options: RetentionOptions,
    more: { readonly keep?: readonly string[] } = {},
  ): Promise<readonly string[]> {
    const report = await this.cleanUp(options, more);
    expect(report.failure).toBeNull();
    return report.removed.map(({ id }) => id);
  }

  /** The records of the ledger, without their times. */
  async ledger(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const reader = new Ledger(this.machine, this.root).reader();
    if (reader === null) return [];
    try {
      return [...reader.records()].map((record) => ({ key: record.key, ...record.readEvent() }));
    } finally {
      reader.close();
    }
  }

  /** Every file below the root, by path, with its bytes; directories and links by their kind. */
  snapshot(path: string = this.root): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    const visit = (at: string): void => {
      for (const { name, kind } of this.disk.list(at)) {
        const below = `${at}/${name}`;
        found.set(below, kind === 'file' ? Buffer.from(this.disk.contentOf(below)).toString('latin1') : kind);
        if (kind === 'directory') visit(below);
      }
    };
    if (this.disk.status(path) !== null) visit(path);
    return found;
  }
}
