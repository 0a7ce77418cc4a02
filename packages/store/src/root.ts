import { dirname, isAbsolute, join, resolve } from 'node:path';
import { checkDirectory, checkRoot, ensurePrivateDirectory, type Ownership } from '@turnlog/fs';
import { errnoOf, type FileSystem, isTurnlogError, limits, TurnlogError } from '@turnlog/kernel';
import { longestPathBelowRootBytes, projectStoreName, sessionsPath, storeNames } from './layout.js';

/** Environment variables, as a process has them. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Who named the root. */
export type RootSource = 'given' | 'TURNLOG_ROOT' | 'configured' | 'ancestor' | 'XDG_DATA_HOME' | 'default';

export interface RootChoice {
  /** Absolute; nothing is said of whether it exists. */
  readonly path: string;
  readonly source: RootSource;
}

export interface RootRequest {
  /** As a caller or a flag gave it, relative to `cwd`. */
  readonly given?: string | undefined;
  /** From a configuration file; weaker than the environment. */
  readonly configured?: string | undefined;
  readonly cwd: string;
  readonly env: Variables;
}

/**
 * Which directory is the root: the given one, TURNLOG_ROOT, a configured one, the `.turnlog` of the nearest
 * ancestor of `cwd` that holds sessions, or the user's own. So there is one store whatever the directory.
 *
 * @throws TURNLOG_BAD_CONFIG when nothing names one and the user has no home.
 */
export function chooseRoot(fs: FileSystem, request: RootRequest): RootChoice {
  const { given, configured, cwd, env } = request;
  if (isNamed(given)) return { path: resolve(cwd, given), source: 'given' };
  const variable = env['TURNLOG_ROOT'];
  if (isNamed(variable)) return { path: resolve(cwd, variable), source: 'TURNLOG_ROOT' };
  if (isNamed(configured)) return { path: resolve(cwd, configured), source: 'configured' };
  const ancestor = findProjectStore(fs, cwd);
  return ancestor === null ? userStore(env) : { path: ancestor, source: 'ancestor' };
}

function isNamed(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}

/** The `.turnlog` of `cwd` or of its nearest ancestor that holds sessions; null when there is none. */
function findProjectStore(fs: FileSystem, cwd: string): string | null {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const candidate = join(directory, projectStoreName);
    if (holdsSessions(fs, candidate)) return candidate;
    if (dirname(directory) === directory) return null;
  }
}

function holdsSessions(fs: FileSystem, candidate: string): boolean {
  try {
    return fs.status(sessionsPath(candidate))?.kind === 'directory';
  } catch (error) {
    // A file of the name `.turnlog` is no store.
    if (errnoOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** The XDG base directory specification: a relative value is to be ignored. */
function userStore(env: Variables): RootChoice {
  const data = env['XDG_DATA_HOME'];
  if (isNamed(data) && isAbsolute(data)) return { path: join(data, 'turnlog'), source: 'XDG_DATA_HOME' };
  const home = isNamed(env['HOME']) ? env['HOME'] : env['USERPROFILE'];
  if (!isNamed(home)) {
    throw new TurnlogError('TURNLOG_BAD_CONFIG', {
      details: { variable: 'HOME' },
      message: 'no root is named and HOME is not set',
    });
  }
  return { path: join(resolve(home), '.local', 'share', 'turnlog'), source: 'default' };
}

/**
 * Checks an existing root and resolves it, once: it may be a link, what lies below it may not.
 *
 * @returns the absolute path without links; null when nothing stands there.
 * @throws TURNLOG_UNSAFE_PATH when it is no directory, somebody else's, or open to other writers; TURNLOG_IO
 *   (ENAMETOOLONG) when names below it could not be reached.
 */
export function openRoot(fs: FileSystem, path: string, uid: number | null): string | null {
  checkLength(path);
  try {
    const root = checkRoot(fs, path, uid);
    checkLength(root);
    return root;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw withChmodLine(error);
  }
}

function checkLength(path: string): void {
  const byteCount = Buffer.byteLength(path);
  const byteCountMax = limits.pathBytesMax - longestPathBelowRootBytes - 1;
  if (byteCount <= byteCountMax) return;
  throw new TurnlogError('TURNLOG_IO', {
    details: { operation: 'checkRoot', path, errno: 'ENAMETOOLONG', byteCount, byteCountMax },
    message: `the root lies too deep: its path has ${byteCount} bytes, ${byteCountMax} leave room for the names below`,
  });
}

function withChmodLine(error: unknown): unknown {
  if (!isTurnlogError(error, 'TURNLOG_UNSAFE_PATH')) return error;
  const { path, reason } = error.details;
  if (reason !== 'other users can write to it') return error;
  const message = `the root can be written by other users; close it with: chmod go-w ${String(path)}`;
  return new TurnlogError('TURNLOG_UNSAFE_PATH', { details: error.details, cause: error, message });
}

/**
 * Makes root and `sessions/` where they are missing, mode 0700, every new name durable before it is used.
 *
 * @returns the absolute path of the root without links.
 */
export function createRoot(fs: FileSystem, path: string, ownership: Ownership): string {
  makeMissing(fs, path);
  const root = openRoot(fs, path, ownership.uid);
  // Somebody removed it in the meantime: listing reports that in the port's own words.
  if (root === null) {
    fs.list(path);
    return path;
  }
  if (ensurePrivateDirectory(fs, sessionsPath(root), ownership) === 'created') fs.syncDirectory(root);
  return root;
}

/** Makes `path` and its missing ancestors, topmost first. */
function makeMissing(fs: FileSystem, path: string): void {
  const missing: string[] = [];
  for (let directory = path; fs.status(directory) === null; directory = dirname(directory)) {
    missing.push(directory);
    if (dirname(directory) === directory) break;
  }
  for (const directory of missing.reverse()) {
    try {
      fs.makeDirectory(directory);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    fs.syncDirectory(dirname(directory));
  }
}

/** Whether `sessions/` is there; a link or somebody else's directory in its place is refused. */
export function hasSessions(fs: FileSystem, root: string, uid: number | null): boolean {
  const path = sessionsPath(root);
  if (fs.status(path) === null) return false;
  checkDirectory(fs, path, uid);
  return true;
}

/** Services that copy files behind a program's back, by the names of their directories. */
const syncedFolder =
  /[\\/](?:Dropbox|OneDrive[^\\/]*|Google ?Drive|iCloud ?Drive|Mobile Documents)(?:[\\/]|$)/i;

/** Why `path` is no good place for a store, in one sentence; null when nothing is known against it. */
export function rootWarning(path: string): string | null {
  if (!syncedFolder.test(path)) return null;
  return `the root lies in a folder that a cloud service copies, which may mix up ${storeNames.sessions}: ${path}`;
}
