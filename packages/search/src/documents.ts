import { ownMember, ownText } from '@turnlog/events';
import { effectiveRecords, type LogReader, type LogRecord } from '@turnlog/log';
import type { SearchDocument, SessionInfo } from './chunk.js';
import { indexedPart } from './chunker.js';
import type { DocumentText } from './document-text.js';
import { eventText } from './event-text.js';
import { type EarlierItems, ItemChain, noEarlierItems } from './item-chain.js';
import { itemText } from './item-text.js';

/** A record as a search sees it. */
export interface RecordDocument {
  readonly record: LogRecord;
  /** Whether an index may remember that it has come so far: not between the records of a frame. */
  readonly isSettled: boolean;
  /** Null when the record is not searched, or says nothing. */
  readonly document: SearchDocument | null;
  /** Seq of the record whose document no longer counts from this one on: an older snapshot of the same item. */
  readonly supersededSeq: number | null;
}

export interface DocumentOptions {
  readonly session: string;
  /** For records that do not begin with the first of their log. */
  readonly earlier?: EarlierItems;
}

/**
 * The documents of a log in its order (SE-1 to SE-6), one answer per record that has an effect. Records that are
 * nested too deep and members of frames without commit give none, and stop nothing behind them.
 *
 * An index resumes behind any settled record, when it answers what is known of items that stand before.
 */
export function* documentsOf(
  records: Iterable<LogRecord>,
  { session, earlier = noEarlierItems }: DocumentOptions,
): Iterable<RecordDocument> {
  const chain = new ItemChain(earlier);
  for (const { record, isSettled } of effectiveRecords(records)) {
    const { document, supersededSeq } = read(record, session, chain);
    yield { record, isSettled, document, supersededSeq };
  }
}

/** What is known of a session as a whole, for filters. */
export function sessionInfoOf(reader: LogReader): SessionInfo {
  const { workspaces, agent } = reader.state.facts;
  const isNamed = agent === 'subagent' || agent === 'headless';
  return { session: reader.sessionId, workspaces, agent: isNamed ? agent : 'primary' };
}

/** The items that some records describe, from the first record of a log on. */
export function itemsIn(records: Iterable<LogRecord>, session: string): ItemChain {
  const chain = new ItemChain();
  for (const { record } of effectiveRecords(records)) {
    if (itemEvents.has(record.type)) read(record, session, chain);
  }
  return chain;
}

type Reading = Pick<RecordDocument, 'document' | 'supersededSeq'>;

const nothing: Reading = { document: null, supersededSeq: null };

const itemEvents: ReadonlySet<string> = new Set(['item.started', 'item.updated', 'item.completed']);
const calls: ReadonlySet<string> = new Set(['tool_invocation', 'mcp_tool_call']);

function read(record: LogRecord, session: string, chain: ItemChain): Reading {
  const event = record.readEvent();
  if (event === null) return nothing;
  if (itemEvents.has(record.type)) return readItem(record, event, session, chain);
  const said = eventText(record.type, event, record.eventBytes());
  return { document: documentOf(record, session, said, null), supersededSeq: null };
}

function readItem(record: LogRecord, event: unknown, session: string, chain: ItemChain): Reading {
  const item = ownMember(event, 'item');
  const type = ownText(item, 'type');
  const itemId = ownText(item, 'id');
  if (type === null || itemId === null) return nothing;
  const bytes = record.eventBytes();
  // A tool without a name is none: an index could not tell it from that.
  const called = calls.has(type) ? ownText(item, 'tool_name') || null : null;
  const tool = type === 'tool_output' ? chain.toolOf(ownText(item, 'call_id') ?? '') : called;
  const document = documentOf(record, session, itemText({ item, type, bytes, tool }), itemId);
  const snapshot = {
    itemId,
    eventType: record.type,
    seq: record.seq,
    tool: called,
    isKept: document !== null,
  };
  return { document, supersededSeq: chain.add(snapshot) };
}

function documentOf(
  record: LogRecord,
  session: string,
  said: DocumentText | null,
  itemId: string | null,
): SearchDocument | null {
  if (said === null) return null;
  const joined = joinedText(said.parts);
  if (joined === '') return null;
  const { text, unindexedBytes } = indexedPart(wellFormed(joined));
  return {
    session,
    seq: record.seq,
    turn: record.turn,
    tsMs: record.tsMs,
    role: said.role,
    kind: said.kind,
    tool: said.tool === null ? null : wellFormed(said.tool),
    paths: said.paths.map(wellFormed),
    itemId,
    text,
    unindexedBytes,
  };
}

function joinedText(parts: DocumentText['parts']): string {
  const [only = ''] = parts;
  if (parts.length === 1) return only ?? '';
  return parts.filter((part) => part !== null && part !== '').join('\n');
}

/** Half a pair of surrogates is no character: it would not survive UTF-8. */
function wellFormed(text: string): string {
  // A text in ASCII holds none, and is told at once by its length.
  if (Buffer.byteLength(text) === text.length) return text;
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
