import { createHash } from 'node:crypto';

/**
 * The obvious slow log: reads all bytes, keeps arrays, follows the tables of the specification one by one, and
 * shares no code with the engine. It says what a log directory must hold for given bytes of `events.jsonl`.
 */

export interface NaiveRecord {
  readonly seq: number;
  readonly ts: string | null;
  readonly key: string | null;
  /** The event's own text as it stands in the line. */
  readonly text: string;
  readonly event: Readonly<Record<string, unknown>>;
  /** Of the record in the file, its 0x0A included. */
  readonly start: number;
  readonly end: number;
  /** Of the line it stands on, without its 0x0A. */
  readonly lineOffset: number;
  readonly bytes: Buffer;
}

export interface NaiveTurn {
  readonly turn: number;
  status: 'open' | 'completed' | 'failed' | 'interrupted';
  readonly records: NaiveRecord[];
  upto: number;
}

export interface NaiveLog {
  readonly bytes: Buffer;
  /** The header of an eviction that the file begins with; it is none of the records. */
  readonly header: NaiveRecord | null;
  readonly records: readonly NaiveRecord[];
  readonly turns: readonly NaiveTurn[];
  readonly turnCount: number;
  readonly status: 'active' | 'completed';
  /** Whether any byte of the file belongs to no record. */
  readonly isDamaged: boolean;
  readonly firstLine: LinePlace | null;
  readonly lastLine: LinePlace | null;
}

interface LinePlace {
  readonly offset: number;
  readonly length: number;
}

const lineStart = '{"schema_version":';

function sha256(...parts: readonly Uint8Array[]): Buffer {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest();
}

/** Reads a log without a missing beginning, as every log of the tests is. */
export function readNaively(content: Uint8Array): NaiveLog {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const records: NaiveRecord[] = [];
  let isDamaged = false;
  let firstLine: LinePlace | null = null;
  let lastLine: LinePlace | null = null;
  for (let offset = 0; offset < bytes.length; ) {
    const found = bytes.indexOf(0x0a, offset);
    const end = found === -1 ? bytes.length : found;
    const line = { offset, length: end - offset };
    firstLine ??= line;
    lastLine = line;
    const before = records.length;
    const isWhole = readLine(bytes, line, found === -1 ? end : end + 1, records);
    if (!isWhole || records.length !== before + 1) isDamaged = true;
    offset = end + 1;
  }
  const header = records[0]?.start === 0 && records[0].event['type'] === 'log.evicted' ? records[0] : null;
  const kept = header === null ? records : records.slice(1);
  const turnsBefore = header === null ? 0 : Number(header.event['last_turn']);
  const life = followLifecycle(kept, turnsBefore);
  return { bytes, header, records: kept, isDamaged, firstLine, lastLine, ...life };
}

/** Texts of logs that were read, oldest first. Bounded, because a tier reads some ten thousand. */
const remembered = new Map<string, NaiveLog>();
const rememberedMax = 128;

/** The same reading of the same bytes, made once while they come again and again: many disks differ in other files. */
export function readRemembered(content: Uint8Array): NaiveLog {
  const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1');
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const log = readNaively(Buffer.from(content));
  for (const [oldest] of remembered) {
    if (remembered.size < rememberedMax) break;
    remembered.delete(oldest);
  }
  remembered.set(text, log);
  return log;
}

/** Adds the records of one line; false when some of its bytes are damage. */
function readLine(bytes: Buffer, line: LinePlace, end: number, records: NaiveRecord[]): boolean {
  const lineEnd = line.offset + line.length;
  const whole = parseRecord(bytes, line.offset, lineEnd, end, line.offset, records);
  if (whole !== null) {
    records.push(whole);
    return true;
  }
  // Pieces that begin like a record, from the left and the longest first, if they state a seq above all before.
  const cuts = cutsOf(bytes, line.offset, lineEnd);
  for (let first = 0; first < cuts.length - 1; first += 1) {
    for (let last = cuts.length - 1; last > first; last -= 1) {
      const pieceEnd = cuts[last] ?? lineEnd;
      const fileEnd = pieceEnd === lineEnd ? end : pieceEnd;
      const piece = parseRecord(bytes, cuts[first] ?? lineEnd, pieceEnd, fileEnd, line.offset, records);
      if (piece === null || piece.seq <= highestOf(records)) continue;
      records.push(piece);
      first = last - 1;
      break;
    }
  }
  return false;
}

/** Where pieces of a damaged line may begin, and the end of the line. */
function cutsOf(bytes: Buffer, from: number, lineEnd: number): readonly number[] {
  const cuts: number[] = [];
  for (let at = bytes.indexOf(lineStart, from); at !== -1 && at < lineEnd; ) {
    cuts.push(at);
    at = bytes.indexOf(lineStart, at + 1);
  }
  return [...cuts, lineEnd];
}

