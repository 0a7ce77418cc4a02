import { keptEvent } from './kept-event.js';
import { isMembers, type Members, type SourceObject, textMember } from './source-object.js';
import type {
  Lookahead,
  RecordPlace,
  ThreadContext,
  ThreadMapper,
  ThreadMapping,
  ThreadRecord,
  ThreadStep,
} from './thread-format.js';
import { callItem, callsOf, resultEvents } from './vtcode-calls.js';
import { VtcodeTurns } from './vtcode-turns.js';

/** What a record is: the header of its file, a message, something else that is known, or nothing known. */
export type MessageKind = 'header' | 'message' | 'known' | 'unknown';

export interface MessageShape {
  /** Name of a record's kind for the counts, and how it is taken. */
  kindOf(value: Members): readonly [kind: MessageKind, name: string];
  headerOf(value: Members): Members;
}

/** The fold over messages {role, content, reasoning?, tool_calls?, tool_call_id?}, which have neither ids nor ends. */
export class VtcodeMessagesMapper implements ThreadMapper {
  readonly #turns: VtcodeTurns;
  readonly #shape: MessageShape;

  constructor(context: ThreadContext, saved: unknown, shape: MessageShape) {
    this.#turns = new VtcodeTurns(context, saved);
    this.#shape = shape;
  }

  get unansweredCount(): number {
    return this.#turns.unansweredCount;
  }

  get withoutUsageCount(): number {
    return this.#turns.withoutUsageCount;
  }

  state(): unknown {
    return this.#turns.state();
  }

  take({ object, place }: ThreadRecord, _ahead: Lookahead, step: ThreadStep): ThreadMapping {
    const { value } = object;
    const [kind, name] = this.#shape.kindOf(value);
    this.#turns.begin(place, kind === 'header' ? this.#shape.headerOf(value) : {}, step);
    if (kind === 'header') return { place: 'mapped', kind: name };
    if (kind === 'message' && this.#message(object, place, step)) return { place: 'mapped', kind: name };
    if (kind === 'unknown')
      step.emitter(place, { part: 'kept' }).emit(keptEvent(name, 'unknown-type', object));
    return { place: 'kept', kind: name };
  }

  finish(step: ThreadStep): void {
    this.#turns.finish(step);
  }

  /** False for a role without an event of its own, as the rules of the program have. */
  #message(object: SourceObject, place: RecordPlace, step: ThreadStep): boolean {
    switch (object.value['role']) {
      case 'user':
        this.#turns.open(place, {}, step);
        this.#words(object, place, step);
        return true;
      case 'assistant':
        this.#turns.ensure(place, step);
        this.#answer(object, place, step);
        return true;
      case 'tool':
        this.#turns.ensure(place, step);
        this.#result(object, place, step);
        return true;
      default:
        return false;
    }
  }

  #words({ value }: SourceObject, place: RecordPlace, step: ThreadStep): void {
    const content = partsOf(value['content']).map(
      (part) => imageOf(part, step) ?? { type: 'text', text: textOfPart(part) },
    );
    step.emitter(place).emit({ type: 'user.message', id: nameOf(place), origin: 'prompt', content });
  }

  #answer(object: SourceObject, place: RecordPlace, step: ThreadStep): void {
    const { value } = object;
    const emitter = step.emitter(place);
    const id = nameOf(place);
    const reasoning = textMember(value, 'reasoning') ?? '';
    if (reasoning !== '') {
      emitter.emit(completed({ id: `${id}#reasoning`, type: 'reasoning', text: reasoning }));
    }
    const text = textOf(value['content']);
    if (text !== '') emitter.emit(completed({ id, type: 'agent_message', text }));
    for (const call of callsOf(object, (at) => `${id}#call${at}`)) {
      this.#turns.started(call, emitter, (begun) => callItem(begun, 'in_progress', null));
    }
  }

  #result({ value }: SourceObject, place: RecordPlace, step: ThreadStep): void {
    const emitter = step.emitter(place);
    const callId = textMember(value, 'tool_call_id') ?? nameOf(place);
    const events = resultEvents(this.#turns.answered(callId), callId, textOf(value['content']));
    for (const event of events) emitter.emit(event);
  }
}

function completed(item: object): object {
  return { type: 'item.completed', item };
}

/** A name for what has no id: its digest, and which of several alike it is. */
function nameOf({ identity, sha256 }: RecordPlace): string {
  const [, occurrence = '1'] = identity.split('\0');
  return occurrence === '1' ? sha256.slice(0, 32) : `${sha256.slice(0, 32)}.${occurrence}`;
}

/** The parts of a content that is a text or a list of parts. */
function partsOf(content: unknown): readonly unknown[] {
  return Array.isArray(content) ? content : [content];
}

function textOf(content: unknown): string {
  return partsOf(content).map(textOfPart).join('\n');
}

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part;
  return isMembers(part) ? (textMember(part, 'text') ?? '') : '';
}

function imageOf(part: unknown, step: ThreadStep): object | null {
  const data = isMembers(part) ? textMember(part, 'data') : undefined;
  if (!isMembers(part) || part['type'] !== 'image' || data === undefined) return null;
  return step.asset(Buffer.from(data, 'base64'), textMember(part, 'mime_type') ?? 'application/octet-stream');
}
