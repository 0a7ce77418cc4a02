import { join } from 'node:path';
import { type FileSystem, limits, TurnlogError } from '@turnlog/kernel';
import { readFully } from '@turnlog/log';
import { type Exchange, exchangeKey, type FixtureDescription, fixtureNames } from './fixture.js';
import { linesOf, turnsIn } from './make-fixture.js';
import { namedAssets } from './named-assets.js';
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
  turns: { readonly from: number; readonly to: number },
): FixtureDescription {
  const fixture = readFixture(environment.fs, path);
  const records = fixture.records
    .map((record) => sourceOf(record))
    .filter(({ turn }) => turn !== null && turn >= turns.from && turn <= turns.to);
  for (const turn of [turns.from, turns.to]) {
    if (!turnsIn(records).has(turn)) throw noTurn(fixture, turn);
  }
  const seqs = new Set(records.map(({ seq }) => seq));
  const isInside = ({ startSeq }: Exchange): boolean => startSeq !== null && seqs.has(startSeq);
  return rewrite(environment, fixture, records, renumbered(fixture.exchanges.filter(isInside), seqs));
}

/** Computes the keys anew after `match` in the description was changed. @throws as `trimFixture` */
export function rekeyFixture(environment: FixtureEnvironment, path: string): FixtureDescription {
  const fixture = readFixture(environment.fs, path, 'all-but-description');
  const { match } = fixture.description;
  const exchanges = fixture.exchanges.map((exchange) => ({
    ...exchange,
    key: exchangeKey(exchange.port, exchange.request, match),
  }));
  const records = fixture.records.map((record) => sourceOf(record));
  return rewrite(environment, fixture, records, exchanges);
}

function noTurn({ description }: Fixture, turn: number): TurnlogError {
  const { name } = description;
  return new TurnlogError('TURNLOG_TURN_NOT_FOUND', {
    details: { fixture: name, turn },
    message: `${name} has no turn ${turn}`,
  });
}

function renumbered(exchanges: readonly Exchange[], seqs: ReadonlySet<number>): readonly Exchange[] {
  const ends = [...exchanges].sort((left, right) => left.end - right.end);
  const places = new Map(ends.map((exchange, position) => [exchange, position + 1]));
  return exchanges.map((exchange, position) => {
    const { endSeq } = exchange;
    const isCut = endSeq !== null && !seqs.has(endSeq);
    return {
      ...exchange,
      n: position + 1,
      end: places.get(exchange) ?? position + 1,
      ...(isCut ? { endSeq: null } : {}),
    };
  });
}

function rewrite(
  environment: FixtureEnvironment,
  { directory, description: old, exchanges: before }: Fixture,
  records: readonly SourceRecord[],
  exchanges: readonly Exchange[],
): FixtureDescription {
  const turns = turnsIn(records);
  const seqs = new Set(records.map(({ seq }) => seq));
  const kept = new Map(before.map(({ n }) => [n, n] as const));
  const numbers = new Map(exchanges.map((exchange) => [exchange.startSeq, exchange.n] as const));
  const gaps = old.gaps
    .filter(({ seq, turn }) => (seq === null || seqs.has(seq)) && (turn === null || turns.has(turn)))
    .map((gap) => ({
      ...gap,
      exchange:
        exchanges.length === before.length
          ? (kept.get(gap.exchange ?? 0) ?? null)
          : gap.exchange === null
            ? null
            : (numbers.get(gap.seq) ?? null),
    }));
  const description: FixtureDescription = {
    ...old,
    source: {
      ...old.source,
      fromSeq: records.find(({ type }) => type !== 'log.evicted')?.seq ?? 0,
      toSeq: records.at(-1)?.seq ?? 0,
      firstTurn: [...turns][0] ?? old.source.firstTurn,
    },
    counts: { records: records.length, turns: turns.size, exchanges: exchanges.length },
    complete: gaps.length === 0,
    gaps,
  };
  const assets = assetsOf(environment.fs, directory, records);
  writeFixture(
    environment,
    directory,
    { description, events: linesOf(records), exchanges, assets },
    'replace',
  );
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
