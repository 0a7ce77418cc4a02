import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How a text was run as a shell script, and what came of it. */
export interface Ended {
  readonly status: number | null;
  readonly out: string;
}

/** A place that holds certain tools and nothing else, with the files that the test puts into its directory. */
export interface Toolbox {
  readonly kind: 'container' | 'path';
  /** Runs a script; names of files are those below the directory. */
  sh(script: string, ...args: readonly string[]): Ended;
  /** The name that a file below the directory has inside. */
  inside(path: string): string;
}

/** Where a tool is on this machine; null when it is not, or is part of the shell. */
export function placeOf(tool: string): string | null {
  const found = spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim();
  return found.startsWith('/') ? found : null;
}

interface Request {
  readonly directory: string;
  readonly tools: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The tools on a path of their own; all else of the machine is there, but not found. */
export function toolsOnPath({ directory, tools, env }: Request): Toolbox {
  const bin = join(directory, 'tools');
  mkdirSync(bin);
  for (const tool of tools) {
    const place = placeOf(tool);
    if (place !== null) symlinkSync(place, join(bin, tool));
  }
  const inside = (path: string): string => join(directory, path);
  const named = Object.entries(env).map(([name, path]) => [name, inside(path)] as const);
  return {
    kind: 'path',
    inside,
    sh: (script, ...args) => {
      writeFileSync(join(directory, 'script.sh'), script);
      const variables = { ...Object.fromEntries(named), PATH: bin, TMPDIR: directory };
      return end(join(bin, 'sh'), [inside('script.sh'), ...args], variables);
    },
  };
}

/** Namespaces of its own for files, processes and the network, and another root. */
const enter = ['--map-root-user', '--mount', '--pid', '--net', '--fork', 'chroot'];

/**
 * A root that holds copies of the tools and the libraries that they load: no Node, no store, no network, nothing that
 * was on the machine before. Null where this machine makes no such namespaces.
 */
export function freshContainer({ directory, tools, env }: Request): Toolbox | null {
  const [unshare, shell] = [placeOf('unshare'), placeOf('sh')];
  if (unshare === null || shell === null || placeOf('chroot') === null || placeOf('ldd') === null)
    return null;
  for (const tool of tools) {
    const place = placeOf(tool);
    if (place !== null) copyProgram(directory, place, `/bin/${tool}`);
  }
  mkdirSync(join(directory, 'tmp'));
  mkdirSync(join(directory, 'etc'));
  mkdirSync(join(directory, 'dev'));
  // Who runs is asked for by its number; what is thrown away goes into a file.
  writeFileSync(join(directory, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n');
  writeFileSync(join(directory, 'dev/null'), '');
  const container: Toolbox = {
    kind: 'container',
    inside: (path) => `/${path}`,
    sh: (script, ...args) => {
      writeFileSync(join(directory, 'script.sh'), script);
      const named = Object.entries(env).map(([name, path]) => [name, `/${path}`] as const);
      const variables = { ...Object.fromEntries(named), PATH: '/bin' };
      return end(unshare, [...enter, directory, '/bin/sh', '/script.sh', ...args], {
        ...variables,
        PATH: `/bin:${dirname(unshare)}:/usr/sbin:/sbin`,
      });
    },
  };
  return container.sh('echo made').out === 'made\n' ? container : null;
}

/** Copies a program to a place below the new root, and what it loads to where it looks for it. */
function copyProgram(root: string, from: string, to: string): void {
  copyTo(root, realpathSync(from), to);
  const { stdout } = spawnSync('ldd', [realpathSync(from)], { encoding: 'utf8' });
  for (const [, library = ''] of stdout.matchAll(/(\/\S+) \(0x/g))
    copyTo(root, realpathSync(library), library);
}

function copyTo(root: string, from: string, to: string): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(from, target);
}

function end(program: string, argv: readonly string[], env: Readonly<Record<string, string>>): Ended {
  const { status, stdout, stderr } = spawnSync(program, argv, { encoding: 'utf8', env });
  return { status, out: stdout + (status === 0 ? '' : stderr) };
}
