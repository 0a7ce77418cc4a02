import type { ItemContext } from './context.js';
import type { OpenEnum } from './open-enum.js';
import type { MessagePart } from './turnlog-event.js';

export const executionStatuses = ['completed', 'failed', 'in_progress'] as const;
export const patchStatuses = ['completed', 'failed'] as const;
export const mcpCallStatuses = ['started', 'completed', 'failed'] as const;
export const fileChangeKinds = ['add', 'delete', 'update'] as const;
export const toolOutcomes = [
  'success',
  'error',
  'permission_rejected',
  'permission_cancelled',
  'followup',
  'hook_denied',
  'invalid_tool',
  'cancelled',
] as const;
export const harnessKinds = [
  'planning_started',
  'planning_completed',
  'continuation_started',
  'continuation_skipped',
  'turn_blocked',
  'blocked_recovery_started',
  'blocked_recovery_finished',
  'blocked_handoff_written',
  'blocked_handoff_resolved',
  'evaluation_started',
  'evaluation_passed',
  'evaluation_failed',
  'revision_started',
  'escalation_triggered',
  'escalation_bypassed',
  'verification_started',
  'verification_passed',
  'verification_failed',
  'error_recovered',
  'tool_retry_attempted',
  'tool_latency_recorded',
  'snapshot_created',
  'snapshot_restored',
  'session_tool_limit_increased',
  'tool_loop_limit_increased',
  'background_subprocess_completed',
  'delegated_agent_status',
] as const;

/** What every item begins with; `type` stands between these and the members of its own. */
export interface ItemHead {
  context?: ItemContext | null;
  id: string;
}

export interface AgentMessageItem extends ItemHead {
  type: 'agent_message';
  text: string;
}

export interface PlanItem extends ItemHead {
  type: 'plan';
  text: string;
}

export interface ReasoningItem extends ItemHead {
  type: 'reasoning';
  text: string;
  stage?: string | null;
}

export interface DecisionItem extends ItemHead {
  type: 'decision';
  summary: string;
  rationale: string;
  alternatives?: readonly string[];
  evidence_ids?: readonly string[];
}

export interface CommandExecutionItem extends ItemHead {
  type: 'command_execution';
  command: string;
  arguments?: unknown;
  aggregated_output?: string;
  exit_code?: number | null;
  status: OpenEnum<typeof executionStatuses>;
}

export interface ToolInvocationItem extends ItemHead {
  type: 'tool_invocation';
  tool_name: string;
  arguments?: unknown;
  tool_call_id?: string | null;
  status: OpenEnum<typeof executionStatuses>;
  outcome?: OpenEnum<typeof toolOutcomes> | null;
}

export interface ToolOutputItem extends ItemHead {
  type: 'tool_output';
  /** Id of the invocation item. */
  call_id: string;
  tool_call_id?: string | null;
  spool_path?: string | null;
  output?: string;
  exit_code?: number | null;
  status: OpenEnum<typeof executionStatuses>;
}

export interface FileChange {
  path: string;
  kind: OpenEnum<typeof fileChangeKinds>;
}

export interface FileChangeItem extends ItemHead {
  type: 'file_change';
  diff_incomplete?: boolean | null;
  changes: readonly FileChange[];
  status: OpenEnum<typeof patchStatuses>;
  unified_diff?: string | null;
  additions?: number | null;
  deletions?: number | null;
}

export interface McpToolCallItem extends ItemHead {
  type: 'mcp_tool_call';
  tool_name: string;
  arguments?: unknown;
  result?: string | null;
  status?: OpenEnum<typeof mcpCallStatuses> | null;
}

export interface WebSearchItem extends ItemHead {
  type: 'web_search';
  query: string;
  provider?: string | null;
  results?: readonly string[] | null;
}

export interface HarnessItem extends ItemHead {
  type: 'harness';
  event: OpenEnum<typeof harnessKinds>;
  message?: string | null;
  command?: string | null;
  path?: string | null;
  exit_code?: number | null;
  attempt?: number | null;
  error_category?: string | null;
  duration_ms?: number | null;
  task_id?: string | null;
  session_id?: string | null;
  exec_session_id?: string | null;
  status?: string | null;
  transcript_path?: string | null;
  archive_path?: string | null;
}

export interface ErrorItem extends ItemHead {
  type: 'error';
  message: string;
}

/** The items of the contract, without our additions. */
export type ContractItem =
  | AgentMessageItem
  | PlanItem
  | ReasoningItem
  | DecisionItem
  | CommandExecutionItem
  | ToolInvocationItem
  | ToolOutputItem
  | FileChangeItem
  | McpToolCallItem
  | WebSearchItem
  | HarnessItem
  | ErrorItem;

/** Members of our own on contract items (C-60). Original readers ignore them. */
export interface ItemAdditions {
  /** Parts of an output that is more than text; on tool_output. */
  content?: readonly MessagePart[];
  src?: unknown;
  server?: unknown;
  attachments?: unknown;
  truncated?: unknown;
}

/** What the provider of a model wants back unchanged, on items that came from one; a web search has its own. */
export interface ProviderAddition {
  provider?: unknown;
}

export type ThreadItem =
  | ((AgentMessageItem | ReasoningItem | ToolInvocationItem) & ItemAdditions & ProviderAddition)
  | (Exclude<ContractItem, AgentMessageItem | ReasoningItem | ToolInvocationItem> & ItemAdditions);

/** An item whose type is not known: kept, shown by its type. */
export interface UnknownItem extends ItemHead {
  type: string;
  [member: string]: unknown;
}
