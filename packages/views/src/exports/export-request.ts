import type { TimeZone } from '@turnlog/kernel';
import type { LogReader } from '@turnlog/log';
import type { Egress, Store } from '@turnlog/store';
import type { ExportFormat } from './export-format.js';

/** Texts are to be written as UTF-8; they never hold half a surrogate pair. */
export type ExportChunk = string | Uint8Array;

/**
 * The session to export. With a store, a fork begins with what it shares with its parents (md and html), assets can
 * be shown, and a sub-agent is linked to the call that started it (otlp). A reader alone knows its own log only.
 */
export type ExportSource =
  | { readonly store: Store; readonly id: string; readonly reader?: undefined }
  | { readonly reader: LogReader; readonly store?: undefined; readonly id?: undefined };

export interface ExportOptions {
  /** md, html: messages, decisions, files and failures only. */
  readonly condensed?: boolean;
  /** otlp: with what was said and what tools were given and gave. */
  readonly content?: boolean;
  /** md, html: assets by their digest (`link`, which is the default), images in the document (html), or not at all. */
  readonly assets?: 'inline' | 'link' | 'omit';
  /** md, html: whose days and times are shown; UTC by default. All others have instants, which are the same anywhere. */
  readonly zone?: TimeZone;
  /** jsonl: the file as it is, every byte of it; no redaction, and the damage in its place. */
  readonly raw?: boolean;
}

export type ExportRequest = ExportSource & {
  readonly format: ExportFormat;
  readonly redactor: Egress;
  readonly options?: ExportOptions;
};

/** What an export came to. */
export interface ExportReport {
  /** Records that were read, without those of frames that have no effect. */
  readonly recordCount: number;
  /** jsonl: records that were written anew because something in them was redacted. */
  readonly rewrittenCount: number;
  /** Damaged places of the log and their bytes; they are in no document but `raw`. */
  readonly damage: { readonly count: number; readonly bytes: number };
  /** Records that the format has no place for, by the type of their event or item. */
  readonly skipped: ReadonlyMap<string, number>;
}

/** A document, made as it is read. It can be read once. */
export interface SessionExport extends Iterable<ExportChunk> {
  /** What it has come to so far; all of it once the document has been read to its end. */
  readonly report: ExportReport;
}
