import { html } from './html-escape.js';
import { lineSpans, type Segment, type Span, textSegments } from './text-segments.js';

/** What somebody said: fenced code, code in lines, headings and strong words are shown as such, the rest as it is. */
export function htmlSaid(text: string): string {
  return `<div class="said">${textSegments(text).map(segmentHtml).join('')}</div>`;
}

function segmentHtml(segment: Segment): string {
  if (segment.kind === 'code') return `<pre>${html(segment.text)}</pre>`;
  return trimmed(segment.lines).map(lineHtml).join('\n');
}

/** Blank lines beside code would only push it away. */
function trimmed(lines: readonly string[]): readonly string[] {
  const isBlank = (line: string | undefined): boolean => line !== undefined && line.trim() === '';
  let [start, end] = [0, lines.length];
  while (start < end && isBlank(lines[start])) start += 1;
  while (end > start && isBlank(lines[end - 1])) end -= 1;
  return lines.slice(start, end);
}

function lineHtml(line: string): string {
  const heading = /^#{1,6} (.*)$/.exec(line);
  const spans = lineSpans(heading?.[1] ?? line)
    .map(spanHtml)
    .join('');
  return heading === null ? spans : `<span class="h">${spans}</span>`;
}

function spanHtml({ kind, text }: Span): string {
  if (kind === 'code') return `<code>${html(text)}</code>`;
  const plain = html(text);
  if (!plain.includes('**')) return plain;
  return plain.replace(/\*\*([^*]{1,400})\*\*/g, '<strong>$1</strong>');
}
