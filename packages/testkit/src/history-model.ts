import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import {
  followLifecycle,
  leafOf,
  type NaiveLog,
  type NaiveRecord,
  naiveTree,
  readNaively,
  readRemembered,
} from './log-model.js';

/**
 * The whole history of a log that was cut, read in the plainest way: the file, then the archive that its header
 * names, then the one that the header in there names, and so on. Shares no code with the engine.
 */

/** A file of a log directory, by its name below it; null when there is none. */
export type ReadFile = (name: string) => Buffer | null;

export interface NaiveHistory {
  /** The log file itself. */
  readonly log: NaiveLog;
  /** All lines that are left, archives first, headers left out: what the file would be without any eviction. */
  readonly bytes: Buffer;
  /** The records in them, with the turns that they would have. */
  readonly whole: NaiveLog;
  /** The leaf hash of each record that the log has ever had. */
  readonly leaves: readonly Buffer[];
  /** How many leaves come before the records that are left: those of records that were dropped. */
  readonly droppedCount: number;
  /** Seq and turn of the last record that was dropped; 0 when none was. */
  readonly droppedTo: number;
  readonly droppedTurns: number;
  /** Files in `archive/` that the chain of headers names. */
  readonly named: readonly string[];
  /** What does not fit together. */
  readonly problems: readonly string[];
}

/** Reads the history of the log whose file holds `content`. */
export function readHistory(content: Uint8Array, readFile: ReadFile): NaiveHistory {
  const log = readRemembered(content);
  const problems: string[] = [];
  const named: string[] = [];
  const parts: NaiveLog[] = [log];
  let header = log.header;
  while (header !== null && header.event['archive'] !== null) {
    const part: NaiveLog | null = readArchive(header, readFile, named, problems);
    if (part === null) break;
    if (part.header !== null && part.header.seq >= header.seq) {
      problems.push(`I1 the archive of seq ${header.seq} begins with the header at seq ${part.header.seq}`);
      break;
    }
    parts.unshift(part);
    header = part.header;
  }
  const isDropped = header !== null && header.event['archive'] === null;
  const dropped = isDropped && header !== null ? readLeaves(header, readFile, named, problems) : [];
  const bytes = Buffer.concat(parts.map(withoutHeader));
  const droppedTurns = isDropped ? Number(header?.event['last_turn'] ?? 0) : 0;
  const whole = log.header === null ? log : wholeOf(bytes, droppedTurns);
  const leaves = [...dropped, ...whole.records.map(leafOf)];
  checkHeaders(parts, leaves, problems);
  return {
    log,
    bytes,
    whole,
    leaves,
    droppedCount: dropped.length,
    droppedTo: isDropped ? (header?.seq ?? 0) : 0,
    droppedTurns,
    named,
    problems,
  };
}

function wholeOf(bytes: Uint8Array, droppedTurns: number): NaiveLog {
  const read = readNaively(bytes);
  return { ...read, ...followLifecycle(read.records, droppedTurns) };
}

/** The leaves of everything that is no longer in the file. */
export function evictedLeavesOf({ leaves, log }: NaiveHistory): readonly Buffer[] {
  return leaves.slice(0, leaves.length - log.records.length);
}

function withoutHeader({ bytes, header }: NaiveLog): Buffer {
  return header === null ? bytes : bytes.subarray(header.end);
}

interface ArchiveMember {
  readonly file: string;
  readonly codec: string;
  readonly bytes: number;
  readonly raw_bytes: number;
  readonly raw_sha256: string;
}

function readArchive(
  header: NaiveRecord,
  readFile: ReadFile,
  named: string[],
  problems: string[],
): NaiveLog | null {
  const archive = header.event['archive'] as ArchiveMember;
  named.push(archive.file);
  const stored = readFile(`archive/${archive.file}`);
  if (stored === null) {
    problems.push(`I1 the header at seq ${header.seq} names ${archive.file}, which is not there`);
    return null;
  }
  if (archive.file !== `e-${header.seq}.jsonl.gz` || archive.codec !== 'gzip') {
    problems.push(`C-15 the header at seq ${header.seq} names ${archive.file} (${archive.codec})`);
  }
  const raw = gunzipSync(stored);
  const digest = createHash('sha256').update(raw).digest('hex');
  const found = { bytes: stored.length, raw_bytes: raw.length, raw_sha256: digest };
  const { bytes, raw_bytes, raw_sha256 } = archive;
  const expected = { bytes, raw_bytes, raw_sha256 };
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    problems.push(`I1 ${archive.file} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  }
  return readNaively(raw);
}

function readLeaves(header: NaiveRecord, readFile: ReadFile, named: string[], problems: string[]): Buffer[] {
  const name = `leaves-${header.seq}.bin`;
  named.push(name);
  const stored = readFile(`archive/${name}`);
  const { size } = header.event['tree'] as { readonly size: number };
  if (stored === null || stored.length !== size * 32) {
    problems.push(`I1 ${name} holds ${stored?.length ?? 'no'} bytes for ${size} leaves`);
  }
  return Array.from({ length: size }, (_, at) => stored?.subarray(at * 32, at * 32 + 32) ?? Buffer.alloc(32));
}

/** Each header tells the truth of everything that lies before the records behind it. */
function checkHeaders(parts: readonly NaiveLog[], leaves: readonly Buffer[], problems: string[]): void {
  let behind = 0;
  for (const { header, records } of parts.toReversed()) {
    behind += records.length;
    if (header === null) continue;
    const { event, seq } = header;
    const before = leaves.slice(0, leaves.length - behind);
    const expected = { to_seq: seq, total_events: before.length, tree: naiveTree(before) };
    const { to_seq, total_events, tree } = event;
    if (JSON.stringify(expected) !== JSON.stringify({ to_seq, total_events, tree })) {
      problems.push(
        `I1 the header at seq ${seq} says ${JSON.stringify(event)}, not ${JSON.stringify(expected)}`,
      );
    }
  }
}
