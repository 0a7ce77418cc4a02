import { join } from 'node:path';
import { type FileSystem, limits } from '@turnlog/kernel';
import { readFully } from '@turnlog/log';
import { exchangeKey, type FixtureDescription, fixtureNames } from './fixture.js';
import { linesOf } from './make-fixture.js';
import { namedAssets } from './named-assets.js';
import { partOf, type TurnRange } from './part-fixture.js';
import { type Fixture, readFixture } from './read-fixture.js';
import { type SourceRecord, sourceOf } from './source-record.js';
import { type FixtureAsset, type FixtureEnvironment, writeFixture } from './write-fixture.js';

/**
 * Keeps turns a to b of a fixture, in its place.
 *
 * @throws TURNLOG_TURN_NOT_FOUND when it does not hold them; TURNLOG_INVALID_FIXTURE, TURNLOG_IO.
 */
export function trimFixture(
  environment: FixtureEnvironment,
  path: string,
  turns: TurnRange,
): FixtureDescription {
  return rewrite(environment, partOf(readFixture(environment.fs, path), turns));
}

/** Computes the keys anew after `match` in the description was changed. @throws TURNLOG_INVALID_FIXTURE, TURNLOG_IO */
export function rekeyFixture(environment: FixtureEnvironment, path: string): FixtureDescription {
  const fixture = readFixture(environment.fs, path, 'all-but-description');
  const { match } = fixture.description;
  const exchanges = fixture.exchanges.map((exchange) => ({
    ...exchange,
    key: exchangeKey(exchange.port, exchange.request, match),
  }));
  return rewrite(environment, { ...fixture, exchanges });
}

function rewrite(environment: FixtureEnvironment, fixture: Fixture): FixtureDescription {
  const { directory, description, exchanges } = fixture;
  const records = fixture.records.map((record) => sourceOf(record));
  const assets = assetsOf(environment.fs, directory, records);
  const content = { description, events: linesOf(records), exchanges, assets };
  writeFixture(environment, directory, content, 'replace');
  return description;
}

function* assetsOf(
  fs: FileSystem,
  directory: string,
  records: readonly SourceRecord[],
): Iterable<FixtureAsset> {
  for (const sha256 of namedAssets(records.map(({ event }) => event))) {
    const path = join(directory, fixtureNames.assets, sha256.slice(0, 2), sha256);
    if (fs.status(path) !== null) yield { sha256, pieces: piecesOf(fs, path) };
  }
}

function* piecesOf(fs: FileSystem, path: string): Iterable<Uint8Array> {
  const file = fs.open(path, 'read');
  try {
    const { size } = file.status();
    for (let offset = 0; offset < size; offset += limits.hashBlockBytes) {
      const piece = new Uint8Array(Math.min(limits.hashBlockBytes, size - offset));
      if (readFully(file, piece, offset)) yield piece;
    }
  } finally {
    file.close();
  }
}
