import { dollars } from '../prices.js';
import type { DocumentClock } from './document-clock.js';
import type { DocumentHead } from './document-head.js';
import { html } from './html-escape.js';
import { htmlPolicy, htmlStyle } from './html-style.js';
import type { TurnEnd } from './session-entries.js';
import { oneLine } from './whole-text.js';

/** A turn in the list of turns. */
export interface TurnLink {
  readonly turn: number;
  readonly status: TurnEnd;
}

export function htmlHead(head: DocumentHead, turns: readonly TurnLink[], clock: DocumentClock): string {
  const title = oneLine(head.title ?? head.id);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${htmlPolicy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${html(title)}</title>
<style>${htmlStyle}</style>
</head>
<body>
<header class="top">
<h1>${html(title)}</h1>
${head.title === null ? '' : `<div class="id">${html(head.id)}</div>\n`}<dl class="facts">
${facts(head, clock)}</dl>
${turnList(turns)}</header>
<main>
`;
}

function facts(head: DocumentHead, clock: DocumentClock): string {
  const { totals } = head;
  const { usage, cost } = totals;
  const rows: readonly (readonly [name: string, value: string | null])[] = [
    ['Started', clock.minutes(head.firstTs)],
    ['Last record', clock.minutes(head.lastTs)],
    ['Status', head.status],
    ['Agent', head.agent],
    ['Model', head.model],
    ['Turns', String(totals.turnCount)],
    ['Records', String(head.recordCount)],
    ['Tool calls', callText(totals.callCount, totals.failedCallCount)],
    ['Tokens in', usage === null ? 'unknown' : grouped(usage.input)],
    ['of these from the cache', usage === null || usage.cached === 0n ? null : grouped(usage.cached)],
    ['Tokens out', usage === null ? 'unknown' : grouped(usage.output)],
    ['Cost', cost.picodollars === null ? null : `$${dollars(cost.picodollars).toFixed(4)}`],
    ['Damaged places', head.damageCount === 0 ? null : String(head.damageCount)],
    ['Tags', head.tags.length === 0 ? null : head.tags.join(', ')],
  ];
  const shown = rows.flatMap(([name, value]) => (value === null ? [] : [fact(name, value, '')]));
  const wide = head.workspaces.map((workspace) => fact('Workspace', workspace, ' class="wide"'));
  return [...shown, ...wide].join('');
}

function fact(name: string, value: string, attribute: string): string {
  return `<div${attribute}><dt>${name}</dt><dd>${html(oneLine(value))}</dd></div>\n`;
}

function callText(calls: number, failed: number): string {
  return failed === 0 ? String(calls) : `${calls}, ${failed} failed`;
}

/** Digits in groups of three, whatever the language of the machine is. */
export function grouped(count: bigint): string {
  return count.toString().replace(/\B(?=(?:\d{3})+$)/g, '\u2009');
}

function turnList(turns: readonly TurnLink[]): string {
  if (turns.length < 2) return '';
  const links = turns
    .map(({ turn, status }) => {
      const mark = status === 'failed' ? ' class="failed" title="failed"' : '';
      return `<li><a href="#t${turn}"${mark}>${turn}</a></li>`;
    })
    .join('');
  return `<nav aria-label="Turns">Turns<ol>${links}</ol></nav>\n`;
}

export function htmlEnd(redaction: DocumentHead['redaction']): string {
  const how = redaction.redacted
    ? `Secrets were redacted (list ${redaction.redaction_list ?? ''}).`
    : 'Nothing was redacted.';
  return `</main>\n<footer>Exported by Turnlog. ${how}</footer>\n</body>\n</html>\n`;
}
