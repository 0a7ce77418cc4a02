import { join } from 'node:path';
import { formatTimestamp, schemaVersion } from '@turnlog/events';
import { ensurePrivateDirectory, publish, removeFileIfThere } from '@turnlog/fs';
import { isTurnlogError, limits, sha256Hex, TurnlogError } from '@turnlog/kernel';
import {
  EngineEvent,
  emptyTree,
  type LogEnvironment,
  logNames,
  readBytesIfThere,
  transaction,
  treeRoot,
} from '@turnlog/log';
import { type AssetStore, programName } from '@turnlog/store';
import type { Signer } from './ed25519.js';
import { comparePaths, unpackable } from './guarded-files.js';
import { HashingSource } from './hashing-source.js';
import type { HashWorkers } from './leaf-hasher.js';
import {
  encodePack,
  type OwnPart,
  type Pack,
  type PackEntry,
  type PackedSession,
  parsePack,
} from './pack.js';
import { bundleSnapshot, checkAssets, type NamedBytes } from './pack-bundle.js';
import { type EarlierPack, packLog } from './pack-log.js';
import {
  closeSnapshot,
  openPacked,
  type PackSnapshot,
  type SnapshotFile,
  takeSnapshot,
} from './pack-snapshot.js';
import { packDirectoryOf, packNames, roleOf } from './session-files.js';
import { isKeyName, noteKeyId, signNote } from './signed-note.js';
import { signSsh } from './sshsig.js';
import { encodeSums } from './sums-file.js';

export interface PackOptions {
  /** Where the pack goes; by default `derived/` of the session. */
  readonly out?: string;
  /** `deep` looks at all of the log, whatever an earlier pack says of its beginning. */
  readonly mode?: 'since-last' | 'deep';
  readonly signer?: Signer;
  /** What the checkpoint calls the log; by default `turnlog/<session id>`. */
  readonly origin?: string;
  /** `none` appends no `log.pack` to the log. */
  readonly record?: 'append' | 'none';
  /** Of a store: its sessions, each with its root. */
  readonly sessions?: readonly PackedSession[];
  /** Threads for the hashing of long logs; without them everything is done in this one. */
  readonly workers?: HashWorkers;
  /** A tar file that everything goes into as well. */
  readonly bundle?: string;
  /** Where the blobs are that the log names; given, each is looked at. A bundle needs it. */
  readonly assets?: AssetStore;
}

/** A log directory, and whose it is. */
export interface PackedPlace {
  readonly directory: string;
  readonly sessionId: string;
}

export interface PackReport {
  readonly pack: Pack;
  readonly path: string;
  readonly sha256: string;
  /** Paths of all files that were written, the pack first. */
  readonly files: readonly string[];
  /** Whether the log was held still while it was looked at. */
  readonly isLocked: boolean;
  /** Seq of the `log.pack`; null when none was asked for, or another writer holds the log. */
  readonly recordSeq: number | null;
  /** Whether there is an earlier pack that this log does not go on from. */
  readonly isPreviousForeign: boolean;
  /** How many bytes of the log were looked at for the tree. */
  readonly walkedBytes: number;
}

/**
 * Makes the audit pack of a log and publishes it with what belongs to it.
 *
 * @throws TURNLOG_NOTHING_TO_PACK for a log without records; TURNLOG_UNPACKABLE for a link or a special file; TURNLOG_IO.
 */
export async function packSession(
  env: LogEnvironment,
  place: PackedPlace,
  options: PackOptions = {},
): Promise<PackReport> {
  const { directory, sessionId } = place;
  const origin = options.origin ?? `turnlog/${sessionId}`;
  if (!isKeyName(origin)) throw badOrigin(origin);
  const signing = { origin, ...(options.signer === undefined ? {} : { signer: options.signer }) };
  const snapshot = await takeSnapshot(env, directory, sessionId);
  let out: string;
  let made: Made;
  let companions: readonly NamedBytes[];
  try {
    out = outDirectory(env, directory, options.out);
    made = await makePack(env, snapshot, { ...place, out }, options);
    companions = await companionsOf(made, signing);
    if (options.bundle !== undefined)
      bundleSnapshot(env, snapshot, {
        pack: made.pack,
        companions,
        assets: options.assets,
        path: options.bundle,
      });
    else checkAssets(made.pack, options.assets);
  } finally {
    closeSnapshot(snapshot);
  }
  const files = publishFiles(env, out, companions);
  const recordSeq = options.record === 'none' ? null : await recordPack(env, place, made, signing);
  const { pack, sha256, isPreviousForeign, walkedBytes } = made;
  const { isLocked } = snapshot;
  return {
    pack,
    path: join(out, packNames.pack),
    sha256,
    files,
    isLocked,
    recordSeq,
    isPreviousForeign,
    walkedBytes,
  };
}

