import { join } from 'node:path';
import { errnoOf, type FileSystem, isTurnlogError, limits, sha256Hex } from '@turnlog/kernel';
import { logNames, parseManifest, readBytesIfThere, readTextIfThere } from '@turnlog/log';
import type { AssetStore, LedgerRemoval } from '@turnlog/store';
import { type Explained, explainArchives } from './archived-redactions.js';
import { listBelow } from './guarded-files.js';
import type { HashWorkers } from './leaf-hasher.js';
import { type OwnPart, type Pack, type PackEntry, type PackedSession, parsePack } from './pack.js';
import { verifyConsistency } from './proofs.js';
import { removedSession } from './removed-session.js';
import { isLeftOut, packDirectoryOf, packNames } from './session-files.js';
import type { TreeRoot } from './tree.js';
import type { TrustedKey } from './trusted-keys.js';
import { exactly, type Findings, type Mismatch, mismatchAt, noTree, nothingFound } from './verdict.js';
import { verifyAlone } from './verify-alone.js';
import { verifyEntries, verifyPrefix } from './verify-entries.js';
import { type LogFinding, unexplained, verifyLog } from './verify-log.js';
import { type SignatureFinding, verifySignatures } from './verify-signatures.js';

export interface VerifyRequest {
  /** The session, or a copy of one. */
  readonly directory: string;
  /** Where the pack lies; by default in `derived/` of the session. */
  readonly packDirectory?: string;
  /** Whose session it must be; null for a copy, which may lie anywhere. */
  readonly sessionId: string | null;
  /** `exact`: nothing may have come since either. */
  readonly extent?: 'as-of-pack' | 'exact';
  /** Where the blobs are that the log names, if they are to be looked at. */
  readonly assets?: AssetStore;
  readonly trusted?: readonly TrustedKey[];
  readonly require?: { readonly pack?: boolean; readonly signature?: boolean };
  /** Of a store: looks at one of its sessions. */
  readonly sessionRoot?: SessionRoots;
  /** The newest removal of a session that the ledger of its store has; asked when the session is not there. */
  readonly removalOf?: (sessionId: string) => LedgerRemoval | null;
  /** Threads for the hashing of long logs; without them everything is done in this one. */
  readonly workers?: HashWorkers;
  /** Now, for keys that may be used for a time only. */
  readonly nowMs: number;
}

/** The root over the first `size` records of a session, or why there is none. */
export type SessionRoots = (sessionId: string, size: number) => TreeRoot | 'missing' | 'unproven' | 'shorter';

/**
 * Compares a session with its audit pack. Reads and nothing else: no lock, no cache, no network, no file is made. Each
 * file is read once; what is wrong with one may take another reading.
 *
 * @throws TURNLOG_IO when something cannot be read for other reasons than what it is.
 */
export async function verifyPack(fs: FileSystem, request: VerifyRequest): Promise<Findings> {
  const directory = request.packDirectory ?? packDirectoryOf(request.directory);
  const read = readPack(fs, directory);
  if (read === null) return await verifyAlone(fs, request);
  const { bytes, sha256 } = read;
  let pack: Pack;
  try {
    pack = parsePack(bytes);
  } catch (error) {
    if (!isTurnlogError(error, 'TURNLOG_INVALID_PACK')) throw error;
    return { ...nothingFound, packSha256: sha256, invalid: error.message };
  }
  const signatures = verifySignatures(
    fs,
    { pack, bytes, directory },
    { trusted: request.trusted ?? [], require: request.require?.signature ?? false, nowMs: request.nowMs },
  );
  const found = await verifyFiles(fs, request, pack, signatures);
  const finding = { ...found, packSha256: sha256 };
  return request.extent === 'exact' ? exactly(finding, logNames.events) : finding;
}

function readPack(
  fs: FileSystem,
  directory: string,
): { readonly bytes: Uint8Array; readonly sha256: string } | null {
  const path = join(directory, packNames.pack);
  const bytes = readBytesIfThere(fs, path, limits.packBytesMax);
  if (bytes !== null) return { bytes, sha256: sha256Hex(bytes) };
  // One that is too long is there all the same: it is told apart from none by what parsing says of it.
  if (fs.status(path) === null) return null;
  const empty = new Uint8Array(0);
  return { bytes: empty, sha256: sha256Hex(empty) };
}

async function verifyFiles(
  fs: FileSystem,
  request: VerifyRequest,
  pack: Pack,
  signatures: SignatureFinding,
): Promise<Findings> {
  const { directory } = request;
  const canonical = pack.entries.find(({ path }) => path === logNames.events) ?? null;
  const log = await verifyCanonical(fs, request, pack, canonical);
  const others = pack.entries.filter((entry) => entry !== canonical);
  const mayLag = log.hasChanged || pack.own?.isLive === true;
  const derived = mayLag && log.mismatches.length === 0 ? 'may-be-stale' : 'as-packed';
  const entries = await verifyEntries(fs, directory, others, derived);
  const archives = explained(fs, directory, log, entries.mismatches);
  const assets = verifyAssets(pack.own?.assets ?? [], request.assets ?? null);
  const sessions = verifySessions(pack.own?.sessions ?? [], request.sessionRoot ?? null);
  const { assurance, fault } = signatures;
  return {
    ...nothingFound,
    sessionId: pack.sessionId,
    tree: { ...log.tree, redacted: log.redacted?.list(log.tree.size ?? 0) ?? log.tree.redacted },
    mismatches: [
      ...bindingFaults(fs, request, pack),
      ...log.mismatches,
      ...archives.mismatches,
      ...assets.mismatches,
      ...sessions.mismatches,
    ],
    missing: [...log.missing, ...entries.missing, ...assets.missing, ...sessions.missing],
    unproven: [...log.unproven, ...(isPreviousProven(pack.own) ? [] : ['previous']), ...sessions.unproven],
    unaccounted: unaccountedIn(fs, directory, pack.entries),
    stale: [...entries.stale, ...archives.redacted],
    completeness: log.isIntact ? 'proven' : 'cannot-prove',
    assurance,
    removed: log.missing.length === 0 ? null : removedIn(request, pack),
    badSignature: fault,
  };
}

