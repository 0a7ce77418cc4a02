import { ensurePrivateDirectory, publish, removeDerivedLeftovers } from '@turnlog/fs';
import { type FileSystem, sha256Hex } from '@turnlog/kernel';
import { type LogEnvironment, readBytesIfThere, readTextIfThere } from '@turnlog/log';
import { DigestSet } from './digest-set.js';
import { isPlacesState, type PlacesState } from './record-places.js';
import type { SourcePosition } from './record-window.js';
import { isMembers, type Members, textMember } from './source-object.js';

/**
 * What an import remembers of a session, beside its log, so that the next one need not fold its files again.
 * Derived: it is checked when it is read, and where it is missing or wrong the files are folded from their start.
 *
 *     derived/import.json          {"turnlog":"import","v":1,"sha256":"<of the body's text>","body":{…}}
 *     derived/import-digests.bin   the sets of digests that the body names, one behind the other
 */

const stateName = 'import.json';
const digestsName = 'import-digests.bin';
/** No such file of ours is longer. */
const stateBytesMax = 268_435_456;

/** What is known of one file. */
export interface FileState {
  /** As in "f1". */
  readonly file: string;
  readonly path: string;
  readonly device: string;
  readonly inode: string;
  readonly size: number;
  readonly modifiedMs: number;
  /** Behind the last record that was taken. */
  readonly to: SourcePosition;
  /** Of the bytes before `to`. */
  readonly sha256: string;
  /** Nothing waits: the turns that the file left open were closed. */
  readonly isFinal: boolean;
  /** The pass was stopped: what is behind `to` does not wait for more, and the next pass takes it. */
  readonly isStopped: boolean;
  readonly places: PlacesState;
  readonly mapper: unknown;
  readonly unansweredCount: number;
  readonly withoutUsageCount: number;
  /** Digests of the records that were taken. */
  readonly records: DigestSet;
}

export interface ImportState {
  readonly format: string;
  readonly mapping: string;
  readonly threadId: string;
  readonly aliases: readonly string[];
  /** The last record of the log that this state knows of. */
  readonly lastSeq: number;
  /** The first `run.started` of the session. */
  readonly runStarted: Members | null;
  readonly files: readonly FileState[];
  /** What its first records share with copies, in order, as hex digits. */
  readonly firstShared: readonly string[];
  readonly shared: DigestSet;
  /** Digests of the ids of its answers. */
  readonly answers: DigestSet;
}

const encoder = new TextEncoder();

/** Publishes the state of a session. A crash may leave an older one, or none. */
export function writeImportState(environment: LogEnvironment, directory: string, state: ImportState): void {
  const { fs, ids, clock, ownership } = environment;
  const derived = `${directory}/derived`;
  ensurePrivateDirectory(fs, derived, ownership);
  removeDerivedLeftovers(fs, derived, clock.now());
  const sets = [...state.files.map(({ records }) => records), state.shared, state.answers].map((set) =>
    set.toBytes(),
  );
  const digests = Buffer.concat(sets);
  const body = JSON.stringify({
    ...state,
    files: state.files.map((file) => ({ ...file, records: undefined })),
    shared: undefined,
    answers: undefined,
    digests: { sha256: sha256Hex(digests), lengths: sets.map(({ length }) => length) },
  });
  const head = headOf(sha256Hex(encoder.encode(body)));
  publish(fs, ids, `${derived}/${digestsName}`, digests, { durability: 'visible' });
  publish(fs, ids, `${derived}/${stateName}`, encoder.encode(`${head}${body}}\n`), { durability: 'visible' });
}

function headOf(sha256: string): string {
  return `{"turnlog":"import","v":1,"sha256":"${sha256}","body":`;
}

const headCharacters = headOf('0'.repeat(64)).length;

/** The state of a session; null when there is none that can be believed. */
export function readImportState(fs: FileSystem, directory: string): ImportState | null {
  const text = readTextIfThere(fs, `${directory}/derived/${stateName}`, stateBytesMax);
  const body = text === null ? null : checkedBody(text);
  const digests = body?.['digests'];
  if (body === null || !isMembers(digests) || !Array.isArray(digests['lengths'])) return null;
  const bytes = readBytesIfThere(fs, `${directory}/derived/${digestsName}`, stateBytesMax);
  if (bytes === null || sha256Hex(bytes) !== digests['sha256']) return null;
  return stateOf(body, setsOf(bytes, digests['lengths']));
}

function checkedBody(text: string): Members | null {
  const body = text.slice(headCharacters, -2);
  if (text.slice(0, headCharacters) !== headOf(sha256Hex(encoder.encode(body)))) return null;
  const value: unknown = JSON.parse(body);
  return isMembers(value) ? value : null;
}

function setsOf(bytes: Uint8Array, lengths: readonly unknown[]): readonly DigestSet[] {
  let at = 0;
  return lengths.map((length) => {
    const end = at + (typeof length === 'number' ? length : 0);
    const set = DigestSet.fromBytes(bytes.subarray(at, end));
    at = end;
    return set;
  });
}

/** The body was written by us, or its digest would not fit; still nothing is taken that does not look like it. */
function stateOf(body: Members, sets: readonly DigestSet[]): ImportState | null {
  const { files, lastSeq, aliases, firstShared, runStarted } = body;
  if (!Array.isArray(files) || !Array.isArray(aliases) || !Array.isArray(firstShared)) return null;
  const found = files.map((file, index) => fileStateOf(file, sets[index]));
  const shared = sets[files.length];
  const answers = sets[files.length + 1];
  if (shared === undefined || answers === undefined || typeof lastSeq !== 'number') return null;
  const known = found.filter((file) => file !== null);
  if (known.length !== found.length) return null;
  return {
    format: textMember(body, 'format') ?? '',
    mapping: textMember(body, 'mapping') ?? '',
    threadId: textMember(body, 'threadId') ?? '',
    aliases: aliases.map(String),
    lastSeq,
    runStarted: isMembers(runStarted) ? runStarted : null,
    files: known,
    firstShared: firstShared.map(String),
    shared,
    answers,
  };
}

function fileStateOf(value: unknown, records: DigestSet | undefined): FileState | null {
  if (!isMembers(value) || records === undefined || !isPlacesState(value['places'])) return null;
  const { to, size, modifiedMs, unansweredCount, withoutUsageCount } = value;
  if (!isMembers(to)) return null;
  const { offset, line } = to;
  return {
    file: textMember(value, 'file') ?? '',
    path: textMember(value, 'path') ?? '',
    device: textMember(value, 'device') ?? '',
    inode: textMember(value, 'inode') ?? '',
    size: countOf(size),
    modifiedMs: countOf(modifiedMs),
    to: { offset: countOf(offset), line: countOf(line) },
    sha256: textMember(value, 'sha256') ?? '',
    isFinal: value['isFinal'] === true,
    isStopped: value['isStopped'] === true,
    places: value['places'],
    mapper: value['mapper'],
    unansweredCount: countOf(unansweredCount),
    withoutUsageCount: countOf(withoutUsageCount),
    records,
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : -1;
}
