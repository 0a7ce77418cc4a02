import { removeFileIfThere, temporaryNamePattern } from '@turnlog/fs';
import { type FileSystem, type Generation, isGeneration, limits, sha256Hex } from '@turnlog/kernel';
import { isCount, isSha256Hex, isText, ownMembers, readMembers } from './checked-json.js';
import { type ByteSource, LineFramer } from './line-framer.js';
import { archivedTo, type LogPaths } from './log-layout.js';
import type { LineProof } from './manifest.js';
import { readFully } from './read-fully.js';
import { readTextIfThere } from './read-text.js';

/**
 * The format of `index/pending-rewrite.json`, one line, there only while a log is being replaced:
 *
 *     {"turnlog":"pending-rewrite","v":1,"kind":"evict","temp":".t-5c1f0a9e77aa01b2",
 *      "from":{"generation":"<32 hex>","bytes":90112,"head_sha256":"<64 hex>"},
 *      "to":{"generation":"<32 hex>","bytes":40960,"head_sha256":"<64 hex>"},"to_seq":40,"last_turn":3}
 *
 * It tells the old log from the new one and nothing else: all numbers stand in the log itself. A redaction leaves the
 * first line as it is where it can, and may make the log shorter, so it also says which record only the new log has,
 * and which archives are still to take their names:
 *
 *     "probe":{"offset":512,"length":301,"sha256":"<64 hex>"},"archives":[{"temp":".t-…","file":"e-40.jsonl.gz"}]
 */

/** A log by what it holds: its first line, and how long it was. */
export interface LogFingerprint {
  readonly generation: Generation;
  readonly bytes: number;
  /** SHA-256 of the first line without its 0x0A. */
  readonly headSha256: string;
}

/** An archive that is written anew together with its log, and gets its name behind that of the log. */
export interface PendingArchive {
  /** Its temporary name and the one it takes, both below `archive`. */
  readonly temporary: string;
  readonly file: string;
}

export interface RewriteMarker {
  readonly kind: 'evict' | 'redact';
  /** Name of the temp file that becomes the log. */
  readonly temporary: string;
  readonly from: LogFingerprint;
  readonly to: LogFingerprint;
  readonly toSeq: number;
  readonly lastTurn: number;
  /** A record that the new log has and the old one has not; null where the first line tells them apart. */
  readonly probe: LineProof | null;
  readonly archives: readonly PendingArchive[];
}

export function encodeMarker(marker: RewriteMarker): string {
  return `${JSON.stringify({
    turnlog: 'pending-rewrite',
    v: 1,
    kind: marker.kind,
    temp: marker.temporary,
    from: encodeFingerprint(marker.from),
    to: encodeFingerprint(marker.to),
    to_seq: marker.toSeq,
    last_turn: marker.lastTurn,
    ...(marker.probe === null ? {} : { probe: marker.probe }),
    ...(marker.archives.length === 0
      ? {}
      : { archives: marker.archives.map(({ temporary, file }) => ({ temp: temporary, file })) }),
  })}\n`;
}

function encodeFingerprint(print: LogFingerprint): Readonly<Record<string, unknown>> {
  return { generation: print.generation, bytes: print.bytes, head_sha256: print.headSha256 };
}

/** The marker in `text`; null when it is none, as after a crash in the middle of writing it. */
export function parseMarker(text: string): RewriteMarker | null {
  const found = readMembers(text);
  if (found === null || found['turnlog'] !== 'pending-rewrite' || found['v'] !== 1) return null;
  const { kind, temp, to_seq: toSeq, last_turn: lastTurn } = found;
  const from = parseFingerprint(found['from']);
  const to = parseFingerprint(found['to']);
  if (kind !== 'evict' && kind !== 'redact') return null;
  if (!isText(temp) || !isCount(toSeq) || !isCount(lastTurn) || from === null || to === null) return null;
  const probe = found['probe'] === undefined ? null : parseProbe(found['probe']);
  const archives = found['archives'] === undefined ? [] : parseArchives(found['archives']);
  if (probe === undefined || archives === null) return null;
  return { kind, temporary: temp, from, to, toSeq, lastTurn, probe, archives };
}

/** Undefined when `value` names no line. */
function parseProbe(value: unknown): LineProof | undefined {
  const found = ownMembers(value);
  if (found === null) return undefined;
  const { offset, length, sha256 } = found;
  return isCount(offset) && isCount(length) && isSha256Hex(sha256) ? { offset, length, sha256 } : undefined;
}

/** Null when one of them names no temp file of ours, or no archive: a marker must lead to no other file. */
function parseArchives(value: unknown): readonly PendingArchive[] | null {
  if (!Array.isArray(value)) return null;
  const archives: PendingArchive[] = [];
  for (const entry of value) {
    const { temp, file } = ownMembers(entry) ?? {};
    if (!isText(temp) || !temporaryNamePattern.test(temp)) return null;
    if (!isText(file) || archivedTo(file) === null) return null;
    archives.push({ temporary: temp, file });
  }
  return archives;
}

function parseFingerprint(value: unknown): LogFingerprint | null {
  const found = ownMembers(value);
  if (found === null) return null;
  const { generation, bytes, head_sha256: headSha256 } = found;
  if (!isText(generation) || !isGeneration(generation) || !isCount(bytes) || !isSha256Hex(headSha256)) {
    return null;
  }
  return { generation, bytes, headSha256 };
}

/** The marker of a log directory: `unreadable` when what stands there is none. */
export function readMarker(fs: FileSystem, paths: LogPaths): RewriteMarker | 'none' | 'unreadable' {
  const status = fs.status(paths.pendingRewrite);
  if (status === null) return 'none';
  const text = readTextIfThere(fs, paths.pendingRewrite, limits.smallFileBytesMax);
  return (text === null ? null : parseMarker(text)) ?? 'unreadable';
}

/** Removes the marker, durably; one that is gone is as good as removed. */
export function removeMarker(fs: FileSystem, paths: LogPaths): void {
  removeFileIfThere(fs, paths.pendingRewrite);
  fs.syncDirectory(paths.index);
}

/** Whether the log in `source`, `length` bytes long, is the one that the rewrite of `marker` has made. */
export function isRewritten(source: ByteSource, length: number, { to, probe }: RewriteMarker): boolean {
  return isLogOf(source, length, to) && (probe === null || areBytesThere(source, length, probe));
}

function areBytesThere(source: ByteSource, length: number, probe: LineProof): boolean {
  if (probe.offset + probe.length > length) return false;
  const bytes = new Uint8Array(probe.length);
  return readFully(source, bytes, probe.offset) && sha256Hex(bytes) === probe.sha256;
}

/** Whether the log in `source`, `length` bytes long, is the one of `print`, which may have grown since. */
export function isLogOf(source: ByteSource, length: number, print: LogFingerprint): boolean {
  return length >= print.bytes && headSha256(source, length) === print.headSha256;
}

/** SHA-256 of the first line of a log; null when it has no whole one. */
export function headSha256(source: ByteSource, length: number): string | null {
  const framer = new LineFramer(source, { from: 0, to: length, lineBytesMax: limits.readerLineBytesMax });
  if (!framer.next() || !framer.isTerminated || framer.isTooLong) return null;
  return sha256Hex(framer.bytes.subarray(framer.start, framer.end));
}
