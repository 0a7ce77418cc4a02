import { join, resolve } from 'node:path';
import type { AgentPlaces, ImportRequest, SourceToImport } from '@turnlog/importers';
import { type FileSystem, TurnlogError } from '@turnlog/kernel';
import type { Variables } from '@turnlog/store';
import { instantOf } from '@turnlog/store';
import type { Context } from './command.js';
import * as flags from './flags.js';
import { type ImportAgent, importAgents, kindsOfAgent } from './import-kinds.js';

/** What a command line asks to be imported. @throws TURNLOG_NOT_FOUND for a path that is not there */
export function importRequestOf(context: Context, fs: FileSystem): ImportRequest {
  const { args, io, output, clock, cwd } = context;
  const since = args.get(flags.changedSinceFlag);
  const raw = args.get(flags.rawCopyFlag);
  const from = formatsOf(context);
  return {
    sources: sourcesOf(context, fs),
    places: agentPlaces(io.env),
    workspace: cwd,
    final: args.has(flags.finalFlag),
    asNew: args.has(flags.asNewFlag),
    alsoLive: args.has(flags.alsoLiveFlag),
    ...(from === undefined ? {} : { from }),
    ...(raw === undefined ? {} : { raw }),
    ...(since === undefined
      ? {}
      : { sinceMs: instantOf(since, 'start', output.wallClock.zone, clock.now()) }),
  };
}

/** Where agents keep their files, by the environment of the user. */
export function agentPlaces(env: Variables): AgentPlaces {
  return {
    home: env['HOME'] || env['USERPROFILE'] || undefined,
    codexHome: env['CODEX_HOME'],
    claudeConfigDir: env['CLAUDE_CONFIG_DIR'],
    xdgConfigHome: env['XDG_CONFIG_HOME'],
  };
}

function agentsIn(texts: readonly string[]): readonly ImportAgent[] {
  return importAgents.filter((agent) => texts.includes(agent));
}

/** The formats that are asked for; by default all. An agent that is named with a path restricts what is taken there. */
function formatsOf({ args }: Context): readonly string[] | undefined {
  const named = args.get(flags.sourceKindFlag);
  if (named !== undefined) return named;
  const agents = agentsIn(args.positionals);
  const hasPaths = args.has(flags.pathFlag);
  return agents.length > 0 && hasPaths ? agents.flatMap((agent) => kindsOfAgent[agent]) : undefined;
}

function sourcesOf({ args, cwd, io }: Context, fs: FileSystem): readonly SourceToImport[] {
  const agents = agentsIn(args.positionals);
  const paths = args.positionals
    .filter((text) => !importAgents.some((agent) => agent === text))
    .map((text) => namedPath(fs, resolve(cwd, text)));
  const places = args.get(flags.pathFlag)?.map((text) => namedPath(fs, resolve(cwd, text)));
  if (places !== undefined) return [...paths, ...places];
  const looked = agents.length === 0 && paths.length === 0 ? importAgents : agents;
  return [...paths, ...looked.flatMap((agent) => placesOfAgent(fs, agent, cwd, io.env))];
}

function namedPath(fs: FileSystem, path: string): SourceToImport {
  if (fs.status(path) !== null) return { path };
  throw new TurnlogError('TURNLOG_NOT_FOUND', { details: { path }, message: `nothing stands at ${path}` });
}

/** VT Code keeps what it writes in the workspace, but for the archives of its sessions. */
function placesOfAgent(
  fs: FileSystem,
  agent: ImportAgent,
  cwd: string,
  env: Variables,
): readonly SourceToImport[] {
  if (agent !== 'vtcode') return [{ agent }];
  const archives = env['VT_SESSION_DIR'];
  const places = [
    ...['sessions', 'history', 'logs'].map((name) => join(cwd, '.vtcode', name)),
    ...(archives === undefined || archives === '' ? [] : [resolve(cwd, archives)]),
  ];
  return places.filter((path) => fs.status(path) !== null).map((path) => ({ path }));
}
