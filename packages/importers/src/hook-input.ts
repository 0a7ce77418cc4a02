import { TurnlogError } from '@turnlog/kernel';
import { isMembers, type Members, textMember } from './source-object.js';

/** What an agent tells a program that it calls when something happens. */
export interface HookCall {
  /** As in `Stop`; codex tells it in another way and names none. */
  readonly event: string;
  /** The file of the thread, as the agent says; null when it names none. */
  readonly transcriptPath: string | null;
  /** The file of a sub-agent that has ended; null when there is none. */
  readonly agentTranscriptPath: string | null;
  /** The thread; null when it is not named. */
  readonly threadId: string | null;
  /** What the user was asked, or refused; null for every other event. */
  readonly permission: HookPermission | null;
}

export interface HookPermission {
  readonly kind: 'requested' | 'denied';
  readonly toolName: string;
  /** The call; null where the agent does not name it. */
  readonly callId: string | null;
  readonly reason: string | null;
}

/** Reads what an agent tells. @throws TURNLOG_INVALID_EVENT when it is no JSON object. */
export function readHookCall(text: string): HookCall {
  const value = objectOf(text);
  const event = textMember(value, 'hook_event_name') ?? '';
  return {
    event,
    transcriptPath: named(value, 'transcript_path'),
    agentTranscriptPath: named(value, 'agent_transcript_path'),
    threadId: named(value, 'thread-id') ?? named(value, 'thread_id') ?? named(value, 'session_id'),
    permission: permissionOf(event, value),
  };
}

function objectOf(text: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw noObject(cause);
  }
  if (!isMembers(value)) throw noObject(undefined);
  return value;
}

function noObject(cause: unknown): TurnlogError {
  const details = { place: '/', rule: 'one JSON object' };
  const message = 'what the agent told its hook is no JSON object';
  return new TurnlogError('TURNLOG_INVALID_EVENT', { details, message, cause });
}

function named(value: Members, name: string): string | null {
  const text = textMember(value, name);
  return text === undefined || text === '' ? null : text;
}

const permissionKinds: ReadonlyMap<string, HookPermission['kind']> = new Map([
  ['PermissionRequest', 'requested'],
  ['PermissionDenied', 'denied'],
]);

function permissionOf(event: string, value: Members): HookPermission | null {
  const kind = permissionKinds.get(event);
  const toolName = named(value, 'tool_name');
  if (kind === undefined || toolName === null) return null;
  return { kind, toolName, callId: named(value, 'tool_use_id'), reason: named(value, 'reason') };
}
