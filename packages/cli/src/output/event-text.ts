import type { RecordRole } from '@turnlog/events';
import type { LogRecord } from '@turnlog/log';
import type { Egress } from '@turnlog/store';
import { eventJson } from './event-json.js';
import { type Described, described, describeItem } from './item-text.js';
import { compactJson, listOf, memberOf, numberText, textOf } from './json-members.js';
import type { EventKind } from './roles.js';

const ownWords: ReadonlySet<string> = new Set(['prompt', 'queued', 'slash_command', 'shell_bang']);

/**
 * The event of a record without its secrets, as a value whose big whole numbers are text; null when it is nested too
 * deep to be built.
 */
export function eventValueOf(record: LogRecord, egress: Egress): unknown {
  return record.readEvent() === null ? null : egress.value(JSON.parse(eventJson(record.eventBytes())));
}

/** What a record says. `event` is the value of `eventValueOf`. */
export function describeRecord(record: LogRecord, event: unknown): Described {
  if (event === null)
    return described('unknown', 'unknown', 'event', `${record.type} (nested too deep to be shown)`);
  const describer = describers.get(record.type);
  if (describer !== undefined) return describer(event);
  return describeOther(record.type, event);
}

type Describer = (event: unknown) => Described;

const describers: ReadonlyMap<string, Describer> = new Map<string, Describer>([
  ['user.message', describeUserMessage],
  ['interjected', (event) => described('user', 'message', 'user', textOf(event, 'text'), 'interjected')],
  ['item.started', (event) => describeItem(memberOf(event, 'item'))],
  ['item.updated', (event) => describeItem(memberOf(event, 'item'))],
  ['item.completed', (event) => describeItem(memberOf(event, 'item'))],
  ['turn.started', (event) => described('system', 'turn', 'turn', goalOf(event), 'started')],
  ['turn.completed', (event) => described('system', 'turn', 'turn', usageText(event), 'completed')],
  ['turn.failed', (event) => described('system', 'error', 'turn', textOf(event, 'message'), 'failed')],
  ['turn.blocked', (event) => described('system', 'error', 'turn', textOf(event, 'message'), 'blocked')],
  [
    'thread.started',
    (event) => described('system', 'thread', 'thread', textOf(event, 'thread_id'), 'started'),
  ],
  ['thread.completed', describeThreadEnd],
  ['run.started', describeRun],
  ['run.changed', describeChange],
  [
    'run.answer',
    (event) => described('system', 'run', 'answer', `${textOf(event, 'model')} ${usageText(event)}`.trim()),
  ],
  [
    'run.source',
    (event) => described('system', 'run', 'source', `${textOf(event, 'format')} ${textOf(event, 'path')}`),
  ],
  [
    'run.kept',
    (event) => described('system', 'run', 'kept', `${textOf(event, 'kind')}: ${textOf(event, 'why')}`),
  ],
  ['run.imported', (event) => described('system', 'run', 'import', importedText(event))],
  ['journal.set', (event) => described('system', 'run', 'session', settings(event))],
  ['error', (event) => described('system', 'error', 'error', textOf(event, 'message'))],
  ['log.summary', (event) => described('system', 'summary', 'summary', listOf(event, 'facts').join('\n'))],
  ['log.recovered', (event) => described('system', 'log', 'log', recoveredText(event), 'recovered')],
  ['log.redacted', (event) => described('system', 'log', 'log', redactedText(event))],
  ['log.redaction', (event) => described('system', 'log', 'log', redactionText(event), 'redaction')],
  ['permission.requested', (event) => described('system', 'permission', 'asks', textOf(event, 'tool_name'))],
  [
    'permission.resolved',
    (event) =>
      described('system', 'permission', 'asks', textOf(event, 'tool_name'), textOf(event, 'decision')),
  ],
  ['plan.delta', (event) => described('agent', 'plan', 'plan', textOf(event, 'delta'))],
]);

function describeUserMessage(event: unknown): Described {
  const origin = textOf(event, 'origin');
  const parts = listOf(event, 'content').map((part) =>
    textOf(part, 'type') === 'text'
      ? textOf(part, 'text')
      : `[${textOf(part, 'type')} ${textOf(part, 'name')}]`,
  );
  const text = parts.join('\n');
  if (ownWords.has(origin))
    return described('user', 'message', 'user', text, origin === 'prompt' ? '' : origin);
  if (origin === 'subagent_prompt') return described('agent', 'message', 'agent', text, origin);
  return described('system', 'context', 'context', text, origin);
}

