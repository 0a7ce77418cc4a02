import { FirstRecordSurvey } from './first-record-survey.js';
import { type Members, type SourceObject, textMember } from './source-object.js';
import { sourceTimeMs } from './source-time.js';
import type {
  Lookahead,
  ThreadContext,
  ThreadFormat,
  ThreadIdentity,
  ThreadMapper,
  ThreadMapping,
  ThreadRecord,
  ThreadStep,
} from './thread-format.js';
import { VtcodeTurns } from './vtcode-turns.js';

/** What VT Code sums up of a session: `history/*.memory.json`. It is kept whole, beside what the session itself holds. */
export const vtcodeMemory: ThreadFormat = {
  name: 'vtcode-memory',
  mapping: '1',
  prefix: 'vtcode',
  hasLogs: true,
  isGuest: true,
  document: { records: 'whole', head: /^(?:\xef\xbb\xbf)?\s*\{[\s\S]*"grounded_facts"/, lists: [] },
  recognises: (value) => sessionIn(value) !== undefined && Array.isArray(value['grounded_facts']),
  survey: () => new FirstRecordSurvey(identityOf),
  recordId: () => undefined,
  recordTime: ({ value }) => value['generated_at'],
  sharing: 'on-demand',
  sharedIdentity: () => undefined,
  mapper: (context, state) => new MemoryMapper(context, state),
};

function sessionIn(value: Members): string | undefined {
  return textMember(value, 'session_id');
}

function identityOf({ value }: SourceObject): ThreadIdentity | null {
  const threadId = sessionIn(value);
  if (threadId === undefined) return null;
  const startedMs = sourceTimeMs(value['generated_at']);
  return { threadId, derived: [], aliases: [], after: [threadId], startedMs };
}

class MemoryMapper implements ThreadMapper {
  readonly unansweredCount = 0;
  readonly withoutUsageCount = 0;
  readonly #turns: VtcodeTurns;
  readonly #isInStore: boolean;

  constructor(context: ThreadContext, saved: unknown) {
    this.#turns = new VtcodeTurns(context, saved);
    this.#isInStore = context.isInStore;
  }

  state(): unknown {
    return this.#turns.state();
  }

  take({ object, place }: ThreadRecord, _ahead: Lookahead, step: ThreadStep): ThreadMapping {
    if (!this.#isInStore) this.#turns.begin(place, {}, step);
    const { start, end } = object.span;
    const asset = step.asset(object.bytes.slice(start, end), 'application/json');
    step.emitter(place).emit({ type: 'run.kept', kind: 'memory', why: 'derived', asset });
    return { place: 'kept', kind: 'memory' };
  }

  finish(): void {
    // A summary opens no turn.
  }
}
