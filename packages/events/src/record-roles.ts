/** What people and searches ask records for: who speaks, and what it is about (search specification, SE-7). */

export const recordRoles = ['user', 'agent', 'tool', 'system', 'memory', 'unknown'] as const;

/** Who a record speaks for. */
export type RecordRole = (typeof recordRoles)[number];

/** What a document that is searched is about. */
export const documentKinds = [
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
  'goal',
  'result',
  'summary',
  'memory',
  'knowledge',
  'wiki',
  'skill',
  'chronicle',
  'unknown',
] as const;

export type DocumentKind = (typeof documentKinds)[number];
