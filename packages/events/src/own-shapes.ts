import { limits } from '@turnlog/kernel';
import {
  type JobCommitEvent,
  type JobVoidEvent,
  type JournalCommitEvent,
  type JournalVoidEvent,
  jobFrameKinds,
  journalFrameKinds,
} from './frame-event.js';
import {
  any,
  boundedList,
  choice,
  list,
  map,
  nullable,
  object,
  optional,
  positiveU64,
  type Rule,
  required,
  type Shape,
  tagged,
  text,
  u64,
} from './shape.js';
import {
  type ArchiveFile,
  agentKinds,
  archiveCodecs,
  type CarriedRecord,
  type DamageTotals,
  type ForkOrigin,
  type ImportSource,
  type KnownPart,
  type LostRange,
  type MessagePart,
  messageOrigins,
  type RecoveredDamage,
  type RunParent,
  recoveryReasons,
  removalReasons,
  type SummaryReference,
  type TreeFrontier,
  type TreeHead,
  type TurnlogOwnEvent,
} from './turnlog-event.js';

type OwnShapes = {
  readonly [Type in TurnlogOwnEvent['type']]: Shape<Extract<TurnlogOwnEvent, { readonly type: Type }>>;
};

/** What fits into the bytes that carried records may take, an object of no members taking two and a comma. */
const carriedItemsMax = 349_525;

const treeHeadShape: Shape<TreeHead> = { size: required(u64), root: required(text) };
const treeFrontierShape: Shape<TreeFrontier> = {
  ...treeHeadShape,
  frontier: required(boundedList(text, { itemsMax: limits.frontierHashesMax })),
};

const archiveShape: Shape<ArchiveFile> = {
  file: required(text),
  codec: required(choice(archiveCodecs)),
  bytes: required(u64),
  raw_bytes: required(u64),
  raw_sha256: required(text),
};

const summaryShape: Shape<SummaryReference> = { id: required(text), seq: required(u64) };
const damageShape: Shape<DamageTotals> = { count: required(u64), bytes: required(u64) };
const carriedShape: Shape<CarriedRecord> = {
  seq: required(u64),
  ts: nullable(text),
  event: required(any),
};

const recoveredDamageShape: Shape<RecoveredDamage> = {
  kind: required(text),
  offset: required(u64),
  length: required(u64),
  sha256: required(text),
  saved_as: optional(text),
};

const lostShape: Shape<LostRange> = {
  from_seq: optional(u64),
  to_seq: optional(u64),
  events: optional(u64),
  since: optional(text),
  until: optional(text),
};

const importSourceShape: Shape<ImportSource> = {
  kind: required(text),
  session_id: required(text),
  name: optional(text),
  bytes: required(u64),
  sha256: required(text),
};

const runParentShape: Shape<RunParent> = {
  session: optional(text),
  thread_id: optional(text),
  call_id: optional(text),
};

const forkOriginShape: Shape<ForkOrigin> = {
  session: optional(text),
  seq: optional(u64),
  thread_id: optional(text),
  records: optional(u64),
  last_id: optional(text),
};

const partRule: Rule<MessagePart> = tagged<KnownPart, Record<never, never>>(
  {},
  {
    text: { text: required(text) },
    asset: {
      sha256: required(text),
      bytes: required(u64),
      media_type: required(text),
      name: optional(text),
    },
  },
  'unknown-enum',
);

const commitShape: Shape<JournalCommitEvent | JobCommitEvent> = {
  frame: required(text),
  count: required(u64),
  sha256: required(text),
};

const voidShape: Shape<JournalVoidEvent | JobVoidEvent> = { frame: required(text), reason: required(text) };

/** Our own events; a kind of frame that is not listed counts as an unknown type of its family. Their order of members is that of the frozen example lines. */
export const ownShapes: OwnShapes = {
  'log.evicted': {
    generation: required(text),
    from_seq: required(u64),
    to_seq: required(u64),
    events: required(u64),
    turns: required(u64),
    total_events: required(u64),
    total_turns: required(u64),
    last_turn: required(u64),
    first_ts: nullable(text),
    last_ts: nullable(text),
    evicted_at: required(text),
    tree: required(object(treeFrontierShape)),
    archive: nullable(object(archiveShape)),
    summary: nullable(object(summaryShape)),
    damage: optional(object(damageShape)),
    carried: optional(boundedList(object(carriedShape), { itemsMax: carriedItemsMax, bytesMax: 1_048_576 })),
  },
  'log.redacted': {
    leaf: required(text),
    original_type: required(text),
    length: required(u64),
    reason: optional(text),
    actor: optional(text),
    redacted_at: required(text),
    kept: optional(any),
  },
  'log.recovered': {
    reason: required(choice(recoveryReasons)),
    damage: required(list(object(recoveredDamageShape))),
    open_turn: nullable(u64),
    lost: optional(object(lostShape)),
    turn_base: optional(u64),
  },
  'log.imported': {
    source: required(object(importSourceShape)),
    records: required(u64),
    damage_count: required(u64),
    turn_base: required(positiveU64),
    schema_versions: required(list(text)),
  },
  'log.summary': {
    id: required(text),
    from_seq: required(u64),
    to_seq: required(u64),
    events: required(u64),
    turns: required(u64),
    event_types: required(map(u64)),
    facts: required(boundedList(text, { itemsMax: 32, itemBytesMax: 512 })),
    text: optional(text),
    by: required(text),
  },
  'log.pinned': { session_id: required(text), reason: required(text), actor: optional(text) },
  'log.unpinned': { session_id: required(text), actor: optional(text) },
  'log.removed': {
    session_id: required(text),
    generation: required(text),
    reason: required(choice(removalReasons)),
    first_seq: required(u64),
    last_seq: required(u64),
    events: required(u64),
    turns: required(u64),
    bytes: required(u64),
    last_ts: nullable(text),
    tree: required(object(treeHeadShape)),
    trash: required(text),
  },
  'log.restored': { session_id: required(text), trash: required(text) },
  'log.purged': { session_id: required(text), trash: required(text), bytes: required(u64) },
  'user.message': {
    id: required(text),
    origin: required(choice(messageOrigins)),
    content: required(list(partRule)),
  },
  'run.started': {
    program: required(text),
    version: optional(text),
    cwd: required(text),
    workspace: optional(text),
    agent: optional(choice(agentKinds)),
    parent: optional(object(runParentShape)),
    forked_from: optional(object(forkOriginShape)),
  },
  'journal.begin': {
    frame: required(text),
    fence: nullable(u64),
    kind: required(choice(journalFrameKinds, 'unknown-type')),
  },
  'journal.commit': commitShape,
  'journal.void': voidShape,
  'job.begin': {
    frame: required(text),
    fence: nullable(u64),
    kind: required(choice(jobFrameKinds, 'unknown-type')),
  },
  'job.commit': commitShape,
  'job.void': voidShape,
};
