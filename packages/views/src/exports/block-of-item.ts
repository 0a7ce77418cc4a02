import { ownList, ownMember, ownText } from '../internal/members.js';
import type { Block, BlockPlace, CallBlock, Pane } from './blocks.js';
import { callOutcome } from './call-outcome.js';
import { outputTexts } from './output-text.js';
import type { ItemEntry, ShownEvent } from './session-entries.js';
import { shownAssets } from './shown-assets.js';
import { compactJson, memberBytes, prettyJson } from './stored-json.js';
import { gistOf } from './whole-text.js';

const gistUnitsMax = 120;

/** An item as a person reads it. An unknown type is named, never mapped to another. */
export function blockOfItem(entry: ItemEntry): Block {
  const { item, type, event } = entry;
  const place: BlockPlace = { seq: event.seq, ts: event.ts };
  switch (type) {
    case 'agent_message':
      return { ...place, kind: 'speech', voice: 'agent', label: 'Agent', ...spoken(item) };
    case 'plan':
      return { ...place, kind: 'speech', voice: 'plan', label: 'Plan', ...spoken(item) };
    case 'reasoning':
      return { ...place, kind: 'speech', voice: 'reasoning', label: 'Reasoning', ...spoken(item) };
    case 'decision':
      return {
        ...place,
        kind: 'decision',
        summary: ownText(item, 'summary') ?? '',
        rationale: ownText(item, 'rationale') ?? '',
        alternatives: texts(item, 'alternatives'),
      };
    case 'file_change':
      return filesBlock(place, entry);
    case 'error':
      return note(place, 'bad', 'Error', ownText(item, 'message') ?? '');
    case 'harness':
      return harnessNote(place, entry);
    default:
      return entry.plan.call !== null || type === 'web_search'
        ? callBlock(place, entry)
        : otherItem(place, entry);
  }
}

function spoken(item: unknown): { readonly text: string; readonly assets: ReturnType<typeof shownAssets> } {
  return { text: ownText(item, 'text') ?? '', assets: shownAssets(item) };
}

function texts(owner: unknown, name: string): readonly string[] {
  return ownList(owner, name).filter((entry) => typeof entry === 'string');
}

export function note(
  place: BlockPlace,
  tone: 'plain' | 'bad',
  label: string,
  text: string,
  panes: readonly Pane[] = [],
): Block {
  return { ...place, kind: 'note', tone, label, text, panes };
}

function filesBlock(place: BlockPlace, { item, event }: ItemEntry): Block {
  const status = ownText(item, 'status') ?? 'unknown';
  const changes = ownList(item, 'changes').map((change) => ({
    path: ownText(change, 'path') ?? '',
    change: ownText(change, 'kind') ?? 'change',
  }));
  const count = (name: string, sign: string): string => {
    const bytes = memberBytes(event.bytes, 'item', name);
    return bytes === null ? '' : `${sign}${compactJson(bytes)}`;
  };
  const counts = [count('additions', '+'), count('deletions', '−')].filter((text) => text !== '').join(' ');
  const diff = ownText(item, 'unified_diff');
  return { ...place, kind: 'files', changes, outcome: status, tone: toneOf(status), counts, diff };
}

function toneOf(status: string): CallBlock['tone'] {
  if (status === 'failed') return 'bad';
  return status === 'completed' ? 'good' : 'open';
}

function harnessNote(place: BlockPlace, { item, event }: ItemEntry): Block {
  const kind = ownText(item, 'event') ?? 'unknown';
  const text = ownText(item, 'message') ?? ownText(item, 'command') ?? ownText(item, 'path') ?? '';
  const tone = /failed|blocked|escalation_triggered/.test(kind) ? 'bad' : 'plain';
  const category = ownText(item, 'error_category');
  const exitCode = memberBytes(event.bytes, 'item', 'exit_code');
  const more = [
    category === null ? '' : `category ${category}`,
    exitCode === null ? '' : `exit code ${compactJson(exitCode)}`,
  ].filter((part) => part !== '');
  return note(
    place,
    tone,
    kind.replaceAll('_', ' '),
    [text, ...more].filter((part) => part !== '').join(' · '),
  );
}

function otherItem(place: BlockPlace, { item, type, event }: ItemEntry): Block {
  if (type === 'tool_output') {
    const label = `Output of a call that is not in the log (${ownText(item, 'call_id') ?? 'unnamed'})`;
    return note(place, 'plain', label, '', outputPanes(event, 'Output'));
  }
  const bytes = memberBytes(event.bytes, 'item');
  const panes = bytes === null ? [] : [{ label: 'Item', language: 'json', text: prettyJson(bytes) }];
  return note(place, 'plain', `unknown item ${type}`, '', panes);
}

function callBlock(place: BlockPlace, entry: ItemEntry): CallBlock {
  const { item, type, event, outputs } = entry;
  const panes = [...inputPanes(entry), ...outputPanes(event, 'Output')];
  for (const output of outputs) panes.push(...outputPanes(output, 'Output'));
  return {
    ...place,
    kind: 'call',
    tool: ownText(item, 'tool_name') ?? type,
    gist: gist(entry),
    ...callOutcome(entry),
    panes,
    assets: [item, ...outputs.map((output) => ownMember(output.value, 'item'))].flatMap(shownAssets),
  };
}

/** What the call is about, on one line: the command, or the texts of its arguments. */
function gist({ item, event }: ItemEntry): string {
  const said = ownText(item, 'command') ?? ownText(item, 'query');
  if (said !== null) return gistOf(said, gistUnitsMax);
  const given = ownMember(item, 'arguments');
  for (const name of ['command', 'cmd', 'path', 'file_path', 'pattern', 'query', 'url', 'description']) {
    const text = ownText(given, name);
    if (text !== null) return gistOf(text, gistUnitsMax);
  }
  const bytes = memberBytes(event.bytes, 'item', 'arguments');
  return bytes === null ? '' : gistOf(compactJson(bytes.subarray(0, bytes.length)), gistUnitsMax);
}

function inputPanes({ item, event }: ItemEntry): Pane[] {
  const panes: Pane[] = [];
  const command = ownText(item, 'command');
  if (command !== null) panes.push({ label: 'Command', language: 'sh', text: command });
  const given = memberBytes(event.bytes, 'item', 'arguments');
  if (given !== null) panes.push({ label: 'Arguments', language: 'json', text: prettyJson(given) });
  return panes;
}

function outputPanes(event: ShownEvent, label: string): readonly Pane[] {
  return outputTexts(event).map((text) => ({ label, language: '', text }));
}
