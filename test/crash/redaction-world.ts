import { gunzipSync } from 'node:zlib';
import { packSession, redactSession, verdictOn, verifyPack } from '@turnlog/audit';
import { isTurnlogError } from '@turnlog/kernel';
import { checkArchives, historyLeaves } from '@turnlog/log';
import { openStore, parseSessionId, type Store } from '@turnlog/store';
import {
  createTestMachine,
  FakeClock,
  FakeLockTable,
  type FaultFileSystem,
  type ModelFileSystem,
} from '@turnlog/testkit';
import { snapshotOf } from './disk-tools.js';

/** A session with archives and packs of its earlier states, on a disk that may crash while it is redacted or cut. */

const root = '/store';
const id = parseSessionId('s-1');
const directory = `${root}/sessions/s-1`;
export const packDirectories = ['/packs/one', '/packs/two', '/packs/three'] as const;

/** What goes: a record of the older archive, one of the newer, and one of the log. */
export const goingSeqs = [2, 11, 23] as const;
/** Behind records that were dropped: no header names the archive, so the first line of the log stays as it is. */
export const partedSeqs = [2, 23] as const;

export interface AuditedWorld {
  readonly store: Store;
  readonly fs: ModelFileSystem;
}

export async function worldOn(
  fs: ModelFileSystem,
  seed: number,
  port: ModelFileSystem | FaultFileSystem = fs,
): Promise<AuditedWorld> {
  const clock = new FakeClock('skips');
  const environment = createTestMachine({ fs: port, clock, lockTable: new FakeLockTable(), seed });
  return { store: await openStore({ root, environment, cwd: '/', env: {} }), fs };
}

async function turns(store: Store, count: number): Promise<void> {
  const log = await store.open(id);
  for (let turn = 0; turn < count; turn += 1) {
    log.append({ type: 'turn.started' });
    const seq = log.lastSeq + 1;
    log.append({
      type: 'item.completed',
      item: { id: `i${seq}`, type: 'agent_message', text: `canary ${seq} sings ${'la'.repeat(300)}` },
    });
    log.append({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 2 } });
  }
  await log.close();
}

export async function cut(store: Store, maxEvents: number, archive: 'gzip' | 'drop' = 'gzip'): Promise<void> {
  const log = await store.open(id, { cap: { maxEvents, target: 1, archive } });
  await log.maintain();
  await log.close();
}

async function pack({ store, fs }: AuditedWorld, out: string): Promise<void> {
  fs.makeDirectory(out);
  await packSession(store.environment, { directory, sessionId: id }, { record: 'none', out });
}

/** Turns that are archived, turns that are archived or dropped, and turns that stay; a pack behind each step. */
export async function prepare(fs: ModelFileSystem, second: 'gzip' | 'drop' = 'gzip'): Promise<void> {
  const world = await worldOn(fs, 1);
  fs.makeDirectory('/packs');
  await turns(world.store, 4);
  await pack(world, packDirectories[0]);
  await cut(world.store, 4);
  await turns(world.store, 3);
  await pack(world, packDirectories[1]);
  await cut(world.store, 5, second);
  await turns(world.store, 2);
  await pack(world, packDirectories[2]);
}

export async function redact(store: Store, seqs: readonly number[]): Promise<void> {
  await redactSession(store, id, { seqs, reason: 'secret', actor: 'ann', guessable: 'accept' });
}

/** Opens the log as its next writer does, and gives it back. */
export async function reopen(store: Store): Promise<void> {
  const log = await store.open(id);
  await log.close();
}

/** How many of the records that go are redacted: all of them or none, or something is wrong. */
export function redactedCount({ store }: AuditedWorld, seqs: readonly number[]): number {
  const reader = store.read(id);
  try {
    const going = [...historyLeaves(store.environment.fs, reader)].filter(({ record }) =>
      seqs.includes(record.seq),
    );
    return going.filter(({ record }) => record.type === 'log.redacted').length;
  } finally {
    reader.close();
  }
}

/** What is wrong with the session after a writer has opened it. */
export async function problemsOf(world: AuditedWorld): Promise<readonly string[]> {
  const { store, fs } = world;
  const problems: string[] = [];
  const reader = store.read(id);
  try {
    for (const { kind, path, message, isSpare } of checkArchives(fs, reader, 'whole')) {
      if (kind !== 'unnamed' || !isSpare) problems.push(`${kind} ${path}: ${message}`);
    }
  } finally {
    reader.close();
  }
  for (const packDirectory of packDirectories) {
    const found = await verifyPack(fs, { directory, packDirectory, sessionId: id, nowMs: 0 });
    const verdict = verdictOn(found);
    if (verdict !== 'verified') problems.push(`${packDirectory}: ${verdict} ${JSON.stringify(found)}`);
  }
  for (const path of snapshotOf(fs, directory).keys()) {
    if (/\/\.t-|pending-rewrite/.test(path)) problems.push(`${path} is left`);
  }
  return problems;
}

/** Words that should be nowhere below the store, archives unpacked as well. */
export function canariesIn({ fs }: AuditedWorld, seqs: readonly number[]): readonly string[] {
  const texts = [...snapshotOf(fs, root)].map(([path, text]) =>
    path.endsWith('.gz') ? gunzipSync(Buffer.from(text, 'latin1')).toString('latin1') : text,
  );
  const canaries = seqs.map((seq) => `canary ${seq} sings`);
  return canaries.filter((canary) => texts.some((text) => text.includes(canary)));
}

/** Redacts what is still there, as somebody does who says the same again. */
export async function finishRedaction(store: Store, seqs: readonly number[]): Promise<void> {
  try {
    await redact(store, seqs);
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_GONE') || error.details['reason'] !== 'redacted') throw error;
  }
}
