import type { LogRecord } from '@turnlog/log';
import { safeLine, safeText } from '@turnlog/store';
import { describeRecord, eventValueOf } from './event-text.js';
import { type Described, itemOf } from './item-text.js';
import type { Output } from './output.js';
import { Shown, type Style, shown } from './shown.js';
import { fitText, padText, textWidth } from './width.js';

const labelWidth = 8;

const roleStyles: Readonly<Record<string, Style>> = {
  user: 'green',
  agent: 'cyan',
  tool: 'blue',
  memory: 'magenta',
  unknown: 'yellow',
};

/** One record, described and ready to be laid out. */
export interface RecordView {
  readonly record: LogRecord;
  readonly described: Described;
  /** The item it carries; null for other events. */
  readonly item: { readonly id: string; readonly isDone: boolean } | null;
}

export function viewOf(record: LogRecord): RecordView {
  const event = eventValueOf(record);
  return { record, described: describeRecord(record, event), item: itemOf(event) };
}

export interface LineOptions {
  readonly seqWidth: number;
  /** Whole texts in place of one line. */
  readonly isFull: boolean;
  /** Added to the outcome, as for items that never ended. */
  readonly remark?: string;
}

/** The lines of one record: seq, time, who, and what. */
export function recordLines(view: RecordView, output: Output, options: LineOptions): readonly Shown[] {
  const { record, described } = view;
  const seq = String(record.seq).padStart(options.seqWidth);
  const time = output.wallClock.time(record.ts);
  const label = padText(safeLine(described.label, labelWidth), labelWidth);
  const style = described.kind === 'error' ? 'red' : (roleStyles[described.role] ?? null);
  const margin = options.seqWidth + 2 + time.length + 2 + labelWidth + 2;
  const outcome = [described.outcome, options.remark ?? ''].filter((part) => part !== '').join(', ');
  const head = shown`${output.paint('faint', seq)}  ${output.paint('faint', time)}  ${output.paint(style, label)}  `;
  const lines = described.text.split('\n');
  const first = firstLine(lines, outcome, output.columns - margin, options.isFull);
  const shownOutcome = outcome === '' ? shown`` : output.paint('faint', `[${safeLine(outcome)}]`);
  const gap = first === '' || outcome === '' ? '' : ' ';
  const top = shown`${head}${new Shown(first)}${gap}${shownOutcome}`;
  if (!options.isFull) return [top];
  return [top, ...lines.slice(1).map((line) => shown`${' '.repeat(margin)}${safeText(line)}`)];
}

/** The first line of a text in the room that its outcome leaves, safe to print. */
function firstLine(lines: readonly string[], outcome: string, room: number, isFull: boolean): string {
  if (isFull) return safeText(lines[0] ?? '');
  const said = lines.filter((line) => line.trim() !== '');
  const more = said.length > 1 ? ` (+${said.length - 1} lines)` : '';
  const taken = more.length + (outcome === '' ? 0 : textWidth(safeLine(outcome)) + 3);
  const text = safeLine((said[0] ?? '').trim(), 1_000);
  return `${fitText(text, Math.max(room - taken, 12))}${more}`;
}
