import type { LogSummaryEvent } from '@turnlog/events';
import { limits } from '@turnlog/kernel';
import { effectiveRecords } from './effective-records.js';
import type { LogRecord } from './log-record.js';
import { isPlainObject } from './session-facts.js';

/**
 * What is written down of the turns that leave a log before they do: `log.summary`, one for each range. A hook may
 * make it; the default counts and quotes and needs no model.
 */

/** The turns that are about to leave. */
export interface SummaryRequest {
  readonly sessionId: string;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly events: number;
  readonly turns: number;
  /** The records that will leave, in file order; may be read as often as wanted, until the hook is done. */
  records(): Iterable<LogRecord>;
  /** Aborted when the hook took too long, or the log is being closed: what it returns then is not used. */
  readonly signal: AbortSignal;
}

/** What a hook has to say; members that it leaves out are those of the default summary. */
export type Summary = Partial<Pick<LogSummaryEvent, 'event_types' | 'facts' | 'text' | 'by'>>;

/**
 * Makes the summary of the turns that leave. It may append to the log through the session's own handle. When it
 * throws or takes too long, nothing leaves the log, and it is asked again later.
 */
export type SummaryHook = (request: SummaryRequest) => Summary | Promise<Summary>;

/** The key under which the summary of a range is stored, so that there is one for each. */
export function summaryKey(fromSeq: number, toSeq: number): string {
  return `${summaryKeyStart(fromSeq)}${toSeq}`;
}

/** How the key of a summary begins that starts at `fromSeq`. */
export function summaryKeyStart(fromSeq: number): string {
  return `summary:${fromSeq}-`;
}

/** The last seq of the range that a key names; null when it is no key of a summary from `fromSeq` on. */
export function summarizedTo(key: string, fromSeq: number): number | null {
  const start = summaryKeyStart(fromSeq);
  if (!key.startsWith(start)) return null;
  const digits = key.slice(start.length);
  return /^[1-9]\d{0,15}$/.test(digits) ? Number(digits) : null;
}

/** The event that stores `summary`, of a hook or of nobody, for the turns of `request`. */
export function summaryEvent(request: SummaryRequest, summary: Summary): LogSummaryEvent {
  const { fromSeq, toSeq, events, turns } = request;
  const isWhole = summary.event_types !== undefined && summary.facts !== undefined;
  const byDefault = isWhole ? { event_types: {}, facts: [] } : summarizeByDefault(request.records());
  return {
    type: 'log.summary',
    id: `sum-${fromSeq}-${toSeq}`,
    from_seq: fromSeq,
    to_seq: toSeq,
    events,
    turns,
    event_types: summary.event_types ?? byDefault.event_types,
    facts: summary.facts ?? byDefault.facts,
    ...(summary.text === undefined || summary.text === null ? {} : { text: summary.text }),
    by: summary.by ?? (Object.keys(summary).length === 0 ? 'default' : 'hook'),
  };
}

/**
 * How many events of each type there are, and the first facts of those that have an effect: what the agent and the harness said, files changed,
 * what failed, and the facts of earlier summaries. Blanks are collapsed, repeats left out, long facts cut.
 */
export function summarizeByDefault(
  records: Iterable<LogRecord>,
): Pick<LogSummaryEvent, 'event_types' | 'facts'> {
  const counts = new Map<string, number>();
  const facts = new Set<string>();
  for (const { record } of effectiveRecords(counted(records, counts))) {
    if (facts.size >= limits.summaryFactsMax || !tellsFacts.has(record.type)) continue;
    for (const fact of factsOf(record.readEvent())) {
      const short = shortened(fact);
      if (short !== '' && facts.size < limits.summaryFactsMax) facts.add(short);
    }
  }
  const byName = [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
  return { event_types: Object.fromEntries(byName), facts: [...facts] };
}

function* counted(records: Iterable<LogRecord>, counts: Map<string, number>): Iterable<LogRecord> {
  for (const record of records) {
    counts.set(record.type, (counts.get(record.type) ?? 0) + 1);
    yield record;
  }
}

const tellsFacts: ReadonlySet<string> = new Set([
  'item.completed',
  'turn.failed',
  'turn.blocked',
  'error',
  'log.summary',
]);

function factsOf(event: unknown): readonly string[] {
  if (!isPlainObject(event)) return [];
  if (event['type'] === 'log.summary') return textsIn(event['facts']);
  if (event['type'] !== 'item.completed') return textsIn([event['message']]);
  const item = event['item'];
  return isPlainObject(item) ? factsOfItem(item) : [];
}

function factsOfItem(item: Readonly<Record<string, unknown>>): readonly string[] {
  switch (item['type']) {
    case 'agent_message':
    case 'plan':
      return textsIn([item['text']]);
    case 'harness':
      return textsIn([item['message']]);
    case 'file_change':
      return changedFiles(item['changes']);
    default:
      return [];
  }
}

function changedFiles(changes: unknown): readonly string[] {
  if (!Array.isArray(changes)) return [];
  return changes.flatMap((change) => {
    if (!isPlainObject(change)) return [];
    const { kind, path } = change;
    return typeof kind === 'string' && typeof path === 'string' ? [`file ${kind}: ${path}`] : [];
  });
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

const ellipsis = '…';
const encoder = new TextEncoder();

/** One line of at most so many bytes of UTF-8, cut at a character. */
function shortened(text: string): string {
  // No more characters than bytes: the rest of a long text need not be looked at.
  const line = text
    .slice(0, limits.summaryFactBytesMax * 4)
    .replace(/\s+/gu, ' ')
    .trim();
  if (encoder.encode(line).length <= limits.summaryFactBytesMax) return line;
  const room = new Uint8Array(limits.summaryFactBytesMax - encoder.encode(ellipsis).length);
  const { read } = encoder.encodeInto(line, room);
  return line.slice(0, read) + ellipsis;
}
