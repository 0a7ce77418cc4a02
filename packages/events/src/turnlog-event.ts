import type { FrameEvent } from './frame-event.js';
import type { OpenEnum } from './open-enum.js';
import type { ThreadEvent } from './thread-event.js';

export const archiveCodecs = ['gzip', 'zstd'] as const;
export const recoveryReasons = ['torn_tail', 'tail_lost', 'prefix_missing', 'gap'] as const;
export const removalReasons = ['age', 'count', 'empty', 'manual'] as const;
export const agentKinds = ['primary', 'subagent', 'headless'] as const;
export const messageOrigins = [
  'prompt',
  'queued',
  'slash_command',
  'shell_bang',
  'interrupt',
  'subagent_prompt',
  'compact_summary',
  'notification',
  'injected',
] as const;

/** Size and root of a hash tree (RFC 6962), hashes as 64 lower-case hex digits. */
export interface TreeHead {
  size: number;
  root: string;
}

/** A tree head and the roots of its perfect subtrees, largest first. */
export interface TreeFrontier extends TreeHead {
  frontier: readonly string[];
}

export interface ArchiveFile {
  file: string;
  codec: OpenEnum<typeof archiveCodecs>;
  bytes: number;
  raw_bytes: number;
  raw_sha256: string;
}

export interface SummaryReference {
  id: string;
  seq: number;
}

export interface DamageTotals {
  count: number;
  bytes: number;
}

/** A record of the evicted part that readers still need; `event` as it was stored. */
export interface CarriedRecord {
  seq: number;
  ts: string | null;
  event: unknown;
}

export interface LogEvictedEvent {
  type: 'log.evicted';
  generation: string;
  from_seq: number;
  to_seq: number;
  events: number;
  turns: number;
  total_events: number;
  total_turns: number;
  last_turn: number;
  first_ts: string | null;
  last_ts: string | null;
  evicted_at: string;
  tree: TreeFrontier;
  archive: ArchiveFile | null;
  summary: SummaryReference | null;
  damage?: DamageTotals | null;
  carried?: readonly CarriedRecord[] | null;
}

export interface LogRedactedEvent {
  type: 'log.redacted';
  /** Leaf hash of the line that stood here. */
  leaf: string;
  original_type: string;
  /** Bytes of the line that stood here. */
  length: number;
  reason?: string | null;
  actor?: string | null;
  redacted_at: string;
  kept?: unknown;
}

export interface RecoveredDamage {
  kind: string;
  offset: number;
  length: number;
  sha256: string;
  saved_as?: string | null;
}

export interface LostRange {
  from_seq?: number | null;
  to_seq?: number | null;
  events?: number | null;
  since?: string | null;
  until?: string | null;
}

export interface LogRecoveredEvent {
  type: 'log.recovered';
  reason: OpenEnum<typeof recoveryReasons>;
  damage: readonly RecoveredDamage[];
  open_turn: number | null;
  lost?: LostRange | null;
  turn_base?: number | null;
}

export interface ImportSource {
  kind: string;
  session_id: string;
  name?: string | null;
  bytes: number;
  sha256: string;
}

export interface LogImportedEvent {
  type: 'log.imported';
  source: ImportSource;
  records: number;
  damage_count: number;
  turn_base: number;
  schema_versions: readonly string[];
}

export interface LogSummaryEvent {
  type: 'log.summary';
  id: string;
  from_seq: number;
  to_seq: number;
  events: number;
  turns: number;
  event_types: Readonly<Record<string, number>>;
  /** At most 32 of at most 512 bytes. */
  facts: readonly string[];
  text?: string | null;
  by: string;
}

export interface LogPinnedEvent {
  type: 'log.pinned';
  session_id: string;
  reason: string;
  actor?: string | null;
}

export interface LogUnpinnedEvent {
  type: 'log.unpinned';
  session_id: string;
  actor?: string | null;
}

export interface LogRemovedEvent {
  type: 'log.removed';
  session_id: string;
  generation: string;
  reason: OpenEnum<typeof removalReasons>;
  first_seq: number;
  last_seq: number;
  events: number;
  turns: number;
  bytes: number;
  last_ts: string | null;
  tree: TreeHead;
  trash: string;
}

export interface LogRestoredEvent {
  type: 'log.restored';
  session_id: string;
  trash: string;
}

export interface LogPurgedEvent {
  type: 'log.purged';
  session_id: string;
  trash: string;
  bytes: number;
}

/** Said before records are replaced by their leaf hashes: which, and why. */
export interface LogRedactionEvent {
  type: 'log.redaction';
  /** Leaf numbers, and the leaf hash of each. */
  indexes: readonly number[];
  leaves: readonly string[];
  reason: string;
  actor: string;
  policy?: string;
}

/** Said after an audit pack was published. */
export interface LogPackEvent {
  type: 'log.pack';
  pack_sha256: string;
  size: number;
  root: string;
  signed_by?: string;
}

/** Events that audits write; the tables of the contract do not list them. */
export type AuditEvent = LogRedactionEvent | LogPackEvent;

export interface TextPart {
  type: 'text';
  text: string;
}

/** A blob of the store's assets, named by its digest. */
export interface AssetPart {
  type: 'asset';
  sha256: string;
  bytes: number;
  media_type: string;
  name?: string | null;
}

/** The parts that are known. */
export type KnownPart = TextPart | AssetPart;

/** A part whose type is not known: kept. */
export interface UnknownPart {
  type: string;
  [member: string]: unknown;
}

export type MessagePart = KnownPart | UnknownPart;

export interface UserMessageEvent {
  type: 'user.message';
  id: string;
  /** Only prompt, queued, slash_command and shell_bang are the user's own words. */
  origin: OpenEnum<typeof messageOrigins>;
  content: readonly MessagePart[];
}

export interface RunParent {
  session?: string | null;
  thread_id?: string | null;
  call_id?: string | null;
}

export interface ForkOrigin {
  session?: string | null;
  seq?: number | null;
  thread_id?: string | null;
  records?: number | null;
  last_id?: string | null;
}

export interface RunStartedEvent {
  type: 'run.started';
  program: string;
  version?: string | null;
  cwd: string;
  workspace?: string | null;
  agent?: OpenEnum<typeof agentKinds> | null;
  parent?: RunParent | null;
  forked_from?: ForkOrigin | null;
}

/** Our own events that have a table in the contract. */
export type TurnlogOwnEvent =
  | LogEvictedEvent
  | LogRedactedEvent
  | LogRecoveredEvent
  | LogImportedEvent
  | LogSummaryEvent
  | LogPinnedEvent
  | LogUnpinnedEvent
  | LogRemovedEvent
  | LogRestoredEvent
  | LogPurgedEvent
  | UserMessageEvent
  | RunStartedEvent
  | FrameEvent;

/** An event whose members this contract does not list: applications, families without a table, newer types. */
export interface UnknownEvent {
  type: string;
  [member: string]: unknown;
}

/** Every event with a table. */
export type TurnlogEvent = ThreadEvent | TurnlogOwnEvent;
