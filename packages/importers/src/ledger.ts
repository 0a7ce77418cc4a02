/**
 * Where the bytes of a source went: `bytes = mapped + kept + refused`, exactly. `echo`, `repeat`, `inherited`
 * and `framing` are parts of `mapped`.
 */
export interface Ledger {
  readonly bytes: number;
  /** The content stands in an event, or needs none. */
  readonly mapped: number;
  /** Said twice by the producer. */
  readonly echo: number;
  /** The same record again. */
  readonly repeat: number;
  /** Copied from a parent that has it. */
  readonly inherited: number;
  /** Line ends, blanks, a byte-order mark. */
  readonly framing: number;
  /** Without an event that holds the content. */
  readonly kept: number;
  /** No record. */
  readonly refused: number;
  /** Records by class and kind, as in `mapped:turn.started`, `kept:stream_event`, `refused:bad-json`. */
  readonly records: Readonly<Record<string, number>>;
}

export type LedgerClass = 'mapped' | 'echo' | 'repeat' | 'inherited' | 'kept' | 'refused';

/** Adds up a ledger. */
export class LedgerBook {
  #totals = { mapped: 0, echo: 0, repeat: 0, inherited: 0, framing: 0, kept: 0, refused: 0 };
  readonly #records = new Map<string, number>();

  add(place: LedgerClass, kind: string, bytes: number): void {
    this.#totals[place] += bytes;
    if (place === 'echo' || place === 'repeat' || place === 'inherited') this.#totals.mapped += bytes;
    const name = `${place}:${kind}`;
    this.#records.set(name, (this.#records.get(name) ?? 0) + 1);
  }

  addFraming(bytes: number): void {
    this.#totals.framing += bytes;
    this.#totals.mapped += bytes;
  }

  read(): Ledger {
    const { mapped, kept, refused } = this.#totals;
    const records = Object.fromEntries([...this.#records].sort(([a], [b]) => (a < b ? -1 : 1)));
    return { bytes: mapped + kept + refused, ...this.#totals, records };
  }
}
