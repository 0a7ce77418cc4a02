import type { LogReader } from '@turnlog/log';
import type { ExportReport } from './export-request.js';

/** Counts what an export comes to. */
export class ExportTally {
  #recordCount = 0;
  #rewrittenCount = 0;
  #damage: ExportReport['damage'] = { count: 0, bytes: 0 };
  readonly #skipped = new Map<string, number>();

  noteLog({ state }: LogReader): void {
    this.#damage = { count: state.damage.count, bytes: state.damage.bytes };
  }

  noteRecords(count: number): void {
    this.#recordCount += count;
  }

  noteRewritten(): void {
    this.#rewrittenCount += 1;
  }

  noteSkipped(type: string): void {
    this.#skipped.set(type, (this.#skipped.get(type) ?? 0) + 1);
  }

  get report(): ExportReport {
    return {
      recordCount: this.#recordCount,
      rewrittenCount: this.#rewrittenCount,
      damage: this.#damage,
      skipped: this.#skipped,
    };
  }
}
