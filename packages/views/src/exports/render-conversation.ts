import { isOwnWords, messageText } from '@turnlog/events';
import { TurnlogError } from '@turnlog/kernel';
import type { LogReader } from '@turnlog/log';
import type { Egress } from '@turnlog/store';
import { ownList, ownMember, ownText } from '../internal/members.js';
import { callOutcome } from './call-outcome.js';
import {
  type ConversationMessage,
  type ConversationPart,
  type ConversationUnit,
  ConversationWindow,
  partBytes,
} from './conversation-window.js';
import { cutText, utf8Bytes } from './cut-text.js';
import type { ExportSource } from './export-request.js';
import { missingText } from './missing-part.js';
import { callOutput } from './output-text.js';
import { type Entry, type ItemEntry, type ShownEvent, sessionEntries } from './session-entries.js';
import { sessionParts, sharedPart } from './session-parts.js';
import { planSession, type SessionPlan } from './session-plan.js';
import { compactJson, documentJson, memberBytes } from './stored-json.js';
import { wholeText } from './whole-text.js';

/** Less than this holds no conversation. */
const conversationBytesMin = 4_096;
const nameUnitsMax = 256;

export type ConversationRequest = ExportSource & {
  readonly redactor: Egress;
  /** The most bytes of UTF-8 that all parts together may have; what does not fit is left out from the beginning. */
  readonly bytesMax: number;
};

export interface RenderedConversation {
  /** A user's message first, then the two sides in turn. Every call has its result in the message after it. */
  readonly messages: readonly ConversationMessage[];
  readonly bytes: number;
  /** How many texts and calls were left out at the beginning. */
  readonly leftOut: number;
}

/**
 * A session as messages for a model. Only the user's own words speak as the user; what was injected, recalled,
 * summarised or reported stands in a wrapper that names its record, so that old text is read as data. A call that
 * has no result gets one that says so, as an error.
 *
 * @throws TURNLOG_BAD_CONFIG for a bound too small for any conversation; as `exportSession` else.
 */
export function renderConversation(request: ConversationRequest): RenderedConversation {
  const { bytesMax, redactor } = request;
  if (!Number.isSafeInteger(bytesMax) || bytesMax < conversationBytesMin) {
    throw new TurnlogError('TURNLOG_BAD_CONFIG', {
      details: { bytesMax, bytesMin: conversationBytesMin },
      message: `a conversation needs at least ${conversationBytesMin} bytes`,
    });
  }
  const rendering = new Rendering(bytesMax);
  for (const part of sessionParts(request)) {
    if (part.kind === 'missing') rendering.missing(redactor.text(missingText(part.missing)));
    else if (part.kind === 'shared' && request.store !== undefined) {
      const entries = sharedPart(request.store, part, (reader, plan) =>
        sessionEntries(reader, plan, redactor, part.toSeq),
      );
      for (const entry of entries) rendering.take(entry, part.sessionId);
    }
  }
  withReader(request, (reader, plan) => {
    for (const entry of sessionEntries(reader, plan, redactor, null)) rendering.take(entry, reader.sessionId);
  });
  return rendering.end();
}

function withReader(source: ExportSource, work: (reader: LogReader, plan: SessionPlan) => void): void {
  if (source.reader !== undefined) {
    work(source.reader, planSession(source.reader, null));
    return;
  }
  const reader = source.store.read(source.id);
  try {
    work(reader, planSession(reader, null));
  } finally {
    reader.close();
  }
}

/** What stands before the first message when that is the agent's, and the room that it takes. */
const opening = '[The conversation began before what is shown here.]';

class Rendering {
  readonly #window: ConversationWindow;
  readonly #partBytesMax: number;
  readonly #callIds = new Map<string, number>();

  constructor(bytesMax: number) {
    this.#window = new ConversationWindow(bytesMax - utf8Bytes(opening));
    this.#partBytesMax = Math.floor(bytesMax / 4);
  }

  missing(text: string): void {
    this.#window.add([{ role: 'user', part: { type: 'text', text: wholeText(text) } }]);
  }

  take(entry: Entry, session: string): void {
    if (entry.kind === 'item') this.#item(entry);
    else if (entry.kind === 'event') this.#event(entry.event, session);
  }

