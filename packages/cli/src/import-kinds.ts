/** Formats that can be imported from files. */
export const importKinds = ['vtcode', 'codex-exec', 'claude-stream'] as const;
export type ImportKind = (typeof importKinds)[number];
