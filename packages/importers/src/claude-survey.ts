import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import type { SourcePlace, ThreadIdentity, ThreadSurvey } from './thread-format.js';

/** Records that are looked at: ids are mixed where a thread was resumed, which is at its beginning. */
const surveyedRecordsMax = 4_096;
/** And no more than these: a long transcript is looked through at every pass. */
const surveyedBytesMax = 4_194_304;
/** Ids of records by which copies of a beginning are found. */
const sharedMax = 8;

const uuidName = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/i;
const agentName = /^agent-([0-9A-Za-z._-]+)\.jsonl$/;
const agentFolder = /(?:^|[\\/])([^\\/]+)[\\/]subagents[\\/](?:[^\\/]+[\\/])*[^\\/]+$/;

/** Whether an object is a line of a transcript; any type of line may come first. */
export function isTranscriptLine(value: Members): boolean {
  if (textMember(value, 'type') === undefined || isOtherFormat(value)) return false;
  const { sessionId, uuid, message, leafUuid, snapshot } = value;
  if (typeof sessionId === 'string' || typeof leafUuid === 'string') return true;
  return isMembers(snapshot) || (typeof uuid === 'string' && isMembers(message));
}

/** Other agents' lines have members of the same names: streams, rollouts, events, messages made of parts. */
function isOtherFormat(value: Members): boolean {
  const { message, payload, schema_version: version, session_id: streamId, sessionId } = value;
  if (isMembers(payload) || version !== undefined || value['systemPayload'] !== undefined) return true;
  if (typeof streamId === 'string' && sessionId === undefined) return true;
  return isMembers(message) && message['parts'] !== undefined;
}

interface Agent {
  readonly agentId: string;
  readonly sessionId: string;
}

/**
 * The file's name is the thread's id when a line has it as its own; else most lines have. What begins with a line
 * of a sub-agent is that sub-agent's file.
 */
export class TranscriptSurvey implements ThreadSurvey {
  readonly #place: SourcePlace;
  readonly #nameId: string | undefined;
  readonly #counts = new Map<string, number>();
  readonly #shared: string[] = [];
  #first: SourceObject | null = null;
  #agent: Agent | null = null;
  #records = 0;
  #bytes = 0;

  constructor(place: SourcePlace) {
    this.#place = place;
    this.#nameId = uuidName.exec(place.name)?.[1];
  }

  note(object: SourceObject): boolean {
    const { value } = object;
    this.#first ??= object;
    this.#records += 1;
    this.#bytes += object.length;
    const sessionId = textMember(value, 'sessionId');
    const uuid = textMember(value, 'uuid');
    if (uuid !== undefined && this.#shared.length < sharedMax) this.#shared.push(uuid);
    if (sessionId !== undefined) {
      if (this.#counts.size === 0 && value['isSidechain'] === true) this.#noteAgent(value, sessionId);
      // Of ids that are on equally many lines the later counts, so an id moves behind when it comes again.
      const count = (this.#counts.get(sessionId) ?? 0) + 1;
      this.#counts.delete(sessionId);
      this.#counts.set(sessionId, count);
    }
    if (this.#agent !== null) return true;
    return this.#records >= surveyedRecordsMax || this.#bytes >= surveyedBytesMax;
  }

  identity(): ThreadIdentity | null {
    if (this.#first === null) return null;
    if (this.#agent !== null) return this.#childIdentity(this.#agent);
    const stated = this.#statedId();
    const threadId = stated ?? this.#nameId ?? this.#first.sha256.slice(0, 32);
    const names = [...(this.#nameId === undefined ? [] : [this.#nameId]), ...this.#counts.keys()];
    const aliases = [...new Set(names)].filter((name) => name !== threadId);
    const derived = stated === undefined ? ['thread_id'] : [];
    return { threadId, derived, aliases, after: [], shared: this.#shared };
  }

  #noteAgent(value: Members, sessionId: string): void {
    const agentId = textMember(value, 'agentId') ?? agentName.exec(this.#place.name)?.[1];
    if (agentId !== undefined) this.#agent = { agentId, sessionId };
  }

  #statedId(): string | undefined {
    if (this.#nameId !== undefined && this.#counts.has(this.#nameId)) return this.#nameId;
    let most: string | undefined;
    for (const [id, count] of this.#counts) {
      if (count >= (this.#counts.get(most ?? '') ?? 0)) most = id;
    }
    return most;
  }

  /** Some versions give the lines of an agent its own name as their session; its folder knows the parent. */
  #childIdentity({ agentId, sessionId }: Agent): ThreadIdentity {
    const isOwnName = sessionId === `agent-${agentId}` || sessionId === agentId;
    const folder = agentFolder.exec(this.#place.path)?.[1];
    const parentThreadId = isOwnName ? (folder ?? sessionId) : sessionId;
    return {
      threadId: agentId,
      derived: isOwnName ? ['parent'] : [],
      aliases: [],
      after: [parentThreadId],
      child: { parentThreadId, agentId },
    };
  }
}
