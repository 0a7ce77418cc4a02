import { type Clock, isTurnlogError, limits } from '@turnlog/kernel';
import type { EngineName, Freshness, LexicalIndex } from './lexical-index.js';
import type { Degraded } from './search-answer.js';

/** How far an engine has come. */
export interface EngineCatchUp {
  readonly behind: Freshness;
  /** Sessions that could not be read; what is known of them stays. */
  readonly failed: readonly { readonly session: string; readonly error: unknown }[];
  /** What else could not be done. */
  readonly degraded?: readonly Degraded[];
  /** Whether it can take in no more, however long it is waited for. */
  readonly isFull?: boolean;
}

/** An engine that is open, and how it is brought up to the logs. */
export interface OpenEngine {
  readonly index: LexicalIndex;
  /** Why others should answer until it has been built, one sentence each; empty for an engine that is built. */
  readonly lacks?: readonly string[];
  /** Takes in what is new for up to `waitMs` milliseconds, or until `signal` ends that. */
  catchUp(waitMs: number, signal?: AbortSignal): Promise<EngineCatchUp>;
  /** Bytes of text that lie too far inside of records to be indexed. */
  readonly unindexedBytes: number;
  /** Resolves when no work is under way that an answer has left. */
  settled?(): Promise<void>;
  close(): void;
}

/** An engine that may be there. */
export interface EngineProvider {
  readonly name: EngineName;
  /** @throws a TurnlogError when it cannot be used here; another engine answers then. */
  open(): Promise<OpenEngine>;
}

/** The engine that answers, brought up to the logs, and what did not. */
export interface ReadyEngine extends EngineCatchUp {
  readonly engine: OpenEngine;
  readonly degraded: readonly Degraded[];
}

/** When a wait ends. */
interface End {
  readonly ms: number;
  readonly signal: AbortSignal | undefined;
}

interface Chosen {
  readonly provider: EngineProvider;
  readonly engine: OpenEngine;
  readonly degraded: readonly Degraded[];
}

/** The engines of one store, opened when they are first wanted and kept (SE-29). */
export class Engines {
  readonly #providers: readonly EngineProvider[];
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #open = new Map<EngineName, OpenEngine>();
  /** The engine that another one answered for, until it has been built. */
  #unbuilt: OpenEngine | null = null;

  /** `providers` in the order in which they are asked; the last one must always be usable. */
  constructor(providers: readonly EngineProvider[], clock: Pick<Clock, 'monotonicMs'>) {
    this.#providers = providers;
    this.#clock = clock;
  }