function goalOf(event: unknown): string {
  return textOf(memberOf(event, 'context'), 'goal');
}

/** Tokens of a turn in words; empty when none are recorded. */
export function usageText(event: unknown): string {
  const usage = memberOf(event, 'usage');
  const input = numberText(usage, 'input_tokens');
  const output = numberText(usage, 'output_tokens');
  const cached = numberText(usage, 'cached_input_tokens');
  if (input === '' && output === '') return '';
  const ofThese = cached === '' || cached === '0' ? '' : ` (${cached} cached)`;
  return `${input || '0'} tokens in${ofThese}, ${output || '0'} out`;
}

function describeThreadEnd(event: unknown): Described {
  const result = textOf(event, 'result');
  const kind: EventKind = result === '' ? 'thread' : 'result';
  return described('agent', kind, 'thread', result, `completed, ${textOf(event, 'subtype')}`);
}

function describeRun(event: unknown): Described {
  const program = [textOf(event, 'program'), textOf(event, 'version')]
    .filter((part) => part !== '')
    .join(' ');
  const place = textOf(event, 'workspace') || textOf(event, 'cwd');
  return described('system', 'run', 'run', place === '' ? program : `${program} in ${place}`, 'started');
}

function describeChange(event: unknown): Described {
  const value = textOf(event, 'value') || compactJson(event, 'value');
  return described('system', 'run', 'run', `${textOf(event, 'field')}: ${value}`, 'changed');
}

/** Which bytes of which file one pass of an import took in. */
function importedText(event: unknown): string {
  const [file, from, to] = [textOf(event, 'file'), numberText(event, 'from'), numberText(event, 'to')];
  return `${file} bytes ${from} to ${to}${compactJson(event, 'final') === 'true' ? ', final' : ''}`;
}

function recoveredText(event: unknown): string {
  const places = listOf(event, 'damage').length;
  const reason = textOf(event, 'reason').replaceAll('_', ' ');
  const lost = compactJson(event, 'lost');
  return `${reason}${places === 0 ? '' : `, ${places} damaged`}${lost === '' ? '' : `, lost ${lost}`}`;
}

/** What stood there is gone, and was not lost: somebody took it out. */
function redactedText(event: unknown): string {
  const [reason, actor] = [textOf(event, 'reason'), textOf(event, 'actor')];
  const why = `${reason === '' ? '' : `, reason ${reason}`}${actor === '' ? '' : `, by ${actor}`}`;
  return `${textOf(event, 'original_type')} redacted${why}`;
}

function redactionText(event: unknown): string {
  return `${listOf(event, 'indexes').length} records, reason ${textOf(event, 'reason')}, by ${textOf(event, 'actor')}`;
}

/** What a record sets of its session, in words. */
function settings(event: unknown): string {
  return ['title', 'tags', 'archived']
    .map((name) => [name, compactJson(event, name)])
    .flatMap(([name, value]) => (value === '' ? [] : [`${name} ${value}`]))
    .join(', ');
}

/** Families whose records speak of memory, and the role of all other known ones. */
const memoryFamily = /^(?:memory|knowledge|wiki|skill|chronicle|person|identity)\./;
const systemFamily = /^(?:log|run|journal|job|thread|turn|context|matrix|plan)\./;

function describeOther(type: string, event: unknown): Described {
  const text = `${type} ${JSON.stringify(event)}`;
  if (memoryFamily.test(type)) return described('memory', 'memory', 'memory', text);
  const isSystem = systemFamily.test(type);
  const role: RecordRole = isSystem ? 'system' : 'unknown';
  const kind: EventKind = isSystem ? kindOfFamily(type) : 'unknown';
  return described(role, kind, 'event', text);
}

function kindOfFamily(type: string): EventKind {
  if (type.startsWith('log.')) return 'log';
  if (type.startsWith('thread.') || type.startsWith('context.')) return 'thread';
  return type.startsWith('plan.') ? 'plan' : 'run';
}
