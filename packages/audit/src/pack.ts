import { limits, TurnlogError } from '@turnlog/kernel';
import {
  type FoundMembers,
  frontierLength,
  isCount,
  isSha256Hex,
  isText,
  ownMembers,
  readMembers,
  type TreeHead,
  treeRoot,
} from '@turnlog/log';
import { isSessionId } from '@turnlog/store';
import { type LeafMarks, parseMarks } from './leaf-marks.js';
import { entryPathFault } from './pack-path.js';
import type { TreeRoot } from './tree.js';

/**
 * The format of `derived/audit-pack.json`: pretty JSON, the members of VT Code's pack first and ours behind them. A
 * pack says of a session what it was: every file with its digest, and the hash tree over its records.
 */

export type EntryRole = 'canonical' | 'archive' | 'index' | 'derived' | 'other';

export interface PackEntry {
  /** Relative to the session, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** Of the first `bytes` bytes. */
  readonly sha256: string;
  readonly role: string;
}

export interface PackTree extends TreeHead, TreeRoot {
  /** How many of the leaves were before the first record of the file. */
  readonly evicted: number;
  /** To tell which records differ; absent in packs that do not care. */
  readonly marks: LeafMarks | null;
}

export interface PackedDamage {
  readonly offset: number;
  readonly length: number;
  readonly kind: string;
  readonly sha256: string;
}

export interface RedactedLeaf {
  readonly index: number;
  readonly seq: number;
  /** Seq of the record that says why; null when none does. */
  readonly statementSeq: number | null;
}

export interface PackedAsset {
  readonly sha256: string;
  /** Null where the log does not say. */
  readonly bytes: number | null;
  readonly mediaType: string | null;
}

export interface PreviousPack extends TreeRoot {
  readonly packSha256: string;
  readonly consistency: readonly string[];
}

/** A session of a store, in the pack of a store. */
export interface PackedSession extends TreeRoot {
  readonly sessionId: string;
}

/** What only our packs say. */
export interface OwnPart {
  readonly tree: PackTree;
  readonly firstSeq: number | null;
  readonly lastSeq: number;
  readonly lastTs: string | null;
  readonly generation: string | null;
  readonly damage: readonly PackedDamage[];
  readonly redacted: readonly RedactedLeaf[];
  readonly assets: readonly PackedAsset[];
  readonly previous: PreviousPack | null;
  /** Whether a writer was at work: views and index may then be from another moment than the log. */
  readonly isLive: boolean;
  /** Of the pack of a store: each session with its root; null otherwise. */
  readonly sessions: readonly PackedSession[] | null;
}

export interface Pack {
  readonly sessionId: string;
  readonly generatedAt: string;
  readonly status: string;
  readonly turnCount: number;
  readonly eventCount: number;
  readonly entries: readonly PackEntry[];
  /** Null in a pack that VT Code made: then there is nothing but the digests of files. */
  readonly own: OwnPart | null;
}

const packVersion = 1;

