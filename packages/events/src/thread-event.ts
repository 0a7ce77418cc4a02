import type { ExecutionContext } from './context.js';
import type { MatrixSpec, MatrixTask, matrixLifecycles } from './matrix.js';
import type { OpenEnum } from './open-enum.js';
import type { ThreadItem, UnknownItem } from './thread-item.js';
import type { TokenBreakdown, Usage } from './usage.js';

export const threadSubtypes = [
  'success',
  'error_max_turns',
  'error_max_budget_usd',
  'error_during_execution',
  'cancelled',
  'unknown',
] as const;
export const compactionTriggers = ['manual', 'auto', 'recovery', 'model_switch', 'unknown'] as const;
export const compactionModes = ['provider', 'local', 'unknown'] as const;
export const resetTriggers = ['plan_approval', 'unknown'] as const;
export const permissionDecisions = ['allow', 'deny', 'cancelled', 'followup'] as const;
export const interjectionSources = ['direct', 'queue'] as const;
export const redirectKinds = ['interjection'] as const;
export const planDecisions = [
  'execute',
  'auto_accept',
  'fresh_context',
  'revise',
  'cancel',
  'switch_build',
  'switch_auto',
  'unknown',
] as const;

export interface ThreadStartedEvent {
  type: 'thread.started';
  thread_id: string;
}

export interface ThreadCompletedEvent {
  type: 'thread.completed';
  completed_at?: string | null;
  thread_id: string;
  session_id: string;
  subtype: OpenEnum<typeof threadSubtypes>;
  outcome_code: string;
  result?: string | null;
  stop_reason?: string | null;
  usage: Usage;
  total_cost_usd?: number | null;
  num_turns: number;
}

export interface ThreadCompactBoundaryEvent {
  type: 'thread.compact_boundary';
  thread_id: string;
  trigger: OpenEnum<typeof compactionTriggers>;
  mode: OpenEnum<typeof compactionModes>;
  original_message_count: number;
  compacted_message_count: number;
  history_artifact_path?: string | null;
  previous_segment_id?: string | null;
  new_segment_id?: string | null;
  previous_prefix_hash?: string | null;
  new_prefix_hash?: string | null;
  previous_catalog_hash?: string | null;
  new_catalog_hash?: string | null;
}

export interface ContextResetEvent {
  type: 'context.reset';
  thread_id: string;
  turn_id: string;
  trigger: OpenEnum<typeof resetTriggers>;
  plan_preserved: boolean;
  previous_context_usage_percent: number;
  tool_budget_reset: boolean;
}

export interface TurnStartedEvent {
  type: 'turn.started';
  token_breakdown?: TokenBreakdown | null;
  context?: ExecutionContext | null;
}

export interface TurnCompletedEvent {
  type: 'turn.completed';
  completed_at?: string | null;
  usage: Usage;
  /** At most four, newest first. */
  in_progress_exec_sessions?: readonly string[] | null;
}

export interface TurnFailedEvent {
  type: 'turn.failed';
  completed_at?: string | null;
  message: string;
  usage?: Usage | null;
}

export interface TurnBlockedEvent {
  type: 'turn.blocked';
  completed_at?: string | null;
  message: string;
  last_tool?: string | null;
  blocked_streak?: number;
  blocked_total?: number;
  consecutive_cap?: number;
  total_cap?: number;
  recovery_active?: boolean;
  usage?: Usage | null;
}

export interface ItemStartedEvent {
  type: 'item.started';
  item: ThreadItem | UnknownItem;
}

export interface ItemUpdatedEvent {
  type: 'item.updated';
  item: ThreadItem | UnknownItem;
}

export interface ItemCompletedEvent {
  type: 'item.completed';
  item: ThreadItem | UnknownItem;
}

export interface PermissionRequestedEvent {
  type: 'permission.requested';
  tool_name: string;
}

export interface PermissionResolvedEvent {
  type: 'permission.resolved';
  tool_name: string;
  decision: OpenEnum<typeof permissionDecisions>;
  wait_ms: number;
}

export interface InterjectedEvent {
  type: 'interjected';
  text?: string | null;
  source: OpenEnum<typeof interjectionSources>;
  image_count: number;
  redirect_kind: OpenEnum<typeof redirectKinds>;
}

export interface PlanDeltaEvent {
  type: 'plan.delta';
  thread_id: string;
  turn_id: string;
  item_id: string;
  delta: string;
}

export interface PlanApprovalRequestedEvent {
  type: 'plan.approval.requested';
  thread_id: string;
  turn_id: string;
  plan_file?: string | null;
}

export interface PlanApprovalResolvedEvent {
  type: 'plan.approval.resolved';
  thread_id: string;
  turn_id: string;
  decision: OpenEnum<typeof planDecisions>;
  automatic: boolean;
}

export interface MatrixUpdatedEvent {
  type: 'matrix.updated';
  spec: MatrixSpec;
  lifecycle: OpenEnum<typeof matrixLifecycles>;
  tasks: readonly MatrixTask[];
  generation: string | null;
  revision: number;
}

export interface ErrorEvent {
  type: 'error';
  message: string;
}

/** The events of the original contract. */
export type ThreadEvent =
  | ThreadStartedEvent
  | ThreadCompletedEvent
  | ThreadCompactBoundaryEvent
  | ContextResetEvent
  | TurnStartedEvent
  | TurnCompletedEvent
  | TurnFailedEvent
  | TurnBlockedEvent
  | ItemStartedEvent
  | ItemUpdatedEvent
  | ItemCompletedEvent
  | PermissionRequestedEvent
  | PermissionResolvedEvent
  | InterjectedEvent
  | PlanDeltaEvent
  | PlanApprovalRequestedEvent
  | PlanApprovalResolvedEvent
  | MatrixUpdatedEvent
  | ErrorEvent;
