import type { OpenEnum } from './open-enum.js';

export const executionOrigins = ['user', 'correction', 'plan_approval', 'continuation', 'retry'] as const;
export const itemActivities = ['inspection', 'verification', 'mutation'] as const;

/** Who runs a turn, and for which task. */
export interface ExecutionContext {
  task_id: string;
  turn_id: string;
  actor_id: string;
  parent_actor_id?: string | null;
  origin: OpenEnum<typeof executionOrigins>;
  timestamp: string;
  goal?: string | null;
}

/** Who made an item, and for which task. */
export interface ItemContext {
  task_id: string;
  turn_id: string;
  actor_id: string;
  parent_actor_id?: string | null;
  timestamp: string;
  activity?: OpenEnum<typeof itemActivities> | null;
}
