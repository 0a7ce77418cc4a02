import { createNodeFileSystem, createRandomIds } from '@turnlog/fs';
import { type FileSystem, TurnlogError } from '@turnlog/kernel';
import type { EventInput } from '@turnlog/log';
import { createRedactor, type Egress, passThrough } from '@turnlog/store';
import type { CompareRules } from './compare.js';
import { type Divergence, DivergenceError } from './divergence.js';
import { DivergenceReport } from './divergence-report.js';
import { encodeInput, givenValue } from './event-text.js';
import { Expectations, type ExpectMode } from './expectations.js';
import {
  type ClockMode,
  type Exchange,
  exchangeKey,
  type FixtureDescription,
  type IdMode,
} from './fixture.js';
import { liveOf, storedOf } from './live-value.js';
import { Matching, type MatchMode, type Request } from './matching.js';
import { partOf, type TurnRange } from './part-fixture.js';
import { type AgentLog, type AgentPorts, type Answer, answerOf } from './ports.js';
import { type Fixture, readFixture } from './read-fixture.js';
import { errorOf } from './recorded-error.js';
import { ReplayClock } from './replay-clock.js';
import { ReplayIds, seededRandom } from './replay-ids.js';
import { ServedOrder } from './served-order.js';
import { sourceOf } from './source-record.js';
import { readStored, type StoredValue, storedText } from './stored-value.js';

export interface PlayOptions {
  readonly match?: MatchMode;
  /** `value`: 1 and 1.0 are the same number. */
  readonly numbers?: CompareRules['numbers'];
  /** `all`: also what tools and the harness brought in must be appended. */
  readonly expect?: ExpectMode;
  readonly clock?: ClockMode;
  readonly ids?: IdMode;
  /** The replay ends in front of the first record behind this one. */
  readonly until?: number;
  /** Only these turns are played. */
  readonly turns?: TurnRange;
  /** What takes secrets out of requests and reports; by default a redactor with the patterns of the user. */
  readonly egress?: Egress;
  /** Patterns of the user: those that the fixture was made with, or its requests are not the recorded ones. */
  readonly userPatterns?: readonly string[];
  readonly fs?: FileSystem;
}

/** A request that was served. */
export interface ServedCall {
  readonly exchange: number;
  readonly port: string;
  readonly request: unknown;
}

/** What a replay has come to. */
export interface PlayReport {
  readonly served: number;
  readonly appended: number;
  /** How often an exchange or a record was looked at. */
  readonly looks: number;
  /** In the mode `loose`: differences that did not stop it. */
  readonly divergences: readonly Divergence[];
}

/**
 * Opens a fixture for code under test.
 *
 * @throws TURNLOG_INVALID_FIXTURE, TURNLOG_NOT_FOUND.
 */
export async function openFixture(directory: string, options: PlayOptions = {}): Promise<Player> {
  const whole = readFixture(options.fs ?? createNodeFileSystem(), directory);
  const fixture = options.turns === undefined ? whole : partOf(whole, options.turns);
  return await Promise.resolve(new Player(fixture, directory, options));
}

function defaultEgress({ userPatterns = [] }: PlayOptions): Egress {
  // Asked for when the first secret is found; its marks are compared without their digits.
  const key = (): Uint8Array => Buffer.from(createRandomIds().randomHex(32), 'hex');
  return createRedactor({ key, userPatterns });
}

/** Serves a fixture. It opens no socket, spawns nothing and writes nothing. */
export class Player implements AgentPorts {
  readonly description: FixtureDescription;
  readonly clock: ReplayClock;
  readonly ids: ReplayIds;
  readonly random: () => number;
  readonly log: AgentLog;
  readonly #matching: Matching;
  readonly #expectations: Expectations;
  readonly #order = new ServedOrder();
  readonly #report: DivergenceReport;
  readonly #options: PlayOptions;
  /** Takes out of what the code does what the fixture was recorded without: nothing where that was not redacted. */
  readonly #recorded: Egress;
  readonly #calls: ServedCall[] = [];
  readonly #collected: Divergence[] = [];
  #appended = 0;
  #stopped: TurnlogError | null = null;
  #isFinished = false;

