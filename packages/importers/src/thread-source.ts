import type { FileHandle } from '@turnlog/kernel';
import { DigestSet } from './digest-set.js';
import { documentBytesMax, documentIn } from './document-window.js';
import { openWindow } from './open-window.js';
import type { SharedRecords } from './order-threads.js';
import { sharedDigest } from './record-places.js';
import { RecordWindow } from './record-window.js';
import { headOf } from './source-files.js';
import type { Members, SourceObject } from './source-object.js';
import { sourceTimeMs } from './source-time.js';
import type { SurveyedPlace, ThreadFormat, ThreadIdentity } from './thread-format.js';

/** What has no object among its first bytes is in no format of lines. */
const headBytesMax = 65_536;

/** Records of one file that are compared with those of another; forks that part later are told apart by size. */
const comparedRecordsMax = 65_536;

const openBrace = 0x7b;
const startOfFile = { offset: 0, line: 1 } as const;

/** The format of a file of threads, by its first complete object or, where it is one document, by the whole. */
export function threadFormatOf(file: FileHandle, formats: readonly ThreadFormat[]): ThreadFormat | undefined {
  const first = firstObjectOf(file);
  const found = formats.find((each) => first !== null && each.recognises(first));
  if (found !== undefined) return found;
  const head = Buffer.from(headOf(file, headBytesMax)).toString('latin1');
  const alike = formats.filter((each) => each.document?.head.test(head) === true);
  const document = alike.length === 0 ? null : documentOf(file);
  // One that is not whole yet waits for the rest under the format that it begins like.
  return document === null ? alike[0] : alike.find((each) => each.recognises(document.value));
}

function documentOf(file: FileHandle): SourceObject | null {
  const { size } = file.status();
  return size > documentBytesMax ? null : documentIn(headOf(file, size));
}

/** The first complete object of a file; null when none is among its first lines. */
function firstObjectOf(file: FileHandle): Members | null {
  const { size } = file.status();
  const head = headOf(file, headBytesMax);
  // A line that is longer than the head is read on only when it begins as an object does.
  if (!head.includes(0x0a) && !head.includes(openBrace)) return null;
  const window = new RecordWindow(file, { from: startOfFile, to: size, isFinal: false });
  for (let piece = window.next(); piece !== null; piece = window.next()) {
    if (piece.kind === 'object') return piece.object.value;
    if (piece.end.offset > headBytesMax) return null;
  }
  return null;
}

/** Which thread a file holds; null when it holds no record yet. */
export function surveyThread(
  file: FileHandle,
  format: ThreadFormat,
  place: SurveyedPlace,
): ThreadIdentity | null {
  const survey = format.survey(place);
  const document = format.document === undefined ? null : documentOf(file);
  for (const object of document === null ? objectsOf(file, format) : [document]) {
    if (survey.note(object)) break;
  }
  return survey.identity();
}

/** What the records of a file are, by their ids or digests. */
export function recordDigestsOf(file: FileHandle, format: ThreadFormat): DigestSet {
  const records = new DigestSet();
  for (const object of objectsOf(file, format)) {
    const id = format.recordId(object);
    records.add(id === undefined ? object.sha256 : sharedDigest(id));
  }
  return records;
}

/** What the records of a file share with copies, and their times, as far as forks are told apart by them. */
export function sharedRecordsOf(file: FileHandle, format: ThreadFormat): SharedRecords {
  const records = new Map<string, number | null>();
  for (const object of objectsOf(file, format)) {
    const identity = format.sharedIdentity(object);
    if (identity === undefined) continue;
    const name = sharedDigest(identity);
    if (!records.has(name)) records.set(name, sourceTimeMs(format.recordTime(object)));
    if (records.size >= comparedRecordsMax) break;
  }
  return records;
}

function* objectsOf(file: FileHandle, format: ThreadFormat): Iterable<SourceObject> {
  const options = { from: startOfFile, to: file.status().size, isFinal: false };
  const window = openWindow(format, file, options);
  for (let piece = window.next(); piece !== null; piece = window.next()) {
    if (piece.kind === 'object') yield piece.object;
  }
}
