import { itemContextRule } from './nested-shapes.js';
import {
  any,
  choice,
  defaulted,
  flag,
  i32,
  list,
  object,
  optional,
  required,
  type Shape,
  type TaggedRule,
  tagged,
  text,
  u32,
  u64,
} from './shape.js';
import {
  type ContractItem,
  executionStatuses,
  type FileChange,
  fileChangeKinds,
  harnessKinds,
  type ItemHead,
  mcpCallStatuses,
  patchStatuses,
  toolOutcomes,
} from './thread-item.js';

type ItemShapes = {
  readonly [Type in ContractItem['type']]: Shape<
    Omit<Extract<ContractItem, { readonly type: Type }>, keyof ItemHead>
  >;
};

const headShape: Shape<ItemHead> = {
  context: optional(itemContextRule),
  id: required(text),
};

const fileChangeShape: Shape<FileChange> = {
  path: required(text),
  kind: required(choice(fileChangeKinds)),
};

const itemShapes: ItemShapes = {
  agent_message: { text: required(text) },
  plan: { text: required(text) },
  reasoning: { text: required(text), stage: optional(text) },
  decision: {
    summary: required(text),
    rationale: required(text),
    alternatives: defaulted(list(text), '[]'),
    evidence_ids: defaulted(list(text), '[]'),
  },
  command_execution: {
    command: required(text),
    arguments: optional(any),
    aggregated_output: defaulted(text, '""'),
    exit_code: optional(i32),
    status: required(choice(executionStatuses)),
  },
  tool_invocation: {
    tool_name: required(text),
    arguments: optional(any),
    tool_call_id: optional(text),
    status: required(choice(executionStatuses)),
    outcome: optional(choice(toolOutcomes)),
  },
  tool_output: {
    call_id: required(text),
    tool_call_id: optional(text),
    spool_path: optional(text),
    output: defaulted(text, '""'),
    exit_code: optional(i32),
    status: required(choice(executionStatuses)),
  },
  file_change: {
    diff_incomplete: optional(flag),
    changes: required(list(object(fileChangeShape))),
    status: required(choice(patchStatuses)),
    unified_diff: optional(text),
    additions: optional(u64),
    deletions: optional(u64),
  },
  mcp_tool_call: {
    tool_name: required(text),
    arguments: optional(any),
    result: optional(text),
    status: optional(choice(mcpCallStatuses)),
  },
  web_search: {
    query: required(text),
    provider: optional(text),
    results: optional(list(text)),
  },
  harness: {
    event: required(choice(harnessKinds)),
    message: optional(text),
    command: optional(text),
    path: optional(text),
    exit_code: optional(i32),
    attempt: optional(u32),
    error_category: optional(text),
    duration_ms: optional(u64),
    task_id: optional(text),
    session_id: optional(text),
    exec_session_id: optional(text),
    status: optional(text),
    transcript_path: optional(text),
    archive_path: optional(text),
  },
  error: { message: required(text) },
};

/** The item of an `item.*` event. */
export const itemRule: TaggedRule = tagged<ContractItem, ItemHead>(headShape, itemShapes, 'unknown-item');
