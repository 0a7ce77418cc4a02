import type { ArchiveFile } from '@turnlog/events';
import { DraftFile } from '@turnlog/fs';
import { assert, limits, sha256Hex } from '@turnlog/kernel';
import { archiveCodec } from './archive-codec.js';
import { type ArchiveWork, type DraftedArchive, draftArchive } from './archive-file.js';
import { type Edit, editedBlocks } from './edited-bytes.js';
import type { HistoryLeaf } from './history-leaves.js';
import type { ByteSource } from './line-framer.js';
import { type ArchivedPart, OpenArchive } from './log-history.js';
import type { LogReader } from './log-reader.js';
import { LogRecord } from './log-record.js';
import { LogScan } from './log-scan.js';
import { turnBaseOf } from './log-state.js';
import type { LogWriter } from './log-writer.js';
import type { LineProof } from './manifest.js';
import { treeRoot } from './merkle-frontier.js';
import { newGeneration, type OpenedLog, openRewritten } from './opened-log.js';
import type { LogEnvironment } from './options.js';
import { namePendingArchives } from './pending-archives.js';
import { changedHeader, type RedactionReason, redactedRecord } from './redacted-record.js';
import { replaceLog } from './rewrite.js';
import { headSha256 } from './rewrite-marker.js';
import { Scanner } from './scanner.js';

/**
 * Replaces records of a log by their leaf hashes, wherever they lie (log specification, §9): archives and the log are
 * written anew beside the old ones, every other line byte for byte. Then the log takes its name, which is the step that
 * decides, and the archives take theirs behind it. A crash before leaves all as it was; after it the next writer's
 * open does the rest.
 */

/** A record that goes. */
export interface RedactedLeaf extends HistoryLeaf, RedactionReason {}

export interface RedactionRewrite {
  readonly env: LogEnvironment;
  readonly writer: LogWriter;
  /** The log before the writer said what is redacted. */
  readonly reader: LogReader;
  /** Gives the reader back: some systems rename over no open file. */
  readonly release: () => void;
  /** In the order of the history. */
  readonly targets: readonly RedactedLeaf[];
  readonly pause: () => Promise<void>;
  /** Called when all is written and nothing has been replaced yet. */
  readonly beforeReplace: () => Promise<void>;
}

/**
 * @returns the rewritten log as its writer holds it from here on.
 * @throws TURNLOG_IO, LOCK_LOST, what `pause` and `beforeReplace` throw; nothing is replaced then, unless the writer
 *   is poisoned: in that case the next writer's open finishes what was begun, or takes it back.
 */
export async function rewriteRedacted(rewrite: RedactionRewrite): Promise<OpenedLog> {
  const { env, writer, reader } = rewrite;
  const { paths } = writer.opened;
  const drafts: DraftFile[] = [];
  try {
    const plan = new EditPlan(rewrite);
    const archives = await draftArchives(rewrite, plan, drafts);
    const draft = new DraftFile(env.fs, env.ids, paths.events);
    drafts.push(draft);
    const edits = plan.editsOf(null, firstRecord(reader.source), archives);
    for (const block of editedBlocks(writer.opened.file, writer.state.length, edits)) {
      draft.write(block);
      await rewrite.pause();
    }
    draft.sync();
    if (archives.size > 0) env.fs.syncDirectory(paths.archive);
    const scan = await scanOf(rewrite, draft);
    await rewrite.beforeReplace();
    rewrite.release();
    return replace(rewrite, { draft, archives: [...archives.values()], scan, probe: probeOf(edits) });
  } catch (error) {
    // What a poisoned writer leaves is settled by its marker.
    if (writer.isOpen) for (const draft of drafts) draft.discard();
    throw error;
  }
}

/** What takes the place of what, file by file. */
class EditPlan {
  readonly #edits = new Map<string | null, Edit[]>();
  readonly #seqs: ReadonlySet<number>;

  constructor({ env, targets }: RedactionRewrite) {
    const redactedAtMs = env.clock.now();
    for (const { record, reason, actor } of targets) {
      const edits = this.#edits.get(record.archive) ?? [];
      this.#edits.set(record.archive, edits);
      const bytes = redactedRecord(record, { reason, actor }, redactedAtMs);
      edits.push({ start: record.offset, end: record.offset + record.length, bytes });
    }
    this.#seqs = new Set(targets.map(({ record }) => record.seq));
  }

