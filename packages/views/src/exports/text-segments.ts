/** A piece of what an agent or a user wrote: fenced code, or the lines between. */
export type Segment =
  | { readonly kind: 'text'; readonly lines: readonly string[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string };

const fenceForm = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;

/** Tells fenced code from the text around it, as Markdown has it; a fence that nothing closes ends with the text. */
export function textSegments(text: string): readonly Segment[] {
  const segments: Segment[] = [];
  let lines: string[] = [];
  let fence: { readonly mark: string; readonly language: string } | null = null;
  const flush = (): void => {
    if (fence !== null) segments.push({ kind: 'code', language: fence.language, text: lines.join('\n') });
    else if (lines.some((line) => line.trim() !== '')) segments.push({ kind: 'text', lines });
    lines = [];
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    const found = fenceForm.exec(line);
    const mark = found?.[1] ?? '';
    if (fence === null && mark !== '') {
      flush();
      fence = { mark, language: languageOf(found?.[2] ?? '') };
    } else if (fence !== null && mark.startsWith(fence.mark) && (found?.[2] ?? '').trim() === '') {
      flush();
      fence = null;
    } else lines.push(line);
  }
  flush();
  return segments;
}

function languageOf(info: string): string {
  return /^[\w+#.-]{1,30}/.exec(info.trim())?.[0] ?? '';
}

/** A part of a line: code between equal runs of backticks, or plain text. */
export interface Span {
  readonly kind: 'plain' | 'code';
  readonly text: string;
}

/** The code in one line. Each run of backticks is looked for once, so the time is that of the line's length. */
export function lineSpans(line: string): readonly Span[] {
  if (!line.includes('`')) return line === '' ? [] : [{ kind: 'plain', text: line }];
  const runs = [...line.matchAll(/`+/g)].map(({ 0: run, index }) => ({ index, length: run.length }));
  const nextOfLength = new Map<number, number>();
  const closing: (number | undefined)[] = [];
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const { length } = runs[at] ?? { length: 0 };
    closing[at] = nextOfLength.get(length);
    nextOfLength.set(length, at);
  }
  const spans: Span[] = [];
  let copied = 0;
  for (let at = 0; at < runs.length; at += 1) {
    const open = runs[at];
    const close = runs[closing[at] ?? -1];
    if (open === undefined || close === undefined) continue;
    if (open.index > copied) spans.push({ kind: 'plain', text: line.slice(copied, open.index) });
    spans.push({ kind: 'code', text: line.slice(open.index + open.length, close.index) });
    copied = close.index + close.length;
    at = closing[at] ?? at;
  }
  if (copied < line.length) spans.push({ kind: 'plain', text: line.slice(copied) });
  return spans;
}
