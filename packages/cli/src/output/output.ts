import { errnoOf } from '@turnlog/kernel';
import { type Egress, redactionFacts } from '@turnlog/store';
import type { Io } from '../io.js';
import type { WallClock } from '../times.js';
import { jsonVersion } from './json.js';
import { type Shown, type ShownTag, type Style, styled, Wording } from './shown.js';

export type OutputForm = 'text' | 'json' | 'json-lines';

export interface OutputOptions {
  readonly form: OutputForm;
  readonly isColoured: boolean;
  readonly isQuiet: boolean;
  readonly wallClock: WallClock;
  readonly egress: Egress;
}

/** Data to stdout, everything else to stderr. */
export class Output {
  readonly form: OutputForm;
  readonly wallClock: WallClock;
  readonly columns: number;
  readonly isColoured: boolean;
  readonly egress: Egress;
  /** Makes what may be printed. */
  readonly words: Wording;
  readonly shown: ShownTag;
  readonly #io: Io;
  readonly #options: OutputOptions;
  #hasStatus = false;
  #hasPrinted = false;

  constructor(io: Io, options: OutputOptions) {
    this.#io = io;
    this.#options = options;
    this.form = options.form;
    this.wallClock = options.wallClock;
    this.isColoured = options.isColoured;
    this.egress = options.egress;
    this.words = new Wording(options.egress);
    this.shown = this.words.shown;
    // What goes to a file or another program is not cut.
    const named = Number(io.env['COLUMNS']);
    this.columns = Math.max(io.columns ?? (named > 0 ? named : Number.POSITIVE_INFINITY), 20);
  }

  /** Whether anything went to stdout. */
  get hasPrinted(): boolean {
    return this.#hasPrinted;
  }

  /** Lines of text for people. */
  async lines(lines: readonly Shown[]): Promise<void> {
    if (lines.length > 0) await this.#print(`${lines.map(({ text }) => text).join('\n')}\n`);
  }

  /** The one JSON document of a command; it says whether secrets were taken out of it. */
  async document(members: Readonly<Record<string, unknown>>): Promise<void> {
    await this.lines([this.words.json({ ...this.#head(), ...members })]);
  }

  /** The beginning of a document whose last member is a list that is printed piece by piece. */
  documentUpTo(members: Readonly<Record<string, unknown>>, listName: string): Shown {
    return this.words.jsonUpTo({ ...this.#head(), ...members }, listName);
  }

  /** Parts of one document or line, as they stand. */
  async pieces(...parts: readonly Shown[]): Promise<void> {
    await this.#print(parts.map(({ text }) => text).join(''));
  }

  /**
   * Bytes as they are, past everything that makes text fit to leave: only for what was asked for byte by byte, and
   * for what holds nothing of a store.
   */
  async exactly(bytes: Uint8Array): Promise<void> {
    await this.#print(bytes);
  }

  async row(members: Readonly<Record<string, unknown>>): Promise<void> {
    await this.lines([this.words.json(members)]);
  }

  /** The last line of a list of rows. */
  async summary(counts: Readonly<Record<string, unknown>>): Promise<void> {
    await this.row({ summary: { ...counts, ...redactionFacts(this.egress) } });
  }

  /** Something a person may want to know; `-q` keeps it back. */
  async note(text: Shown): Promise<void> {
    if (!this.#options.isQuiet) await this.#tell(text, '\n');
  }

  /** Something that is not as it should be. */
  async warn(text: Shown): Promise<void> {
    await this.#tell(this.shown`turnlog: ${this.paint('yellow', 'warning')}: ${text}`, '\n');
  }

  /** One line on stderr, also with `-q`. */
  async tell(text: Shown): Promise<void> {
    await this.#tell(text, '\n');
  }

  /** A line at a terminal that the next thing said takes the place of; null takes it away. */
  async status(text: Shown | null): Promise<void> {
    if (text === null) await this.#clearStatus();
    else {
      await this.#tell(text, '');
      this.#hasStatus = true;
    }
  }

  /** A question to somebody at a terminal. */
  async ask(question: Shown): Promise<void> {
    await this.#tell(question, '');
  }

  paint(style: Style | null, text: Shown | string): Shown {
    return styled(this.isColoured ? style : null, this.shown`${text}`);
  }

  #head(): Readonly<Record<string, unknown>> {
    return { schema_version: jsonVersion, ...redactionFacts(this.egress) };
  }

  async #print(data: string | Uint8Array): Promise<void> {
    await this.#clearStatus();
    this.#hasPrinted = true;
    await this.#io.stdout.write(data);
  }

  async #tell({ text }: Shown, end: string): Promise<void> {
    await this.#clearStatus();
    await this.#toStderr(text + end);
  }

  async #clearStatus(): Promise<void> {
    if (!this.#hasStatus) return;
    this.#hasStatus = false;
    await this.#toStderr('\r\x1b[2K');
  }

  async #toStderr(text: string): Promise<void> {
    try {
      await this.#io.stderr.write(text);
    } catch (error) {
      // Nobody reads diagnostics any more; the data still counts.
      if (errnoOf(error) !== 'EPIPE') throw error;
    }
  }
}
