import type { FileSystem } from '@turnlog/kernel';
import type { LogState } from './log-state.js';
import type { MaintenanceReports } from './maintenance-report.js';
import type { OpenedLog } from './opened-log.js';
import type { PublishExtent } from './publisher.js';
import { removeMarker } from './rewrite-marker.js';

/**
 * Brings what is derived from a log up to what is durable. A failure here is told and never fails the append that
 * led to it: the log itself is safe, and the next publish makes up for it.
 */
export class Upkeep {
  readonly #fs: FileSystem;
  readonly #opened: OpenedLog;
  readonly #reports: MaintenanceReports;
  #hasMarker: boolean;
  #unpublishedBytes = 0;

  constructor(fs: FileSystem, opened: OpenedLog, reports: MaintenanceReports) {
    this.#fs = fs;
    this.#opened = opened;
    this.#reports = reports;
    this.#hasMarker = opened.hasMarker;
  }

  /** Bytes handed over since the last publish. */
  get unpublishedBytes(): number {
    return this.#unpublishedBytes;
  }

  /** Whether a rewrite has left its marker, which goes when all is published. */
  get hasMarker(): boolean {
    return this.#hasMarker;
  }

  noteWritten(bytes: number): void {
    this.#unpublishedBytes += bytes;
  }

  publish(state: LogState, extent: PublishExtent): void {
    try {
      this.#opened.publisher.publish(state, extent);
      this.#unpublishedBytes = 0;
    } catch (cause) {
      const message = 'turn index or manifest could not be published; the log itself is safe';
      this.#reports.add({ step: 'publish', message, cause });
      return;
    }
    if (extent === 'whole' && this.#hasMarker) this.#removeMarker();
  }

  #removeMarker(): void {
    try {
      removeMarker(this.#fs, this.#opened.paths);
      this.#hasMarker = false;
    } catch (cause) {
      const message = 'the marker of a rewrite that is done could not be removed; the log itself is safe';
      this.#reports.add({ step: 'rewrite', message, cause });
    }
  }
}
