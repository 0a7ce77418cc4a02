import { basename, dirname, join, resolve } from 'node:path';
import { type FileSystem, type Ids, TurnlogError } from '@turnlog/kernel';
import { badFlag } from './flag.js';
import type { GitEnded, GitRunner } from './git.js';

/**
 * The search for the commit from which on code does something else. It goes on in a work tree of its own inside the
 * directory that git keeps for the repository: nobody's checkout, branch or bisection is touched, and packages are found
 * where the repository has them installed.
 */

/** A repository with a module of the user in it. */
export interface ModulePlace {
  /** The directory that git keeps for it and for all work trees of it. */
  readonly gitDirectory: string;
  /** Where the module lies below the top of a work tree. */
  readonly path: string;
  readonly git: GitRunner;
}

/** @throws TURNLOG_BAD_FLAG for a module that no repository has. */
export async function placeOf(git: GitRunner, module: string): Promise<ModulePlace> {
  const directory = dirname(module);
  const found = await git(['rev-parse', '--git-common-dir', '--show-prefix'], directory);
  const [common = '', prefix = ''] = found.stdout.split('\n');
  if (found.exit !== 0 || common === '') {
    throw badFlag('replay bisect needs a module that lies in a git repository', {
      flag: 'module',
      path: module,
    });
  }
  return { git, gitDirectory: resolve(directory, common), path: join(prefix, basename(module)) };
}

/** The commit that a flag names. @throws TURNLOG_BAD_FLAG */
export async function commitOf(
  { git, gitDirectory }: ModulePlace,
  flag: string,
  text: string,
): Promise<string> {
  const { exit, stdout } = text.startsWith('-')
    ? { exit: 1, stdout: '' }
    : await git(['rev-parse', '--verify', '--quiet', `${text}^{commit}`], gitDirectory);
  if (exit === 0) return stdout.trim();
  throw badFlag(`--${flag} names no commit: ${JSON.stringify(text)}`, { flag, revision: text });
}

/** Runs `work` with a work tree at `commit`, which is gone afterwards, whatever came of it. */
export async function inBisectionTree<Result>(
  place: ModulePlace,
  { ids, commit }: { readonly ids: Ids; readonly commit: string },
  work: (tree: BisectionTree) => Promise<Result>,
): Promise<Result> {
  const tree = new BisectionTree(place, join(place.gitDirectory, `turnlog-bisect-${ids.randomHex(8)}`));
  try {
    await tree.add(commit);
    return await work(tree);
  } finally {
    await tree.remove();
  }
}

/** A work tree that nobody else uses. */
export class BisectionTree {
  readonly directory: string;
  /** The module in it. */
  readonly module: string;
  readonly #place: ModulePlace;

  constructor(place: ModulePlace, directory: string) {
    this.#place = place;
    this.directory = directory;
    this.module = join(directory, place.path);
  }

  /** Makes it, with the files of `commit`. */
  async add(commit: string): Promise<void> {
    const { gitDirectory } = this.#place;
    await this.#must(['worktree', 'add', '--detach', '--quiet', this.directory, commit], gitDirectory);
  }

  async remove(): Promise<void> {
    const { git, gitDirectory } = this.#place;
    // One that never came to be has nothing to be removed.
    const listed = await git(['worktree', 'list', '--porcelain'], gitDirectory);
    const name = basename(this.directory);
    if (!listed.stdout.split('\n').some((line) => line.startsWith('worktree ') && line.endsWith(name)))
      return;
    await this.#must(['worktree', 'remove', '--force', this.directory], gitDirectory);
  }

  async checkout(commit: string): Promise<void> {
    await this.#must(['checkout', '--quiet', '--detach', '--force', commit]);
  }

  hasModule(fs: FileSystem): boolean {
    return fs.status(this.module) !== null;
  }

  /** Looks for the first bad commit; `command` ends with 0 where the code is good and with 1 where it is not. */
  async run(
    {
      good,
      bad,
      command,
    }: { readonly good: string; readonly bad: string; readonly command: readonly string[] },
    stop: AbortSignal,
  ): Promise<'found' | 'only-skipped' | 'stopped'> {
    await this.#must(['bisect', 'start', bad, good]);
    const argv = ['bisect', 'run', 'sh', '-c', step, this.module, ...command];
    const ended = await this.#place.git(argv, this.directory, stop);
    if (stop.aborted) return 'stopped';
    if (ended.exit === 0) return 'found';
    if (ended.exit === onlySkipped) return 'only-skipped';
    throw failed('bisect', ended);
  }

  /** What may be the first bad commit by now, the newest first. */
  async suspects(): Promise<readonly string[]> {
    const refs = await this.#must(['for-each-ref', '--format=%(refname)', 'refs/bisect/good-*']);
    const good = refs.split('\n').filter((name) => name !== '');
    const listed = await this.#must(['rev-list', 'refs/bisect/bad', '--not', ...good]);
    return listed.split('\n').filter((name) => name !== '');
  }

  /** How many commits were tried, and how many of them could not be. */
  async tried(): Promise<{ readonly tested: number; readonly skipped: number }> {
    const log = await this.#must(['bisect', 'log']);
    const marks = log.split('\n').filter((line) => line.startsWith('git bisect '));
    const skipped = marks.filter((line) => line.startsWith('git bisect skip')).length;
    // The first one names both ends.
    return { tested: marks.length - 1, skipped };
  }

  async describe(commit: string): Promise<CommitFacts> {
    const text = await this.#must(['show', '--no-patch', '--format=%H%n%an%n%aI%n%s', commit]);
    const [id = commit, author = '', authoredAt = '', subject = ''] = text.split('\n');
    return { commit: id, author, authoredAt, subject };
  }

  async #must(argv: readonly string[], cwd: string = this.directory): Promise<string> {
    const ended = await this.#place.git(argv, cwd);
    if (ended.exit !== 0) throw failed(argv[0] ?? '', ended);
    return ended.stdout;
  }
}

export interface CommitFacts {
  readonly commit: string;
  readonly author: string;
  readonly authoredAt: string;
  readonly subject: string;
}

/** What git says when only commits are left that could not be tried. */
const onlySkipped = 2;

/**
 * What is run at each commit, with the module as `$0`. A commit without the module cannot be tried (125); what is neither
 * good nor bad ends the search (128).
 */
const step = 'test -f "$0" || exit 125; "$@" >/dev/null; code=$?; test $code -le 1 || exit 128; exit $code';

function failed(what: string, { exit, stderr, stdout }: GitEnded): TurnlogError {
  const lines = `${stderr}\n${stdout}`.split('\n').filter((line) => line.trim() !== '');
  const last = lines.at(-1) ?? '';
  return new TurnlogError('TURNLOG_IO', {
    details: { operation: `git ${what}`, exit, errno: null },
    message: `git ${what} failed: ${last}`,
  });
}