  /**
   * The engine that is asked for, else the first that can be used and is built; of those that are not, the one that
   * has come furthest within `waitMs` milliseconds. What did not answer, and why, is told.
   *
   * @throws what opening the last engine throws.
   */
  async ready(asked: EngineName | null, waitMs: number, signal?: AbortSignal): Promise<ReadyEngine> {
    const end: End = { ms: this.#clock.monotonicMs() + waitMs, signal };
    const first = await this.#choose(this.#inOrder(asked), missing(this.#providers, asked));
    const isBuilt = asked !== null || (first.engine.lacks ?? []).length === 0;
    const other = isBuilt ? null : await this.#instead(first, end, lacksOf(first));
    if (other !== null && isNear(other)) return this.#meanwhile(first, other);
    const damage = damageOf(first.engine);
    const caughtUp = await first.engine.catchUp(this.#leftMs(end), signal);
    const own = readyAs({ ...first, degraded: [...first.degraded, ...damage] }, caughtUp);
    if (asked !== null || (isNear(own) && own.isFull !== true)) return own;
    const reason = `${own.behind.bytes} bytes of the logs are not in it yet`;
    const further = await this.#further(first, own, end, [{ name: first.provider.name, reason }]);
    return further === null ? own : this.#meanwhile(first, further);
  }

  /** Goes on building the engine that another one answered for, as long as `catchUp` may take. */
  async build(waitMs: number, signal?: AbortSignal): Promise<void> {
    const engine = this.#unbuilt;
    if (engine === null || engine.index.state.kind === 'unusable') return;
    const { behind } = await engine.catchUp(waitMs, signal);
    if (behind.events === 0) this.#unbuilt = null;
  }

  /** Resolves when no engine works on anything. */
  async settled(): Promise<void> {
    for (const engine of this.#open.values()) await engine.settled?.();
  }

  close(): void {
    for (const engine of this.#open.values()) engine.close();
  }

  #inOrder(asked: EngineName | null): readonly EngineProvider[] {
    return [...this.#providers].sort(
      (left, right) => Number(right.name === asked) - Number(left.name === asked),
    );
  }

  async #choose(order: readonly EngineProvider[], told: readonly Degraded[]): Promise<Chosen> {
    const degraded = [...told];
    let failure: unknown = null;
    for (const provider of order) {
      try {
        const engine = await this.#opened(provider);
        const { state } = engine.index;
        if (state.kind !== 'unusable') return { provider, engine, degraded };
        degraded.push({ name: provider.name, reason: state.reason });
      } catch (error) {
        if (!isTurnlogError(error)) throw error;
        degraded.push({ name: provider.name, reason: error.message });
        failure = error;
      }
    }
    throw failure;
  }

  /** The next engine that is kept on the disk, brought up to the logs; null when there is none. */
  async #instead({ provider }: Chosen, end: End, reasons: readonly Degraded[]): Promise<ReadyEngine | null> {
    const behind = this.#providers.slice(this.#providers.indexOf(provider) + 1, -1);
    for (const next of behind) {
      const isUsable = await this.#isUsable(next);
      if (!isUsable) continue;
      const engine = await this.#opened(next);
      const caughtUp = await engine.catchUp(this.#leftMs(end), end.signal);
      return { ...caughtUp, engine, degraded: [...reasons, ...(caughtUp.degraded ?? [])] };
    }
    return null;
  }

  /** Another engine that has come further than `own`; one that begins empty only where `own` cannot go on at all. */
  async #further(
    first: Chosen,
    own: ReadyEngine,
    end: End,
    reasons: readonly Degraded[],
  ): Promise<ReadyEngine | null> {
    const other = await this.#instead(first, end, [...own.degraded, ...reasons]);
    if (other !== null && other.behind.bytes < own.behind.bytes) return other;
    const last = this.#providers.at(-1);
    if (own.isFull !== true || last === undefined || last === first.provider) return null;
    const engine = await this.#opened(last);
    const caughtUp = await engine.catchUp(Math.max(this.#leftMs(end), 1), end.signal);
    if (caughtUp.behind.bytes >= own.behind.bytes) return null;
    return { ...caughtUp, engine, degraded: [...own.degraded, ...reasons] };
  }

  #meanwhile({ engine }: Chosen, answering: ReadyEngine): ReadyEngine {
    this.#unbuilt = engine;
    return answering;
  }

  #leftMs({ ms }: End): number {
    return Math.max(0, ms - this.#clock.monotonicMs());
  }

  async #isUsable(provider: EngineProvider): Promise<boolean> {
    try {
      return (await this.#opened(provider)).index.state.kind !== 'unusable';
    } catch (error) {
      // That it is missing as well is no news: it was not asked for.
      if (!isTurnlogError(error)) throw error;
      return false;
    }
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

/** Bytes that hold no record, as damage at the end of a log, are in no engine. */
function isCurrent({ behind }: EngineCatchUp): boolean {
  return behind.bytes === 0 || behind.events === 0;
}

/** Whether an engine is not being built, but at most some moments behind: it says how far, and answers. */
function isNear(caughtUp: EngineCatchUp): boolean {
  return isCurrent(caughtUp) || caughtUp.behind.bytes <= limits.searchBuiltAtOnceBytes;
}

function readyAs({ engine, degraded }: Chosen, caughtUp: EngineCatchUp): ReadyEngine {
  return { ...caughtUp, engine, degraded: [...degraded, ...(caughtUp.degraded ?? [])] };
}

function lacksOf({ provider, engine, degraded }: Chosen): readonly Degraded[] {
  return [...degraded, ...(engine.lacks ?? []).map((reason) => ({ name: provider.name, reason }))];
}

/** What was lost is told also when it could be read again before the answer. */
function damageOf({ index }: OpenEngine): readonly Degraded[] {
  const { state } = index;
  return state.kind === 'incomplete' ? state.reasons.map((reason) => ({ name: index.name, reason })) : [];
}

function missing(providers: readonly EngineProvider[], asked: EngineName | null): readonly Degraded[] {
  if (asked === null || providers.some(({ name }) => name === asked)) return [];
  return [{ name: asked, reason: 'it is not part of this installation' }];
}
