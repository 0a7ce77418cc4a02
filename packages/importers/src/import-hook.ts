import { join } from 'node:path';
import { isTurnlogError, sha256Hex, TurnlogError } from '@turnlog/kernel';
import { type LogEnvironment, transaction } from '@turnlog/log';
import type { BatchReport } from './batch-report.js';
import type { AgentPlaces } from './discover-sources.js';
import { type HookCall, type HookPermission, readHookCall } from './hook-input.js';
import { type HookAgent, sourcesOfHook } from './hook-source.js';
import { importSources } from './import-sources.js';
import type { ImportTarget } from './import-target.js';
import { importKey } from './record-emitter.js';

export interface HookRequest {
  readonly agent: HookAgent;
  /** What the agent tells: one JSON object. */
  readonly input: string;
  readonly places: AgentPlaces;
  /** Stops behind the record in hand; a later hook does the rest. */
  readonly signal?: AbortSignal;
}

export interface HookReport {
  readonly batch: BatchReport;
  /** What became of the question about a permission, or of its refusal, that the hook was called for. */
  readonly permission: 'none' | 'added' | 'known' | TurnlogError;
}

const formatOf: Readonly<Record<HookAgent, string>> = { claude: 'claude-code', codex: 'codex-rollout' };

/** The end of a session: nothing will be added to its file. */
const endEvent = 'SessionEnd';

/**
 * Imports what is new of the thread that an agent calls a hook for. Called twice for the same it adds nothing.
 *
 * @throws TURNLOG_INVALID_EVENT for an input that is no JSON object; TURNLOG_UNSAFE_PATH for a file outside of the
 *   agent's own folders; TURNLOG_NOT_FOUND when the thread has no file so far; TURNLOG_IO.
 */
export async function importHook(target: ImportTarget, request: HookRequest): Promise<HookReport> {
  const { agent, input, places, signal } = request;
  const call = readHookCall(input);
  const paths = sourcesOfHook(target.environment.fs, agent, places, call);
  const batch = await importSources(target, {
    sources: paths.map((path) => ({ path })),
    from: [formatOf[agent]],
    ...(call.event === endEvent ? { final: true } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
  const permission =
    call.permission === null
      ? 'none'
      : await appendPermission(target, batch, paths[0] ?? '', {
          ...call,
          permission: call.permission,
          input,
          agent,
        });
  return { batch, permission };
}

type PermissionCall = HookCall &
  Pick<HookRequest, 'agent' | 'input'> & { readonly permission: HookPermission };

/** It comes after the records of the file that are there already, which are older. */
async function appendPermission(
  target: ImportTarget,
  batch: BatchReport,
  path: string,
  call: PermissionCall,
): Promise<HookReport['permission']> {
  const source = batch.sources.find((each) => each.path === path);
  const sessionId = source?.sessionId ?? null;
  if (sessionId === null) {
    const message = 'the thread that a permission is about is in no session so far';
    return source?.error ?? new TurnlogError('TURNLOG_NOT_FOUND', { details: { path }, message });
  }
  const { environment, sessionsDirectory, lockWaitMs: waitMs = 0 } = target;
  try {
    return await appendOnce(environment, join(sessionsDirectory, sessionId), sessionId, call, waitMs);
  } catch (error) {
    if (!isTurnlogError(error)) throw error;
    return isTurnlogError(error, 'TURNLOG_KEY_CONFLICT') ? 'known' : error;
  }
}

async function appendOnce(
  environment: LogEnvironment,
  directory: string,
  sessionId: string,
  call: PermissionCall,
  waitMs: number,
): Promise<'added' | 'known'> {
  const key = keyOf(call);
  const event = { raw: JSON.stringify(eventOf(call.permission)) };
  const result = await transaction(environment, directory, sessionId, (log) => log.append(event, { key }), {
    waitMs,
  });
  return result.duplicate === true ? 'known' : 'added';
}

/** The call is what a permission is about; where the agent does not name it, the same words are the same question. */
function keyOf({ event, agent, input, permission }: PermissionCall): string {
  const identity = permission.callId ?? sha256Hex(new TextEncoder().encode(input));
  return importKey(formatOf[agent], `hook\0${event}\0${identity}`, 0);
}

function eventOf({ kind, toolName, callId, reason }: HookPermission): object {
  const call = callId === null ? {} : { tool_call_id: callId };
  if (kind === 'requested') return { type: 'permission.requested', tool_name: toolName, ...call };
  // The contract wants a figure where the agent gives none.
  const decision = { decision: 'deny', wait_ms: 0, derived: ['wait_ms'] };
  const why = reason === null ? {} : { reason };
  return { type: 'permission.resolved', tool_name: toolName, ...decision, ...call, ...why };
}
