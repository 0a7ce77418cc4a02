import type { OpenEnum } from './open-enum.js';

export const matrixAccesses = ['read', 'write'] as const;
export const matrixLifecycles = [
  'created',
  'running',
  'paused',
  'verifying',
  'succeeded',
  'cancelled',
  'blocked',
] as const;
export const matrixTaskStatuses = [
  'queued',
  'assigned',
  'executed',
  'verified',
  'failed',
  'interrupted',
  'timed_out',
  'cleanup_uncertain',
] as const;
export const attemptPhases = ['execute', 'verify'] as const;
export const attemptOutcomes = [
  'success',
  'failed',
  'interrupted',
  'timed_out',
  'cancelled',
  'permission_denied',
  'budget_exhausted',
] as const;

export interface MatrixTaskSpec {
  id: string;
  instructions: string;
  dependencies?: readonly string[];
  workspace: string;
  access: OpenEnum<typeof matrixAccesses>;
  checks: readonly string[];
  resources?: Readonly<Record<string, number>>;
  timeout_secs: number;
  replay_safe?: boolean;
  inputs?: readonly string[];
}

export interface MatrixSpec {
  id: string;
  tasks: readonly MatrixTaskSpec[];
  resources?: Readonly<Record<string, number>>;
}

export interface MatrixEvidence {
  command: string;
  attempt_id: string;
  worker_id: string;
  generation: string;
  event_id: string;
  exit_code: number | null;
  cancelled: boolean;
}

export interface MatrixAttempt {
  id: string;
  worker_id: string;
  phase: OpenEnum<typeof attemptPhases>;
  generation: string | null;
  launch_requested: boolean;
  outcome: OpenEnum<typeof attemptOutcomes> | null;
  cleanup_confirmed: boolean;
  evidence: readonly MatrixEvidence[];
}

export interface MatrixTask {
  id: string;
  status: OpenEnum<typeof matrixTaskStatuses>;
  attempts: readonly MatrixAttempt[];
  automatic_retries: number;
}
