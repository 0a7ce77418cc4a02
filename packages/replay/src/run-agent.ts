import { type FileSystem, isTurnlogError } from '@turnlog/kernel';
import { type Divergence, DivergenceError } from './divergence.js';
import { loadModule } from './load-module.js';
import type { MatchMode } from './matching.js';
import type { TurnRange } from './part-fixture.js';
import { openFixture, type Player } from './player.js';

/** What code is run against which fixture. Plain data: it goes to another process. */
export interface AgentRequest {
  readonly directory: string;
  /** Absolute path of the module. */
  readonly module: string;
  /** Name of its export, which is given the player. */
  readonly exportName: string;
  readonly match: MatchMode;
  readonly numbers: 'text' | 'value';
  readonly until: number | null;
  readonly turns: TurnRange | null;
  /** Patterns of the user for what is a secret, as the fixture was made with. */
  readonly userPatterns: readonly string[];
}

/** How that ended. */
export interface AgentOutcome {
  readonly divergence: Divergence | null;
  /** What the code failed with, when nothing diverged. */
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly served: number;
  readonly appended: number;
  /** In the mode `loose`: what did not stop it. */
  readonly collected: readonly Divergence[];
}

export interface RunOptions {
  readonly fs?: FileSystem;
  /** Where a path is no place that Node loads from. */
  readonly load?: (path: string) => Promise<unknown>;
}

/**
 * Runs an export of a module against a fixture.
 *
 * @throws TURNLOG_INVALID_FIXTURE, TURNLOG_TURN_NOT_FOUND.
 */
export async function runAgent(
  request: AgentRequest,
  { fs, load = loadModule }: RunOptions = {},
): Promise<AgentOutcome> {
  const { match, numbers, until, turns, userPatterns } = request;
  const player = await openFixture(request.directory, {
    match,
    numbers,
    userPatterns,
    ...(until === null ? {} : { until }),
    ...(turns === null ? {} : { turns }),
    ...(fs === undefined ? {} : { fs }),
  });
  let error: AgentOutcome['error'] = null;
  try {
    await call(await load(request.module), request.exportName, player);
  } catch (failure) {
    if (!isEnd(failure)) error = told(failure);
  }
  const divergence = divergenceOf(player, error !== null);
  const { served, appended, divergences: collected } = player.report();
  return { divergence, error: divergence === null ? error : null, served, appended, collected };
}

async function call(loaded: unknown, exportName: string, player: Player): Promise<void> {
  const run: unknown = Reflect.get(Object(loaded), exportName);
  if (typeof run !== 'function') throw new TypeError(`the module has no function ${exportName}`);
  await Reflect.apply(run, undefined, [player]);
}

/** What the player itself ends a run with. */
function isEnd(failure: unknown): boolean {
  return failure instanceof DivergenceError || isTurnlogError(failure, 'TURNLOG_CLOSED');
}

/** Of code that failed nobody asks what it left out. */
function divergenceOf(player: Player, hasFailed: boolean): Divergence | null {
  if (hasFailed && !player.hasDiverged) return null;
  try {
    player.finish();
    return null;
  } catch (failure) {
    if (failure instanceof DivergenceError) return failure.divergence;
    throw failure;
  }
}

function told(failure: unknown): AgentOutcome['error'] {
  return failure instanceof Error
    ? { name: failure.name, message: failure.message }
    : { name: 'Error', message: String(failure) };
}
