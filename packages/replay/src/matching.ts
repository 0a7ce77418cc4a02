import { type Exchange, nameOf } from './fixture.js';
import type { StoredValue } from './stored-value.js';

export type MatchMode = 'strict' | 'keyed' | 'loose';

/** A request of the code under test. */
export interface Request {
  readonly port: string;
  readonly request: StoredValue;
  readonly key: string;
}

/** Which exchange a request is; null when it is none that may come now. */
export interface Match {
  readonly exchange: Exchange | null;
  /** `loose`: whether the request is not the recorded one. */
  readonly isDifferent: boolean;
}

/** The exchanges of a fixture that have not been played, and how requests find theirs. */
export class Matching {
  readonly #exchanges: readonly Exchange[];
  readonly #played: boolean[];
  readonly #groups = new Map<number, Exchange[]>();
  readonly #byKey = new Map<string, Exchange[]>();
  readonly #derived = new Map<string, Exchange[]>();
  readonly #byName = new Map<string, Exchange[]>();
  /** How often an exchange was looked at: the work there was. */
  looks = 0;
  #next = 0;

  constructor(exchanges: readonly Exchange[]) {
    this.#exchanges = exchanges;
    this.#played = exchanges.map(() => false);
    for (const exchange of exchanges) {
      const { port, parallel, key, isDerived } = exchange;
      if (parallel !== 0) push(this.#groups, parallel, exchange);
      if (isDerived) push(this.#derived, port, exchange);
      else push(this.#byKey, key, exchange);
      push(this.#byName, namedPort(port, exchange.request), exchange);
    }
    // Queues are taken from their end.
    for (const queues of [this.#byKey, this.#derived, this.#byName]) {
      for (const queue of queues.values()) queue.reverse();
    }
  }

  /** The next exchange that has not been played; null at the end. */
  next(): Exchange | null {
    for (; this.#next < this.#exchanges.length; this.#next += 1) {
      const exchange = this.#exchanges[this.#next];
      if (exchange !== undefined && !this.isPlayed(exchange)) return exchange;
    }
    return null;
  }

  isPlayed({ n }: Exchange): boolean {
    return this.#played[n - 1] === true;
  }

  /** Whether an exchange of exactly this request has been played. */
  wasPlayed(request: Request): boolean {
    return this.#exchanges.some(
      (exchange) => this.isPlayed(exchange) && !exchange.isDerived && isMatch(exchange, request),
    );
  }

  /** The members of the group of an exchange, itself included. */
  groupOf(exchange: Exchange): readonly Exchange[] {
    return exchange.parallel === 0 ? [exchange] : (this.#groups.get(exchange.parallel) ?? [exchange]);
  }

  /** Finds the exchange of a request and takes it out. */
  take(request: Request, mode: MatchMode): Match {
    const exchange = this.#find(request, mode);
    if (exchange !== null) this.#played[exchange.n - 1] = true;
    return { exchange, isDifferent: exchange !== null && !isMatch(exchange, request) };
  }

  /** Those that are left, in order. */
  unplayed(): readonly Exchange[] {
    return this.#exchanges.filter((exchange) => !this.isPlayed(exchange));
  }

  #find(request: Request, mode: MatchMode): Exchange | null {
    switch (mode) {
      case 'strict':
        return this.#findStrict(request);
      case 'keyed':
        return this.#findKeyed(request);
      case 'loose':
        return (
          this.#earliest(this.#byName, namedPort(request.port, request.request)) ?? this.#findKeyed(request)
        );
    }
  }

  #findStrict(request: Request): Exchange | null {
    const next = this.next();
    if (next === null) return null;
    return (
      this.groupOf(next).find((exchange) => {
        this.looks += 1;
        return !this.isPlayed(exchange) && isMatch(exchange, request);
      }) ?? null
    );
  }

  #findKeyed(request: Request): Exchange | null {
    const exact = this.#earliest(this.#byKey, request.key);
    const derived = this.#earliest(this.#derived, request.port);
    if (exact === null || derived === null) return exact ?? derived;
    return exact.n < derived.n ? exact : derived;
  }

  #earliest(queues: Map<string, Exchange[]>, name: string): Exchange | null {
    const queue = queues.get(name) ?? [];
    for (let last = queue.at(-1); last !== undefined; last = queue.at(-1)) {
      this.looks += 1;
      if (!this.isPlayed(last)) return last;
      queue.pop();
    }
    return null;
  }
}

function push<Key>(queues: Map<Key, Exchange[]>, key: Key, exchange: Exchange): void {
  const queue = queues.get(key);
  if (queue === undefined) queues.set(key, [exchange]);
  else queue.push(exchange);
}

function namedPort(port: string, request: StoredValue): string {
  return JSON.stringify([port, nameOf(request)]);
}

/** Whether a request is the recorded one. Of a derived exchange nobody knows what was asked. */
export function isMatch(exchange: Exchange, { port, key }: Request): boolean {
  return exchange.port === port && (exchange.isDerived || exchange.key === key);
}
