import type { TestMachine } from './test-machine.js';

/**
 * What the doctrine needs of a log engine. The real one fits it as it is; a canary writes its own in a few lines.
 * The reference never imports the engine it judges.
 */
export interface EngineUnderTest {
  open(
    machine: TestMachine,
    directory: string,
    sessionId: string,
    options: EngineOptions,
  ): Promise<LogUnderTest>;
  transaction<Result>(
    machine: TestMachine,
    directory: string,
    sessionId: string,
    work: (log: SharedLogUnderTest) => Result,
  ): Promise<Result>;
}

export type DurabilityClass = 'buffered' | 'turn' | 'event';

export interface EngineOptions {
  readonly durability?: DurabilityClass;
  readonly waitMs?: number;
  readonly cap?: CapUnderTest;
}

/** How long a log may become, and what becomes of the turns that must leave it. */
export interface CapUnderTest {
  readonly maxEvents?: number;
  readonly maxBytes?: number;
  readonly target?: number;
  readonly keepTurns?: number;
  readonly archive?: 'gzip' | 'zstd' | 'drop';
  readonly hook?: () => { readonly text?: string } | Promise<{ readonly text?: string }>;
}

/** An event by its own text, to be stored as it stands. */
export interface RawInput {
  readonly raw: string;
}

export interface AppendChoices {
  readonly key?: string;
  readonly expectLast?: number;
  readonly durability?: DurabilityClass;
}

export interface AppendAnswer {
  readonly seq: number;
  readonly turn: number | null;
  readonly duplicate?: true;
}

/** What a frame is begun with. */
export interface FrameInput {
  readonly frame: string;
  readonly fence: number | null;
  readonly kind: string;
}

export interface SharedLogUnderTest {
  readonly lastSeq: number;
  append(event: RawInput, options?: AppendChoices): AppendAnswer;
  appendBatch(events: readonly RawInput[]): { readonly seqs: readonly number[] };
  /** Only of engines that have frames. */
  appendFrame?(header: FrameInput, members: readonly RawInput[]): { readonly seqs: readonly number[] };
}

export interface RangeOfSeqs {
  readonly from: number;
  readonly to: number;
}

export interface LogUnderTest extends SharedLogUnderTest {
  readonly durableSeq: number;
  flush(): unknown;
  sync(): unknown;
  commit(): Promise<unknown>;
  maintain(): Promise<unknown>;
  close(): Promise<unknown>;
  reopen(): Promise<{
    readonly stored: RangeOfSeqs | null;
    readonly lost: RangeOfSeqs | null;
    readonly kept: RangeOfSeqs | null;
  }>;
}
