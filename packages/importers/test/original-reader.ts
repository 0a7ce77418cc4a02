/**
 * A reader of session logs in the manner of VT Code, written from the tables of contract and log engine, knowing
 * nothing of this repository's code: what it makes of a log is what the other program would.
 *
 * Two passes, as there: the boundary scan looks at types only, the full decode knows each type, item and value of
 * the contract and drops a line whose item type or enum value it does not know.
 */

type Check = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Check>>;

const str: Check = (value) => typeof value === 'string';
const bool: Check = (value) => typeof value === 'boolean';
const num: Check = (value) => typeof value === 'number';
const whole: Check = (value) => Number.isInteger(value);
const any: Check = () => true;
const list: Check = (value) => Array.isArray(value);
const object: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function maybe(check: Check): Check {
  return (value) => value === undefined || value === null || check(value);
}

function oneOf(...values: readonly string[]): Check {
  return (value) => typeof value === 'string' && values.includes(value);
}

const usage: Check = (value) =>
  object(value) &&
  whole(Reflect.get(Object(value), 'input_tokens')) &&
  whole(Reflect.get(Object(value), 'output_tokens'));
const execution: Check = oneOf('completed', 'failed', 'in_progress');

const items: Readonly<Record<string, Shape>> = {
  agent_message: { text: str },
  plan: { text: str },
  reasoning: { text: str, stage: maybe(str) },
  decision: { summary: str, rationale: str, alternatives: maybe(list), evidence_ids: maybe(list) },
  command_execution: {
    command: str,
    aggregated_output: maybe(str),
    exit_code: maybe(whole),
    status: execution,
  },
  tool_invocation: {
    tool_name: str,
    tool_call_id: maybe(str),
    status: execution,
    outcome: maybe(
      oneOf(
        'success',
        'error',
        'permission_rejected',
        'permission_cancelled',
        'followup',
        'hook_denied',
        'invalid_tool',
        'cancelled',
      ),
    ),
  },
  tool_output: { call_id: str, output: maybe(str), exit_code: maybe(whole), status: execution },
  file_change: { changes: list, status: oneOf('completed', 'failed'), unified_diff: maybe(str) },
  mcp_tool_call: {
    tool_name: str,
    result: maybe(str),
    status: maybe(oneOf('started', 'completed', 'failed')),
  },
  web_search: { query: str, provider: maybe(str), results: maybe(list) },
  harness: { event: str, message: maybe(str), exit_code: maybe(whole) },
  error: { message: str },
};

const item: Check = (value) => {
  if (!object(value)) return false;
  const holder = Object(value) as Record<string, unknown>;
  const shape = items[String(holder['type'])];
  return shape !== undefined && str(holder['id']) && fits(holder, shape);
};

const place: Shape = { thread_id: str, turn_id: str };

/** Every event of the contract; all others decode as unknown. */
export const events: Readonly<Record<string, Shape>> = {
  'thread.started': { thread_id: str },
  'thread.completed': {
    thread_id: str,
    session_id: str,
    subtype: oneOf(
      'success',
      'error_max_turns',
      'error_max_budget_usd',
      'error_during_execution',
      'cancelled',
      'unknown',
    ),
    outcome_code: str,
    usage,
    total_cost_usd: maybe(num),
    num_turns: whole,
  },
  'thread.compact_boundary': {
    thread_id: str,
    trigger: oneOf('manual', 'auto', 'recovery', 'model_switch', 'unknown'),
    mode: oneOf('provider', 'local', 'unknown'),
    original_message_count: whole,
    compacted_message_count: whole,
  },
  'context.reset': {
    ...place,
    trigger: oneOf('plan_approval', 'unknown'),
    plan_preserved: bool,
    tool_budget_reset: bool,
  },
  'turn.started': { token_breakdown: maybe(object), context: maybe(object) },
  'turn.completed': { completed_at: maybe(str), usage, in_progress_exec_sessions: maybe(list) },
  'turn.failed': { message: str, usage: maybe(usage) },
  'turn.blocked': { message: str, last_tool: maybe(str), blocked_streak: maybe(whole), usage: maybe(usage) },
  'item.started': { item },
  'item.updated': { item },
  'item.completed': { item },
  'permission.requested': { tool_name: str },
  'permission.resolved': {
    tool_name: str,
    decision: oneOf('allow', 'deny', 'cancelled', 'followup'),
    wait_ms: whole,
  },
  interjected: {
    text: maybe(str),
    source: oneOf('direct', 'queue'),
    image_count: whole,
    redirect_kind: oneOf('interjection'),
  },
  'plan.delta': { ...place, item_id: str, delta: str },
  'plan.approval.requested': { ...place, plan_file: maybe(str) },
  'plan.approval.resolved': {
    ...place,
    decision: oneOf(
      'execute',
      'auto_accept',
      'fresh_context',
      'revise',
      'cancel',
      'switch_build',
      'switch_auto',
      'unknown',
    ),
    automatic: bool,
  },
  'matrix.updated': { spec: object, lifecycle: str, tasks: list, generation: any, revision: whole },
  error: { message: str },
};

function fits(holder: Readonly<Record<string, unknown>>, shape: Shape): boolean {
  return Object.entries(shape).every(([name, check]) => check(holder[name]));
}

export interface OriginalReading {
  /** Records that the boundary scan counted. */
  readonly counted: number;
  /** What the full decode made of each record: its type, "unknown", or null for a line it dropped. */
  readonly decoded: readonly (string | null)[];
  /** Turns by their numbers, with the records that each spans. */
  readonly turns: readonly { readonly turn: number; readonly records: number; readonly isClosed: boolean }[];
}

/** Reads a log: each line an object with a version and an event; other envelope keys mean nothing to it. */
export function readOriginally(bytes: Uint8Array): OriginalReading {
  const decoded: (string | null)[] = [];
  const turns: { turn: number; records: number; isClosed: boolean }[] = [];
  for (const line of new TextDecoder().decode(bytes).split('\n').filter(Boolean)) {
    const { schema_version: version, event } = JSON.parse(line) as {
      schema_version?: unknown;
      event?: unknown;
    };
    if (typeof version !== 'string' || !object(event)) continue;
    const holder = Object(event) as Record<string, unknown>;
    const type = String(holder['type']);
    const shape = events[type];
    decoded.push(shape === undefined ? 'unknown' : fits(holder, shape) ? type : null);
    scan(turns, type);
  }
  return { counted: decoded.length, decoded, turns };
}

/** A turn begins at `turn.started` and ends at `turn.completed` or `turn.failed`, whatever stands in between. */
function scan(turns: { turn: number; records: number; isClosed: boolean }[], type: string): void {
  const last = turns.at(-1);
  const isOpen = last !== undefined && !last.isClosed;
  // A second start takes the place of the first: the number is given again.
  if (type === 'turn.started') {
    if (isOpen) turns.pop();
    const closed = turns.filter((turn) => turn.isClosed).length;
    turns.push({ turn: closed + 1, records: 1, isClosed: false });
  } else if (isOpen) {
    last.records += 1;
    last.isClosed = type === 'turn.completed' || type === 'turn.failed';
  }
}
