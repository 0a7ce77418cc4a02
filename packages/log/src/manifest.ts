import { parseTimestamp } from '@turnlog/events';
import { type Generation, isGeneration, limits } from '@turnlog/kernel';
import {
  type FoundMembers,
  isCount,
  isCountOrNull,
  isSha256Hex,
  isText,
  ownMembers,
  readMembers,
} from './checked-json.js';
import type { OpenTurn, SessionStatus } from './lifecycle.js';
import { type EvictedTotals, type LogState, noFrame, turnBaseOf } from './log-state.js';
import { frontierLength, type TreeHead, treeRoot } from './merkle-frontier.js';
import { isPlainObject, type SessionFacts } from './session-facts.js';
import { formatTime } from './turn-index.js';

/**
 * The format of `manifest.json`, one line. Its first ten members are those of VT Code's manifest with the same
 * types, so that its tools list our sessions; ours lie under `turnlog`. Nothing here depends on the wall clock:
 * the same log gives the same manifest but for the generation.
 */

/** A line of the log by place and content. */
export interface LineProof {
  readonly offset: number;
  readonly length: number;
  /** SHA-256 of the line without its 0x0A. */
  readonly sha256: string;
}

export interface Manifest {
  readonly sessionId: string;
  readonly generation: Generation;
  /** What the log held when this was published; `length` is `persisted_file_len`. */
  readonly state: LogState;
  readonly head: LineProof | null;
  readonly tail: LineProof | null;
  readonly tree: TreeHead;
  /** Bytes of `index/turns.jsonl` that belong to this state. */
  readonly indexBytes: number;
}

const epoch = '1970-01-01T00:00:00.000Z';

export function encodeManifest(manifest: Manifest): string {
  const { state, tree } = manifest;
  const { lifecycle, facts } = state;
  const firstTs = formatTime(state.firstTsMs);
  const lastTs = formatTime(state.newestTsMs);
  return `${JSON.stringify({
    session_id: manifest.sessionId,
    schema_version: 1,
    created_at: firstTs ?? epoch,
    updated_at: lastTs ?? epoch,
    turn_count: lifecycle.turnCount,
    event_count: lifecycle.eventCount,
    status: lifecycle.status,
    in_turn: lifecycle.open !== null,
    persisted_file_len: state.length,
    retained_turn_base: turnBaseOf(state),
    turnlog: {
      v: 1,
      generation: manifest.generation,
      first_seq: state.firstSeq,
      last_seq: state.order.highestSeq,
      first_ts: firstTs,
      last_ts: lastTs,
      head: manifest.head,
      tail: manifest.tail,
      open_turn: lifecycle.open === null ? null : encodeOpenTurn(lifecycle.open),
      index_len: manifest.indexBytes,
      tree: { size: tree.size, root: treeRoot(tree), frontier: tree.frontier },
      damage: { count: state.damage.count, bytes: state.damage.bytes },
      evicted: encodeEvicted(state.evicted),
      keys: state.keyCount,
      workspaces: facts.workspaces,
      ...(state.unorderedCount === 0 ? {} : { unordered: state.unorderedCount }),
      ...(facts.agent === undefined ? {} : { agent: facts.agent }),
      ...(facts.forkedFrom === undefined ? {} : { forked_from: facts.forkedFrom }),
      ...(facts.title === undefined ? {} : { title: facts.title }),
      ...(facts.tags === undefined ? {} : { tags: facts.tags }),
      ...(facts.archived === undefined ? {} : { archived: facts.archived }),
    },
  })}\n`;
}

function encodeOpenTurn(open: OpenTurn): Readonly<Record<string, unknown>> {
  return {
    turn: open.turn,
    start: open.start,
    end: open.end,
    first_seq: open.firstSeq,
    last_seq: open.lastSeq,
    events: open.events,
    ts: formatTime(open.tsMs),
    end_ts: formatTime(open.endTsMs),
  };
}

