import { isTurnlogError } from '@turnlog/kernel';
import type { EngineName, Freshness, LexicalIndex } from './lexical-index.js';
import type { Degraded } from './search-answer.js';

/** An engine that is open, and how it is brought up to the logs. */
export interface OpenEngine {
  readonly index: LexicalIndex;
  /** Takes in what is new for up to `waitMs` milliseconds. */
  catchUp(waitMs: number): Promise<{
    readonly behind: Freshness;
    /** Sessions that could not be read; what is known of them stays. */
    readonly failed: readonly { readonly session: string; readonly error: unknown }[];
    /** What else could not be done. */
    readonly degraded?: readonly Degraded[];
  }>;
  /** Bytes of text that lie too far inside of records to be indexed. */
  readonly unindexedBytes: number;
  close(): void;
}

/** An engine that may be there. */
export interface EngineProvider {
  readonly name: EngineName;
  /** @throws a TurnlogError when it cannot be used here; another engine answers then. */
  open(): Promise<OpenEngine>;
}

export interface ChosenEngine {
  readonly engine: OpenEngine;
  readonly degraded: readonly Degraded[];
}

/** The engines of one store, opened when they are first wanted and kept (SE-29). */
export class Engines {
  readonly #providers: readonly EngineProvider[];
  readonly #open = new Map<EngineName, OpenEngine>();

  /** `providers` in the order in which they are asked; the last one must always be usable. */
  constructor(providers: readonly EngineProvider[]) {
    this.#providers = providers;
  }

  /**
   * The engine that is asked for, else the first that can be used. What could not be used, and why, is told.
   *
   * @throws what opening the last engine throws.
   */
  async choose(asked: EngineName | null): Promise<ChosenEngine> {
    const degraded: Degraded[] = [];
    const order = [...this.#providers].sort(
      (left, right) => Number(right.name === asked) - Number(left.name === asked),
    );
    if (asked !== null && order[0]?.name !== asked) {
      degraded.push({ name: asked, reason: 'it is not part of this installation' });
    }
    let failure: unknown = null;
    for (const provider of order) {
      try {
        const engine = await this.#opened(provider);
        const { state } = engine.index;
        if (state.kind !== 'unusable') return { engine, degraded: [...degraded, ...incomplete(engine)] };
        degraded.push({ name: provider.name, reason: state.reason });
      } catch (error) {
        if (!isTurnlogError(error)) throw error;
        degraded.push({ name: provider.name, reason: error.message });
        failure = error;
      }
    }
    throw failure;
  }

  close(): void {
    for (const engine of this.#open.values()) engine.close();
    this.#open.clear();
  }

  async #opened(provider: EngineProvider): Promise<OpenEngine> {
    const known = this.#open.get(provider.name);
    if (known !== undefined && known.index.state.kind !== 'unusable') return known;
    known?.close();
    const engine = await provider.open();
    this.#open.set(provider.name, engine);
    return engine;
  }
}

function incomplete({ index }: OpenEngine): readonly Degraded[] {
  const { state } = index;
  return state.kind === 'incomplete' ? state.reasons.map((reason) => ({ name: index.name, reason })) : [];
}