function highestOf(records: readonly NaiveRecord[]): number {
  return records.reduce((highest, { seq }) => Math.max(highest, seq), 0);
}

function parseRecord(
  bytes: Buffer,
  start: number,
  textEnd: number,
  end: number,
  lineOffset: number,
  before: readonly NaiveRecord[],
): NaiveRecord | null {
  const text = bytes.toString('utf8', start, textEnd);
  if (!text.startsWith(lineStart)) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // No JSON text: no record, which is the answer.
    return null;
  }
  const record = Object(value) as Readonly<Record<string, unknown>>;
  const event = record['event'];
  if (typeof event !== 'object' || event === null) return null;
  const members = event as Readonly<Record<string, unknown>>;
  if (typeof members['type'] !== 'string') return null;
  const stated = record['seq'];
  return {
    seq: typeof stated === 'number' ? stated : highestOf(before) + 1,
    ts: typeof record['ts'] === 'string' ? record['ts'] : null,
    key: typeof record['key'] === 'string' ? record['key'] : null,
    text: text.slice(text.indexOf('"event":') + '"event":'.length, -1),
    event: members,
    start,
    end,
    lineOffset,
    bytes: bytes.subarray(start, textEnd),
  };
}

/** Section 2 of the log's specification, row by row; `turnsBefore` is the number of the last turn that is gone. */
export function followLifecycle(
  records: readonly NaiveRecord[],
  turnsBefore = 0,
): Pick<NaiveLog, 'turns' | 'turnCount' | 'status'> {
  const found = new NaiveLifecycle();
  found.turnCount = turnsBefore;
  for (const [position, record] of records.entries()) found.take(record, position);
  return { turns: found.turns, turnCount: found.turnCount, status: found.status };
}

class NaiveLifecycle {
  readonly turns: NaiveTurn[] = [];
  turnCount = 0;
  status: NaiveLog['status'] = 'active';
  #open: NaiveTurn | null = null;

