import type { ClosedTurn } from './lifecycle.js';
import type { LogState } from './log-state.js';
import {
  encodeIndexMark,
  encodeIndexTurn,
  type IndexMark,
  markAt,
  type TurnIndexLine,
} from './turn-index.js';

/** A line of the turn index, and the position in the log that it describes: published when that is durable. */
interface PendingLine {
  readonly line: TurnIndexLine;
  readonly end: number;
}

/**
 * What the turn index must still be told. Append and scan fill it with the same call; a refused append takes
 * back what it added.
 */
export class PublishQueue {
  #lines: PendingLine[] = [];

  /** Notes what one record, folded from `before` to `after`, means for the turn index. */
  note(before: LogState, after: LogState): void {
    const { closed } = after.lifecycle;
    if (closed !== null) this.addTurn(closed);
    const mark = markAt(before.tail?.offset ?? -1, after.tail?.offset ?? 0, after.lifecycle.eventCount);
    if (mark !== null) this.addMark(mark, after.length);
  }

  addTurn(turn: ClosedTurn): void {
    this.#lines.push({ line: { kind: 'turn', turn }, end: turn.end });
  }

  /** Adds the mark of a record that ends at `end`. */
  addMark(mark: IndexMark, end: number): void {
    this.#lines.push({ line: { kind: 'mark', mark }, end });
  }

  mark(): number {
    return this.#lines.length;
  }

  cutTo(mark: number): void {
    this.#lines.length = mark;
  }

  /** The turns that are queued, oldest first. */
  turns(): readonly ClosedTurn[] {
    const turns: ClosedTurn[] = [];
    for (const { line } of this.#lines) {
      if (line.kind === 'turn') turns.push(line.turn);
    }
    return turns;
  }

  /** The lines that describe the first `length` bytes of the log, and how many they are. */
  peek(length: number): { readonly text: string; readonly count: number } {
    let count = 0;
    // Lines come in the order of the log, so what is durable stands in front.
    while (count < this.#lines.length && (this.#lines[count] as PendingLine).end <= length) count += 1;
    const texts = this.#lines.slice(0, count).map(({ line }) => encodeLine(line));
    return { text: texts.join(''), count };
  }

  /** Forgets the first `count` lines: they are published. */
  drop(count: number): void {
    this.#lines = this.#lines.slice(count);
  }
}

function encodeLine(line: TurnIndexLine): string {
  return line.kind === 'turn' ? encodeIndexTurn(line.turn) : encodeIndexMark(line.mark);
}
