import { FirstRecordSurvey } from './first-record-survey.js';
import { type Members, type SourceObject, textMember } from './source-object.js';
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
import { callItem, plainCall } from './vtcode-calls.js';
import { VtcodeTurns } from './vtcode-turns.js';

/** VT Code's list of decisions and calls: `logs/trajectory*.jsonl`. It names neither session nor results. */
export const vtcodeTrajectory: ThreadFormat = {
  name: 'vtcode-trajectory',
  mapping: '1',
  prefix: 'vtcode',
  recognises: ({ kind, turn, ts }) =>
    (kind === 'route' || kind === 'tool') && typeof turn === 'number' && typeof ts === 'number',
  survey: ({ neighbours }) =>
    new FirstRecordSurvey((first) => identityOf(first, neighbours('sessions').length > 0)),
  recordId: () => undefined,
  recordTime: ({ value }) => value['ts'],
  sharing: 'on-demand',
  sharedIdentity: () => undefined,
  mapper: (context, state) => new TrajectoryMapper(context, state),
};

/** Says of a thread that logs of sessions stand beside it, which hold its calls and more. */
const besideLogs = 'beside-logs';

function identityOf({ sha256 }: SourceObject, hasLogs: boolean): ThreadIdentity {
  const derived = hasLogs ? ['thread_id', besideLogs] : ['thread_id'];
  return { threadId: `trajectory-${sha256.slice(0, 32)}`, derived, aliases: [], after: [] };
}

class TrajectoryMapper implements ThreadMapper {
  readonly unansweredCount = 0;
  readonly #turns: VtcodeTurns;
  readonly #isKept: boolean;

  constructor(context: ThreadContext, saved: unknown) {
    this.#turns = new VtcodeTurns(context, saved);
    const { recorded, identity } = context;
    // What was decided at the first import stays decided.
    const derived: unknown = recorded === null ? identity.derived : recorded['derived'];
    this.#isKept = Array.isArray(derived) && derived.includes(besideLogs);
  }

  get withoutUsageCount(): number {
    return this.#turns.withoutUsageCount;
  }

  state(): unknown {
    return this.#turns.state();
  }

  take({ object, place }: ThreadRecord, _ahead: Lookahead, step: ThreadStep): ThreadMapping {
    const { value } = object;
    const kind = textMember(value, 'kind') ?? 'object';
    this.#turns.begin(place, {}, step);
    if (this.#isKept || kind !== 'tool') return { place: 'kept', kind };
    const turn = turnIn(value);
    if (turn === null || turn !== this.#turns.turnNumber) {
      this.#turns.open(place, { implicit: true }, step, turn);
    }
    const [, occurrence = '1'] = place.identity.split('\0');
    const id = `${place.sha256.slice(0, 32)}.${occurrence}`;
    const call = plainCall(id, textMember(value, 'name') ?? '', object.passed('args') ?? '', value['args']);
    const emitter = step.emitter(place);
    this.#turns.started(call, emitter, (begun) => callItem(begun, 'in_progress', null));
    this.#turns.answered(id);
    const hasFailed = value['ok'] === false;
    const item = callItem(call, hasFailed ? 'failed' : 'completed', null);
    const outcome = 'tool_name' in item ? (hasFailed ? 'error' : 'success') : undefined;
    emitter.emit({ type: 'item.completed', item: { ...item, outcome } });
    return { place: 'mapped', kind };
  }

  finish(step: ThreadStep): void {
    this.#turns.finish(step);
  }
}

function turnIn({ turn }: Members): number | null {
  return typeof turn === 'number' ? turn : null;
}
