import { limits, RunningSha256, TurnlogError } from '@turnlog/kernel';
import { isPlainObject } from './session-facts.js';

/**
 * Frames (contract, C-57 to C-59): begin, members, commit are one fact, in a session log as `journal.*`, in the
 * ledger as `job.*`. This is the one place that says what a record is to a frame; scans, views and the ledger
 * go by it.
 *
 * A begin whose commit never comes is unfinished: its void, another begin, what never stands in a frame, or the end
 * of the log ends it. A commit that does not fit makes it broken, which no crash can do.
 */

export type FrameFamily = 'journal' | 'job';

/** What has to be known of a record to place it. */
export interface FramedRecord {
  readonly type: string;
  readEvent(): unknown;
  /** Its leaf in the hash tree, 64 hex digits; of a redacted record that of the line that stood there. */
  leaf(): string;
}

/** Leaf hashes, the newest first. */
interface MemberLeaves {
  readonly leaf: string;
  readonly before: MemberLeaves | null;
}

/** A frame between its begin and what ends it. Immutable. */
export interface OpenFrame {
  readonly family: FrameFamily;
  /** Null when the begin names none; then nothing commits it. */
  readonly frame: string | null;
  readonly memberCount: number;
  /** Not kept beyond the most members that a frame may have. */
  readonly leaves: MemberLeaves | null;
  /** Whether a recovery has been reported behind it: nothing joins it any more, and its void is still to come. */
  readonly isCut: boolean;
}

/** Why a frame is broken. */
export type FrameFault = 'no-begin' | 'other-frame' | 'count' | 'digest' | 'too-long';

/**
 * What a record is to the frame around it:
 *
 * - `alone`: in no frame; it counts by itself. A void, and a `log.recovered` behind an open frame, are too.
 * - `begin`, `member`: they count once their commit has come.
 * - `commit`: begin, members and this record count.
 * - a fault: the record is a commit, and neither it nor the frame before it counts.
 */
export type FramePlace = 'alone' | 'begin' | 'member' | 'commit' | FrameFault;

export interface FrameStep {
  /** The frame that is open behind the record; null when none is. */
  readonly open: OpenFrame | null;
  readonly place: FramePlace;
}

const aloneOutside: FrameStep = { open: null, place: 'alone' };

/** Places one more record, `open` being the frame that is open before it. */
export function stepFrame(open: OpenFrame | null, record: FramedRecord): FrameStep {
  const { type } = record;
  switch (type) {
    case 'journal.begin':
    case 'job.begin':
      return { open: beginOf(type, record.readEvent()), place: 'begin' };
    case 'journal.commit':
    case 'job.commit':
      return { open: null, place: judgeCommit(open, type, record.readEvent()) };
    case 'log.recovered':
      return open === null ? aloneOutside : { open: { ...open, leaves: null, isCut: true }, place: 'alone' };
  }
  if (open === null || open.isCut || !joinsFrame(record)) return aloneOutside;
  return { open: withMember(open, record), place: 'member' };
}

/** Whether a commit in that place broke its frame. */
export function isFault(place: FramePlace): place is FrameFault {
  return place !== 'alone' && place !== 'begin' && place !== 'member' && place !== 'commit';
}

/** Whether a record of that type can begin or end a frame: while none is open, no other need be looked at. */
export function marksFrame(type: string): boolean {
  return (
    type === 'journal.begin' || type === 'job.begin' || type === 'journal.commit' || type === 'job.commit'
  );
}

/** Whether a record of that type may stand between begin and commit. */
export function isMemberType(type: string): boolean {
  if (/^(?:turn|thread)\./.test(type) || type === 'user.message' || type === 'log.recovered') return false;
  return !/^(?:journal|job)\.(?:begin|commit|void)$/.test(type);
}

/** A redacted record stands for what it was. */
function joinsFrame(record: FramedRecord): boolean {
  if (record.type !== 'log.redacted') return isMemberType(record.type);
  const original = memberOf(record.readEvent(), 'original_type');
  return typeof original === 'string' && isMemberType(original);
}

function beginOf(type: string, event: unknown): OpenFrame {
  const name = memberOf(event, 'frame');
  return {
    family: type === 'job.begin' ? 'job' : 'journal',
    frame: typeof name === 'string' ? name : null,
    memberCount: 0,
    leaves: null,
    isCut: false,
  };
}

function withMember(open: OpenFrame, record: FramedRecord): OpenFrame {
  const memberCount = open.memberCount + 1;
  const leaves = memberCount > limits.frameRecordsMax ? null : { leaf: record.leaf(), before: open.leaves };
  return { ...open, memberCount, leaves };
}

function judgeCommit(open: OpenFrame | null, type: string, event: unknown): 'commit' | FrameFault {
  // Behind a reported recovery a frame cannot be committed any more.
  if (open === null || open.isCut) return 'no-begin';
  const isOwn = type === `${open.family}.commit` && memberOf(event, 'frame') === open.frame;
  if (!isOwn || open.frame === null) return 'other-frame';
  if (open.memberCount > limits.frameRecordsMax) return 'too-long';
  if (memberOf(event, 'count') !== open.memberCount) return 'count';
  return memberOf(event, 'sha256') === digestOfLeaves(open.leaves) ? 'commit' : 'digest';
}

function memberOf(event: unknown, name: string): unknown {
  return isPlainObject(event) ? event[name] : undefined;
}

function digestOfLeaves(leaves: MemberLeaves | null): string {
  const ordered: string[] = [];
  for (let at = leaves; at !== null; at = at.before) ordered.push(at.leaf);
  return frameDigest(ordered.reverse());
}

/** What the commit of a frame says of its members: SHA-256 over their leaf hashes, given in hex. */
export function frameDigest(leaves: readonly string[]): string {
  const digest = new RunningSha256();
  for (const leaf of leaves) digest.update(Buffer.from(leaf, 'hex'));
  return digest.digestHex();
}

/** A frame whose commit does not fit it. */
export interface BrokenFrame {
  /** Seq of the begin; null when there is none. */
  readonly beginSeq: number | null;
  readonly commitSeq: number;
  /** As the begin names it, or else the commit; a text of any form. */
  readonly frame: string | null;
  readonly fault: FrameFault;
}

/** The error of a broken frame, for those who cannot go on without it. */
export function invalidJournal(
  path: string,
  { beginSeq, commitSeq, frame, fault }: BrokenFrame,
): TurnlogError {
  return new TurnlogError('TURNLOG_INVALID_JOURNAL', {
    details: { path, seq: commitSeq, beginSeq, frame, rule: fault },
    message: `the frame that ends at seq ${commitSeq} is broken (${fault}): ${path}`,
  });
}
