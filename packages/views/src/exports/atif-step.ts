import { isOwnWords, messageText, type UsageCounts } from '@turnlog/events';
import { ownMember, ownText } from '../internal/members.js';
import { callOutput } from './output-text.js';
import type { ItemEntry, ShownEvent } from './session-entries.js';
import { compactJson, type DocumentObject, memberBytes, RawJson } from './stored-json.js';

/** A step without its number, which it gets when it is written. */
export interface AtifStep {
  readonly timestamp: string | null;
  readonly source: 'system' | 'user' | 'agent';
  readonly message: string;
  readonly seq: number;
  readonly calls?: readonly DocumentObject[];
  readonly results?: readonly DocumentObject[];
}

export interface AtifStepFacts {
  readonly number: number;
  readonly reasoning: string | null;
  readonly usage: UsageCounts | null;
}

export function stepJson(step: AtifStep, { number, reasoning, usage }: AtifStepFacts): DocumentObject {
  const { timestamp, source, message, seq, calls, results } = step;
  return {
    step_id: number,
    timestamp: timestamp ?? undefined,
    source,
    message,
    reasoning_content: reasoning ?? undefined,
    tool_calls: calls,
    observation: results === undefined ? undefined : { results },
    metrics:
      usage === null
        ? undefined
        : {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            cached_tokens: usage.cached,
            ...(usage.creation === 0n ? {} : { extra: { cache_creation_tokens: usage.creation } }),
          },
    extra: { turnlog_seq: seq },
  };
}

function step(event: ShownEvent, source: AtifStep['source'], message: string): AtifStep {
  return { timestamp: event.ts, source, message, seq: event.seq };
}

/** What an event outside of items gives; null for what has no place in a trajectory. */
export function eventStep(event: ShownEvent): AtifStep | null {
  const { type, value } = event;
  if (type === 'user.message') {
    const source = isOwnWords(ownText(value, 'origin') ?? '') ? 'user' : 'system';
    return step(event, source, messageText(ownMember(value, 'content')));
  }
  if (type === 'interjected') return step(event, 'user', ownText(value, 'text') ?? '');
  if (type === 'error') return step(event, 'system', `Error: ${ownText(value, 'message') ?? ''}`);
  return null;
}

/** A turn that failed, was blocked, or both: it is one step. */
export function failureStep(event: ShownEvent, blocked: ShownEvent | null): AtifStep {
  const message = ownText(event.value, 'message') ?? '';
  if (event.type === 'turn.blocked') return step(event, 'system', `Turn blocked: ${message}`);
  const reason = blocked === null ? '' : ` (blocked: ${ownText(blocked.value, 'message') ?? ''})`;
  return step(event, 'system', `Turn failed: ${message}${reason}`);
}

/** An item that is no reasoning; null for types that nobody knows. */
export function itemStep(entry: ItemEntry): AtifStep | null {
  const { item, type, event } = entry;
  switch (type) {
    case 'agent_message':
    case 'plan':
      return step(event, 'agent', ownText(item, 'text') ?? '');
    case 'decision': {
      const parts = [ownText(item, 'summary'), ownText(item, 'rationale')];
      return step(event, 'agent', parts.filter((part) => part !== null && part !== '').join('\n\n'));
    }
    case 'error':
      return step(event, 'system', `Error: ${ownText(item, 'message') ?? ''}`);
    case 'harness':
      return step(
        event,
        'system',
        [ownText(item, 'event'), ownText(item, 'message')].filter((part) => part !== null).join(': '),
      );
    case 'tool_output':
      return { ...step(event, 'system', ''), results: [{ content: callOutput(entry) }] };
    case 'file_change':
      return changeStep(entry);
    default:
      return entry.plan.call !== null || type === 'web_search' ? callStep(entry) : null;
  }
}

/** Whether nothing says what came out of a call: it is then told at the end. */
export function isWithoutOutput({ type, plan, outputs }: ItemEntry): boolean {
  if (plan.call === null) return false;
  return type === 'tool_invocation' ? outputs.length === 0 : !plan.call.isAnswered;
}

function callStep(entry: ItemEntry): AtifStep {
  const { item, type, event, plan } = entry;
  const callId = plan.call?.callId ?? ownText(item, 'id') ?? '';
  const outcome = ownText(item, 'outcome') ?? ownText(item, 'status');
  const content = isWithoutOutput(entry)
    ? `No output of this call is on record${outcome === null ? '' : ` (${outcome})`}.`
    : callOutput(entry);
  return {
    ...step(event, 'agent', ''),
    calls: [
      {
        tool_call_id: callId,
        function_name: ownText(item, 'tool_name') ?? type,
        arguments: argumentsOf(entry),
      },
    ],
    results: [{ source_call_id: callId, content }],
  };
}

/** Always an object; numbers keep their digits. */
function argumentsOf({ item, type, event }: ItemEntry): RawJson | DocumentObject {
  const given = memberBytes(event.bytes, 'item', 'arguments');
  const raw = given === null ? null : new RawJson(compactJson(given));
  if (type === 'command_execution') {
    return { command: ownText(item, 'command') ?? '', arguments: raw ?? undefined };
  }
  if (type === 'web_search') {
    return { query: ownText(item, 'query') ?? '', provider: ownText(item, 'provider') ?? undefined };
  }
  if (raw === null) return {};
  return raw.text.startsWith('{') ? raw : { value: raw };
}

function changeStep({ item, event }: ItemEntry): AtifStep {
  const callId = ownText(item, 'id') ?? '';
  const changes = memberBytes(event.bytes, 'item', 'changes');
  const status = ownText(item, 'status') ?? 'unknown';
  return {
    ...step(event, 'agent', ''),
    calls: [
      {
        tool_call_id: callId,
        function_name: 'file_change',
        arguments: changes === null ? {} : { changes: new RawJson(compactJson(changes)) },
      },
    ],
    results: [{ source_call_id: callId, content: ownText(item, 'unified_diff') ?? status }],
  };
}
