import { isAbsolute, join, normalize, relative, sep } from 'node:path';
import { errnoOf, type FileSystem, TurnlogError } from '@turnlog/kernel';
import { type AgentPlaces, usualPlaces } from './discover-sources.js';
import type { HookCall } from './hook-input.js';

/** Agents whose hooks can be answered. */
export type HookAgent = 'claude' | 'codex';

/** Rollouts are sorted into folders by year, month and day. */
const rolloutLevelsMax = 4;

/**
 * The files that a call of a hook is about, the thread's own first. What the agent says is believed only where it
 * leads to a file below the agent's own folders, links resolved.
 *
 * @throws TURNLOG_UNSAFE_PATH for a file elsewhere; TURNLOG_NOT_FOUND; TURNLOG_IO.
 */
export function sourcesOfHook(
  fs: FileSystem,
  agent: HookAgent,
  places: AgentPlaces,
  call: HookCall,
): readonly string[] {
  const folders = usualPlaces(agent, places);
  const main = mainPath(fs, agent, folders, call, places.home);
  if (agent === 'codex') return [main];
  const ended = call.agentTranscriptPath;
  const sub = ended === null ? [] : [ownPath(fs, folders, expanded(ended, places.home))];
  // A session's sub-agents lie in a folder of its name; those of before are found by an import of everything.
  const beside = join(main.replace(/\.jsonl$/, ''), 'subagents');
  return [main, ...sub, ...(fs.status(beside)?.kind === 'directory' ? [beside] : [])];
}

function mainPath(
  fs: FileSystem,
  agent: HookAgent,
  folders: readonly string[],
  call: HookCall,
  home: string | undefined,
): string {
  const { transcriptPath, threadId } = call;
  if (transcriptPath !== null) return ownPath(fs, folders, expanded(transcriptPath, home));
  const found = agent === 'codex' && threadId !== null ? rolloutOf(fs, folders, threadId) : null;
  if (found !== null) return found;
  const details = { agent, threadId, folders };
  throw new TurnlogError('TURNLOG_NOT_FOUND', { details, message: `the hook's thread has no file so far` });
}

function expanded(path: string, home: string | undefined): string {
  return path.startsWith('~/') && home !== undefined ? join(home, path.slice(2)) : path;
}

/** A file below one of the agent's folders, named as a search of that folder names it. */
function ownPath(fs: FileSystem, folders: readonly string[], told: string): string {
  const path = normalize(told);
  if (!isAbsolute(path)) throw foreign(path, 'it is no absolute path');
  const resolved = resolvedPath(fs, path);
  if (resolved === null) {
    throw new TurnlogError('TURNLOG_NOT_FOUND', { details: { path }, message: `nothing stands at ${path}` });
  }
  for (const folder of folders) {
    const root = resolvedPath(fs, folder);
    const below = root === null ? '..' : relative(root, resolved);
    if (below !== '' && below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)) {
      return join(folder, below);
    }
  }
  throw foreign(path, "it lies in none of the agent's own folders");
}

function foreign(path: string, reason: string): TurnlogError {
  const message = `the hook names a file that is not taken: ${reason}`;
  return new TurnlogError('TURNLOG_UNSAFE_PATH', { details: { path, reason }, message });
}

/** Null when nothing stands there. */
function resolvedPath(fs: FileSystem, path: string): string | null {
  try {
    return fs.resolve(path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return null;
    throw error;
  }
}

/** The rollout whose name ends with the thread's id; the newest days are looked through first. */
function rolloutOf(fs: FileSystem, folders: readonly string[], threadId: string): string | null {
  const end = `-${threadId}.jsonl`;
  for (const folder of folders) {
    const found = fs.status(folder)?.kind === 'directory' ? fileBelow(fs, folder, end, 0) : null;
    if (found !== null) return found;
  }
  return null;
}

function fileBelow(fs: FileSystem, folder: string, end: string, level: number): string | null {
  for (const { name, kind } of [...fs.list(folder)].reverse()) {
    const path = join(folder, name);
    if (kind === 'file' && name.endsWith(end)) return path;
    const below =
      kind === 'directory' && level < rolloutLevelsMax ? fileBelow(fs, path, end, level + 1) : null;
    if (below !== null) return below;
  }
  return null;
}
