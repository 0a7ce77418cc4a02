import { ownText, readUnifiedDiff } from '@turnlog/events';
import { memberSpans, type Span } from '@turnlog/kernel';
import { type DocumentText, spoken } from './document-text.js';
import { texts, unknownText } from './event-text.js';
import { namedPaths } from './path-refs.js';
import { comparablePath } from './path-text.js';
import { stringLeaves } from './string-leaves.js';

/** An item as a record holds it. */
export interface StoredItem {
  readonly item: unknown;
  readonly type: string;
  /** The bytes of the event. */
  readonly bytes: Uint8Array;
  /** The tool that it calls, or that it is the output of. */
  readonly tool: string | null;
}

type Reading = (stored: StoredItem) => DocumentText;

const readings: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ['agent_message', ({ item }) => spoken('agent', 'message', ownText(item, 'text'))],
  ['plan', ({ item }) => spoken('agent', 'plan', ownText(item, 'text'))],
  ['reasoning', ({ item }) => spoken('agent', 'reasoning', ownText(item, 'text'))],
  ['decision', decision],
  ['tool_invocation', (stored) => call(stored, ownText(stored.item, 'tool_name'), ...argumentLeaves(stored))],
  ['mcp_tool_call', mcpCall],
  ['tool_output', ({ item, tool }) => ({ ...spoken('tool', 'tool_output', ownText(item, 'output')), tool })],
  ['command_execution', command],
  ['file_change', fileChange],
  ['web_search', webSearch],
  ['harness', harness],
  ['error', ({ item }) => spoken('system', 'error', ownText(item, 'message'))],
]);

/** What an item says (SE-3). */
export function itemText(stored: StoredItem): DocumentText {
  return (readings.get(stored.type) ?? ((unknown) => unknownText(unknown.bytes, itemSpan(unknown))))(stored);
}

/** Where the item stands in the bytes of its event; looked for only where the bytes matter. */
function itemSpan({ bytes }: StoredItem): Span {
  return memberSpans(bytes, { start: 0, end: bytes.length }).get('item') ?? { start: 0, end: 0 };
}

function pathsOf(item: unknown): readonly string[] {
  return [...new Set(namedPaths(item).map(comparablePath))];
}

/** The strings and numbers of the arguments; numbers with the digits that are stored. */
function argumentLeaves(stored: StoredItem): readonly string[] {
  const { bytes } = stored;
  const given = memberSpans(bytes, itemSpan(stored)).get('arguments');
  return given === undefined ? [] : stringLeaves(bytes, given, { numbers: 'counted' });
}

function call({ item, tool }: StoredItem, ...parts: readonly (string | null)[]): DocumentText {
  return { role: 'tool', kind: 'tool_call', tool, paths: pathsOf(item), parts };
}

function mcpCall(stored: StoredItem): DocumentText {
  const { item } = stored;
  return call(stored, ownText(item, 'tool_name'), ...argumentLeaves(stored), ownText(item, 'result'));
}

function decision({ item }: StoredItem): DocumentText {
  const alternatives = texts(item, 'alternatives');
  return spoken('agent', 'decision', ownText(item, 'summary'), ownText(item, 'rationale'), ...alternatives);
}

function command(stored: StoredItem): DocumentText {
  const { item } = stored;
  const parts = [ownText(item, 'command'), ...argumentLeaves(stored), ownText(item, 'aggregated_output')];
  return { ...spoken('tool', 'command', ...parts), paths: pathsOf(item) };
}

function webSearch({ item }: StoredItem): DocumentText {
  return spoken('tool', 'web_search', ownText(item, 'query'), ...texts(item, 'results'));
}

function harness({ item }: StoredItem): DocumentText {
  const [path, category] = [ownText(item, 'path'), ownText(item, 'error_category')];
  const said = spoken(
    'system',
    'harness',
    ownText(item, 'message'),
    ownText(item, 'command'),
    path,
    category,
  );
  return { ...said, paths: path === null || path === '' ? [] : [comparablePath(path)] };
}

function fileChange({ item }: StoredItem): DocumentText {
  const paths = namedPaths(item);
  const lines = changedLines(ownText(item, 'unified_diff') ?? '');
  return { ...spoken('tool', 'file_change', ...paths, ...lines), paths: pathsOf(item) };
}

/** The added and removed lines of a diff, also of one that has no hunks by the book. */
function changedLines(diff: string): readonly string[] {
  const hunks = readUnifiedDiff(diff).flatMap((file) => file.hunks);
  const lines = hunks.length > 0 ? hunks.flatMap((hunk) => hunk.lines) : diff.split('\n');
  return lines.filter((line) => /^[+-]/.test(line) && (hunks.length > 0 || !/^(?:---|\+\+\+) /.test(line)));
}
