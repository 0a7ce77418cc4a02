import type { LogRecord } from '@turnlog/log';
import { safeLine } from '@turnlog/store';
import { describeRecord, eventValueOf } from './event-text.js';
import { type Described, itemOf } from './item-text.js';
import type { Output } from './output.js';
import { type Shown, type Style, shown } from './shown.js';
import { fitText, padText, textWidth } from './width.js';

const labelWidth = 8;
const lineCodePointsMax = 1_000;
const textWidthMin = 6;

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

/** Below this many columns a line has no room for times. */
const columnsForTimes = 60;

/** The lines of one record: seq, time, who, and what. */
export function recordLines(view: RecordView, output: Output, options: LineOptions): readonly Shown[] {
  const { described } = view;
  const margin = marginOf(view, output, options.seqWidth);
  const width = textWidth(margin.text);
  const style = described.kind === 'error' ? 'red' : (roleStyles[described.role] ?? null);
  const room = output.columns - width;
  const outcome = outcomeOf(described, options, room);
  const lines = described.text.split('\n');
  const first = firstLine(lines, outcome, room, options.isFull);
  const closing = outcome === '' ? shown`` : output.paint('faint', `[${outcome}]`);
  const gap = first === '' || outcome === '' ? '' : ' ';
  const head = shown`${output.paint('faint', margin.before)}${output.paint(style, margin.label)}`;
  const top = shown`${head}${first}${gap}${closing}`;
  if (!options.isFull) return [top];
  return [top, ...lines.slice(1).map((line) => shown`${' '.repeat(width)}${line}`)];
}

/** How it ended, where there is room for that beside the text; an ending without a text is cut to fit. */
function outcomeOf(described: Described, options: LineOptions, room: number): string {
  const outcome = [described.outcome, options.remark ?? ''].filter((part) => part !== '').join(', ');
  const line = safeLine(outcome);
  if (options.isFull || described.text === '') return fitText(line, Math.max(room - 2, 1));
  return textWidth(line) + 3 + textWidthMin > room ? '' : line;
}

interface Margin {
  readonly before: string;
  readonly label: string;
  readonly text: string;
}

function marginOf({ record, described }: RecordView, output: Output, seqWidth: number): Margin {
  const isNarrow = output.columns < columnsForTimes;
  const seq = String(record.seq).padStart(seqWidth);
  const label = safeLine(described.label, labelWidth);
  const before = isNarrow ? `${seq} ` : `${seq}  ${output.wallClock.time(record.ts)}  `;
  const padded = isNarrow ? `${label} ` : `${padText(label, labelWidth)}  `;
  return { before, label: padded, text: before + padded };
}

/** The first line of a text in the room that its outcome leaves. */
function firstLine(lines: readonly string[], outcome: string, room: number, isFull: boolean): string {
  if (isFull) return lines[0] ?? '';
  const said = lines.filter((line) => line.trim() !== '');
  const taken = outcome === '' ? 0 : textWidth(outcome) + 3;
  const text = safeLine((said[0] ?? '').trim(), lineCodePointsMax);
  const more = said.length > 1 ? ` (+${said.length - 1} lines)` : '';
  const left = Math.max(room - taken, textWidthMin);
  return left > more.length + textWidthMin
    ? `${fitText(text, left - more.length)}${more}`
    : fitText(text, left);
}
