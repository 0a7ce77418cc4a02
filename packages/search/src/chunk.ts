import type { DocumentKind, RecordRole } from '@turnlog/events';

/**
 * What is searched: a record gives at most one document, a document is cut into chunks, and a chunk is what is scored
 * and found (search specification, §1).
 */

/** Who speaks. */
export type Role = RecordRole;

/** What it is about. */
export type Kind = DocumentKind;

/** How a session was run, as its first `run.started` says; a session that says nothing is primary. */
export type AgentKind = 'primary' | 'subagent' | 'headless';

/** Names a chunk in a store: `<session>:<seq>` for the first chunk of a record, `<session>:<seq>:<n>` for others. */
export interface ChunkKey {
  readonly session: string;
  readonly seq: number;
  readonly n: number;
}

/** The fields of a chunk that filters and answers are about (SE-7); those of its session stand in `SessionInfo`. */
export interface ChunkFields extends ChunkKey {
  readonly turn: number | null;
  /** Milliseconds since the epoch; null when unknown. */
  readonly tsMs: number | null;
  readonly role: Role;
  readonly kind: Kind;
  readonly tool: string | null;
  /** `/`-separated. */
  readonly paths: readonly string[];
}

/** What all chunks of a session have in common. */
export interface SessionInfo {
  readonly session: string;
  /** Where it was started and worked, the newest last. */
  readonly workspaces: readonly string[];
  readonly agent: AgentKind;
}

/** The text of one record with what is known of it. */
export interface SearchDocument extends Omit<ChunkFields, 'n'> {
  readonly text: string;
  /** Bytes of text that are too far inside to be indexed (SE-5). */
  readonly unindexedBytes: number;
  /** The item whose snapshot it is: a later document of it supersedes this one; null for what is said once. */
  readonly itemId: string | null;
}
