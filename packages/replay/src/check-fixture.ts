import { join } from 'node:path';
import { walkBelow } from '@turnlog/fs';
import type { FileSystem } from '@turnlog/kernel';
import { MerkleFrontier, treeRoot } from '@turnlog/log';
import { exchangeKey, type FixtureDescription, fixtureNames } from './fixture.js';
import { checkSum, type Fixture, invalidFixture, readFixture, readSums } from './read-fixture.js';

/** What a whole and true fixture holds. */
export interface FixtureCheck {
  readonly description: FixtureDescription;
  readonly assets: number;
  /** `verified`: the events are the whole session and have its root; `part`: they are not all, or were redacted. */
  readonly root: 'verified' | 'part';
}

/**
 * Looks at all of a fixture: sums of every file, schema, keys, that the records exchanges name exist, and the root of
 * the session where all of it is there.
 *
 * @throws TURNLOG_INVALID_FIXTURE with the path of the first file that is not as it should be, and the rule.
 */
export function checkFixture(fs: FileSystem, path: string): FixtureCheck {
  const fixture = readFixture(fs, path);
  const assets = checkFiles(fs, fixture);
  checkExchanges(fixture);
  return { description: fixture.description, assets, root: checkRoot(fixture) };
}

function checkFiles(fs: FileSystem, { directory }: Fixture): number {
  const sums = readSums(fs, directory);
  const found = listFiles(fs, directory);
  for (const name of found) {
    if (!sums.has(name)) throw invalidFixture(join(directory, name), 'it is in no sum');
  }
  let assets = 0;
  for (const [name, sha256] of sums) {
    if (!found.has(name)) throw invalidFixture(join(directory, name), 'missing');
    checkSum(fs, directory, name, sha256);
    if (!name.startsWith(`${fixtureNames.assets}/`)) continue;
    assets += 1;
    if (name !== `${fixtureNames.assets}/${sha256.slice(0, 2)}/${sha256}`)
      throw invalidFixture(join(directory, name), 'the name of a blob is its digest');
  }
  return assets;
}

/** All files but the sums themselves. */
function listFiles(fs: FileSystem, directory: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { path, kind } of walkBelow(fs, directory)) {
    if (kind === 'directory') continue;
    if (kind !== 'file') throw invalidFixture(path, `it is a ${kind}`);
    found.add(path.slice(directory.length + 1).replaceAll('\\', '/'));
  }
  found.delete(fixtureNames.sums);
  return found;
}

function checkExchanges({ directory, description, exchanges, records }: Fixture): void {
  const path = join(directory, fixtureNames.exchanges);
  const seqs = new Set(records.map(({ seq }) => seq));
  exchanges.forEach((exchange, position) => {
    const details = { exchange: exchange.n };
    if (exchange.n !== position + 1) throw invalidFixture(path, 'the numbers of exchanges', details);
    if (exchange.key !== exchangeKey(exchange.port, exchange.request, description.match))
      throw invalidFixture(path, 'the key of an exchange', details);
    for (const seq of [exchange.startSeq, exchange.endSeq]) {
      if (seq !== null && !seqs.has(seq))
        throw invalidFixture(path, 'a seq that no record has', { ...details, seq });
    }
  });
}

function checkRoot({ directory, description, records }: Fixture): FixtureCheck['root'] {
  const { source, redaction } = description;
  const leaves = records.filter(({ type }, position) => position > 0 || type !== 'log.evicted');
  if (redaction.changed > 0 || leaves.length !== source.size) return 'part';
  const tree = new MerkleFrontier();
  for (const record of leaves) tree.add(record.leaf());
  if (treeRoot(tree.head()) === source.root) return 'verified';
  throw invalidFixture(join(directory, fixtureNames.events), 'the root of the session');
}
