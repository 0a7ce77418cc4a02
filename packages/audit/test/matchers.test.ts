import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { parseTrustedKeys } from '@turnlog/audit';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import '../src/jest/matchers.js';
import { vectorsFolder } from './vectors.js';

let directory: TemporaryDirectory;
beforeEach(() => {
  directory = makeTemporaryDirectory();
});
afterEach(() => directory.remove());

/** A copy of a published session. */
function session(name: string): string {
  const target = join(directory.path, name);
  cpSync(join(vectorsFolder, 'packs', name, 'session'), target, { recursive: true });
  return target;
}

async function messageOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return String(error instanceof Error ? error.message : error).replaceAll(directory.path, 'DIR');
  }
  return 'nothing was thrown';
}

test('RE-23 toBeVerified: a session that is as packed, and one that went on, as directory and as pack', async () => {
  for (const name of ['verified', 'grown']) {
    await expect(session(name)).toBeVerified();
    await expect(join(session(name), 'derived/audit-pack.json')).toBeVerified();
  }
  const failed = await messageOf(() => expect(session('verified')).not.toBeVerified());
  expect(failed).toBe('DIR/verified: verified, self-attested, completeness proven');
});

test('RE-23 toBeVerified: every other verdict fails and says what differs', async () => {
  for (const name of ['edited', 'shorter', 'missing', 'unproven', 'invalid-path', 'bad-signature']) {
    await expect(session(name)).not.toBeVerified();
  }
  const edited = await messageOf(() => expect(session('edited')).toBeVerified());
  expect(edited).toBe(
    `DIR/edited: mismatch, self-attested, completeness cannot-prove
  mismatches: {"path":"events.jsonl","reason":"content","diagnosis":"edited","index":2,"seq":3,"offset":216,"leaves_gone":0,"leaves_intact":6,"transform":null}`,
  );
  const missing = await messageOf(() => expect(session('missing')).toBeVerified());
  expect(missing).toBe(
    'DIR/missing: missing, self-attested, completeness cannot-prove\n  missing: "events.jsonl"',
  );
  const invalid = await messageOf(() => expect(session('invalid-path')).toBeVerified());
  expect(invalid.split('\n')).toEqual([
    'DIR/invalid-path: invalid-pack, self-attested, completeness cannot-prove',
    expect.stringMatching(/^ {2}the pack is invalid: /),
  ]);
});

test('what has to be there can be asked for: a pack, a signature, nothing new', async () => {
  const grown = session('grown');
  await expect(grown).not.toBeVerified({ extent: 'exact' });
  await expect(grown).not.toBeVerified({ require: { signature: true } });
  const trusted = parseTrustedKeys(Buffer.from(''), 'none');
  await expect(grown).toBeVerified({ trusted, nowMs: 0 });
  const without = join(directory.path, 'without');
  mkdirSync(without);
  writeFileSync(join(without, 'events.jsonl'), readFileSync(join(grown, 'events.jsonl')));
  await expect(without).toBeVerified();
  await expect(without).not.toBeVerified({ require: { pack: true } });
});

test('a pack that was made for another place is found beside the log', async () => {
  const moved = session('verified');
  renameSync(join(moved, 'derived/audit-pack.json'), join(moved, 'audit-pack.json'));
  await expect(join(moved, 'audit-pack.json')).toBeVerified();
});

test('something that is no path is a mistake of the test', async () => {
  expect(await messageOf(() => expect(5).toBeVerified())).toContain('takes the path of a session');
});
