import { peekRecord } from '@turnlog/events';
import { type FileSystem, limits, sha256Hex } from '@turnlog/kernel';
import type { ClosedTurn } from './lifecycle.js';
import { type ByteSource, LineFramer } from './line-framer.js';
import { type LogPaths, logNames } from './log-layout.js';
import { turnBaseOf } from './log-state.js';
import { type LineProof, type Manifest, parseManifest, type TreeCheck } from './manifest.js';
import { readFully } from './read-fully.js';
import { openInside, readLineIfThere } from './read-text.js';
import { parseIndexHeader, parseIndexLine } from './turn-index.js';

/**
 * What the derived files of a log are worth. They are believed only where the log itself confirms them: by
 * the bytes of its first and last published line, never by times or sizes alone.
 */
export interface Evidence {
  /** E1: a manifest of this log with all its members; null otherwise. */
  readonly manifest: Manifest | null;
  /** E2: the log is at least as long as it was. */
  readonly isLongEnough: boolean;
  /** E3, E4: first and last published line are there, byte for byte. */
  readonly isHeadRight: boolean;
  readonly isTailRight: boolean;
  /**
   * Whether the last published line is one plain record. Behind damage a reader needs to know what came before,
   * and only a full scan says that.
   */
  readonly isTailPlain: boolean;
  /** E5: the turn index belongs to the manifest and ends where it says. */
  readonly isIndexRight: boolean;
}

/** Reads the evidence for the log in `source`, `length` bytes long. Changes nothing. */
export function gatherEvidence(
  fs: FileSystem,
  paths: LogPaths,
  sessionId: string,
  source: ByteSource,
  length: number,
): Evidence {
  const manifest = readManifest(fs, paths, sessionId);
  if (manifest === null) return noEvidence;
  const isLongEnough = manifest.state.length <= length;
  // Nothing contradicts the manifest where the whole file is gone.
  const isHeadRight = length === 0 || isLineThere(source, length, manifest.head);
  const tail = isLongEnough ? readTail(source, manifest) : 'other';
  const isTailRight = tail !== 'other';
  const isIndexRight = isTailRight && isIndexOf(fs, paths, manifest);
  return { manifest, isLongEnough, isHeadRight, isTailRight, isTailPlain: tail === 'record', isIndexRight };
}

const noEvidence: Evidence = {
  manifest: null,
  isLongEnough: false,
  isHeadRight: false,
  isTailRight: false,
  isTailPlain: false,
  isIndexRight: false,
};

/** The manifest of this log, or null: missing, unreadable, or of another log. */
export function readManifest(
  fs: FileSystem,
  paths: Pick<LogPaths, 'manifest'>,
  sessionId: string,
  treeCheck: TreeCheck = 'root',
): Manifest | null {
  const text = readLineIfThere(fs, paths.manifest, limits.smallFileBytesMax);
  const manifest = text === null ? null : parseManifest(text, treeCheck);
  return manifest !== null && manifest.sessionId === sessionId ? manifest : null;
}

const lineFeed = 0x0a;

/** Whether the line that `proof` names stands in the file, its 0x0A behind it; null stands for an empty log. */
function isLineThere(source: ByteSource, length: number, proof: LineProof | null): boolean {
  if (proof === null) return true;
  if (proof.offset + proof.length + 1 > length) return false;
  return readLine(source, proof) !== null;
}

/** The bytes of the line that `proof` names, its 0x0A included; null when others stand there. */
function readLine(source: ByteSource, proof: LineProof): Uint8Array | null {
  const bytes = new Uint8Array(proof.length + 1);
  if (!readFully(source, bytes, proof.offset) || bytes[proof.length] !== lineFeed) return null;
  return sha256Hex(bytes.subarray(0, proof.length)) === proof.sha256 ? bytes : null;
}

/** What stands where the last published line should end: one plain record, that line but damaged, or something else. */
function readTail(source: ByteSource, manifest: Manifest): 'record' | 'damage' | 'other' {
  const { tail, state } = manifest;
  if (tail === null) return state.length === 0 ? 'record' : 'other';
  if (tail.offset + tail.length + 1 !== state.length) return 'other';
  const bytes = readLine(source, tail);
  if (bytes === null) return 'other';
  return typeof peekRecord(bytes, 0, tail.length) === 'string' ? 'damage' : 'record';
}

function isIndexOf(fs: FileSystem, paths: LogPaths, manifest: Manifest): boolean {
  const file = openInside(fs, paths.index, logNames.turns);
  if (file === null) return false;
  try {
    if (file.status().size < manifest.indexBytes) return false;
    const turnBase = turnBaseOf(manifest.state);
    const header = readHeader(file, manifest.indexBytes);
    if (header === null || header.generation !== manifest.generation) return false;
    if (header.sessionId !== manifest.sessionId || header.turnBase !== turnBase) return false;
    const last = lastIndexedTurn(file, manifest.indexBytes);
    if (last === undefined) return false;
    const expected = manifest.state.lifecycle.turnCount;
    if (last === null) return expected < turnBase;
    return last.turn === expected && last.end <= manifest.state.length;
  } finally {
    file.close();
  }
}

/** A header is far shorter than this. */
const headerBytesMax = 1_024;

function readHeader(source: ByteSource, indexBytes: number): ReturnType<typeof parseIndexHeader> {
  const bytes = new Uint8Array(Math.min(indexBytes, headerBytesMax));
  if (!readFully(source, bytes, 0)) return null;
  const end = bytes.indexOf(lineFeed);
  return end === -1 ? null : parseIndexHeader(new TextDecoder().decode(bytes.subarray(0, end)));
}

/**
 * The last turn in the first `indexBytes` of an index, found from the end in blocks: marks may stand behind
 * it. Null when it holds no turn, undefined when a line cannot be read.
 */
function lastIndexedTurn(source: ByteSource, indexBytes: number): ClosedTurn | null | undefined {
  let text = '';
  for (let start = indexBytes; start > 0; ) {
    const block = new Uint8Array(Math.min(limits.readBlockBytes, start));
    start -= block.length;
    if (!readFully(source, block, start)) return undefined;
    text = Buffer.from(block).toString('latin1') + text;
    if (!text.endsWith('\n')) return undefined;
    const found = lastTurnIn(text, start === 0);
    if (found !== 'further-up') return found;
  }
  return undefined;
}

function lastTurnIn(text: string, isWhole: boolean): ClosedTurn | null | undefined | 'further-up' {
  const lines = text.slice(0, -1).split('\n');
  // The first line is the header, or one that the block may have cut.
  for (let at = lines.length - 1; at >= 1; at -= 1) {
    const line = parseIndexLine(lines[at] as string);
    if (line === null) return undefined;
    if (line.kind === 'turn') return line.turn;
  }
  return isWhole ? null : 'further-up';
}

/**
 * What a turn index of whatever generation calls the turn that begins at `firstSeq`; null when it does not know.
 * Used only to number a log whose beginning is lost.
 */
export function oldTurnNumber(fs: FileSystem, paths: LogPaths, firstSeq: number): number | null {
  const file = openInside(fs, paths.index, logNames.turns);
  if (file === null) return null;
  try {
    const framer = new LineFramer(file, { from: 0, to: file.status().size, lineBytesMax: headerBytesMax });
    while (framer.next()) {
      if (framer.isTooLong) continue;
      const line = parseIndexLine(new TextDecoder().decode(framer.bytes.subarray(framer.start, framer.end)));
      if (line?.kind === 'turn' && line.turn.firstSeq === firstSeq) return line.turn.turn;
    }
    return null;
  } finally {
    file.close();
  }
}
