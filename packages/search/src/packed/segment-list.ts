import { publish } from '@turnlog/fs';
import { type FileSystem, type Ids, limits, sha256Hex } from '@turnlog/kernel';
import { readTextIfThere } from '@turnlog/log';

/**
 * `segments.json`: which files make the index. It is the one file that is replaced; what it does not name is left
 * over. Two lines: the list, and the SHA-256 of that line.
 *
 * ```
 * {"turnlog":"segments","format":1,"tokenizer":"tl-1","segments":[{"file":"<16 hex>.seg","bytes":1,"digest":"<64 hex>","chunks":1,"dead":null}]}
 * <64 hex>
 * ```
 */
export interface SegmentList {
  readonly tokenizer: string;
  readonly segments: readonly ListedSegment[];
}

export interface ListedSegment {
  readonly file: string;
  readonly bytes: number;
  readonly digest: string;
  readonly chunks: number;
  readonly dead: ListedTombstones | null;
}

export interface ListedTombstones {
  readonly file: string;
  readonly bytes: number;
  readonly digest: string;
}

/** What was found where the list is kept; `revision` names the list, so that two can be told apart. */
export type FoundList =
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'list'; readonly list: SegmentList; readonly revision: string };

const format = 1;
const segmentName = /^[0-9a-f]{16}\.seg$/;
const deadName = /^[0-9a-f]{16}\.[0-9a-f]{8}\.dead$/;
const digestForm = /^[0-9a-f]{64}$/;

/** Whether a name in the directory of the index is one of a file that a list may name. */
export function isIndexFile(name: string): boolean {
  return segmentName.test(name) || deadName.test(name);
}

export function readSegmentList(fs: FileSystem, path: string, tokenizer: string): FoundList {
  const text = readTextIfThere(fs, path, limits.searchListBytesMax);
  if (text === null) return fs.status(path) === null ? { kind: 'absent' } : damaged('it is too long');
  const [line = '', revision = ''] = text.split('\n', 2);
  const isWhole = text === `${line}\n${revision}\n` && sha256Hex(Buffer.from(line)) === revision;
  if (!isWhole) return damaged('it is not what was written');
  const list = parseList(line);
  if (list === null) return damaged('it is of another format');
  if (list.tokenizer !== tokenizer) return damaged('it was made with another tokenizer');
  return { kind: 'list', list, revision };
}

function damaged(reason: string): FoundList {
  return { kind: 'damaged', reason };
}

/** Replaces the list; returns the name of the new one. */
export function publishSegmentList(fs: FileSystem, ids: Ids, path: string, list: SegmentList): string {
  const { tokenizer, segments } = list;
  const line = JSON.stringify({ turnlog: 'segments', format, tokenizer, segments });
  const revision = sha256Hex(Buffer.from(line));
  publish(fs, ids, path, Buffer.from(`${line}\n${revision}\n`), { durability: 'durable' });
  return revision;
}

function parseList(line: string): SegmentList | null {
  const value = parsed(line);
  const { turnlog, tokenizer, segments } = membersOf(value);
  if (turnlog !== 'segments' || membersOf(value)['format'] !== format) return null;
  if (typeof tokenizer !== 'string' || !Array.isArray(segments)) return null;
  const listed: ListedSegment[] = [];
  for (const entry of segments) {
    const segment = parseSegment(entry);
    if (segment === null) return null;
    listed.push(segment);
  }
  return { tokenizer, segments: listed };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function parseSegment(value: unknown): ListedSegment | null {
  const file = parseFile(value, segmentName);
  const { chunks, dead } = membersOf(value);
  if (file === null || !isCount(chunks)) return null;
  if (dead === null) return { ...file, chunks, dead };
  const tombstones = parseFile(dead, deadName);
  return tombstones === null ? null : { ...file, chunks, dead: tombstones };
}

function parseFile(value: unknown, form: RegExp): ListedTombstones | null {
  const { file, bytes, digest } = membersOf(value);
  const isRight =
    typeof file === 'string' &&
    form.test(file) &&
    isCount(bytes) &&
    typeof digest === 'string' &&
    digestForm.test(digest);
  return isRight ? { file, bytes, digest } : null;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
