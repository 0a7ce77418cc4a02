import {
  type ArchiveFile,
  encodeEvent,
  encodeRecord,
  formatTimestamp,
  type LogRedactedEvent,
  turnUsage,
  type UsageCounts,
} from '@turnlog/events';
import { elementSpans, memberSpans, type Span, textOf } from '@turnlog/kernel';
import { type Edit, editedBlocks } from './edited-bytes.js';
import type { LogRecord } from './log-record.js';

/** The lines that a redaction writes (C-17): what stands in the place of a record, and headers that led to it. */

/** Why a record goes, and on whose word. */
export interface RedactionReason {
  readonly reason: string;
  readonly actor: string;
}

/** What takes the place of `record`: its seq, time and key stay, its words go, its leaf hash stands for them. */
export function redactedRecord(
  record: LogRecord,
  { reason, actor }: RedactionReason,
  redactedAtMs: number,
): Uint8Array {
  const event: LogRedactedEvent = {
    type: 'log.redacted',
    leaf: record.leaf(),
    original_type: record.type,
    length: record.length,
    redacted_at: formatTimestamp(redactedAtMs),
    reason,
    actor,
    ...keptOf(record),
  };
  const { seq, ts, key } = record;
  const line = encodeRecord({ seq, ts, ...(key === null ? {} : { key }) }, encodeEvent(event));
  return line.subarray(0, -1);
}

/** The tokens of a turn are still counted when the words of its end are gone. */
function keptOf(record: LogRecord): Pick<LogRedactedEvent, 'kept'> {
  const { usage } = turnUsage([record]);
  return usage === null ? {} : { kept: { usage: usageMembers(usage) } };
}

function usageMembers({ input, cached, creation, output }: UsageCounts): Readonly<Record<string, bigint>> {
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    cache_creation_tokens: creation,
    output_tokens: output,
  };
}

/** What an eviction header has to say anew when records behind it are redacted. */
export interface HeaderChange {
  /** The archive that it names, written anew; null when that is as it was. */
  readonly archive: ArchiveFile | null;
  /** Records whose events it may not carry any more. */
  readonly seqs: ReadonlySet<number>;
}

/** The header in `record` with what has changed; null when nothing has. All else stays byte for byte. */
export function changedHeader(record: LogRecord, change: HeaderChange): Uint8Array | null {
  const { bytes } = record;
  const event = record.eventBytes();
  const start = event.byteOffset - bytes.byteOffset;
  const members = memberSpans(bytes, { start, end: start + event.length });
  const edits = [archiveEdit(members, change), carriedEdit(bytes, members, change)].filter(
    (edit) => edit !== null,
  );
  if (edits.length === 0) return null;
  edits.sort((one, other) => one.start - other.start);
  const source = { read: (into: Uint8Array, at: number) => copied(bytes, into, at) };
  return Buffer.concat([...editedBlocks(source, bytes.length, edits)]);
}

function archiveEdit(members: ReadonlyMap<string, Span>, { archive }: HeaderChange): Edit | null {
  const named = members.get('archive');
  return archive === null || named === undefined
    ? null
    : { ...named, bytes: Buffer.from(JSON.stringify(archive)) };
}

function carriedEdit(
  bytes: Uint8Array,
  members: ReadonlyMap<string, Span>,
  { seqs }: HeaderChange,
): Edit | null {
  const list = members.get('carried');
  if (list === undefined) return null;
  const entries = elementSpans(bytes, list);
  const left = entries.filter((entry) => !seqs.has(seqOf(bytes, entry)));
  if (left.length === entries.length) return null;
  const parts = left.flatMap(({ start, end }, at) => [
    ...(at === 0 ? [] : [Buffer.from(',')]),
    bytes.subarray(start, end),
  ]);
  return { ...list, bytes: Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')]) };
}

function seqOf(bytes: Uint8Array, entry: Span): number {
  const seq = memberSpans(bytes, entry).get('seq');
  return seq === undefined ? 0 : Number(textOf(bytes, seq));
}

function copied(bytes: Uint8Array, into: Uint8Array, at: number): number {
  const part = bytes.subarray(at, at + into.length);
  into.set(part);
  return part.length;
}
