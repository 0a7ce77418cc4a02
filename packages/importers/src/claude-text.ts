import { isMembers, type Members, textMember } from './source-object.js';

/** What a text under the user's role is. */
export type ClaudeOrigin =
  | 'prompt'
  | 'slash_command'
  | 'shell_bang'
  | 'interrupt'
  | 'subagent_prompt'
  | 'compact_summary'
  | 'notification'
  | 'injected'
  | 'shell_output';

/** The user's own words: they open a turn, or reach a running one. */
export function isOwnWords(origin: ClaudeOrigin): boolean {
  return origin === 'prompt' || origin === 'slash_command' || origin === 'shell_bang';
}

const beginnings: readonly (readonly [beginning: string, origin: ClaudeOrigin])[] = [
  ['[Request interrupted', 'interrupt'],
  ['<command-name>', 'slash_command'],
  ['<command-message>', 'slash_command'],
  ['<local-command-stdout>', 'injected'],
  ['<local-command-stderr>', 'injected'],
  ['<local-command-caveat>', 'injected'],
  ['<bash-input>', 'shell_bang'],
  ['<bash-stdout>', 'shell_output'],
  ['<bash-stderr>', 'shell_output'],
  ['<task-notification>', 'notification'],
];

const splitOff: readonly string[] = ['<ide_opened_file>', '<ide_selection>', '<system-reminder>'];

/** Where the context ends that the harness put in front of the user's words; 0 where there is none. */
export function contextLength(text: string): number {
  const beginning = splitOff.find((each) => text.startsWith(each));
  if (beginning === undefined) return 0;
  const ending = `</${beginning.slice(1)}`;
  const end = text.indexOf(ending);
  return end === -1 ? text.length : end + ending.length;
}

/** What the first text of a user record is; the first test that holds decides. */
export function originOf(record: Members, text: string, place: 'main' | 'child'): ClaudeOrigin {
  if (record['isCompactSummary'] === true) return 'compact_summary';
  if (record['isMeta'] === true || record['isSynthetic'] === true) return 'injected';
  const found = beginnings.find(([beginning]) => text.startsWith(beginning));
  if (found !== undefined) return found[1];
  const { origin } = record;
  if (isMembers(origin) && origin['kind'] === 'task-notification') return 'notification';
  return place === 'child' || record['isSidechain'] === true ? 'subagent_prompt' : 'prompt';
}

/** The text between the marks `<name>` and `</name>`; empty when they are not there. */
export function markedText(text: string, name: string): string {
  const start = text.indexOf(`<${name}>`);
  const end = text.indexOf(`</${name}>`, start);
  return start === -1 || end === -1 ? '' : text.slice(start + name.length + 2, end);
}

const refusals: readonly (readonly [beginning: string, outcome: string])[] = [
  ["The user doesn't want to proceed with this tool use", 'permission_rejected'],
  ["The user doesn't want to take this action right now", 'permission_rejected'],
  ['Permission to use', 'permission_rejected'],
  ['[Request interrupted', 'cancelled'],
];

const hookRefusal = /^\S*.{0,80}\bblocked by hook\b|^\w+:\w* hook error/i;

/** How a call ended, by its result: the sentences of refusals are fixed. */
export function outcomeOf(isError: boolean, text: string, detail: unknown): string {
  if (isMembers(detail) && detail['interrupted'] === true) return 'cancelled';
  if (!isError) return 'success';
  const found = refusals.find(([beginning]) => text.startsWith(beginning));
  if (found !== undefined) return found[1];
  return hookRefusal.test(text) ? 'hook_denied' : 'error';
}

/** The id and content blocks of a record's message. */
export function messageIn(record: Members): Members {
  const { message } = record;
  return isMembers(message) ? message : {};
}

/** What a record calls itself. */
export function recordId(record: Members): string | undefined {
  return textMember(record, 'uuid');
}
