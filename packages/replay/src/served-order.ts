import { setImmediate } from 'node:timers';
import { limits } from '@turnlog/kernel';
import type { Exchange } from './fixture.js';

/** The one of Node itself: tests replace the global one, and what waits here must go on under fake timers, too. */
const afterTurn = setImmediate;

interface Waiting {
  readonly exchange: Exchange;
  readonly release: () => void;
}

/**
 * Answers of a parallel group come in the order they were recorded in, whatever order the calls come in. An answer
 * waits for those that ended before it; when the code under test never asks for one of them, it is let go after a
 * while, and the missing call is told where the replay ends.
 */
export class ServedOrder {
  readonly #groups = new Map<number, Exchange[]>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #busy = new Set<number>();
  #stir = 0;

  /** Resolves when the answer of `exchange` may be given. `group` are all members, itself included. */
  async turnOf(exchange: Exchange, group: readonly Exchange[]): Promise<void> {
    this.#stir += 1;
    if (group.length < 2) return;
    const number = exchange.parallel;
    if (!this.#groups.has(number)) {
      this.#groups.set(
        number,
        [...group].sort((left, right) => left.end - right.end),
      );
    }
    await new Promise<void>((release) => {
      this.#waiting.set(exchange.n, { exchange, release });
      this.#releaseOf(number);
      if (this.#waiting.has(exchange.n)) this.#watch(exchange, this.#stir, 0);
    });
  }

  /** One answer a turn of the event loop, so that what it sets off is done before the next one comes. */
  #releaseOf(number: number): void {
    const order = this.#groups.get(number) ?? [];
    const first = order[0];
    const waiting = first === undefined ? undefined : this.#waiting.get(first.n);
    if (waiting === undefined || this.#busy.has(number)) return;
    this.#let(waiting, order);
    this.#busy.add(number);
    afterTurn(() => {
      this.#busy.delete(number);
      this.#releaseOf(number);
    });
  }

  #let({ exchange, release }: Waiting, order: Exchange[]): void {
    this.#waiting.delete(exchange.n);
    order.splice(order.indexOf(exchange), 1);
    this.#stir += 1;
    release();
  }

  #watch(exchange: Exchange, stir: number, turns: number): void {
    afterTurn(() => {
      const waiting = this.#waiting.get(exchange.n);
      if (waiting === undefined) return;
      const order = this.#groups.get(exchange.parallel) ?? [];
      const isFirst = order.find(({ n }) => this.#waiting.has(n))?.n === exchange.n;
      if (stir === this.#stir && turns >= limits.replayQuietTurnsMax && isFirst) {
        this.#let(waiting, order);
        this.#releaseOf(exchange.parallel);
      } else this.#watch(exchange, this.#stir, stir === this.#stir ? turns + 1 : 0);
    });
  }
}
