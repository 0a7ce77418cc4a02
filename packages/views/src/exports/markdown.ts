/**
 * A session as Markdown: front matter, a heading per turn, what was said as quoted text, each call of a tool as one
 * line and fenced blocks. Nothing that was said can end its quote or fence, become markup, or load anything.
 */

import type { UsageCounts } from '@turnlog/events';
import { utc } from '@turnlog/kernel';
import { dollars } from '../prices.js';
import type { Block, BlockPlace, Pane, ShownAsset } from './blocks.js';
import type { DocumentClock } from './document-clock.js';
import type { DocumentHead } from './document-head.js';
import { lineSpans, type Span, textSegments } from './text-segments.js';
import { oneLine } from './whole-text.js';

export function markdownHead(head: DocumentHead, clock: DocumentClock): string {
  const { totals } = head;
  const lines = [
    '---',
    `id: ${yaml(head.id)}`,
    ...(head.title === null ? [] : [`title: ${yaml(head.title)}`]),
    `workspace: ${head.workspaces.length === 0 ? 'null' : yaml(head.workspaces.at(-1) ?? '')}`,
    ...(head.model === null ? [] : [`model: ${yaml(head.model)}`]),
    `started: ${head.firstTs === null ? 'null' : clock.exact(head.firstTs)}`,
    `ended: ${head.lastTs === null ? 'null' : clock.exact(head.lastTs)}`,
    ...(clock.zone === utc ? [] : [`zone: ${clock.zone}`]),
    `status: ${head.status}`,
    `turns: ${totals.turnCount}`,
    `records: ${head.recordCount}`,
    `tool_calls: ${totals.callCount}`,
    `failed_tool_calls: ${totals.failedCallCount}`,
    ...usageLines(totals.usage),
    `cost_usd: ${totals.cost.picodollars === null ? 'null' : dollars(totals.cost.picodollars)}`,
    `damage: ${head.damageCount}`,
    `redacted: ${head.redaction.redacted}`,
    '---',
    '',
    `# ${inline(head.title ?? head.id)}`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** A text as JSON is one in YAML too. */
function yaml(text: string): string {
  return JSON.stringify(oneLine(text));
}

function usageLines(usage: UsageCounts | null): readonly string[] {
  if (usage === null) return ['input_tokens: null', 'output_tokens: null'];
  return [
    `input_tokens: ${usage.input}`,
    `cached_input_tokens: ${usage.cached}`,
    `output_tokens: ${usage.output}`,
  ];
}

export function markdownPart(text: string): string {
  return `*${inline(text)}*\n\n`;
}

export function markdownBlock(block: Block, assets: 'show' | 'omit', clock: DocumentClock): string {
  const origin = ({ seq, ts }: BlockPlace): string => ` <sub>#${seq} · ${clock.exact(ts)}</sub>`;
  switch (block.kind) {
    case 'turn':
      return turnText(block, clock);
    case 'speech': {
      const named = assets === 'show' ? block.assets.map(assetLine) : [];
      return `${speaker(block.label, origin(block))}${quoted(block.text)}${named.join('')}`;
    }
    case 'decision':
      return decisionText(block, origin(block));
    case 'call': {
      const gist = block.gist === '' ? '' : `: ${code(block.gist)}`;
      const mark = block.tone === 'good' ? '' : ` — **${inline(block.outcome)}**`;
      const named = assets === 'show' ? block.assets.map(assetLine) : [];
      return `**Tool** ${code(block.tool)}${gist}${mark}${origin(block)}\n\n${panes(block.panes)}${named.join('')}`;
    }
    case 'files':
      return filesText(block, origin(block));
    case 'note': {
      const text = block.text === '' ? '' : `\n${quoted(block.text)}`;
      return `*${inline(block.label)}*${origin(block)}\n${text}\n${panes(block.panes)}`;
    }
  }
}

function speaker(label: string, origin: string): string {
  return `**${inline(label)}**${origin}\n\n`;
}

function turnText(block: Extract<Block, { kind: 'turn' }>, clock: DocumentClock): string {
  const { turn, status, usage, ts, goal } = block;
  const facts = [
    status,
    clock.exact(ts),
    usage === null ? 'usage unknown' : `${usage.input} in, ${usage.output} out`,
  ];
  const aim = goal === null ? '' : `Goal: ${inline(goal)}\n\n`;
  return `## Turn ${turn}\n\n${facts.join(' · ')}\n\n${aim}`;
}

function decisionText(block: Extract<Block, { kind: 'decision' }>, origin: string): string {
  const others = block.alternatives.map((text) => `> - instead of: ${inline(text)}\n`).join('');
  const rationale = block.rationale === '' ? '' : quoted(block.rationale);
  return `${speaker('Decision', origin)}> **${inline(block.summary)}**\n>\n${rationale}${others === '' ? '' : `${others}\n`}`;
}

function filesText(block: Extract<Block, { kind: 'files' }>, origin: string): string {
  const mark = block.tone === 'good' ? '' : ` — **${inline(block.outcome)}**`;
  const counts = block.counts === '' ? '' : ` (${block.counts})`;
  const list = block.changes.map(({ path, change }) => `- ${inline(change)} ${code(path)}\n`).join('');
  const diff = block.diff === null ? '' : `\n${fenced({ label: '', language: 'diff', text: block.diff })}`;
  return `**Files**${counts}${mark}${origin}\n\n${list}${diff}\n`;
}

function assetLine({ sha256, name, mediaType, bytes }: ShownAsset): string {
  const title = name === '' ? 'asset' : name;
  return `- ${inline(title)} (${inline(mediaType)}, ${bytes}): \`assets/${sha256.slice(0, 2)}/${sha256}\`\n\n`;
}

function panes(all: readonly Pane[]): string {
  return all.map((pane) => `${fenced(pane)}\n`).join('');
}

/** The fence is longer than any run of backticks inside. */
function fenced({ language, text }: Pane): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}\n`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/** What was said, as a quote: whatever it holds, it does not leave it. */
function quoted(text: string): string {
  const lines = textSegments(text).flatMap((segment) =>
    segment.kind === 'text'
      ? segment.lines.map((line) => lineSpans(line).map(spanText).join(''))
      : fenced({ label: '', language: segment.language, text: segment.text })
          .trimEnd()
          .split(/\r\n|\r|\n/),
  );
  return `${lines.map((line) => `> ${line}`.trimEnd()).join('\n')}\n\n`;
}

function spanText({ kind, text }: Span): string {
  return kind === 'code' ? code(text) : escaped(text);
}

/** A text of a name, a title or a label, on one line. */
function inline(text: string): string {
  return escaped(oneLine(text)).replace(/[*_#|]/g, (mark) => `\\${mark}`);
}

/** No tag, no entity, no link, no image; and no code, because that is told apart before. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/`/g, '\\`')
    .replace(/\](?=[([:])/g, ']\\')
    .replace(/!(?=\[)/g, '!\\');
}

/** In a table a bar ends a cell before code begins, so what stands behind it must be no tag. */
function code(text: string): string {
  const line = oneLine(text);
  const safe = line.includes('|') ? line.replaceAll('<', '‹') : line;
  const fence = '`'.repeat(longestRun(safe) + 1);
  const pad = /^`|`$/.test(safe) || safe === '' ? ' ' : '';
  return `${fence}${pad}${safe}${pad}${fence}`;
}