/**
 * The pack of a store whose ledger holds no record: of its sessions only.
 *
 * @throws TURNLOG_NOTHING_TO_PACK when there are none.
 */
export async function packLedgerless(
  env: LogEnvironment,
  place: PackedPlace,
  options: PackOptions & { readonly sessions: readonly PackedSession[] },
): Promise<PackReport> {
  const { directory, sessionId } = place;
  const { sessions, signer } = options;
  if (sessions.length === 0) throw nothingToPack(place);
  const origin = options.origin ?? `turnlog/${sessionId}`;
  if (!isKeyName(origin)) throw badOrigin(origin);
  const own: OwnPart = {
    tree: { ...emptyTree, root: treeRoot(emptyTree), evicted: 0, marks: null },
    firstSeq: null,
    lastSeq: 0,
    lastTs: null,
    generation: null,
    damage: [],
    redacted: [],
    assets: [],
    previous: null,
    isLive: false,
    sessions,
  };
  const head = { sessionId, generatedAt: formatTimestamp(env.clock.now()), status: 'active' };
  const made = encoded({ ...head, turnCount: 0, eventCount: 0, entries: [], own }, directory);
  const signing = { origin, ...(signer === undefined ? {} : { signer }) };
  const out = outDirectory(env, directory, options.out);
  const files = publishFiles(env, out, await companionsOf(made, signing));
  const recordSeq = options.record === 'none' ? null : await recordPack(env, place, made, signing);
  const path = join(out, packNames.pack);
  const { pack, sha256 } = made;
  return { pack, sha256, path, files, recordSeq, isLocked: false, isPreviousForeign: false, walkedBytes: 0 };
}

function nothingToPack({ sessionId, directory }: PackedPlace): TurnlogError {
  return new TurnlogError('TURNLOG_NOTHING_TO_PACK', {
    details: { sessionId, path: directory },
    message: `there is nothing to pack: ${sessionId} holds no record`,
  });
}

