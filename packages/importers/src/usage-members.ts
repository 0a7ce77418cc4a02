import { RawJson } from './json-text.js';
import type { SourceValue } from './source-value.js';

/** The four numbers that are always written, in their order. */
const usageNames = ['input_tokens', 'cached_input_tokens', 'cache_creation_tokens', 'output_tokens'] as const;

const wholeNumber = /^(?:0|[1-9]\d{0,19})$/;

/** A usage as the source has it: the four numbers first, missing ones 0, then whatever else it says. */
export function usageMembers(usage: SourceValue | undefined): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const name of usageNames) members.set(name, countOf(usage?.member(name)));
  for (const name of usage?.names ?? []) {
    if (!members.has(name)) members.set(name, usage?.member(name)?.passed());
  }
  return members;
}

function countOf(count: SourceValue | undefined): RawJson | number {
  const text = count?.text ?? '';
  return wholeNumber.test(text) ? new RawJson(text) : 0;
}
