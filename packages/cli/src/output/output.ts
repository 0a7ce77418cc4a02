import { errnoOf } from '@turnlog/kernel';
import type { Io } from '../io.js';
import type { WallClock } from '../times.js';
import { jsonVersion, objectJson, safeJson } from './json.js';
import { type Shown, type Style, shown, styled } from './shown.js';

export type OutputForm = 'text' | 'json' | 'json-lines';

export interface OutputOptions {
  readonly form: OutputForm;
  readonly isColoured: boolean;
  readonly isQuiet: boolean;
  readonly wallClock: WallClock;
}

/** Data to stdout, everything else to stderr. */
export class Output {
  readonly form: OutputForm;
  readonly wallClock: WallClock;
  readonly columns: number;
  readonly isColoured: boolean;
  readonly #io: Io;
  readonly #options: OutputOptions;

  constructor(io: Io, options: OutputOptions) {
    this.#io = io;
    this.#options = options;
    this.form = options.form;
    this.wallClock = options.wallClock;
    this.isColoured = options.isColoured;
    // What goes to a file or another program is not cut.
    const named = Number(io.env['COLUMNS']);
    this.columns = Math.max(io.columns ?? (named > 0 ? named : Number.POSITIVE_INFINITY), 20);
  }

  /** Lines of text for people. */
  async lines(lines: readonly Shown[]): Promise<void> {
    if (lines.length > 0) await this.#io.stdout.write(`${lines.map(({ text }) => text).join('\n')}\n`);
  }

  /** The one JSON document of a command. */
  async document(members: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#io.stdout.write(`${objectJson({ schema_version: jsonVersion, ...members })}\n`);
  }

  /** A part of a JSON document or one row of a list, as it stands. */
  async raw(text: string | Uint8Array): Promise<void> {
    await this.#io.stdout.write(text);
  }

  async row(members: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#io.stdout.write(`${objectJson(members)}\n`);
  }

  /** The last line of a list of rows. */
  async summary(counts: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#io.stdout.write(`${safeJson({ summary: counts })}\n`);
  }

  /** Something a person may want to know; `-q` keeps it back. */
  async note(text: Shown): Promise<void> {
    if (!this.#options.isQuiet) await this.#tell(text);
  }

  /** Something that is not as it should be. */
  async warn(text: Shown): Promise<void> {
    await this.#tell(shown`turnlog: ${this.paint('yellow', 'warning')}: ${text}`);
  }

  paint(style: Style | null, text: Shown | string): Shown {
    return styled(this.isColoured ? style : null, text);
  }

  async #tell(text: Shown): Promise<void> {
    try {
      await this.#io.stderr.write(`${text.text}\n`);
    } catch (error) {
      // Nobody reads diagnostics any more; the data still counts.
      if (errnoOf(error) !== 'EPIPE') throw error;
    }
  }
}
