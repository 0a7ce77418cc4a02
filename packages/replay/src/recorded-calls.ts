import type { Outcome, RecordedError } from './fixture.js';
import type { SourceRecord } from './source-record.js';
import {
  objectOf,
  type StoredValue,
  storedMember,
  storedNull,
  storedString,
  stringOf,
} from './stored-value.js';

/** An exchange as the records of a session tell it, before it has number, key and group. */
export interface CallDraft {
  readonly port: 'model' | 'tool';
  readonly start: SourceRecord;
  request: StoredValue;
  outcome: Outcome;
  response: StoredValue | null;
  error: RecordedError | null;
  end: SourceRecord | null;
}

const answerTypes: ReadonlySet<string> = new Set(['agent_message', 'reasoning', 'plan', 'decision']);
const callTypes: ReadonlySet<string> = new Set(['tool_invocation', 'mcp_tool_call', 'command_execution']);
/** What the model is told: behind each of these a new answer begins. */
const inputTypes: ReadonlySet<string> = new Set([
  'user.message',
  'interjected',
  'turn.started',
  'context.reset',
]);

interface Answer {
  readonly draft: CallDraft;
  readonly items: Map<string, StoredValue>;
}

/**
 * The exchanges that records tell of. Calls of tools come from invocation and output. What the model was asked is in no
 * record of a session, so all that it said between two inputs is one derived answer: `{"items":[…]}`.
 */
export class RecordedCalls {
  readonly #drafts: CallDraft[] = [];
  readonly #calls = new Map<string, CallDraft>();
  readonly #ended = new Set<string>();
  readonly #told = new Set<string>();
  #answer: Answer | null = null;

  add(record: SourceRecord): void {
    if (inputTypes.has(record.type)) this.#answer = null;
    if (!record.type.startsWith('item.')) return;
    const item = storedMember(record.event, 'item');
    const type = storedString(item, 'type');
    const id = storedString(item, 'id');
    if (item === undefined || type === null || id === null) return;
    if (answerTypes.has(type)) this.#say(record, id, item);
    else if (callTypes.has(type)) this.#call(record, id, type, item);
    else if (type === 'tool_output') this.#output(record, item);
  }

  /** In order of start. */
  list(): readonly CallDraft[] {
    return this.#drafts;
  }

  #say(record: SourceRecord, id: string, item: StoredValue): void {
    const isKnown = this.#told.has(id) && this.#answer?.items.has(id) !== true;
    // A later snapshot of what an earlier answer said is no new answer.
    if (isKnown && record.type !== 'item.started') return;
    this.#told.add(id);
    this.#answer ??= this.#begin(record);
    const { draft, items } = this.#answer;
    items.set(id, item);
    draft.response = objectOf({ items: { kind: 'array', items: [...items.values()] } });
    draft.end = record;
  }

  #begin(record: SourceRecord): Answer {
    const draft: CallDraft = {
      port: 'model',
      start: record,
      request: objectOf({}),
      outcome: 'ok',
      response: null,
      error: null,
      end: record,
    };
    this.#drafts.push(draft);
    return { draft, items: new Map() };
  }

  #call(record: SourceRecord, id: string, type: string, item: StoredValue): void {
    const known = this.#calls.get(id);
    const isNew = known === undefined || (record.type === 'item.started' && this.#ended.has(id));
    if (isNew) {
      this.#told.delete(id);
      this.#ended.delete(id);
    }
    // What the model said is the call, not what came of it.
    const isSaid = this.#answer?.items.has(id) === true && !hasEnded(record, item);
    if (isNew || isSaid) this.#say(record, id, item);
    const draft = isNew ? this.#start(record, id, type, item) : known;
    draft.request = requestOf(type, item);
    if (!hasEnded(record, item)) return;
    this.#ended.add(id);
    if (type !== 'tool_invocation') {
      this.#finish(draft, record, item, type === 'command_execution' ? 'aggregated_output' : 'result');
      // It holds its own output, and the model reads it next.
      this.#answer = null;
    } else if (failureOf(item) !== null) this.#finish(draft, record, item, 'output');
    // What a tool gave back comes in a record of its own; without that nobody knows it.
  }

  #start(record: SourceRecord, id: string, type: string, item: StoredValue): CallDraft {
    const draft: CallDraft = {
      port: 'tool',
      start: record,
      request: requestOf(type, item),
      outcome: 'unfinished',
      response: null,
      error: null,
      end: null,
    };
    this.#calls.set(id, draft);
    this.#drafts.push(draft);
    return draft;
  }

  #output(record: SourceRecord, item: StoredValue): void {
    const draft = this.#calls.get(storedString(item, 'call_id') ?? '');
    if (draft === undefined || !hasEnded(record, item)) return;
    this.#finish(draft, record, item, 'output');
    this.#answer = null;
  }

  #finish(draft: CallDraft, record: SourceRecord, item: StoredValue, member: string): void {
    const failure = failureOf(item);
    const output = storedMember(item, member) ?? null;
    draft.end = record;
    // What the invocation said of its failure stays, also where the output says less.
    if (failure === null && draft.error === null) {
      draft.outcome = 'ok';
      draft.response = output ?? storedNull;
      return;
    }
    draft.outcome = 'error';
    draft.response = output;
    draft.error = {
      name: failure ?? draft.error?.name ?? 'failed',
      message: output?.kind === 'string' ? output.text : (draft.error?.message ?? ''),
      code: exitCodeOf(item) ?? draft.error?.code ?? null,
    };
  }
}

function requestOf(type: string, item: StoredValue): StoredValue {
  const given = storedMember(item, 'arguments');
  if (type !== 'command_execution') {
    return objectOf({
      name: storedMember(item, 'tool_name') ?? stringOf(''),
      arguments: given ?? storedNull,
    });
  }
  const command = storedMember(item, 'command');
  return objectOf({ name: stringOf(type), arguments: objectOf({ command, arguments: given }) });
}

function hasEnded({ type }: SourceRecord, item: StoredValue): boolean {
  const status = storedString(item, 'status');
  return type === 'item.completed' || status === 'completed' || status === 'failed';
}

/** How it failed; null when it did not. */
function failureOf(item: StoredValue): string | null {
  const outcome = storedString(item, 'outcome');
  if (outcome !== null && outcome !== 'success') return outcome;
  return storedString(item, 'status') === 'failed' ? 'failed' : null;
}

function exitCodeOf(item: StoredValue): number | null {
  const code = storedMember(item, 'exit_code');
  return code?.kind === 'number' ? Number(code.text) : null;
}