  take(record: NaiveRecord, position: number): void {
    const type = record.event['type'];
    if (type === 'turn.started') {
      this.#close('interrupted', position);
      this.#open = { turn: this.turnCount + 1, status: 'open', records: [record], upto: 0 };
      this.turns.push(this.#open);
      this.status = 'active';
      return;
    }
    if (type === 'thread.completed') {
      this.#close('interrupted', position);
      this.status = 'completed';
      return;
    }
    this.#open?.records.push(record);
    if (type === 'thread.started') this.status = 'active';
    if (type === 'turn.completed') this.#close('completed', position + 1);
    if (type === 'turn.failed') this.#close('failed', position + 1);
    if (type === 'log.recovered') this.#skipLost(record);
  }

  #close(status: NaiveTurn['status'], upto: number): void {
    if (this.#open === null) return;
    this.#open.status = status;
    this.#open.upto = upto;
    this.turnCount = Math.max(this.turnCount, this.#open.turn);
    this.#open = null;
  }

  /** Numbers of turns that were lost are not given again. */
  #skipLost({ event }: NaiveRecord): void {
    if (event['reason'] === 'tail_lost') {
      this.turnCount = Math.max(this.turnCount, Number(event['turn_base']) - 1);
    }
  }
}

/** RFC 6962, section 2.1, by its recursive definition. */
export function naiveRoot(lines: readonly Uint8Array[]): Buffer {
  return rootOfLeaves(lines.map(naiveLeaf));
}

/** The leaf hash of one line without its 0x0A. */
export function naiveLeaf(line: Uint8Array): Buffer {
  return sha256(Uint8Array.of(0), line);
}

const leafOfRecord = new WeakMap<NaiveRecord, Buffer>();

/** The leaf hash of a record, made once for each. */
export function leafOf(record: NaiveRecord): Buffer {
  let leaf = leafOfRecord.get(record);
  if (leaf === undefined) {
    leaf = naiveLeaf(record.bytes);
    leafOfRecord.set(record, leaf);
  }
  return leaf;
}

function rootOfLeaves(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return sha256(new Uint8Array(0));
  if (leaves.length === 1) return only;
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return sha256(Uint8Array.of(1), rootOfLeaves(leaves.slice(0, half)), rootOfLeaves(leaves.slice(half)));
}

function frontierOfLeaves(leaves: readonly Buffer[]): string[] {
  if (leaves.length === 0) return [];
  let size = 1;
  while (size * 2 <= leaves.length) size *= 2;
  return [rootOfLeaves(leaves.slice(0, size)).toString('hex'), ...frontierOfLeaves(leaves.slice(size))];
}

/** The head of the tree over these leaves, as a manifest and an eviction header hold it. */
export function naiveTree(leaves: readonly Buffer[]): Readonly<Record<string, unknown>> {
  const root = rootOfLeaves(leaves).toString('hex');
  return { size: leaves.length, root, frontier: frontierOfLeaves(leaves) };
}

function rangeOf(turn: NaiveTurn): Readonly<Record<string, unknown>> {
  const first = turn.records[0];
  const last = turn.records.at(-1);
  return {
    turn: turn.turn,
    ...(turn.status === 'open' ? {} : { status: turn.status }),
    start: first?.start,
    end: last?.end,
    first_seq: first?.seq,
    last_seq: last?.seq,
    events: turn.records.length,
    ...(turn.status === 'open' ? {} : { upto: turn.upto }),
    ts: first?.ts,
    end_ts: last?.ts,
  };
}

export function naiveTurnBase(log: NaiveLog): number {
  return log.turns[0]?.turn ?? log.turnCount + 1;
}

/** What `index/turns.jsonl` must hold. */
export function naiveIndex(log: NaiveLog, sessionId: string, generation: string): string {
  const header = { turnlog: 'turns', v: 1, session_id: sessionId, generation, turn_base: naiveTurnBase(log) };
  const lines: object[] = [header];
  let before = 0;
  for (const [at, record] of log.records.entries()) {
    for (const turn of closedBy(log, record)) lines.push(rangeOf(turn));
    const mebibytes = Math.floor(record.lineOffset / 1_048_576);
    if (mebibytes > before) lines.push({ mark: at + 1, at: record.lineOffset });
    before = mebibytes;
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** The turns that end with `record`; one that was interrupted ends as whatever comes behind it begins. */
function closedBy(log: NaiveLog, record: NaiveRecord): readonly NaiveTurn[] {
  return log.turns.filter(({ status, records, upto }) => {
    if (status === 'open') return false;
    const last = records.at(-1);
    return (status === 'interrupted' ? (log.records[upto] ?? last) : last) === record;
  });
}

function proofOf(log: NaiveLog, line: LinePlace | null): Readonly<Record<string, unknown>> | null {
  if (line === null) return null;
  const bytes = log.bytes.subarray(line.offset, line.offset + line.length);
  return { offset: line.offset, length: line.length, sha256: sha256(bytes).toString('hex') };
}

/** What `manifest.json` must hold; damage counts are those given, and so are the leaves of what has left the log. */
export function naiveManifest(
  log: NaiveLog,
  sessionId: string,
  generation: string,
  damage: unknown = { count: 0, bytes: 0 },
  evictedLeaves: readonly Buffer[] = [],
): string {
  const { header } = log;
  const timesBefore = header === null ? [] : [header.event['first_ts'], header.event['last_ts'], header.ts];
  const times = [...timesBefore, ...log.records.map(({ ts }) => ts)].filter((ts) => typeof ts === 'string');
  const firstTs = times[0] ?? null;
  const lastTs = [...times].sort().at(-1) ?? null;
  const open = log.turns.find(({ status }) => status === 'open') ?? null;
  const leaves = [...evictedLeaves, ...log.records.map(leafOf)];
  return `${JSON.stringify({
    session_id: sessionId,
    schema_version: 1,
    created_at: firstTs ?? '1970-01-01T00:00:00.000Z',
    updated_at: lastTs ?? '1970-01-01T00:00:00.000Z',
    turn_count: log.turnCount,
    event_count: log.records.length,
    status: log.status,
    in_turn: open !== null,
    persisted_file_len: log.bytes.length,
    retained_turn_base: naiveTurnBase(log),
    turnlog: {
      v: 1,
      generation,
      first_seq: log.records[0]?.seq ?? null,
      last_seq: Math.max(header?.seq ?? 0, highestOf(log.records)),
      first_ts: firstTs,
      last_ts: lastTs,
      head: proofOf(log, log.firstLine),
      tail: proofOf(log, log.lastLine),
      open_turn: open === null ? null : rangeOf(open),
      index_len: Buffer.byteLength(naiveIndex(log, sessionId, generation)),
      tree: naiveTree(leaves),
      damage,
      evicted: header === null ? null : evictedTotals(header),
      keys: log.records.filter(({ key }) => key !== null).length,
      workspaces: [],
    },
  })}\n`;
}

function evictedTotals({ event }: NaiveRecord): Readonly<Record<string, unknown>> {
  const { to_seq, total_events: events, total_turns: turns, last_turn } = event;
  return { to_seq, events, turns, last_turn };
}