/** The bytes of a pack. */
export function encodePack(
  pack: Pack,
  producer: { readonly version: string; readonly contract: string },
): Uint8Array {
  const { own } = pack;
  const value = {
    schema_version: packVersion,
    session_id: pack.sessionId,
    generated_at: pack.generatedAt,
    status: pack.status,
    turn_count: pack.turnCount,
    event_count: pack.eventCount,
    entries: pack.entries.map(({ path, bytes, sha256, role }) => ({ path, bytes, sha256, role })),
    ...(own === null ? {} : encodeOwn(own)),
    producer: { name: 'turnlog', ...producer },
  };
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

function encodeOwn(own: OwnPart): FoundMembers {
  const { tree, previous, sessions } = own;
  return {
    tree: {
      hash: treeHash,
      size: tree.size,
      root: tree.root,
      frontier: tree.frontier,
      evicted: tree.evicted,
      ...(tree.marks === null ? {} : { marks: tree.marks }),
    },
    first_seq: own.firstSeq,
    last_seq: own.lastSeq,
    last_ts: own.lastTs,
    log_generation: own.generation,
    damage: own.damage.map(({ offset, length, kind, sha256 }) => ({ offset, length, kind, sha256 })),
    redacted: own.redacted.map(({ index, seq, statementSeq }) => ({
      index,
      seq,
      statement_seq: statementSeq,
    })),
    assets: own.assets.map(({ sha256, bytes, mediaType }) => ({ sha256, bytes, media_type: mediaType })),
    previous:
      previous === null
        ? null
        : {
            pack_sha256: previous.packSha256,
            size: previous.size,
            root: previous.root,
            consistency: previous.consistency,
          },
    ...(sessions === null
      ? {}
      : { sessions: sessions.map(({ sessionId, size, root }) => ({ session_id: sessionId, size, root })) }),
    ...(own.isLive ? { live: true } : {}),
    redaction_state: own.redacted.length === 0 ? 'none' : 'redacted',
  };
}

const treeHash = 'rfc6962-sha256';

/**
 * The pack in `bytes`. Everything that it says of itself is checked here, before any file that it names is opened.
 *
 * @throws TURNLOG_INVALID_PACK
 */
export function parsePack(bytes: Uint8Array): Pack {
  if (bytes.length > limits.packBytesMax)
    throw invalidPack('', `it is longer than ${limits.packBytesMax} bytes`);
  const found = readMembers(textOf(bytes));
  if (found === null) throw invalidPack('', 'it is no JSON object');
  if (found['schema_version'] !== packVersion)
    throw invalidPack('schema_version', `it is not ${packVersion}`);
  const sessionId = textIn(found, 'session_id');
  if (!isSessionId(sessionId)) throw invalidPack('session_id', 'it is no session id');
  return {
    sessionId,
    generatedAt: textIn(found, 'generated_at'),
    status: textIn(found, 'status'),
    turnCount: countIn(found, 'turn_count'),
    eventCount: countIn(found, 'event_count'),
    entries: parseEntries(found['entries']),
    own: found['tree'] === undefined ? null : parseOwn(found),
  };
}

/** The error of a file that is no pack, or contradicts itself. */
export function invalidPack(place: string, reason: string): TurnlogError {
  return new TurnlogError('TURNLOG_INVALID_PACK', {
    details: { place, reason },
    message: `the pack is invalid: ${place === '' ? reason : `${place}: ${reason}`}`,
  });
}

const decoder = new TextDecoder();

/** A byte-order mark in front is passed over; digests of a pack are over its bytes all the same. */
function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

function textIn(found: FoundMembers, name: string, place = name): string {
  const value = found[name];
  if (isText(value)) return value;
  throw invalidPack(place, 'it is missing or no text');
}

function countIn(found: FoundMembers, name: string, place = name): number {
  const value = found[name];
  if (isCount(value)) return value;
  throw invalidPack(place, 'it is missing or no whole number');
}

function hashIn(found: FoundMembers, name: string, place = name): string {
  const value = found[name];
  if (isSha256Hex(value)) return value;
  throw invalidPack(place, 'it is missing or no SHA-256');
}

function orNull<Value>(found: FoundMembers, name: string, read: () => Value): Value | null {
  if (found[name] === undefined) throw invalidPack(name, 'it is missing');
  return found[name] === null ? null : read();
}

function listIn(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidPack(place, 'it is missing or no list');
  if (value.length > limits.packEntriesMax)
    throw invalidPack(place, `it has more than ${limits.packEntriesMax}`);
  return value;
}

function objectAt(value: unknown, place: string): FoundMembers {
  const found = ownMembers(value);
  if (found === null) throw invalidPack(place, 'it is no object');
  return found;
}

function parseEntries(value: unknown): readonly PackEntry[] {
  const seen = new Set<string>();
  return listIn(value, 'entries').map((entry, at) => {
    const place = `entries[${at}]`;
    const found = objectAt(entry, place);
    const path = textIn(found, 'path', `${place}.path`);
    const fault = entryPathFault(path);
    if (fault !== null) throw invalidPack(`${place}.path`, fault);
    if (seen.has(path)) throw invalidPack(`${place}.path`, 'it is there twice');
    seen.add(path);
    return {
      path,
      bytes: countIn(found, 'bytes', `${place}.bytes`),
      sha256: hashIn(found, 'sha256', `${place}.sha256`),
      role: textIn(found, 'role', `${place}.role`),
    };
  });
}

function parseOwn(found: FoundMembers): OwnPart {
  return {
    tree: parseTree(objectAt(found['tree'], 'tree')),
    firstSeq: orNull(found, 'first_seq', () => countIn(found, 'first_seq')),
    lastSeq: countIn(found, 'last_seq'),
    lastTs: orNull(found, 'last_ts', () => textIn(found, 'last_ts')),
    generation: orNull(found, 'log_generation', () => textIn(found, 'log_generation')),
    damage: listIn(found['damage'], 'damage').map(parseDamage),
    redacted: listIn(found['redacted'], 'redacted').map(parseRedacted),
    assets: listIn(found['assets'], 'assets').map(parseAsset),
    previous: orNull(found, 'previous', () => parsePrevious(objectAt(found['previous'], 'previous'))),
    isLive: found['live'] === true,
    sessions:
      found['sessions'] === undefined ? null : listIn(found['sessions'], 'sessions').map(parseSession),
  };
}

function parseTree(found: FoundMembers): PackTree {
  if (found['hash'] !== treeHash) throw invalidPack('tree.hash', `it is not ${treeHash}`);
  const size = countIn(found, 'size', 'tree.size');
  const root = hashIn(found, 'root', 'tree.root');
  const evicted = countIn(found, 'evicted', 'tree.evicted');
  const frontier = hashList(found['frontier'], 'tree.frontier');
  if (frontier.length !== frontierLength(size))
    throw invalidPack('tree.frontier', 'it does not fit the size');
  if (treeRoot({ size, frontier }) !== root)
    throw invalidPack('tree.frontier', 'it does not fold to the root');
  if (evicted > size) throw invalidPack('tree.evicted', 'it is more than the size');
  if (found['marks'] === undefined) return { size, root, frontier, evicted, marks: null };
  const marks = parseMarks(found['marks'], size - evicted);
  if (marks === null) throw invalidPack('tree.marks', 'they do not fit the size');
  return { size, root, frontier, evicted, marks };
}

function hashList(value: unknown, place: string): readonly string[] {
  return listIn(value, place).map((hash) => {
    if (!isSha256Hex(hash)) throw invalidPack(place, 'it holds what is no SHA-256');
    return hash;
  });
}

function parseDamage(value: unknown, at: number): PackedDamage {
  const place = `damage[${at}]`;
  const found = objectAt(value, place);
  return {
    offset: countIn(found, 'offset', place),
    length: countIn(found, 'length', place),
    kind: textIn(found, 'kind', place),
    sha256: hashIn(found, 'sha256', place),
  };
}

function parseRedacted(value: unknown, at: number): RedactedLeaf {
  const place = `redacted[${at}]`;
  const found = objectAt(value, place);
  return {
    index: countIn(found, 'index', place),
    seq: countIn(found, 'seq', place),
    statementSeq: orNull(found, 'statement_seq', () => countIn(found, 'statement_seq', place)),
  };
}

function parseAsset(value: unknown, at: number): PackedAsset {
  const place = `assets[${at}]`;
  const found = objectAt(value, place);
  return {
    sha256: hashIn(found, 'sha256', place),
    bytes: orNull(found, 'bytes', () => countIn(found, 'bytes', place)),
    mediaType: orNull(found, 'media_type', () => textIn(found, 'media_type', place)),
  };
}

function parsePrevious(found: FoundMembers): PreviousPack {
  return {
    packSha256: hashIn(found, 'pack_sha256', 'previous.pack_sha256'),
    size: countIn(found, 'size', 'previous.size'),
    root: hashIn(found, 'root', 'previous.root'),
    consistency: hashList(found['consistency'], 'previous.consistency'),
  };
}

function parseSession(value: unknown, at: number): PackedSession {
  const place = `sessions[${at}]`;
  const found = objectAt(value, place);
  const sessionId = textIn(found, 'session_id', place);
  if (!isSessionId(sessionId)) throw invalidPack(place, 'it is no session id');
  return { sessionId, size: countIn(found, 'size', place), root: hashIn(found, 'root', place) };
}
