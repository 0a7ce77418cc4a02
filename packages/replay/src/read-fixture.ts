import { join } from 'node:path';
import {
  type FileHandle,
  type FileSystem,
  isTurnlogError,
  limits,
  RunningSha256,
  TurnlogError,
} from '@turnlog/kernel';
import {
  emptyLogState,
  isSha256Hex,
  LineFramer,
  LogRecord,
  type LogState,
  openIfThere,
  readTextIfThere,
  Scanner,
} from '@turnlog/log';
import { type Exchange, type FixtureDescription, fixtureNames, fixtureVersion } from './fixture.js';
import { parseDescription, parseExchange, statedVersion } from './fixture-text.js';

/** A fixture in memory: its records and exchanges, but no blob. */
export interface Fixture {
  readonly directory: string;
  readonly description: FixtureDescription;
  readonly records: readonly LogRecord[];
  readonly exchanges: readonly Exchange[];
}

export function invalidFixture(
  path: string,
  rule: string,
  details: Readonly<Record<string, unknown>> = {},
): TurnlogError {
  return new TurnlogError('TURNLOG_INVALID_FIXTURE', {
    details: { path, rule, ...details },
    message: `${path}: ${rule}`,
  });
}

/**
 * Whose files do not have the digests that SHA256SUMS says. `rekey` takes a description that somebody has edited: the
 * rules of matching are theirs to change.
 */
export type SumsRule = 'all' | 'all-but-description';

/**
 * Reads a fixture whose files have the digests that its sums say. Blobs are left to `checkFixture`.
 *
 * @throws TURNLOG_INVALID_FIXTURE with the path of the file and the rule; TURNLOG_NOT_FOUND when nothing is there.
 */
export function readFixture(fs: FileSystem, path: string, rule: SumsRule = 'all'): Fixture {
  const directory = existing(fs, path);
  const description = readDescription(fs, directory);
  const sums = readSums(fs, directory);
  for (const name of [fixtureNames.description, fixtureNames.events, fixtureNames.exchanges]) {
    if (rule === 'all-but-description' && name === fixtureNames.description) continue;
    checkSum(fs, directory, name, sums.get(name));
  }
  const records = readRecords(fs, directory, description);
  const exchanges = readExchanges(fs, directory);
  const { counts } = description;
  if (records.length !== counts.records) throw invalidFixture(join(directory, fixtureNames.events), 'count');
  if (exchanges.length !== counts.exchanges)
    throw invalidFixture(join(directory, fixtureNames.exchanges), 'count');
  return { directory, description, records, exchanges };
}

function existing(fs: FileSystem, path: string): string {
  if (fs.status(path) === null) {
    throw new TurnlogError('TURNLOG_NOT_FOUND', {
      details: { path },
      message: `there is no fixture at ${path}`,
    });
  }
  return fs.resolve(path);
}

/** The text of one of the small files; what is too long is no such file. */
function smallText(fs: FileSystem, path: string, bytesMax: number): string {
  const text = readTextIfThere(fs, path, bytesMax);
  if (text === null) throw invalidFixture(path, 'missing');
  return text;
}

function readDescription(fs: FileSystem, directory: string): FixtureDescription {
  const path = join(directory, fixtureNames.description);
  const text = smallText(fs, path, limits.smallFileBytesMax);
  const stated = statedVersion(text);
  if (stated === null) throw invalidFixture(path, 'no description');
  if (stated.version > fixtureVersion) {
    const { version, name } = stated;
    throw invalidFixture(
      path,
      `fixture ${name} has format ${version}, this program reads up to ${fixtureVersion}`,
      {
        name,
        schemaVersion: version,
      },
    );
  }
  const description = parseDescription(text);
  if (description === null) throw invalidFixture(path, 'no description');
  return description;
}

/** What SHA256SUMS says, by path. */
export function readSums(fs: FileSystem, directory: string): ReadonlyMap<string, string> {
  const path = join(directory, fixtureNames.sums);
  const sums = new Map<string, string>();
  for (const line of smallText(fs, path, limits.packBytesMax).split('\n')) {
    if (line === '') continue;
    const sha256 = line.slice(0, 64);
    if (!isSha256Hex(sha256) || line.slice(64, 66) !== '  ') throw invalidFixture(path, 'no sums');
    sums.set(line.slice(66), sha256);
  }
  return sums;
}

/** @throws TURNLOG_INVALID_FIXTURE when the file is not there or has another digest. */
export function checkSum(fs: FileSystem, directory: string, name: string, sha256: string | undefined): void {
  const path = join(directory, name);
  withFile(fs, path, (file) => {
    if (digestOf(file) !== sha256) throw invalidFixture(path, 'digest');
  });
}

function digestOf(file: FileHandle): string {
  const digest = new RunningSha256();
  const block = new Uint8Array(limits.hashBlockBytes);
  for (let offset = 0; ; ) {
    const count = file.read(block, offset);
    if (count === 0) return digest.digestHex();
    digest.update(block.subarray(0, count));
    offset += count;
  }
}

function withFile<Result>(fs: FileSystem, path: string, work: (file: FileHandle) => Result): Result {
  const file = openIfThere(fs, path);
  if (file === null) throw invalidFixture(path, 'missing');
  try {
    return work(file);
  } finally {
    file.close();
  }
}

function readRecords(
  fs: FileSystem,
  directory: string,
  { source }: FixtureDescription,
): readonly LogRecord[] {
  const path = join(directory, fixtureNames.events);
  return withFile(fs, path, (file) => {
    const records: LogRecord[] = [];
    const scanner = new Scanner(file, { to: file.status().size, state: stateBefore(source) });
    for (let piece = scanner.next(); piece !== null; piece = scanner.next()) {
      if (piece.verdict === 'damage') throw invalidFixture(path, piece.kind, { offset: piece.offset });
      records.push(new LogRecord(piece));
    }
    return records;
  });
}

/** Turns and records of a part of a session keep their numbers. */
function stateBefore({ fromSeq, firstTurn }: FixtureDescription['source']): LogState {
  const { lifecycle, order } = emptyLogState;
  const before = Math.max(fromSeq - 1, 0);
  return {
    ...emptyLogState,
    lifecycle: { ...lifecycle, turnCount: Math.max(firstTurn - 1, 0) },
    order: { ...order, highestSeq: before, recordCount: Math.min(before, 1) },
  };
}

function readExchanges(fs: FileSystem, directory: string): readonly Exchange[] {
  const path = join(directory, fixtureNames.exchanges);
  return withFile(fs, path, (file) => {
    const exchanges: Exchange[] = [];
    const framer = new LineFramer(file, { from: 0, to: file.status().size });
    while (framer.next()) exchanges.push(exchangeAt(framer, path));
    return exchanges;
  });
}

function exchangeAt(framer: LineFramer, path: string): Exchange {
  const details = { offset: framer.offset };
  if (framer.isTooLong) throw invalidFixture(path, 'too-long', details);
  try {
    const exchange = parseExchange(framer.bytes, framer.start, framer.end);
    if (exchange !== null) return exchange;
  } catch (cause) {
    if (!isTurnlogError(cause)) throw cause;
    throw new TurnlogError('TURNLOG_INVALID_FIXTURE', {
      details: { path, rule: 'unreadable', ...details },
      message: `${path}: a line is no exchange`,
      cause,
    });
  }
  throw invalidFixture(path, 'no exchange', details);
}
