import { contextLength } from './claude-text.js';
import type { ClaudeVoice } from './claude-voice.js';
import type { RawJson } from './json-text.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import type { SourceValue } from './source-value.js';

/** One block of a message, with its place. */
export interface Block {
  readonly value: Members;
  /** What it was made of, as it stands in the source. */
  readonly source: SourceValue;
  /** Position in the message, from 0. */
  readonly place: number;
}

export function isResult(block: Members): boolean {
  const type = textMember(block, 'type') ?? '';
  return type === 'tool_result' || type.endsWith('_tool_result');
}

/** The blocks of a message; a plain text is one block. */
export function blocksOf(object: SourceObject): readonly Block[] {
  return blocksIn(object.at('message', 'content'));
}

/** The blocks of a content. */
export function blocksIn(content: SourceValue | undefined): readonly Block[] {
  if (content === undefined) return [];
  const { value: text } = content;
  if (typeof text === 'string') return [{ value: { type: 'text', text }, source: content, place: 0 }];
  return content.elements.flatMap((source, place) =>
    isMembers(source.value) ? [{ value: source.value, source, place }] : [],
  );
}

/** The user's words apart from the context that the harness put beside them, or in front in the same block. */
export function splitContext(blocks: readonly Block[]): {
  readonly words: readonly Block[];
  readonly context: readonly Block[];
} {
  const words: Block[] = [];
  const context: Block[] = [];
  for (const block of blocks) {
    const text = block.value['type'] === 'text' ? (textMember(block.value, 'text') ?? '') : '';
    const length = contextLength(text);
    const rest = text.slice(length);
    if (length === 0) words.push(block);
    else if (rest.trim() === '') context.push(block);
    else {
      words.push({ ...block, value: { type: 'text', text: rest.trimStart() } });
      const place = blocks.length + context.length;
      context.push({ ...block, value: { type: 'text', text: text.slice(0, length) }, place });
    }
  }
  return { words, context };
}

/** The calls that a message answers. */
export function answeredIn({ content }: Members): readonly string[] {
  if (!Array.isArray(content)) return [];
  return content.filter(isMembers).flatMap((block) => {
    const callId = isResult(block) ? textMember(block, 'tool_use_id') : undefined;
    return callId === undefined ? [] : [callId];
  });
}

/** The calls that a message makes. */
export function callsIn({ content }: Members): readonly string[] {
  if (!Array.isArray(content)) return [];
  return content.filter(isMembers).flatMap((block) => {
    const callId = block['type'] === 'tool_use' ? textMember(block, 'id') : undefined;
    return callId === undefined ? [] : [callId];
  });
}

/** Blocks as parts of a `user.message`: media are stored where they can be, other parts stay as they are. */
export function contentOf(
  blocks: readonly Block[],
  voice: ClaudeVoice,
): readonly (object | RawJson | string)[] {
  return blocks.map(({ value, source }) => {
    if (value['type'] === 'text') return { type: 'text', text: textMember(value, 'text') ?? '' };
    return voice.media?.(value) ?? source.passed();
  });
}

/** The first text among blocks; empty when there is none. */
export function firstTextOf(blocks: readonly Block[]): string {
  const first = blocks.find(({ value }) => value['type'] === 'text');
  return first === undefined ? '' : (textMember(first.value, 'text') ?? '');
}

export function imageCountOf(blocks: readonly Block[]): number {
  return blocks.filter(({ value }) => value['type'] === 'image').length;
}
