import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { redactSession } from '@turnlog/audit';
import { parseSessionId } from '@turnlog/store';
import { OneFile } from './one-file.js';
import { AuditWorld } from './world.js';

const one = new OneFile();
beforeAll(() => one.makeDirectory());
afterAll(() => one.remove());

async function redact(world: AuditWorld, ...seqs: readonly number[]): Promise<void> {
  const request = { seqs, reason: 'secret', actor: 'ann', guessable: 'accept' } as const;
  await redactSession(await world.store(), parseSessionId('s-1'), request);
}

/** Turns of which the first are archived. */
async function archived(): Promise<AuditWorld> {
  const world = new AuditWorld();
  await world.turns(6);
  await world.cut(8);
  return world;
}

const listed = (...seqs: readonly number[]): object =>
  expect.objectContaining({
    redacted: expect.arrayContaining(
      seqs.map((seq) => expect.objectContaining({ seq, statement_seq: expect.any(Number) })),
    ),
  });

const archiveOf = (session: string, position = 0): string =>
  `archive/${readdirSync(join(session, 'archive')).filter((name) => name.endsWith('.gz'))[position]}`;

/** Changes the text of an archive, and says so in the header of the log where `isNamed`. */
function change(session: string, path: string, changed: (text: string) => string, isNamed = false): void {
  const raw = Buffer.from(changed(gunzipSync(readFileSync(join(session, path))).toString('utf8')));
  writeFileSync(join(session, path), gzipSync(raw));
  if (!isNamed) return;
  const log = readFileSync(join(session, 'events.jsonl'), 'utf8');
  const digest = createHash('sha256').update(raw).digest('hex');
  const now = log
    .replace(/"raw_bytes":\d+/, `"raw_bytes":${raw.length}`)
    .replace(/"raw_sha256":"[^"]*"/, `"raw_sha256":"${digest}"`);
  writeFileSync(join(session, 'events.jsonl'), now);
}

/** What takes a record out in silence: its leaf hash stays. */
const takenOut = (says: string) => (text: string) => {
  const line = text.split('\n').find((each) => each.includes(says)) ?? '';
  const { seq, ts, schema_version } = JSON.parse(line);
  const leaf = createHash('sha256').update(`\0${line}`).digest('hex');
  const event = { type: 'log.redacted', leaf, original_type: 'error', length: line.length, redacted_at: ts };
  return text.replace(line, JSON.stringify({ schema_version, seq, ts, event }));
};

test('an archive that was packed and redacted since is verified, and told with what is redacted in it', async () => {
  const world = await archived();
  await world.pack();
  await redact(world, 2);
  const session = one.onDisk(world, 'in-archive');
  const path = archiveOf(session);
  expect(await one.bothSay(session)).toMatchObject({
    verdict: 'verified',
    mismatches: [],
    stale: expect.arrayContaining([path]),
    tree: listed(2),
  });
  await redact(world, 14, 5);
  const both = one.onDisk(world, 'in-both');
  expect(await one.bothSay(both)).toMatchObject({ verdict: 'verified', tree: listed(2, 5, 14) });
  await world.pack();
  const anew = one.onDisk(world, 'packed-anew');
  expect(await one.bothSay(anew)).toMatchObject({ verdict: 'verified', tree: listed(14) });
});

test('redacted before and after it was archived', async () => {
  const world = new AuditWorld();
  await world.turns(6);
  await redact(world, 2);
  await world.cut(8);
  await world.pack();
  await redact(world, 5);
  const session = one.onDisk(world, 'before-and-after');
  expect(await one.bothSay(session)).toMatchObject({ verdict: 'verified', tree: listed(2, 5) });
});

test('a chain of archives: one that was redacted, and the next whose header names it', async () => {
  {
    const world = await archived();
    await world.turns(6);
    await world.cut(8);
    await world.turns(6);
    await world.cut(8);
    await world.pack();
    await redact(world, 2);
    const session = one.onDisk(world, 'chain');
    const said = await one.bothSay(session);
    expect(said).toMatchObject({ verdict: 'verified', mismatches: [], tree: listed(2) });
    expect(said['stale']).toEqual(expect.arrayContaining([archiveOf(session)]));
    await world.turns(3);
    await world.cut(4);
    await redact(world, 5);
    const later = one.onDisk(world, 'chain-later');
    expect(await one.bothSay(later)).toMatchObject({ verdict: 'verified', tree: listed(2, 5) });
  }
});

test('a record that was taken out of an archive in silence is a difference, whatever the header says', async () => {
  const world = await archived();
  await world.pack();
  await redact(world, 2);
  const session = one.onDisk(world, 'in-silence');
  const path = archiveOf(session);
  change(session, path, takenOut('turn 4 says'));
  const unlike = { path, reason: 'content', diagnosis: 'replaced' };
  expect(await one.bothSay(session)).toMatchObject({ verdict: 'mismatch', mismatches: [unlike] });
  change(session, path, (text) => text, true);
  expect(one.run(session)).toMatchObject({ exit: 1, lines: [{ verdict: 'mismatch' }] });
});

test('an archive that was packed and edited is a difference', async () => {
  const world = new AuditWorld();
  await world.turns(9);
  await world.cut(4);
  await world.pack();
  await redact(world, 2);
  for (const [n, edit] of [
    (text: string) => text.replace('turn 4 says', 'turn 5 says'),
    (text: string) => text.replace('turn 4 says', 'turn 4 does not say'),
    (text: string) => text.replace('turn 4 says', ''),
    (text: string) => text.replace('turn 19 says', 'turn 20 says'),
    (text: string) => text.replace(/.*turn 4 says.*\n/, ''),
    takenOut('turn 4 says'),
  ].entries()) {
    for (const isNamed of [false, true]) {
      const session = one.onDisk(world, `edited-${n}-${isNamed}`);
      change(session, archiveOf(session), edit, isNamed);
      expect([n, isNamed, one.run(session).exit]).toEqual([n, isNamed, 1]);
    }
  }
});

test('an archive that was made after the pack: redactions in it are told, and what was changed in silence is a difference', async () => {
  const world = new AuditWorld();
  await world.turns(6);
  await world.pack();
  await world.turns(6);
  await world.cut(8);
  await redact(world, 2, 23);
  const session = one.onDisk(world, 'made-after');
  expect(await one.bothSay(session)).toMatchObject({ verdict: 'verified', mismatches: [], tree: listed(2) });
  for (const [n, edit] of [
    takenOut('turn 4 says'),
    takenOut('turn 25 says'),
    (text: string) => text.replace('turn 4 says', 'turn 5 says'),
    (text: string) => text.replace('turn 25 says', 'turn 5 says'),
    (text: string) => text.replace(/.*turn 25 says.*\n/, ''),
  ].entries()) {
    for (const isNamed of [false, true]) {
      const edited = one.onDisk(world, `made-after-${n}-${isNamed}`);
      change(edited, archiveOf(edited), edit, isNamed);
      expect([n, isNamed, one.run(edited).exit]).toEqual([n, isNamed, 1]);
    }
  }
});