  end(): RenderedConversation {
    const messages: { role: ConversationMessage['role']; parts: ConversationPart[] }[] = [];
    for (const unit of this.#window.units()) {
      for (const { role, part } of unit) {
        const last = messages.at(-1);
        if (last === undefined && role === 'assistant') {
          messages.push({ role: 'user', parts: [{ type: 'text', text: opening }] });
        }
        if (last?.role === role) last.parts.push(part);
        else messages.push({ role, parts: [part] });
      }
    }
    const bytes = messages.flatMap(({ parts }) => parts).reduce((sum, part) => sum + partBytes(part), 0);
    return { messages, bytes, leftOut: this.#window.droppedCount };
  }

  #event(event: ShownEvent, session: string): void {
    const { type, value } = event;
    if (type === 'user.message') {
      const origin = ownText(value, 'origin') ?? 'unknown';
      const text = messageText(ownMember(value, 'content'));
      if (isOwnWords(origin)) this.#said('user', text);
      else this.#recalled(session, event, origin, text);
    } else if (type === 'interjected') this.#said('user', ownText(value, 'text') ?? '');
    else if (type === 'log.summary') this.#recalled(session, event, 'summary', summaryText(value));
    else if (type === 'turn.failed') this.#recalled(session, event, type, ownText(value, 'message') ?? '');
  }

  #item(entry: ItemEntry): void {
    const { item, type } = entry;
    if (type === 'agent_message' || type === 'plan') this.#said('assistant', ownText(item, 'text') ?? '');
    else if (type === 'decision') {
      const parts = [ownText(item, 'summary'), ownText(item, 'rationale')];
      this.#said('assistant', parts.filter((part) => part !== null && part !== '').join('\n'));
    } else if (type === 'file_change') {
      const paths = ownList(item, 'changes').map((change) => ownText(change, 'path') ?? '');
      this.#said('assistant', `[Changed files: ${paths.join(', ')}]`);
    } else if (entry.plan.call !== null) this.#call(entry, entry.plan.call.callId);
  }

  #call(entry: ItemEntry, statedId: string): void {
    const { item, type, event, plan } = entry;
    const callId = this.#uniqueId(this.#fitting(statedId, nameUnitsMax));
    const { outcome, tone } = callOutcome(entry);
    const isAnswered = plan.call?.isAnswered === true;
    const output = callOutput(entry);
    const result = isAnswered ? output : `${output}\n[No result of this call is on record.]`.trimStart();
    this.#window.add([
      {
        role: 'assistant',
        part: {
          type: 'tool_call',
          callId,
          name: this.#fitting(ownText(item, 'tool_name') ?? type, nameUnitsMax),
          arguments: this.#argumentsOf(item, event),
        },
      },
      {
        role: 'user',
        part: {
          type: 'tool_result',
          callId,
          text: this.#fitting(result === '' ? `[${outcome}]` : result, this.#partBytesMax),
          isError: !isAnswered || tone === 'bad',
        },
      },
    ] satisfies ConversationUnit);
  }

  #argumentsOf(item: unknown, event: ShownEvent): string {
    const given = memberBytes(event.bytes, 'item', 'arguments');
    const text =
      given === null ? documentJson({ command: ownText(item, 'command') ?? undefined }) : compactJson(given);
    const bytes = utf8Bytes(text);
    // A part of a JSON text is none.
    return bytes <= this.#partBytesMax ? text : documentJson({ left_out_bytes: bytes });
  }

  /** Agents use ids again; for a model each call must have one of its own. */
  #uniqueId(callId: string): string {
    const count = (this.#callIds.get(callId) ?? 0) + 1;
    this.#callIds.set(callId, count);
    return count === 1 ? callId : this.#uniqueId(`${callId}~${count}`);
  }

  #said(role: ConversationMessage['role'], text: string): void {
    if (text.trim() === '') return;
    this.#window.add([{ role, part: { type: 'text', text: this.#fitting(text, this.#partBytesMax) } }]);
  }

  /** Old text in a wrapper that it cannot end. */
  #recalled(session: string, { seq }: ShownEvent, kind: string, text: string): void {
    if (text.trim() === '') return;
    const inside = this.#fitting(text, this.#partBytesMax).replace(/<(?=\/?recalled)/gi, '<\u200b');
    const safeKind = kind.replace(/[^\w.-]/g, '_').slice(0, nameUnitsMax);
    const wrapped = `<recalled source="turnlog:${session}#${seq}" kind="${safeKind}">\n${inside}\n</recalled>`;
    this.#window.add([{ role: 'user', part: { type: 'text', text: wrapped } }]);
  }

  #fitting(text: string, bytesMax: number): string {
    return cutText(wholeText(text), bytesMax);
  }
}

function summaryText(value: unknown): string {
  const facts = ownList(value, 'facts').filter((fact) => typeof fact === 'string');
  return [ownText(value, 'text') ?? '', ...facts].filter((text) => text !== '').join('\n');
}
