import { itemRule } from './item-shapes.js';
import { matrixLifecycles } from './matrix.js';
import {
  executionContextRule,
  matrixSpecRule,
  matrixTaskRule,
  tokenBreakdownRule,
  usageRule,
} from './nested-shapes.js';
import { ownShapes } from './own-shapes.js';
import { isKnownEventName } from './reserved-names.js';
import {
  boundedList,
  choice,
  defaulted,
  flag,
  list,
  nullable,
  num,
  omittedWhenEmpty,
  optional,
  required,
  type Shape,
  type TaggedRule,
  tagged,
  text,
  u8,
  u32,
  u64,
} from './shape.js';
import {
  compactionModes,
  compactionTriggers,
  interjectionSources,
  permissionDecisions,
  planDecisions,
  redirectKinds,
  resetTriggers,
  type ThreadEvent,
  threadSubtypes,
} from './thread-event.js';
import type { TurnlogEvent } from './turnlog-event.js';

type ThreadShapes = {
  readonly [Type in ThreadEvent['type']]: Shape<Extract<ThreadEvent, { readonly type: Type }>>;
};

const threadShapes: ThreadShapes = {
  'thread.started': { thread_id: required(text) },
  'thread.completed': {
    completed_at: optional(text),
    thread_id: required(text),
    session_id: required(text),
    subtype: required(choice(threadSubtypes)),
    outcome_code: required(text),
    result: optional(text),
    stop_reason: optional(text),
    usage: required(usageRule),
    total_cost_usd: optional(num),
    num_turns: required(u64),
  },
  'thread.compact_boundary': {
    thread_id: required(text),
    trigger: required(choice(compactionTriggers)),
    mode: required(choice(compactionModes)),
    original_message_count: required(u64),
    compacted_message_count: required(u64),
    history_artifact_path: optional(text),
    previous_segment_id: optional(text),
    new_segment_id: optional(text),
    previous_prefix_hash: optional(text),
    new_prefix_hash: optional(text),
    previous_catalog_hash: optional(text),
    new_catalog_hash: optional(text),
  },
  'context.reset': {
    thread_id: required(text),
    turn_id: required(text),
    trigger: required(choice(resetTriggers)),
    plan_preserved: required(flag),
    previous_context_usage_percent: required(u8),
    tool_budget_reset: required(flag),
  },
  'turn.started': { token_breakdown: optional(tokenBreakdownRule), context: optional(executionContextRule) },
  'turn.completed': {
    completed_at: optional(text),
    usage: required(usageRule),
    in_progress_exec_sessions: omittedWhenEmpty(boundedList(text, { itemsMax: 4 })),
  },
  'turn.failed': { completed_at: optional(text), message: required(text), usage: optional(usageRule) },
  'turn.blocked': {
    completed_at: optional(text),
    message: required(text),
    last_tool: optional(text),
    blocked_streak: defaulted(u64, '0'),
    blocked_total: defaulted(u64, '0'),
    consecutive_cap: defaulted(u64, '0'),
    total_cap: defaulted(u64, '0'),
    recovery_active: defaulted(flag, 'false'),
    usage: optional(usageRule),
  },
  'item.started': { item: required(itemRule) },
  'item.updated': { item: required(itemRule) },
  'item.completed': { item: required(itemRule) },
  'permission.requested': { tool_name: required(text) },
  'permission.resolved': {
    tool_name: required(text),
    decision: required(choice(permissionDecisions)),
    wait_ms: required(u64),
  },
  interjected: {
    text: optional(text),
    source: required(choice(interjectionSources)),
    image_count: required(u32),
    redirect_kind: required(choice(redirectKinds)),
  },
  'plan.delta': {
    thread_id: required(text),
    turn_id: required(text),
    item_id: required(text),
    delta: required(text),
  },
  'plan.approval.requested': {
    thread_id: required(text),
    turn_id: required(text),
    plan_file: optional(text),
  },
  'plan.approval.resolved': {
    thread_id: required(text),
    turn_id: required(text),
    decision: required(choice(planDecisions)),
    automatic: required(flag),
  },
  'matrix.updated': {
    spec: required(matrixSpecRule),
    lifecycle: required(choice(matrixLifecycles)),
    tasks: required(list(matrixTaskRule)),
    generation: nullable(text),
    revision: required(u64),
  },
  error: { message: required(text) },
};

/** Every event with a table. Known names without one take any members. */
export const eventRule: TaggedRule = tagged<TurnlogEvent, Record<never, never>>(
  {},
  { ...threadShapes, ...ownShapes },
  'unknown-type',
  isKnownEventName,
);