/** What is left of the mismatches of files, and what redactions explain of them. */
function explained(
  fs: FileSystem,
  directory: string,
  { redacted, isIntact, mismatches: known }: LogFinding,
  found: readonly Mismatch[],
): Explained {
  if (redacted === null || !isIntact) return { mismatches: found, redacted: [] };
  const archives = explainArchives(fs, directory, found, redacted);
  const told = new Set(known.map(({ index }) => index));
  const silent = unexplained(redacted.list(), logNames.archive).filter(({ index }) => !told.has(index));
  return { ...archives, mismatches: [...archives.mismatches, ...silent] };
}

function removedIn({ removalOf }: VerifyRequest, pack: Pack): Findings['removed'] {
  const removal = pack.sessionId === null ? null : (removalOf?.(pack.sessionId) ?? null);
  return removal === null ? null : removedSession(removal, pack.own?.tree ?? null);
}

async function verifyCanonical(
  fs: FileSystem,
  { directory, workers }: VerifyRequest,
  pack: Pack,
  canonical: PackEntry | null,
): Promise<LogFinding> {
  const { own } = pack;
  const nothing = {
    tree: noTree,
    mismatches: [],
    missing: [],
    unproven: [],
    isIntact: false,
    hasChanged: false,
    redacted: null,
  };
  if (canonical === null) {
    // The pack of a store without a ledger speaks of its sessions only.
    if (own?.tree.size !== 0) return { ...nothing, missing: [logNames.events] };
    return {
      ...nothing,
      tree: { ...noTree, size: 0, root: own.tree.root, recomputed: own.tree.root },
      isIntact: true,
    };
  }
  if (own !== null)
    return await verifyLog(fs, directory, { pack: { ...pack, own }, entry: canonical, workers });
  const { mismatches, missing, isIntact, hasGrown } = await verifyPrefix(fs, directory, canonical);
  return { ...nothing, mismatches, missing, isIntact, hasChanged: hasGrown };
}

/** Whether the pack belongs to what it lies in. */
function bindingFaults(
  fs: FileSystem,
  { directory, sessionId }: VerifyRequest,
  pack: Pack,
): readonly Mismatch[] {
  const manifest = manifestSessionId(fs, directory);
  const isOther =
    (sessionId !== null && sessionId !== pack.sessionId) ||
    (manifest !== null && manifest !== pack.sessionId);
  return isOther ? [mismatchAt(null, 'other-session')] : [];
}

function manifestSessionId(fs: FileSystem, directory: string): string | null {
  try {
    const text = readTextIfThere(fs, join(directory, logNames.manifest), limits.smallFileBytesMax);
    return text === null ? null : (parseManifest(text)?.sessionId ?? null);
  } catch (error) {
    // Something that is no file stands in its place; the entries tell that.
    if (isTurnlogError(error, 'TURNLOG_UNSAFE_PATH')) return null;
    throw error;
  }
}

function isPreviousProven(own: OwnPart | null): boolean {
  if (own === null || own.previous === null) return true;
  const { previous, tree } = own;
  return verifyConsistency({
    from: { size: previous.size, root: previous.root },
    to: { size: tree.size, root: tree.root },
    path: previous.consistency,
  });
}

interface AssetFinding {
  readonly mismatches: readonly Mismatch[];
  readonly missing: readonly string[];
}

function verifyAssets(listed: OwnPart['assets'], assets: AssetStore | null): AssetFinding {
  const mismatches: Mismatch[] = [];
  const missing: string[] = [];
  for (const { sha256 } of assets === null ? [] : listed) {
    const name = `assets/${sha256}`;
    try {
      assets?.read(sha256);
    } catch (error) {
      if (isTurnlogError(error, 'TURNLOG_ASSET_MISSING')) missing.push(name);
      else if (isTurnlogError(error, 'TURNLOG_ASSET_DAMAGED')) mismatches.push(mismatchAt(name, 'asset'));
      else throw error;
    }
  }
  return { mismatches, missing };
}

interface SessionsFinding extends AssetFinding {
  readonly unproven: readonly string[];
}

function verifySessions(listed: readonly PackedSession[], rootOf: SessionRoots | null): SessionsFinding {
  const mismatches: Mismatch[] = [];
  const missing: string[] = [];
  const unproven: string[] = [];
  for (const { sessionId, size, root } of rootOf === null ? [] : listed) {
    const path = `sessions/${sessionId}`;
    const found = rootOf?.(sessionId, size) ?? 'missing';
    if (found === 'missing') missing.push(path);
    else if (found === 'unproven') unproven.push(path);
    else if (found === 'shorter') mismatches.push(mismatchAt(path, 'content', { diagnosis: 'shorter' }));
    else if (found.root !== root) mismatches.push(mismatchAt(path, 'content', { diagnosis: 'edited' }));
  }
  return { mismatches, missing, unproven };
}

/** What lies in the session and is not in the pack; links and special files are named as well and never followed. */
function unaccountedIn(fs: FileSystem, directory: string, entries: readonly PackEntry[]): readonly string[] {
  if (fs.status(directory) === null) return [];
  const known = new Set(entries.map(({ path }) => path));
  try {
    return listBelow(fs, directory, isLeftOut)
      .map(({ path }) => path)
      .filter((path) => !known.has(path));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
