import { basename, dirname, join } from 'node:path';
import { ensurePrivateDirectory, removeChildDirectory, temporaryPathBeside, writeAll } from '@turnlog/fs';
import { type FileSystem, RunningSha256, sha256Hex, TurnlogError } from '@turnlog/kernel';
import type { LogEnvironment } from '@turnlog/log';
import { type Exchange, type FixtureDescription, fixtureNames } from './fixture.js';
import { descriptionText, exchangeLine } from './fixture-text.js';

/** The part of the machine that fixtures need. */
export type FixtureEnvironment = Pick<LogEnvironment, 'fs' | 'ids' | 'ownership'>;

/** A blob that goes into a fixture. */
export interface FixtureAsset {
  readonly sha256: string;
  readonly pieces: Iterable<Uint8Array>;
}

/** What a fixture is made of. Lines have their 0x0A. */
export interface FixtureContent {
  readonly description: FixtureDescription;
  readonly events: Iterable<Uint8Array>;
  readonly exchanges: readonly Exchange[];
  readonly assets: Iterable<FixtureAsset>;
}

/** What to do with a fixture that is there already. */
export type Existing = 'keep' | 'replace';

/**
 * Writes a fixture into a directory beside `directory` and gives it that name when all of it is durable. What is
 * interrupted leaves no directory of the name, or the old one.
 *
 * @throws TURNLOG_NEEDS_YES when something stands there and is to be kept; TURNLOG_UNSAFE_PATH, TURNLOG_IO.
 */
export function writeFixture(
  environment: FixtureEnvironment,
  directory: string,
  content: FixtureContent,
  existing: Existing,
): void {
  const { fs, ids, ownership } = environment;
  refuseExisting(fs, directory, existing);
  const parent = dirname(directory);
  const temporary = temporaryPathBeside(ids, directory);
  // The folder that fixtures lie in need not be there for the first one; an existing one keeps its mode.
  if (fs.status(parent) === null) {
    fs.makeDirectory(parent);
    fs.syncDirectory(dirname(parent));
  }
  try {
    ensurePrivateDirectory(fs, temporary, ownership);
    fillDirectory(environment, temporary, content);
  } catch (error) {
    removeChildDirectory(fs, parent, basename(temporary), ownership.uid);
    throw error;
  }
  moveInto(environment, temporary, directory);
}

function refuseExisting(fs: FileSystem, directory: string, existing: Existing): void {
  if (existing === 'replace' || fs.status(directory) === null) return;
  throw new TurnlogError('TURNLOG_NEEDS_YES', {
    details: { path: directory },
    message: `something stands at ${directory}`,
  });
}

/** An old fixture steps aside first, since no system replaces a directory that holds something. */
function moveInto({ fs, ids, ownership }: FixtureEnvironment, from: string, to: string): void {
  const parent = dirname(to);
  const aside = fs.status(to) === null ? null : temporaryPathBeside(ids, to);
  if (aside !== null) fs.rename(to, aside);
  fs.rename(from, to);
  fs.syncDirectory(parent);
  if (aside !== null) removeChildDirectory(fs, parent, basename(aside), ownership.uid);
}

function fillDirectory(environment: FixtureEnvironment, directory: string, content: FixtureContent): void {
  const { fs } = environment;
  const sums: string[] = [];
  const write = (path: string, pieces: Iterable<Uint8Array>): void => {
    sums.push(`${writeNew(fs, join(directory, path), pieces)}  ${path}\n`);
  };
  write(fixtureNames.events, content.events);
  write(fixtureNames.exchanges, exchangeLines(content.exchanges));
  for (const { sha256, pieces } of content.assets) {
    const path = assetPath(environment, directory, sha256);
    write(path, pieces);
    fs.syncDirectory(dirname(join(directory, path)));
  }
  // The sums name the description before it is there: it is written last, and a fixture without it is none.
  const description = Buffer.from(descriptionText(content.description));
  sums.push(`${sha256Hex(description)}  ${fixtureNames.description}\n`);
  writeNew(fs, join(directory, fixtureNames.sums), [Buffer.from(sortedSums(sums))]);
  writeNew(fs, join(directory, fixtureNames.description), [description]);
  fs.syncDirectory(directory);
}

function* exchangeLines(exchanges: readonly Exchange[]): Iterable<Uint8Array> {
  for (const exchange of exchanges) yield Buffer.from(exchangeLine(exchange));
}

function assetPath({ fs, ownership }: FixtureEnvironment, directory: string, sha256: string): string {
  const path = `${fixtureNames.assets}/${sha256.slice(0, 2)}`;
  for (const name of [fixtureNames.assets, path])
    ensurePrivateDirectory(fs, join(directory, name), ownership);
  fs.syncDirectory(join(directory, fixtureNames.assets));
  return `${path}/${sha256}`;
}

/** By the bytes of the paths, which begin behind digest and blanks. */
export function sortedSums(lines: readonly string[]): string {
  const pathOf = (line: string): Buffer => Buffer.from(line.slice(66));
  return [...lines].sort((left, right) => Buffer.compare(pathOf(left), pathOf(right))).join('');
}

/** Writes a file that must not be there yet, makes it durable, and gives its digest. */
function writeNew(fs: FileSystem, path: string, pieces: Iterable<Uint8Array>): string {
  const digest = new RunningSha256();
  const file = fs.open(path, 'create');
  try {
    for (const piece of pieces) {
      digest.update(piece);
      writeAll(file, piece);
    }
    file.sync();
  } finally {
    file.close();
  }
  return digest.digestHex();
}
