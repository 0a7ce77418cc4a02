import type { LogReader } from '@turnlog/log';
import { DocumentClock } from './document-clock.js';
import type { DocumentHead } from './document-head.js';
import type { ExportRequest } from './export-request.js';
import { HtmlBlocks } from './html.js';
import { html } from './html-escape.js';
import { htmlEnd, htmlHead, type TurnLink } from './html-head.js';
import { imagesOf, noImages } from './image-source.js';
import { markdownBlock, markdownHead, markdownPart } from './markdown.js';
import type { BlockRenderer } from './session-document.js';
import { turnEnd } from './session-entries.js';
import type { SessionPlan } from './session-plan.js';
import { visibleText } from './whole-text.js';

export function markdownRenderer({ options = {} }: ExportRequest): BlockRenderer {
  const assets = options.assets === 'omit' ? 'omit' : 'show';
  const clock = new DocumentClock(options.zone);
  return {
    head: (head) => visibleText(markdownHead(head, clock)),
    part: (text) => visibleText(markdownPart(text)),
    block: (block) => visibleText(markdownBlock(block, assets, clock)),
    end: () => '',
  };
}

export function htmlRenderer({ options = {}, store }: ExportRequest): BlockRenderer {
  const image = options.assets === 'inline' && store !== undefined ? imagesOf(store) : noImages;
  const clock = new DocumentClock(options.zone);
  const blocks = new HtmlBlocks({ assets: options.assets === 'omit' ? 'omit' : 'show', image, clock });
  let redaction: DocumentHead['redaction'] = { redacted: false };
  return {
    head: (head, plan, reader) => {
      redaction = head.redaction;
      return htmlHead(head, turnLinks(plan, reader), clock);
    },
    part: (text) => `<div class="part">${html(text)}</div>\n`,
    block: (block, part) => blocks.block(block, part),
    end: () => htmlEnd(redaction),
  };
}

function turnLinks({ usage }: SessionPlan, reader: LogReader): readonly TurnLink[] {
  return usage.turns.entries().map(([turn]) => ({ turn, status: turnEnd(usage, reader, turn) }));
}
