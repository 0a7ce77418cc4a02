/**
 * Every event name this contract knows. Names under a reserved prefix that are not listed, and all names of
 * applications, are unknown: kept, counted, skipped by views.
 */

function family(prefix: string, names: readonly string[]): readonly string[] {
  return names.map((name) => `${prefix}.${name}`);
}

/** The names of the original contract and of the prefix table, as they stand in `type`. */
export const knownEventNames: readonly string[] = [
  ...family('thread', ['started', 'completed', 'compact_boundary']),
  ...family('turn', ['started', 'completed', 'failed', 'blocked']),
  ...family('item', ['started', 'updated', 'completed']),
  ...family('plan', ['delta', 'approval.requested', 'approval.resolved']),
  ...family('permission', ['requested', 'resolved']),
  'context.reset',
  'matrix.updated',
  'interjected',
  'error',
  ...family('log', ['evicted', 'redacted', 'recovered', 'imported', 'summary', 'redaction', 'pack']),
  ...family('log', ['pinned', 'unpinned', 'removed', 'restored', 'purged']),
  'user.message',
  ...family('run', ['started', 'claimed', 'released', 'changed', 'source', 'answer', 'kept', 'imported']),
  ...family('run', ['opened', 'finished', 'hooked', 'delivered']),
  ...family('journal', ['opened', 'snapshot', 'set', 'input', 'planned', 'approval', 'started', 'result']),
  ...family('journal', ['round', 'accepted', 'closed', 'summary', 'carried', 'begin', 'commit', 'void']),
  ...family('job', ['queued', 'claimed', 'renewed', 'released', 'failed', 'completed', 'retried']),
  ...family('job', ['maintained', 'begin', 'commit', 'void']),
  ...family('knowledge', ['versioned', 'set', 'tombstoned', 'purged', 'rebound']),
  ...family('memory', ['saved', 'revised', 'reinforced', 'consolidated', 'linked', 'unlinked', 'judged']),
  ...family('memory', ['evaluated', 'pinned', 'accessed', 'retracted', 'restored', 'noted', 'source_added']),
  ...family('memory', ['source_decoded', 'embedded']),
  ...family('chronicle', ['cut', 'rolled', 'period', 'summarized', 'windowed']),
  ...family('wiki', ['revised', 'archived']),
  ...family('skill', ['revised', 'state', 'used']),
  'identity.revised',
  ...family('person', ['created', 'aliased', 'profiled', 'merged', 'seen']),
];

const known: ReadonlySet<string> = new Set(knownEventNames);

/** Whether this contract knows the event name; all others are kept as unknown types. */
export function isKnownEventName(type: string): boolean {
  return known.has(type);
}

const frameMarks: ReadonlySet<string> = new Set([
  ...family('journal', ['begin', 'commit', 'void']),
  ...family('job', ['begin', 'commit', 'void']),
]);

/**
 * Whether only the engine writes events of this name: the family `log`, and what stands around the members of a
 * frame, which would mean something else anywhere but around them.
 */
export function isEngineEventName(type: string): boolean {
  return type.startsWith('log.') || frameMarks.has(type);
}
