import { encodeRawEvent, type FrameEvent } from '@turnlog/events';
import { limits, TurnlogError } from '@turnlog/kernel';
import { EngineEvent, type EventInput } from './append.js';
import type { FrameResult } from './append-result.js';
import type { BatchBuilder } from './batch.js';
import { type FrameFamily, frameDigest, isMemberType, type OpenFrame } from './frame-step.js';
import { ledgerId } from './log-layout.js';
import type { LogWriter } from './log-writer.js';

/** What a frame is begun with. */
export interface FrameHeader {
  /** A name for it, used once in the log. */
  readonly frame: string;
  /** Seq of the claim under which it is written; null where nobody has to hold one. */
  readonly fence: number | null;
  readonly kind: string;
}

/** The records of a frame, or what adds them one by one, so that later ones may depend on earlier ones. */
export type FrameMembers = readonly EventInput[] | ((batch: BatchBuilder) => void);

export interface FrameOptions {
  /** Append only if the log still ends here. */
  readonly expectLast?: number;
}

/** Which family of frames a log has. */
function frameFamily(sessionId: string): FrameFamily {
  return sessionId === ledgerId ? 'job' : 'journal';
}

/** Writes begin, members and commit in one batch, so that no other record stands between them. */
export function writeFrame(
  writer: Pick<LogWriter, 'appendBatch' | 'opened'>,
  header: FrameHeader,
  members: FrameMembers,
  options: FrameOptions,
): FrameResult {
  const family = frameFamily(writer.opened.sessionId);
  const { seqs, ...rest } = writer.appendBatch(
    (batch) => {
      batch.add(new EngineEvent(beginEvent(family, header)));
      const leaves = addMembers(batch, members);
      batch.add(new EngineEvent(commitEvent(family, header.frame, leaves)));
    },
    { ...options, durability: 'event' },
  );
  const [beginSeq, commitSeq] = [seqs[0] ?? 0, seqs.at(-1) ?? 0];
  return { ...rest, beginSeq, seqs: seqs.slice(1, -1), commitSeq };
}

function addMembers(batch: BatchBuilder, members: FrameMembers): readonly string[] {
  const leaves: string[] = [];
  const add: BatchBuilder['add'] = (input, options) => {
    checkMember(input, leaves.length);
    const added = batch.add(input, options);
    leaves.push(added.leaf);
    return added;
  };
  if (typeof members === 'function') members({ add });
  else for (const member of members) add(member);
  if (leaves.length === 0) throw refused('', 'a frame has a member');
  return leaves;
}

function checkMember(input: EventInput, before: number): void {
  const type = typeOf(input);
  if (typeof type === 'string' && !isMemberType(type))
    throw refused('/type', 'never stands in a frame', type);
  if (before < limits.frameRecordsMax) return;
  throw refused('', `a frame has at most ${limits.frameRecordsMax} members`);
}

function typeOf(input: EventInput): unknown {
  if (input instanceof EngineEvent) return input.event.type;
  return 'type' in input ? input.type : encodeRawEvent(input.raw).type;
}

function refused(place: string, rule: string, type?: string): TurnlogError {
  const details = { place, rule, ...(type === undefined ? {} : { type }) };
  return new TurnlogError('TURNLOG_INVALID_EVENT', { details, message: `the frame is refused: ${rule}` });
}

function beginEvent(family: FrameFamily, { frame, fence, kind }: FrameHeader): FrameEvent {
  return { type: `${family}.begin`, frame, fence, kind };
}

function commitEvent(family: FrameFamily, frame: string, leaves: readonly string[]): FrameEvent {
  return { type: `${family}.commit`, frame, count: leaves.length, sha256: frameDigest(leaves) };
}

/** What a writer appends to a log that ends in a frame without commit: its members never take effect. */
export function voidEvent({ family, frame }: OpenFrame): FrameEvent {
  return { type: `${family}.void`, frame: frame ?? '', reason: 'unfinished' };
}
