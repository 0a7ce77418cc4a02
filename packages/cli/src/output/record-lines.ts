import type { LogRecord } from '@turnlog/log';
import type { Egress } from '@turnlog/store';
import { describeRecord, eventValueOf } from './event-text.js';
import { type Described, itemOf } from './item-text.js';
import type { Output } from './output.js';
import { fitShown, padShown, type Shown, type Style } from './shown.js';
import { textWidth } from './width.js';

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

export function viewOf(record: LogRecord, egress: Egress): RecordView {
  const event = eventValueOf(record, egress);
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
  const { shown } = output;
  const margin = marginOf(view, output, options.seqWidth);
  const style = described.kind === 'error' ? 'red' : (roleStyles[described.role] ?? null);
  const room = output.columns - margin.width;
  const outcome = outcomeOf(described, output, options, room);
  const first = firstLine(described, output, outcome, { room, isFull: options.isFull });
  const closing = outcome.text === '' ? outcome : output.paint('faint', shown`[${outcome}]`);
  const gap = first.text === '' || outcome.text === '' ? '' : ' ';
  const head = shown`${output.paint('faint', margin.before)}${output.paint(style, margin.label)}`;
  const top = shown`${head}${first}${gap}${closing}`;
  if (!options.isFull) return [top];
  const indent = ' '.repeat(margin.width);
  const rest = described.text.split('\n').slice(1);
  return [top, ...rest.map((line) => shown`${indent}${line}`)];
}

/** How it ended, where there is room for that beside the text; an ending without a text is cut to fit. */
function outcomeOf(described: Described, { words }: Output, options: LineOptions, room: number): Shown {
  const outcome = [described.outcome, options.remark ?? ''].filter((part) => part !== '').join(', ');
  const line = words.line(outcome);
  if (options.isFull || described.text === '') return fitShown(line, Math.max(room - 2, 1));
  return textWidth(line.text) + 3 + textWidthMin > room ? words.line('') : line;
}

interface Margin {
  readonly before: Shown;
  readonly label: Shown;
  readonly width: number;
}

function marginOf({ record, described }: RecordView, output: Output, seqWidth: number): Margin {
  const { shown } = output;
  const isNarrow = output.columns < columnsForTimes;
  const seq = String(record.seq).padStart(seqWidth);
  const name = output.words.line(described.label, labelWidth);
  const before = isNarrow ? shown`${seq} ` : shown`${seq}  ${output.wallClock.time(record.ts)}  `;
  const label = isNarrow ? shown`${name} ` : shown`${padShown(name, labelWidth)}  `;
  return { before, label, width: textWidth(before.text) + textWidth(label.text) };
}

/** The first line of a text in the room that its outcome leaves. */
function firstLine(
  { text }: Described,
  { words, shown }: Output,
  outcome: Shown,
  { room, isFull }: { readonly room: number; readonly isFull: boolean },
): Shown {
  const lines = text.split('\n');
  if (isFull) return shown`${lines[0] ?? ''}`;
  const said = lines.filter((line) => line.trim() !== '');
  const taken = outcome.text === '' ? 0 : textWidth(outcome.text) + 3;
  const first = words.line((said[0] ?? '').trim(), lineCodePointsMax);
  const more = said.length > 1 ? ` (+${said.length - 1} lines)` : '';
  const left = Math.max(room - taken, textWidthMin);
  return left > more.length + textWidthMin
    ? shown`${fitShown(first, left - more.length)}${more}`
    : fitShown(first, left);
}
