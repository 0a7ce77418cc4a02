import { resolve } from 'node:path';
import { expect } from '@jest/globals';
import { createNodeFileSystem } from '@turnlog/fs';
import type { LogReader } from '@turnlog/log';
import { type Divergence, DivergenceError, divergenceText } from '../divergence.js';
import { openFixture, type Player, type PlayOptions } from '../player.js';
import type { AgentPorts } from '../ports.js';
import { readFixture } from '../read-fixture.js';
import { type LivePorts, type RecordOptions, record } from '../recorder.js';
import { compareEvents, eventsOf } from './compare-events.js';

/** Code under test: whatever takes its ports from outside. */
export type AgentUnderTest = (player: Player) => unknown;

/** Where code is expected to leave its fixture; what is not said may be anything. */
export interface DivergencePlace {
  readonly seq?: number;
  readonly exchange?: number;
  readonly kind?: Divergence['kind'];
  readonly path?: string;
}

export interface ReplayOptions extends PlayOptions {
  /** Given, `jest -u` records the fixture anew on these ports. */
  readonly update?: { readonly ports: LivePorts; readonly options: Omit<RecordOptions, 'existing'> };
}

declare module 'expect' {
  interface Matchers<R> {
    /** The code runs to the end of the fixture without divergence, and nothing is left. */
    toReplay(fixture: string, options?: ReplayOptions): Promise<R>;
    /** The code leaves the fixture exactly there. */
    toDivergeAt(fixture: string, place: DivergencePlace, options?: PlayOptions): Promise<R>;
    /** These are the events of the fixture, or those. */
    toMatchEvents(expected: string | readonly { readonly type: string }[]): R;
    /** One of the events has these members. */
    toContainEvent(partial: Readonly<Record<string, unknown>>): R;
    /** An exchange with such a request was served. */
    toHaveCalled(port: string, partial?: Readonly<Record<string, unknown>>): R;
  }
}

interface Verdict {
  readonly pass: boolean;
  readonly message: () => string;
}

const verdict = (pass: boolean, text: string): Verdict => ({ pass, message: () => text });

/** Runs code on a fixture and gives its first divergence; null when there is none. What else it throws is thrown. */
async function divergenceOf(
  run: unknown,
  directory: string,
  options: PlayOptions,
): Promise<Divergence | null> {
  if (typeof run !== 'function') throw new TypeError('the matcher takes a function that is given the player');
  const player = await openFixture(directory, options);
  try {
    await Reflect.apply(run, undefined, [player]);
    player.finish();
    return null;
  } catch (failure) {
    if (failure instanceof DivergenceError) return failure.divergence;
    // Code may make another error of a divergence, and that one is what happened.
    if (player.hasDiverged) return divergenceIn(player);
    throw failure;
  }
}

function divergenceIn(player: Player): Divergence | null {
  try {
    player.finish();
    return null;
  } catch (failure) {
    if (failure instanceof DivergenceError) return failure.divergence;
    throw failure;
  }
}

/** Records anew; a fixture that is not what its sums say was changed by somebody, and stays. */
async function recordAnew(
  run: (ports: AgentPorts) => unknown,
  directory: string,
  { ports, options }: NonNullable<ReplayOptions['update']>,
): Promise<void> {
  const fs = options.environment?.fs ?? createNodeFileSystem();
  const path = resolve(directory);
  if (fs.status(path) !== null) readFixture(fs, path);
  await record(path, ports, run, { ...options, existing: 'replace' });
}

function isAt({ at, kind, diff }: Divergence, place: DivergencePlace): boolean {
  const isSame = (wanted: unknown, found: unknown): boolean => wanted === undefined || wanted === found;
  return (
    isSame(place.seq, at.seq) &&
    isSame(place.exchange, at.exchange) &&
    isSame(place.kind, kind) &&
    (place.path === undefined || diff.some(({ path }) => path === place.path))
  );
}

function isPlayer(value: unknown): value is Pick<Player, 'calls'> {
  return typeof value === 'object' && value !== null && 'calls' in value && typeof value.calls === 'function';
}

expect.extend({
  async toReplay(run: unknown, fixture: string, options: ReplayOptions = {}) {
    const isUpdate = Reflect.get(Object(Reflect.get(this, 'snapshotState')), '_updateSnapshot') === 'all';
    if (isUpdate && options.update !== undefined && typeof run === 'function') {
      await recordAnew((ports) => Reflect.apply(run, undefined, [ports]), fixture, options.update);
    }
    const divergence = await divergenceOf(run, fixture, options);
    if (divergence !== null) return verdict(false, divergenceText(divergence));
    return verdict(true, `the code replays ${fixture}, and was expected not to`);
  },

  async toDivergeAt(run: unknown, fixture: string, place: DivergencePlace, options: PlayOptions = {}) {
    const divergence = await divergenceOf(run, fixture, options);
    const wanted = `expected a divergence at ${JSON.stringify(place)}`;
    if (divergence === null) return verdict(false, `${wanted}, but the code replays ${fixture}`);
    const text = divergenceText(divergence);
    if (isAt(divergence, place))
      return verdict(true, `expected no divergence at ${JSON.stringify(place)}\n${text}`);
    return verdict(false, `${wanted}\n${text}`);
  },

  toMatchEvents(received: unknown, expected: string | readonly { readonly type: string }[]) {
    const divergence = compareEvents(received, expected);
    if (divergence !== null) return verdict(false, divergenceText(divergence));
    return verdict(true, 'the events are those that were expected to be others');
  },

  toContainEvent(received: unknown, partial: Readonly<Record<string, unknown>>) {
    const events = eventsOf(received);
    const pass = events.some((event) => this.equals(event, partial, [this.utils.subsetEquality]));
    const wanted = this.utils.stringify(partial);
    return verdict(pass, `${pass ? 'one' : 'none'} of the ${events.length} events contains ${wanted}`);
  },

  toHaveCalled(received: unknown, port: string, partial: Readonly<Record<string, unknown>> = {}) {
    if (!isPlayer(received)) throw new TypeError('the matcher takes a player');
    const calls = received.calls().filter((call) => call.port === port);
    const pass = calls.some(({ request }) => this.equals(request, partial, [this.utils.subsetEquality]));
    const wanted = this.utils.stringify(partial);
    return verdict(
      pass,
      `${pass ? 'one' : 'none'} of the ${calls.length} calls of ${port} contains ${wanted}`,
    );
  },
});

/** What `toMatchEvents` and `toContainEvent` look at. */
export type EventSource = readonly { readonly type: string }[] | Pick<LogReader, 'records'>;
