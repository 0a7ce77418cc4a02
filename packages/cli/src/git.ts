import { spawn } from 'node:child_process';
import { TurnlogError } from '@turnlog/kernel';

/** How a run of git ended. */
export interface GitEnded {
  /** Null when a signal ended it. */
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs git with these arguments in `cwd`, and ends it, with all that it has started, once `stop` is aborted.
 *
 * @throws TURNLOG_IO when there is no git.
 */
export type GitRunner = (argv: readonly string[], cwd: string, stop?: AbortSignal) => Promise<GitEnded>;

/** No hook of the repository runs, no pager and no editor opens, and texts are in the language that they are read in. */
const always = ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.detachedHead=false', '--no-pager'] as const;

/** Variables that would lead git to another repository than the one that it is started in. */
const misleading: ReadonlySet<string> = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
]);

export function gitRunner(env: Readonly<Record<string, string | undefined>>): GitRunner {
  const kept = Object.entries(env).filter(([name]) => !misleading.has(name));
  const own = { ...Object.fromEntries(kept), LC_ALL: 'C', GIT_EDITOR: 'true', GIT_TERMINAL_PROMPT: '0' };
  return (argv, cwd, stop) => runGit(argv, cwd, own, stop);
}

/** Windows has no groups of processes. */
const hasGroups = process.platform !== 'win32';

function runGit(
  argv: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  stop: AbortSignal | undefined,
): Promise<GitEnded> {
  // In a group of its own: what it starts can be ended with it, and a key that is pressed reaches us alone.
  const child = spawn('git', [...always, ...argv], {
    cwd,
    env,
    detached: hasGroups,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (): void => {
    if (hasGroups) endGroup(child.pid);
    else child.kill();
  };
  stop?.addEventListener('abort', end, { once: true });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.stderr += text;
  });
  return new Promise<GitEnded>((resolve, reject) => {
    child.once('error', (cause) => {
      const details = { operation: 'spawn', path: 'git', errno: 'code' in cause ? cause.code : null };
      reject(new TurnlogError('TURNLOG_IO', { details, cause, message: 'git cannot be started' }));
    });
    child.once('close', (exit) => resolve({ exit, ...said }));
  }).finally(() => stop?.removeEventListener('abort', end));
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch (error) {
    // Nothing of it is left.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
