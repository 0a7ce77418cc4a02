import { isMembers, textMember } from './source-object.js';

/** What a patch changed. */
export interface CodexChanges {
  readonly changes: readonly { readonly path: string; readonly kind: string; readonly move_path?: string }[];
  /** Present where the source has the difference of every change. */
  readonly unifiedDiff: string | undefined;
}

const kinds: ReadonlyMap<string, string> = new Map([
  ['Add', 'add'],
  ['Update', 'update'],
  ['Delete', 'delete'],
]);

const fileLine = /^\*\*\* (Add|Update|Delete) File: (.+)$/gm;

/** The files that the lines of a patch name; null when they name none. */
export function changesOfPatch(patch: string): CodexChanges | null {
  const changes = [...patch.matchAll(fileLine)].map(([, verb = '', path = '']) => ({
    path: path.trimEnd(),
    kind: kinds.get(verb) ?? 'update',
  }));
  return changes.length === 0 ? null : { changes, unifiedDiff: undefined };
}

/** `changes {path: {type, unified_diff, content, move_path}}` of an applied patch. */
export function changesOfEvent(changes: unknown): CodexChanges {
  if (!isMembers(changes)) return { changes: [], unifiedDiff: undefined };
  const listed: CodexChanges['changes'][number][] = [];
  const diffs: string[] = [];
  let isWhole = true;
  for (const [path, change] of Object.entries(changes)) {
    if (!isMembers(change)) continue;
    const movePath = textMember(change, 'move_path');
    const kind = textMember(change, 'type') ?? 'update';
    listed.push(movePath === undefined ? { path, kind } : { path, kind, move_path: movePath });
    const diff = textMember(change, 'unified_diff');
    if (diff === undefined) isWhole = false;
    else diffs.push(`--- ${path}\n+++ ${movePath ?? path}\n${diff}`);
  }
  return { changes: listed, unifiedDiff: isWhole && diffs.length > 0 ? diffs.join('\n') : undefined };
}
