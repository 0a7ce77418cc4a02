import { ownList, ownMember, ownText } from '../internal/members.js';
import type { ItemEntry, ShownEvent } from './session-entries.js';

const outputMembers = ['output', 'aggregated_output', 'result'] as const;

/** What an item says that came out of a call; empty when it says nothing. */
export function outputTexts({ value }: ShownEvent): readonly string[] {
  const item = ownMember(value, 'item');
  const said = outputMembers.flatMap((name) => {
    const text = ownText(item, name);
    return text === null || text === '' ? [] : [text];
  });
  const results = ownList(item, 'results').filter((entry) => typeof entry === 'string');
  const parts = ownList(item, 'content').flatMap((part) => {
    const text = ownText(part, 'type') === 'text' ? ownText(part, 'text') : null;
    return text === null || said.includes(text) ? [] : [text];
  });
  const listed = [...results, ...parts];
  return listed.length === 0 ? said : [...said, listed.join('\n')];
}

/** All that came out of a call, from the call itself and its outputs. */
export function callOutput({ event, outputs }: ItemEntry): string {
  return [event, ...outputs].flatMap(outputTexts).join('\n');
}