  constructor(fixture: Fixture, directory: string, options: PlayOptions) {
    const { description } = fixture;
    const records = fixture.records.map((record) => sourceOf(record));
    this.description = description;
    this.#options = options;
    const egress = options.egress ?? defaultEgress(options);
    this.#recorded = description.redaction.applied ? egress : passThrough;
    this.clock = new ReplayClock(description.clock.start, options.clock ?? description.clock.mode);
    const { seed, mode } = description.ids;
    this.ids = new ReplayIds(
      seed,
      options.ids ?? mode,
      records.map(({ event }) => event),
    );
    this.random = seededRandom(seed);
    this.#matching = new Matching(fixture.exchanges);
    const rules: CompareRules = { ignore: description.ignore, numbers: options.numbers ?? 'text' };
    this.#expectations = new Expectations(records, options.expect ?? 'agent', rules);
    this.#report = new DivergenceReport({
      directory,
      name: description.name,
      records,
      rules,
      egress,
      matching: this.#matching,
      expectations: this.#expectations,
    });
    this.log = { append: (event) => this.#append(event) };
  }

  readonly model = (request: unknown): Answer => this.#serve('model', storedOf(request));

  readonly tool = (name: string, args: unknown = null): Answer =>
    this.#serve('tool', storedOf({ name, arguments: args }));

  readonly port =
    (name: string): ((request: unknown) => Answer) =>
    (request) =>
      this.#serve(name, storedOf(request));

  /** Serves a request and gives the answer as it is stored: numbers are the text they were recorded as. */
  readonly text = async (port: string, request: unknown): Promise<string> => {
    const exchange = await this.#exchangeOf(port, storedOf(request));
    if (exchange.outcome !== 'ok') throw errorOf(exchange);
    return storedText(exchange.response ?? { kind: 'literal', text: 'null' });
  };

  /** The requests that were served, in their order. */
  calls(): readonly ServedCall[] {
    return this.#calls;
  }

  /** Whether code under test has left the fixture, also where it has caught that. */
  get hasDiverged(): boolean {
    return this.#stopped instanceof DivergenceError;
  }

  report(): PlayReport {
    return {
      served: this.#calls.length,
      appended: this.#appended,
      looks: this.#matching.looks + this.#expectations.looks,
      divergences: this.#collected,
    };
  }

  /**
   * Ends the replay.
   *
   * @throws DivergenceError when it diverged before, also where the code under test has caught that; or when
   *   exchanges or records are left.
   */
  finish(): void {
    if (this.#stopped instanceof DivergenceError) throw this.#stopped;
    this.#isFinished = true;
    if (this.#stopped !== null || this.#options.until !== undefined) return;
    const exchange = this.#matching.next();
    const record = this.#expectations.missing();
    if (exchange === null && record === null) return;
    this.#diverge(this.#report.left(exchange, record));
  }

  #serve(port: string, request: StoredValue): Answer {
    return answerOf(this.#answer(port, request));
  }

  async #answer(port: string, request: StoredValue): Promise<unknown> {
    const exchange = await this.#exchangeOf(port, request);
    if (exchange.kind === 'stream') return this.#stream(exchange);
    if (exchange.outcome !== 'ok') throw errorOf(exchange);
    return exchange.response === null ? undefined : liveOf(exchange.response);
  }

  /** Up to the first `await` nothing else runs: requests are taken in the order they come in. */
  async #exchangeOf(port: string, request: StoredValue): Promise<Exchange> {
    const exchange = this.#take(port, request);
    this.clock.serve(this.#timeOf(exchange, 0));
    if (exchange.kind === 'call') {
      await this.#order.turnOf(exchange, this.#matching.groupOf(exchange));
      this.clock.serve(this.#timeOf(exchange, exchange.durationMs));
    }
    this.#report.served(exchange);
    return exchange;
  }

  #take(port: string, given: StoredValue): Exchange {
    this.#refuseIfStopped();
    const request = this.#request(port, given);
    if (this.#isFinished || !this.description.ports.includes(port))
      this.#diverge(this.#report.closed(request));
    const mode = this.#options.match ?? 'strict';
    const { exchange, isDifferent } = this.#matching.take(request, mode);
    if (exchange === null) this.#diverge(this.#report.unmatched(request));
    if (isDifferent) this.#collected.push(this.#report.different(exchange, request));
    this.#calls.push({ exchange: exchange.n, port, request: liveOf(request.request) });
    return exchange;
  }

  /** As it was recorded: without secrets. */
  #request(port: string, given: StoredValue): Request {
    const { text, changed } = this.#recorded.jsonText(storedText(given));
    const request = changed ? readStored(Buffer.from(text)) : given;
    return { port, request, key: exchangeKey(port, request, this.description.match) };
  }

  async *#stream(exchange: Exchange): AsyncGenerator<string, void, void> {
    for (const [ms, delta] of exchange.chunks ?? []) {
      this.#refuseIfStopped();
      this.clock.serve(this.#timeOf(exchange, ms));
      yield delta;
    }
    this.clock.serve(this.#timeOf(exchange, exchange.durationMs));
    if (exchange.outcome === 'ok') return;
    // The recorded reader went no further, so nobody knows what would have come.
    if (exchange.outcome === 'cancelled' && exchange.error === null)
      this.#diverge(this.#report.readOn(exchange));
    throw errorOf(exchange);
  }

  #append(event: EventInput): { readonly seq: number } {
    this.#refuseIfStopped();
    const got = this.#clean(encodeInput(event).text);
    const judgement = this.#expectations.judge(got, this.#clean(storedText(givenValue(event))));
    const { until } = this.#options;
    if (until !== undefined && (judgement.kind === 'unexpected' || judgement.record.seq > until)) {
      this.#stopped = new TurnlogError('TURNLOG_CLOSED', {
        details: { until },
        message: `the replay ends behind seq ${until}, as it was asked to`,
      });
      throw this.#stopped;
    }
    if (judgement.kind !== 'equal') {
      this.#diverge(
        judgement.kind === 'differs'
          ? this.#report.eventDiffers(judgement.record, got)
          : this.#report.unexpectedEvent(got),
      );
    }
    this.#appended += 1;
    this.clock.serve(judgement.record.tsMs);
    return { seq: judgement.record.seq };
  }

  #clean(text: string): StoredValue {
    return readStored(Buffer.from(this.#recorded.jsonText(text).text));
  }

  #timeOf({ startMs }: Exchange, afterMs: number): number | null {
    return startMs === null ? null : this.clock.startMs + startMs + afterMs;
  }

  #refuseIfStopped(): void {
    if (this.#stopped !== null) throw this.#stopped;
  }

  /** Stops: whatever the code under test does from here on gets the same error. */
  #diverge(divergence: Divergence): never {
    const error = new DivergenceError(divergence);
    this.#stopped = error;
    throw error;
  }
}
