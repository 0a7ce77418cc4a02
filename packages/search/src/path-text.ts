/**
 * Paths as they stand in a log, made comparable: `/` between the segments, `.` and `..` resolved by their text alone.
 * Nothing is looked up on a disk: the files are another machine's, or gone.
 */

const driveForm = /^[A-Za-z]:\//;

/** Whether a path that was made comparable begins at a root. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/') || driveForm.test(path);
}

/** The path in its one form; `.` for the directory itself. */
export function comparablePath(path: string): string {
  const slashed = path.replaceAll('\\', '/');
  const root = rootOf(slashed);
  const segments: string[] = [];
  for (const segment of slashed.slice(root.length).split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.length > 0 && segments.at(-1) !== '..') segments.pop();
    else if (root === '') segments.push(segment);
  }
  const joined = segments.join('/');
  // Letters of drives are the same in both cases.
  return joined === '' && root === ''
    ? '.'
    : root.replace(/^[a-z]:/, (drive) => drive.toUpperCase()) + joined;
}

function rootOf(path: string): string {
  // Two separators begin the name of a share, as on Windows; POSIX lets systems give them a meaning of their own.
  if (/^\/\/[^/]/.test(path)) return '//';
  if (driveForm.test(path)) return path.slice(0, 3);
  return path.startsWith('/') ? '/' : '';
}

/** A path as it is stored: whole, and as seen from the workspace. */
export interface PlacedPath {
  /** From the workspace's top directory on where it lies in there, else as `absolute`, or as it was given. */
  readonly path: string;
  /** Null when it was relative and nothing says to what. */
  readonly absolute: string | null;
  /** What it was made of. */
  readonly written: WrittenPath;
}

/** A path as it stands in a log, and what it is relative to. */
export interface WrittenPath {
  readonly path: string;
  readonly place: WorkingPlace;
}

/** Where a program ran. */
export interface WorkingPlace {
  readonly directory: string | null;
  readonly workspace: string | null;
}

export const nowhere: WorkingPlace = { directory: null, workspace: null };

/** Puts a path of a record in its place. */
export function placePath(path: string, place: WorkingPlace): PlacedPath {
  return { ...placed(path, place), written: { path, place } };
}

/**
 * The path without secrets. They are looked for in what is written: a path that was made comparable is no address any
 * more, and what stands in it before an `@` no password.
 */
export function pathWithoutSecrets(known: PlacedPath, redact: (text: string) => string): PlacedPath {
  const { path, place } = known.written;
  const shown = {
    path: redact(path),
    place: { directory: redacted(place.directory, redact), workspace: redacted(place.workspace, redact) },
  };
  const isSame =
    shown.path === path &&
    shown.place.directory === place.directory &&
    shown.place.workspace === place.workspace;
  return isSame ? known : placePath(shown.path, shown.place);
}

function redacted(text: string | null, redact: (text: string) => string): string | null {
  return text === null ? null : redact(text);
}

function placed(path: string, { directory, workspace }: WorkingPlace): Omit<PlacedPath, 'written'> {
  const given = comparablePath(path);
  const absolute = absoluteOf(given, directory);
  if (absolute === null) return { path: given, absolute };
  const top = workspace === null ? null : comparablePath(workspace);
  if (top === absolute) return { path: '.', absolute };
  const within = top === null || top.endsWith('/') ? top : `${top}/`;
  if (within !== null && absolute.startsWith(within))
    return { path: absolute.slice(within.length), absolute };
  return { path: absolute, absolute };
}

function absoluteOf(given: string, directory: string | null): string | null {
  if (isAbsolutePath(given)) return given;
  if (directory === null) return null;
  const base = comparablePath(directory);
  return isAbsolutePath(base) ? comparablePath(`${base}/${given}`) : null;
}
