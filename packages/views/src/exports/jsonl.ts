/**
 * The stored lines, each with its 0x0A, byte for byte. Damage is left out. Where something was redacted, the line is
 * written anew around it: only the strings concerned change, and the envelope gets the member `"redacted":true`
 * directly before `event`. Records of frames without commit are there too: this is the log, not what it means.
 */

import { JsonTokenizer } from '@turnlog/kernel';
import type { LogReader, LogRecord } from '@turnlog/log';
import type { Egress } from '@turnlog/store';
import type { ExportChunk } from './export-request.js';
import type { ExportTally } from './export-tally.js';

const lineFeed = Uint8Array.of(0x0a);

/** The file as it is, damage included. */
export function* rawLines(reader: LogReader, tally: ExportTally): Iterable<ExportChunk> {
  tally.noteLog(reader);
  for (const block of reader.bytes(0, reader.length)) yield block.slice();
}

export function* jsonLines(reader: LogReader, egress: Egress, tally: ExportTally): Iterable<ExportChunk> {
  tally.noteLog(reader);
  for (const record of reader.records()) {
    tally.noteRecords(1);
    const rewritten = egress.type === 'pass-through' ? null : redactedLine(record, egress);
    if (rewritten !== null) tally.noteRewritten();
    yield rewritten ?? record.bytes;
    yield lineFeed;
  }
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly bytes: Uint8Array;
}

const marker = encoded('"redacted":true,');
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The line without secrets; null when there are none. */
function redactedLine({ bytes }: LogRecord, egress: Egress): Uint8Array | null {
  const edits: Edit[] = [];
  let markerAt = 0;
  let isMarked = false;
  const tokenizer = new JsonTokenizer();
  tokenizer.reset(bytes, 0, bytes.length);
  tokenizer.next();
  while (tokenizer.next() === 'key') {
    const name = decodedString(bytes, tokenizer.start, tokenizer.end);
    if (name === 'event') markerAt = tokenizer.start;
    if (name === 'redacted') isMarked = true;
    const nameEdit = stringEdit(bytes, tokenizer, egress);
    const valueEdit = redactedValue(bytes, tokenizer, egress);
    for (const edit of [nameEdit, valueEdit]) if (edit !== null) edits.push(edit);
  }
  if (edits.length === 0) return null;
  if (!isMarked) edits.push({ start: markerAt, end: markerAt, bytes: marker });
  return withEdits(
    bytes,
    edits.sort((one, other) => one.start - other.start),
  );
}

/**
 * A member of the envelope. A text is looked at without its name, because that of an idempotency key would make a
 * secret of every one of them.
 */
function redactedValue(bytes: Uint8Array, tokenizer: JsonTokenizer, egress: Egress): Edit | null {
  const token = tokenizer.next();
  const { start } = tokenizer;
  if (token === 'string') return stringEdit(bytes, tokenizer, egress);
  if (token !== 'object-start' && token !== 'array-start') return null;
  tokenizer.skipContainer();
  const { end } = tokenizer;
  const value = egress.jsonBytes(bytes.subarray(start, end));
  return value.changed ? { start, end, bytes: value.bytes } : null;
}

function stringEdit(bytes: Uint8Array, { start, end }: JsonTokenizer, egress: Egress): Edit | null {
  const text = decodedString(bytes, start, end);
  const safe = egress.text(text);
  return safe === text ? null : { start, end, bytes: encoded(JSON.stringify(safe)) };
}

function decodedString(bytes: Uint8Array, start: number, end: number): string {
  const value: unknown = JSON.parse(decoder.decode(bytes.subarray(start, end)));
  return String(value);
}

function withEdits(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (const { start, end, bytes: replacement } of edits) {
    parts.push(bytes.subarray(copied, start), replacement);
    copied = end;
  }
  parts.push(bytes.subarray(copied));
  return Buffer.concat(parts);
}