function encodeEvicted(evicted: EvictedTotals | null): Readonly<Record<string, number>> | null {
  if (evicted === null) return null;
  return {
    to_seq: evicted.toSeq,
    events: evicted.events,
    turns: evicted.turns,
    last_turn: evicted.lastTurn,
  };
}

/** Whether the root that a manifest names is reckoned anew from its frontier, or only types and lengths count. */
export type TreeCheck = 'root' | 'form';

/** The manifest in `text`; null when a member is missing or of another type: then it is no evidence. */
export function parseManifest(text: string, treeCheck: TreeCheck = 'root'): Manifest | null {
  const found = readMembers(text);
  const own = found === null ? null : ownMembers(found['turnlog']);
  if (found === null || own === null || found['schema_version'] !== 1 || own['v'] !== 1) return null;
  const sessionId = found['session_id'];
  const generation = own['generation'];
  const indexBytes = own['index_len'];
  const tree = parseTree(own['tree'], treeCheck);
  const head = parseProof(own['head']);
  const tail = parseProof(own['tail']);
  const state = parseState(found, own, head, tail);
  if (!isText(sessionId) || !isText(generation) || !isGeneration(generation)) return null;
  if (!isCount(indexBytes)) return null;
  if (tree === null || head === undefined || tail === undefined || state === null) return null;
  // None is published of an empty log, and no line could confirm it.
  if (head === null || tail === null) return null;
  return { sessionId, generation, state, head, tail, tree, indexBytes };
}

function parseState(
  found: FoundMembers,
  own: FoundMembers,
  head: LineProof | null | undefined,
  tail: LineProof | null | undefined,
): LogState | null {
  const counts = parseCounts(found, own);
  const times = parseTimes(own);
  const damage = parseDamage(own['damage']);
  const evicted = parseEvicted(own['evicted']);
  const open = parseOpenTurn(own['open_turn']);
  const facts = parseFacts(own);
  const status = found['status'];
  if (counts === null || times === null || damage === null || facts === null || !isStatus(status))
    return null;
  if (evicted === undefined || open === undefined || head === undefined || tail === undefined) return null;
  if (found['in_turn'] !== (open !== null)) return null;
  const { turnCount, eventCount, turnBase, lastSeq } = counts;
  // The open turn follows the closed ones, whoever has changed a digit.
  if (open !== null && (open.turn !== turnCount + 1 || open.end > counts.length)) return null;
  // Spelled out, as are the facts below: lists read manifests by the ten thousand.
  return {
    length: counts.length,
    lifecycle: { turnCount, open, status, eventCount, closed: null },
    order: { highestSeq: lastSeq, lastTsMs: times.newestTsMs, recordCount: eventCount },
    firstSeq: counts.firstSeq,
    firstTsMs: times.firstTsMs,
    newestTsMs: times.newestTsMs,
    head: head === null ? null : { offset: head.offset, length: head.length },
    tail: tail === null ? null : { offset: tail.offset, length: tail.length },
    damage: { count: damage.count, bytes: damage.bytes, last: null },
    evicted,
    firstTurn: open !== null || turnCount >= turnBase ? turnBase : null,
    isPrefixMissing: false,
    unorderedCount: counts.unordered,
    keyCount: counts.keys,
    facts,
    frames: noFrame,
  };
}

interface Counts {
  readonly turnCount: number;
  readonly eventCount: number;
  readonly length: number;
  readonly turnBase: number;
  readonly firstSeq: number | null;
  readonly lastSeq: number;
  readonly keys: number;
  readonly unordered: number;
}

function parseCounts(found: FoundMembers, own: FoundMembers): Counts | null {
  const { turn_count: turnCount, event_count: eventCount, persisted_file_len: length } = found;
  const { first_seq: firstSeq, last_seq: lastSeq, keys } = own;
  const turnBase = found['retained_turn_base'];
  const unordered = own['unordered'] ?? 0;
  if (!isCount(turnCount) || !isCount(eventCount) || !isCount(length) || !isCount(turnBase)) return null;
  if (!isCountOrNull(firstSeq) || !isCount(lastSeq) || !isCount(keys) || !isCount(unordered)) return null;
  return { turnCount, eventCount, length, turnBase, firstSeq, lastSeq, keys, unordered };
}

