import {
  type ArchiveFile,
  type EncodedEvent,
  encodeRawEvent,
  encodeRecord,
  formatTimestamp,
  type SummaryReference,
} from '@turnlog/events';
import type { Generation } from '@turnlog/kernel';
import type { CarriedEvent } from './carried-records.js';
import { isCount, isSha256Hex, isText } from './checked-json.js';
import type { DamageTotals, EvictedTotals } from './log-state.js';
import { frontierLength, type TreeHead, treeRoot } from './merkle-frontier.js';
import { isPlainObject } from './session-facts.js';

/**
 * The first record of a log that has been cut: `log.evicted`. It stands in the place of the last record that left,
 * with its seq, and says all that the log needs to go on without the others: counts, turn numbers, the hash tree,
 * the newest events that are still asked for, and where the bytes are.
 */

/** What an eviction header is made of. */
export interface EvictionFacts {
  readonly generation: Generation;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly events: number;
  readonly turns: number;
  /** Since the log began, this eviction included. */
  readonly total: EvictedTotals;
  /** Of everything that has left, in milliseconds since the epoch; null when none is known. */
  readonly firstTsMs: number | null;
  readonly lastTsMs: number | null;
  readonly evictedAtMs: number;
  /** The time of the header itself. */
  readonly tsMs: number;
  /** Over everything before the records that stay. */
  readonly tree: TreeHead;
  /** Null when the bytes were dropped. */
  readonly archive: ArchiveFile | null;
  readonly summary: SummaryReference;
  readonly damage: Pick<DamageTotals, 'count' | 'bytes'>;
  readonly carried: readonly CarriedEvent[];
}

/** The line of the header, its 0x0A included. */
export function encodeEvictionHeader(facts: EvictionFacts): Uint8Array {
  return encodeRecord({ seq: facts.toSeq, ts: formatTimestamp(facts.tsMs) }, headerEvent(facts));
}

function headerEvent(facts: EvictionFacts): EncodedEvent {
  const { total, tree, damage, carried } = facts;
  const members = JSON.stringify({
    type: 'log.evicted',
    generation: facts.generation,
    from_seq: facts.fromSeq,
    to_seq: facts.toSeq,
    events: facts.events,
    turns: facts.turns,
    total_events: total.events,
    total_turns: total.turns,
    last_turn: total.lastTurn,
    first_ts: textOrNull(facts.firstTsMs),
    last_ts: textOrNull(facts.lastTsMs),
    evicted_at: formatTimestamp(facts.evictedAtMs),
    tree: { size: tree.size, root: treeRoot(tree), frontier: tree.frontier },
    archive: facts.archive,
    summary: facts.summary,
    ...(damage.count === 0 ? {} : { damage: { count: damage.count, bytes: damage.bytes } }),
  });
  if (carried.length === 0) return encodeRawEvent(members);
  // Carried events are put in as they were written: building their values would change numbers and escapes.
  const entries = carried.map(
    ({ seq, ts, text }) => `{"seq":${seq},"ts":${JSON.stringify(ts)},"event":${text}}`,
  );
  return encodeRawEvent(`${members.slice(0, -1)},"carried":[${entries.join(',')}]}`);
}

function textOrNull(tsMs: number | null): string | null {
  return tsMs === null ? null : formatTimestamp(tsMs);
}

/** What a header says of the eviction that wrote it; the members that reading needs. */
export interface EvictionHeader {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly events: number;
  readonly turns: number;
  readonly lastTurn: number;
  readonly firstTs: string | null;
  readonly lastTs: string | null;
  readonly tree: TreeHead;
  readonly archive: ArchiveFile | null;
}

/** The header in the value of a `log.evicted` event; null when a member is missing or of another type. */
export function parseEvictionHeader(event: unknown): EvictionHeader | null {
  if (!isPlainObject(event) || event['type'] !== 'log.evicted') return null;
  const { from_seq: fromSeq, to_seq: toSeq, events, turns, last_turn: lastTurn } = event;
  const { first_ts: firstTs, last_ts: lastTs } = event;
  const tree = parseTreeHead(event['tree']);
  const archive = parseArchive(event['archive']);
  if (!isCount(fromSeq) || !isCount(toSeq) || !isCount(events) || !isCount(turns) || !isCount(lastTurn)) {
    return null;
  }
  if (tree === null || archive === undefined) return null;
  return {
    fromSeq,
    toSeq,
    events,
    turns,
    lastTurn,
    firstTs: isText(firstTs) ? firstTs : null,
    lastTs: isText(lastTs) ? lastTs : null,
    tree,
    archive,
  };
}

/** A tree head in a JSON value; null when it is none. */
export function parseTreeHead(value: unknown): TreeHead | null {
  if (!isPlainObject(value)) return null;
  const { size, frontier } = value;
  if (!isCount(size) || !Array.isArray(frontier)) return null;
  const hashes: readonly unknown[] = frontier;
  return hashes.length === frontierLength(size) && hashes.every(isSha256Hex)
    ? { size, frontier: hashes }
    : null;
}

/** Undefined when `value` is neither an archive nor null. */
function parseArchive(value: unknown): ArchiveFile | null | undefined {
  if (value === null) return null;
  if (!isPlainObject(value)) return undefined;
  const { file, codec, bytes, raw_bytes: rawBytes, raw_sha256: rawSha256 } = value;
  if (!isText(file) || !isText(codec) || !isCount(bytes) || !isCount(rawBytes) || !isSha256Hex(rawSha256)) {
    return undefined;
  }
  return { file, codec, bytes, raw_bytes: rawBytes, raw_sha256: rawSha256 };
}