  /** The edits of the file that begins with `first`, where `archives` have been written anew. */
  editsOf(
    name: string | null,
    first: LogRecord | null,
    archives: ReadonlyMap<string, DraftedArchive>,
  ): readonly Edit[] {
    const edits = this.#edits.get(name) ?? [];
    if (first?.type !== 'log.evicted') return edits;
    const bytes = changedHeader(first, { archive: archiveNamedBy(first, archives), seqs: this.#seqs });
    if (bytes === null) return edits;
    return [{ start: first.offset, end: first.offset + first.length, bytes }, ...edits];
  }
}

function archiveNamedBy(
  header: LogRecord,
  archives: ReadonlyMap<string, DraftedArchive>,
): ArchiveFile | null {
  const { archive } = { archive: null, ...header.readEvent() };
  const file: unknown = archive === null ? null : Reflect.get(Object(archive), 'file');
  return typeof file === 'string' ? (archives.get(file)?.archive ?? null) : null;
}

function firstRecord(source: ByteSource): LogRecord | null {
  const first = new Scanner(source, { to: Number.MAX_SAFE_INTEGER }).next();
  return first?.verdict === 'record' ? new LogRecord(first) : null;
}

/** Archives whose records or header change, by name, oldest first; `drafts` takes each as soon as it is there. */
async function draftArchives(
  { env, writer, reader, pause }: RedactionRewrite,
  plan: EditPlan,
  drafts: DraftFile[],
): Promise<ReadonlyMap<string, DraftedArchive>> {
  const { paths } = writer.opened;
  const work: ArchiveWork = { env, paths, pause };
  const drafted = new Map<string, DraftedArchive>();
  for (const part of reader.archives()) {
    const open = new OpenArchive(env.fs, paths, part);
    try {
      const edits = plan.editsOf(part.name, firstRecord(open.source), drafted);
      if (edits.length === 0) continue;
      const blocks = editedBlocks(open.source, lengthOf(part, open.source), edits);
      const archive = await draftArchive(work, part.name, archiveCodec(part.codec), blocks);
      drafts.push(archive.draft);
      drafted.set(part.name, archive);
    } finally {
      open.close();
    }
  }
  return drafted;
}

/** Of one from before records that were dropped no header says how long it is. */
function lengthOf({ namedBy }: ArchivedPart, source: ByteSource): number {
  const named = namedBy?.archive?.raw_bytes;
  if (named !== undefined) return named;
  const scanner = new Scanner(source, { to: Number.MAX_SAFE_INTEGER });
  let length = 0;
  for (let piece = scanner.next(); piece !== null; piece = scanner.next()) length = piece.end;
  return length;
}

/** Reads the new log whole, and sees that it is the old one to all that goes by its numbers and hashes. */
async function scanOf({ writer, pause }: RedactionRewrite, draft: DraftFile): Promise<LogScan> {
  const { publisher } = writer.opened;
  const before = writer.state;
  const scan = new LogScan(draft, { tree: 'hashed', turnBase: turnBaseOf(before) });
  for (const _pausing of scan.slices(draft.length, limits.rewriteSliceBytes)) await pause();
  const after = scan.state;
  const isSame =
    after.order.highestSeq === before.order.highestSeq &&
    after.lifecycle.eventCount === before.lifecycle.eventCount &&
    after.lifecycle.turnCount === before.lifecycle.turnCount &&
    after.damage.count === before.damage.count &&
    treeRoot(scan.tree.head()) === treeRoot(publisher.treeOver(before.length));
  assert(isSame, 'a redacted log has the numbers and the hash tree that it had before');
  return scan;
}

/** The first record that is another one in the new log; what stands before it is the same in both. */
function probeOf([first]: readonly Edit[]): LineProof | null {
  if (first === undefined) return null;
  return { offset: first.start, length: first.bytes.length, sha256: sha256Hex(first.bytes) };
}

interface Replacing {
  readonly draft: DraftFile;
  readonly archives: readonly DraftedArchive[];
  readonly scan: LogScan;
  readonly probe: LineProof | null;
}

function replace({ env, writer }: RedactionRewrite, { draft, archives, scan, probe }: Replacing): OpenedLog {
  const generation = newGeneration(env);
  const { paths, sessionId } = writer.opened;
  const { state, queue, keys, tree } = scan;
  const { file, doubt } = replaceLog(env, writer, {
    kind: 'redact',
    draft,
    to: { generation, bytes: draft.length, headSha256: headSha256(draft, draft.length) ?? '' },
    toSeq: state.evicted?.toSeq ?? 0,
    lastTurn: state.evicted?.lastTurn ?? 0,
    probe,
    archives: archives.map((each) => each.draft),
  });
  try {
    // Until it is certain which log comes back after a crash, the old archives stay too.
    if (doubt !== null) throw doubt;
    namePendingArchives(env, paths, archives);
    return openRewritten(env, { paths, sessionId, file }, { generation, state, queue, keys, tree });
  } catch (error) {
    file.close();
    writer.poison(error);
    throw error;
  }
}
