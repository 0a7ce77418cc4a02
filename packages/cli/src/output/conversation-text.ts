import type { LogReader } from '@turnlog/log';
import type { Store } from '@turnlog/store';
import type { Output } from './output.js';
import { describeMissing, type Piece } from './piece.js';
import { Timeline, type TimelineOptions } from './timeline.js';

/** One session of a conversation, while its records are printed. */
interface Part {
  readonly reader: LogReader;
  readonly timeline: Timeline;
}

/** Prints a conversation for people: of each session that it is read from, what it says, and where it changes. */
export class ConversationText {
  recordCount = 0;
  readonly #store: Store;
  readonly #output: Output;
  readonly #options: TimelineOptions;
  readonly #own: Part;
  #part: Part;

  /** @param reader the session that was asked for; its caller closes it. */
  constructor(store: Store, reader: LogReader, output: Output, options: TimelineOptions) {
    this.#store = store;
    this.#output = output;
    this.#options = options;
    this.#own = { reader, timeline: new Timeline(reader, output, options) };
    this.#part = this.#own;
  }

  async printHeader(session: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#own.timeline.printHeader(session);
  }

  async print(piece: Piece): Promise<void> {
    const { shown } = this.#output;
    if (piece.kind === 'missing') {
      await this.#part.timeline.settle();
      await this.#output.lines([shown``, this.#output.paint('red', describeMissing(piece))]);
      return;
    }
    if (piece.sessionId !== this.#part.reader.sessionId) await this.#changeTo(piece.sessionId);
    this.recordCount += 1;
    await this.#part.timeline.print(piece.view);
  }

  async end(): Promise<void> {
    await this.#part.timeline.settle();
    await this.#own.timeline.end();
  }

  close(): void {
    if (this.#part !== this.#own) this.#part.reader.close();
    this.#part = this.#own;
  }

  async #changeTo(id: string): Promise<void> {
    const { shown } = this.#output;
    await this.#part.timeline.settle();
    this.close();
    const isOwn = id === this.#own.reader.sessionId;
    if (!isOwn) {
      const reader = this.#store.read(id);
      this.#part = { reader, timeline: new Timeline(reader, this.#output, this.#options) };
    }
    const what = isOwn ? 'from here on' : 'shared with';
    await this.#output.lines([shown``, this.#output.paint('strong', shown`${what} ${id}`)]);
  }
}
