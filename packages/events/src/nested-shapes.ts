import { type ExecutionContext, executionOrigins, type ItemContext, itemActivities } from './context.js';
import {
  attemptOutcomes,
  attemptPhases,
  type MatrixAttempt,
  type MatrixEvidence,
  type MatrixSpec,
  type MatrixTask,
  type MatrixTaskSpec,
  matrixAccesses,
  matrixTaskStatuses,
} from './matrix.js';
import {
  choice,
  defaulted,
  flag,
  i32,
  lenient,
  list,
  map,
  nullable,
  object,
  optional,
  type Rule,
  required,
  type Shape,
  text,
  u8,
  u32,
  u64,
} from './shape.js';
import type { TokenBreakdown, Usage } from './usage.js';

const usageShape: Shape<Usage> = {
  input_tokens: lenient(u64, '0'),
  cached_input_tokens: lenient(u64, '0'),
  cache_creation_tokens: lenient(u64, '0'),
  output_tokens: lenient(u64, '0'),
};
export const usageRule: Rule<Usage> = object(usageShape);

const tokenBreakdownShape: Shape<TokenBreakdown> = {
  system_prompt_tokens: required(u64),
  tool_schema_tokens: required(u64),
  instruction_file_tokens: required(u64),
  message_history_tokens: required(u64),
  cache_read_tokens: required(u64),
  cache_write_tokens: required(u64),
  cache_miss_tokens: required(u64),
  subagent_bootstrap_tokens: optional(u64),
};
export const tokenBreakdownRule: Rule<TokenBreakdown> = object(tokenBreakdownShape);

const executionContextShape: Shape<ExecutionContext> = {
  task_id: required(text),
  turn_id: required(text),
  actor_id: required(text),
  parent_actor_id: optional(text),
  origin: required(choice(executionOrigins)),
  timestamp: required(text),
  goal: optional(text),
};
export const executionContextRule: Rule<ExecutionContext> = object(executionContextShape);

const itemContextShape: Shape<ItemContext> = {
  task_id: required(text),
  turn_id: required(text),
  actor_id: required(text),
  parent_actor_id: optional(text),
  timestamp: required(text),
  activity: optional(choice(itemActivities)),
};
export const itemContextRule: Rule<ItemContext> = object(itemContextShape);

const matrixTaskSpecShape: Shape<MatrixTaskSpec> = {
  id: required(text),
  instructions: required(text),
  dependencies: defaulted(list(text), '[]'),
  workspace: required(text),
  access: required(choice(matrixAccesses)),
  checks: required(list(text)),
  resources: defaulted(map(u32), '{}'),
  timeout_secs: required(u64),
  replay_safe: defaulted(flag, 'false'),
  inputs: defaulted(list(text), '[]'),
};

const matrixSpecShape: Shape<MatrixSpec> = {
  id: required(text),
  tasks: required(list(object(matrixTaskSpecShape))),
  resources: defaulted(map(u32), '{}'),
};
export const matrixSpecRule: Rule<MatrixSpec> = object(matrixSpecShape);

const matrixEvidenceShape: Shape<MatrixEvidence> = {
  command: required(text),
  attempt_id: required(text),
  worker_id: required(text),
  generation: required(text),
  event_id: required(text),
  exit_code: nullable(i32),
  cancelled: required(flag),
};

const matrixAttemptShape: Shape<MatrixAttempt> = {
  id: required(text),
  worker_id: required(text),
  phase: required(choice(attemptPhases)),
  generation: nullable(text),
  launch_requested: required(flag),
  outcome: nullable(choice(attemptOutcomes)),
  cleanup_confirmed: required(flag),
  evidence: required(list(object(matrixEvidenceShape))),
};

const matrixTaskShape: Shape<MatrixTask> = {
  id: required(text),
  status: required(choice(matrixTaskStatuses)),
  attempts: required(list(object(matrixAttemptShape))),
  automatic_retries: required(u8),
};
export const matrixTaskRule: Rule<MatrixTask> = object(matrixTaskShape);
