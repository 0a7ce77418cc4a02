import { memberSpans, passedOn, RawJson, type Span, textOf } from './json-text.js';

/** The four numbers that are always written, in their order. */
const usageNames = ['input_tokens', 'cached_input_tokens', 'cache_creation_tokens', 'output_tokens'] as const;

const wholeNumber = /^(?:0|[1-9]\d{0,19})$/;

/** A usage as the source has it: the four numbers first, missing ones 0, then whatever else it says. */
export function usageMembers(bytes: Uint8Array, span: Span | undefined): Map<string, unknown> {
  const given = span === undefined ? new Map<string, Span>() : memberSpans(bytes, span);
  const members = new Map<string, unknown>();
  for (const name of usageNames) members.set(name, countOf(bytes, given.get(name)));
  for (const [name, member] of given) {
    if (!members.has(name)) members.set(name, passedOn(bytes, member));
  }
  return members;
}

function countOf(bytes: Uint8Array, span: Span | undefined): RawJson | number {
  if (span === undefined) return 0;
  const text = textOf(bytes, span);
  return wholeNumber.test(text) ? new RawJson(text) : 0;
}
