import { formatTimestamp } from '@turnlog/events';
import type { LogReader, TurnSummary } from '@turnlog/log';
import type { Output } from './output.js';
import { type RecordView, recordLines } from './record-lines.js';
import { joinShown, type Shown } from './shown.js';

export interface TimelineOptions {
  /** Every record with its whole text, in place of one line for each item. */
  readonly isFull: boolean;
  readonly headings: 'turns' | 'none';
}

/** Records held back while their item may still end; more are printed as they are. */
const pendingMax = 1_000;

/**
 * Prints records for people: a heading for each turn, a line for each item. An item that is announced and then
 * completed is one line; one that never ends is shown as such at the end of its turn.
 */
export class Timeline {
  readonly #reader: LogReader;
  readonly #output: Output;
  readonly #options: TimelineOptions;
  readonly #seqWidth: number;
  readonly #turns: Iterator<TurnSummary>;
  readonly #pending: Map<string, RecordView> = new Map();
  #turn: number | null | undefined = undefined;

  constructor(reader: LogReader, output: Output, options: TimelineOptions) {
    this.#reader = reader;
    this.#output = output;
    this.#options = options;
    this.#seqWidth = Math.max(String(reader.state.order.highestSeq).length, 3);
    this.#turns = reader.turns()[Symbol.iterator]();
  }

  /** What the session is, before its records. */
  async printHeader(session: Readonly<Record<string, unknown>>): Promise<void> {
    const { state, sessionId, length } = this.#reader;
    const { lifecycle, facts, damage } = state;
    const { shown, wallClock, words } = this.#output;
    const turns = lifecycle.open?.turn ?? lifecycle.turnCount;
    const status = lifecycle.open === null ? lifecycle.status : `in turn ${lifecycle.open.turn}`;
    const first = wallClock.dateTime(timeOf(state.firstTsMs));
    const last = wallClock.dateTime(timeOf(state.newestTsMs));
    const lines: Shown[] = [
      shown`${this.#output.paint('strong', sessionId)}  ${status}, ${turns} turns, ${lifecycle.eventCount} records, ${length} bytes`,
      shown`${first} to ${last} (${wallClock.zone})`,
    ];
    if (facts.title !== undefined) lines.push(shown`title: ${words.line(facts.title)}`);
    for (const workspace of facts.workspaces) lines.push(shown`workspace: ${words.line(workspace)}`);
    if (session['writer'] !== null) lines.push(shown`a writer has it open`);
    if (damage.count > 0)
      lines.push(this.#output.paint('red', `${damage.count} damaged places, listed at the end`));
    await this.#output.lines(lines);
  }

  async print(view: RecordView): Promise<void> {
    const { turn } = view.record;
    if (turn !== this.#turn) await this.#changeTurn(turn);
    if (this.#options.isFull || view.item === null) {
      await this.#printLines(view);
      return;
    }
    if (!view.item.isDone && view.item.id !== '') {
      this.#pending.set(view.item.id, view);
      if (this.#pending.size > pendingMax) await this.#printPending();
      return;
    }
    this.#pending.delete(view.item.id);
    await this.#printLines(view);
  }

  /** Prints what was held back, before something else comes. */
  async settle(): Promise<void> {
    await this.#printPending();
  }

  async end(): Promise<void> {
    await this.#printPending();
    const damage = this.#reader.damage();
    if (damage.length === 0) return;
    const { shown } = this.#output;
    await this.#output.lines([
      shown``,
      ...damage.map(({ kind, offset, length, line }) =>
        this.#output.paint('red', `damaged: ${kind}, ${length} bytes at offset ${offset} (line ${line})`),
      ),
    ]);
  }

  async #changeTurn(turn: number | null): Promise<void> {
    await this.#printPending();
    this.#turn = turn;
    if (this.#options.headings === 'none' || turn === null) return;
    await this.#output.lines([this.#output.shown``, this.#heading(turn)]);
  }

  #heading(number: number): Shown {
    const { shown } = this.#output;
    const found = this.#findTurn(number);
    const words = [shown`${this.#output.paint('strong', `turn ${number}`)}`];
    if (found !== null) {
      const { status, events } = found;
      const style = status === 'completed' ? 'green' : status === 'open' ? 'yellow' : 'red';
      words.push(this.#output.paint(style, status), shown`${events} records`);
      words.push(shown`${this.#output.wallClock.dateTime(timeOf(found.tsMs))}`);
    }
    return joinShown(words, ', ');
  }

  /** Turns come in the order of their records, so the list is walked once. */
  #findTurn(number: number): TurnSummary | null {
    for (let next = this.#turns.next(); next.done !== true; next = this.#turns.next()) {
      if (next.value.turn === number) return next.value;
    }
    return null;
  }

  async #printPending(): Promise<void> {
    const views = [...this.#pending.values()];
    this.#pending.clear();
    for (const view of views) await this.#printLines(view, 'not finished');
  }

  async #printLines(view: RecordView, remark?: string): Promise<void> {
    const options = {
      seqWidth: this.#seqWidth,
      isFull: this.#options.isFull,
      ...(remark === undefined ? {} : { remark }),
    };
    await this.#output.lines(recordLines(view, this.#output, options));
  }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : formatTimestamp(ms);
}