interface Encoded {
  readonly pack: Pack;
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

interface Made extends Encoded {
  readonly isPreviousForeign: boolean;
  readonly walkedBytes: number;
}

/** @throws TURNLOG_UNPACKABLE when nobody would read a pack so long. */
function encoded(pack: Pack, directory: string): Encoded {
  const [, version = ''] = programName.split('/');
  const bytes = encodePack(pack, { version, contract: schemaVersion });
  if (bytes.length > limits.packBytesMax) throw unpackable(directory, 'its pack would be too long');
  return { pack, bytes, sha256: sha256Hex(bytes) };
}

async function makePack(
  env: LogEnvironment,
  snapshot: PackSnapshot,
  { sessionId, directory, out }: PackedPlace & { readonly out: string },
  options: PackOptions,
): Promise<Made> {
  const { reader } = snapshot;
  const earlier = newestEarlier(env, sessionId, [out, packDirectoryOf(directory)]);
  const { mode = 'since-last', workers } = options;
  const log = await packLog(env, snapshot, earlier, { mode, workers });
  if (log.own.tree.size === 0) throw nothingToPack({ sessionId, directory });
  const entries: PackEntry[] = [
    { path: logNames.events, bytes: log.bytes, sha256: log.sha256, role: 'canonical' },
    ...snapshot.files.flatMap((file) => entryOf(env, directory, file) ?? []),
  ];
  entries.sort((left, right) => comparePaths(left.path, right.path));
  const { lifecycle } = reader.state;
  const pack: Pack = {
    sessionId,
    generatedAt: formatTimestamp(env.clock.now()),
    status: lifecycle.status,
    turnCount: lifecycle.turnCount,
    eventCount: log.eventCount,
    entries,
    own: { ...log.own, sessions: options.sessions ?? null },
  };
  const isPreviousForeign = earlier !== null && log.own.previous === null;
  return { ...encoded(pack, directory), isPreviousForeign, walkedBytes: log.walkedBytes };
}

/** Null for a file that went away since it was listed. */
function entryOf(
  env: LogEnvironment,
  directory: string,
  { path, size, file }: SnapshotFile,
): PackEntry | null {
  const opened = file ?? openPacked(env, directory, path);
  if (opened === null) return null;
  try {
    const source = new HashingSource(opened, size);
    const sha256 = source.digestHex();
    return { path, bytes: source.hashedBytes, sha256, role: roleOf(path) };
  } finally {
    // What the snapshot holds open it closes itself.
    if (file === null) opened.close();
  }
}

/** The newest pack of this session among those that lie in `directories`; what is no pack is passed over. */
function newestEarlier(
  env: LogEnvironment,
  sessionId: string,
  directories: readonly string[],
): EarlierPack | null {
  let newest: EarlierPack | null = null;
  for (const directory of new Set(directories)) {
    const earlier = readEarlier(env, join(directory, packNames.pack));
    if (earlier === null || earlier.pack.own === null || earlier.pack.sessionId !== sessionId) continue;
    if (earlier.pack.own.tree.size >= (newest?.pack.own?.tree.size ?? 0)) newest = earlier;
  }
  return newest;
}

function readEarlier({ fs }: LogEnvironment, path: string): EarlierPack | null {
  try {
    const bytes = readBytesIfThere(fs, path, limits.packBytesMax);
    return bytes === null ? null : { pack: parsePack(bytes), sha256: sha256Hex(bytes) };
  } catch (error) {
    // A damaged pack is evidence of nothing, and it is replaced.
    if (isTurnlogError(error, 'TURNLOG_INVALID_PACK')) return null;
    throw error;
  }
}

/** The directory that was asked for, which keeps its mode, or that of the session's packs, which is made. */
function outDirectory(
  { fs, ownership }: LogEnvironment,
  directory: string,
  asked: string | undefined,
): string {
  if (asked !== undefined) return fs.resolve(asked);
  const out = packDirectoryOf(directory);
  if (ensurePrivateDirectory(fs, out, ownership) === 'created') fs.syncDirectory(directory);
  return out;
}

interface Signing {
  readonly origin: string;
  readonly signer?: Signer;
}

/** The pack with all that belongs to it, the pack first. */
async function companionsOf(
  { pack, bytes }: Encoded,
  { origin, signer }: Signing,
): Promise<readonly NamedBytes[]> {
  const files: NamedBytes[] = [[packNames.pack, bytes]];
  if (signer !== undefined && pack.own !== null) {
    const { size, root } = pack.own.tree;
    files.push([packNames.signature, await signSsh(bytes, signer)]);
    files.push([packNames.checkpoint, await signNote({ origin, size, root }, signer)]);
  }
  return [...files, [packNames.sums, encodeSums(pack.entries)]];
}

/** Signatures of a pack that is replaced go first: beside the new one they would call it forged. */
function publishFiles(
  { fs, ids }: LogEnvironment,
  out: string,
  files: readonly NamedBytes[],
): readonly string[] {
  removeFileIfThere(fs, join(out, packNames.signature));
  removeFileIfThere(fs, join(out, packNames.checkpoint));
  for (const [name, bytes] of files) publish(fs, ids, join(out, name), bytes, { durability: 'durable' });
  return files.map(([name]) => join(out, name));
}

/** Says in the log that it was packed; null while somebody else holds it. */
async function recordPack(
  env: LogEnvironment,
  { directory, sessionId }: PackedPlace,
  { pack, sha256 }: Encoded,
  { origin, signer }: Signing,
): Promise<number | null> {
  const { size = 0, root = '' } = pack.own?.tree ?? {};
  const signedBy =
    signer === undefined ? {} : { signed_by: `${origin}+${noteKeyId(origin, signer.publicKey)}` };
  const event = new EngineEvent({ type: 'log.pack', pack_sha256: sha256, size, root, ...signedBy });
  try {
    return await transaction(env, directory, sessionId, (log) => log.append(event).seq, { waitMs: 0 });
  } catch (error) {
    if (isTurnlogError(error, 'TURNLOG_LOCKED')) return null;
    throw error;
  }
}

function badOrigin(origin: string): TurnlogError {
  return new TurnlogError('TURNLOG_BAD_CONFIG', {
    details: { origin },
    message: 'an origin is a name without blanks and plus signs',
  });
}
