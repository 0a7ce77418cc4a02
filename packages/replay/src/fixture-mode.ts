import { createNodeFileSystem } from '@turnlog/fs';
import { TurnlogError } from '@turnlog/kernel';
import type { Variables } from '@turnlog/store';
import { openFixture, type PlayOptions } from './player.js';
import type { AgentPorts } from './ports.js';
import { type LivePorts, type RecordOptions, record } from './recorder.js';

/** `once`: replay what is there, record what is not. `always` records anew, `never` only replays. */
export type FixtureMode = 'once' | 'always' | 'never';

const modes: readonly FixtureMode[] = ['once', 'always', 'never'];

export interface WithFixtureOptions extends RecordOptions {
  readonly mode?: FixtureMode;
  /** The variables of the process: `TURNLOG_FIXTURES` overrides the mode, `CI` keeps missing fixtures missing. */
  readonly env: Variables;
  readonly play?: PlayOptions;
}

/** The mode that counts. @throws TURNLOG_BAD_CONFIG when the variable names none */
export function fixtureMode(env: Variables, given: FixtureMode = 'once'): FixtureMode {
  const named = env['TURNLOG_FIXTURES'] ?? '';
  if (named === '') return given;
  const found = modes.find((mode) => mode === named);
  if (found !== undefined) return found;
  throw new TurnlogError('TURNLOG_BAD_CONFIG', {
    details: { variable: 'TURNLOG_FIXTURES' },
    message: `TURNLOG_FIXTURES is one of ${modes.join(', ')}`,
  });
}

/**
 * Runs code on a fixture, or on live ports to record one. In CI a missing fixture is an error and is never recorded.
 *
 * @throws TURNLOG_REPLAY_MISS when there is no fixture and none may be made; DivergenceError; what the code throws.
 */
export async function withFixture<Result>(
  directory: string,
  ports: LivePorts,
  run: (ports: AgentPorts) => Promise<Result> | Result,
  options: WithFixtureOptions,
): Promise<Result> {
  const mode = fixtureMode(options.env, options.mode);
  const fs = options.environment?.fs ?? createNodeFileSystem();
  const isThere = fs.status(directory) !== null;
  if (mode === 'always') return await record(directory, ports, run, { ...options, existing: 'replace' });
  if (isThere) {
    const player = await openFixture(directory, { fs, ...options.play });
    const result = await run(player);
    player.finish();
    return result;
  }
  if (mode === 'never' || (options.env['CI'] ?? '') !== '') {
    throw new TurnlogError('TURNLOG_REPLAY_MISS', {
      details: { path: directory, mode },
      message: `there is no fixture at ${directory}, and none is recorded here`,
    });
  }
  return await record(directory, ports, run, options);
}
