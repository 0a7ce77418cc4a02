/** Who a record speaks for. */
export const eventRoles = ['user', 'agent', 'tool', 'system', 'memory', 'unknown'] as const;
export type EventRole = (typeof eventRoles)[number];

/** What a record is about; the first fifteen are what search calls kinds. */
export const eventKinds = [
  'message',
  'context',
  'plan',
  'reasoning',
  'decision',
  'tool_call',
  'tool_output',
  'command',
  'file_change',
  'web_search',
  'harness',
  'error',
  'result',
  'summary',
  'memory',
  'turn',
  'thread',
  'run',
  'permission',
  'log',
  'unknown',
] as const;
export type EventKind = (typeof eventKinds)[number];