function parseTimes(
  own: FoundMembers,
): { readonly firstTsMs: number | null; readonly newestTsMs: number | null } | null {
  const firstTsMs = parseTimeOrNull(own['first_ts']);
  const newestTsMs = parseTimeOrNull(own['last_ts']);
  return firstTsMs === undefined || newestTsMs === undefined ? null : { firstTsMs, newestTsMs };
}

function isStatus(value: unknown): value is SessionStatus {
  return value === 'active' || value === 'completed';
}

/** Milliseconds since the epoch; undefined when `value` is neither a time nor null. */
function parseTimeOrNull(value: unknown): number | null | undefined {
  if (value === null) return null;
  return isText(value) ? (parseTimestamp(value) ?? undefined) : undefined;
}

function parseTree(value: unknown, check: TreeCheck): TreeHead | null {
  const found = ownMembers(value);
  if (found === null) return null;
  const { size, root, frontier } = found;
  if (!isCount(size) || !isHashLong(root) || !Array.isArray(frontier)) return null;
  if (frontier.length !== frontierLength(size) || frontier.length > limits.frontierHashesMax) return null;
  if (!frontier.every(check === 'form' ? isHashLong : isSha256Hex)) return null;
  const head: TreeHead = { size, frontier };
  return check === 'form' || treeRoot(head) === root ? head : null;
}

function isHashLong(value: unknown): value is string {
  return isText(value) && value.length === hashCharacters;
}

const hashCharacters = 64;

/** Undefined when `value` is neither a proof nor null. */
function parseProof(value: unknown): LineProof | null | undefined {
  if (value === null) return null;
  const found = ownMembers(value);
  if (found === null) return undefined;
  const { offset, length, sha256 } = found;
  return isCount(offset) && isCount(length) && isSha256Hex(sha256) ? { offset, length, sha256 } : undefined;
}

function parseDamage(value: unknown): { readonly count: number; readonly bytes: number } | null {
  const found = ownMembers(value);
  if (found === null) return null;
  const { count, bytes } = found;
  return isCount(count) && isCount(bytes) ? { count, bytes } : null;
}

function parseEvicted(value: unknown): EvictedTotals | null | undefined {
  if (value === null) return null;
  const found = ownMembers(value);
  if (found === null) return undefined;
  const { to_seq: toSeq, events, turns, last_turn: lastTurn } = found;
  if (!isCount(toSeq) || !isCount(events) || !isCount(turns) || !isCount(lastTurn)) return undefined;
  return { toSeq, events, turns, lastTurn };
}

function parseOpenTurn(value: unknown): OpenTurn | null | undefined {
  if (value === null) return null;
  const found = ownMembers(value);
  if (found === null) return undefined;
  const { turn, start, end, first_seq: firstSeq, last_seq: lastSeq, events, ts, end_ts: endTs } = found;
  if (!isCount(turn) || !isCount(start) || !isCount(end) || !isCount(events)) return undefined;
  const tsMs = parseTimeOrNull(ts);
  const endTsMs = parseTimeOrNull(endTs);
  if (!isCount(firstSeq) || !isCount(lastSeq) || tsMs === undefined || endTsMs === undefined)
    return undefined;
  return { turn, start, end, firstSeq, lastSeq, events, tsMs, endTsMs };
}

function parseFacts(own: FoundMembers): SessionFacts | null {
  const { workspaces, agent, forked_from: forkedFrom, title, tags, archived } = own;
  if (!isTextList(workspaces)) return null;
  const facts: Changeable<SessionFacts> = { workspaces };
  if (isText(agent)) facts.agent = agent;
  if (isPlainObject(forkedFrom)) facts.forkedFrom = forkedFrom;
  if (isText(title)) facts.title = title;
  if (isTextList(tags)) facts.tags = tags;
  if (typeof archived === 'boolean') facts.archived = archived;
  return facts;
}

type Changeable<T> = { -readonly [Name in keyof T]: T[Name] };

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
