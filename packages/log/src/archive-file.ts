import { join } from 'node:path';
import type { ArchiveFile } from '@turnlog/events';
import { DraftFile, ensurePrivateDirectory } from '@turnlog/fs';
import { limits, RunningSha256, TurnlogError } from '@turnlog/kernel';
import { type ArchiveCodec, archiveCodec } from './archive-codec.js';
import type { ByteSource } from './line-framer.js';
import { archiveName, type LogPaths, leavesName } from './log-layout.js';
import type { LogEnvironment } from './options.js';
import { readFully } from './read-fully.js';
import { openInside } from './read-text.js';

/** Where archives are written, and how long pieces of work let others have their turn. */
export interface ArchiveWork {
  readonly env: LogEnvironment;
  readonly paths: LogPaths;
  /** Called between pieces of work; throws when the work is to be given up. */
  readonly pause: () => Promise<void>;
}

/**
 * Stores the first `cut` bytes of a log as `archive/e-<toSeq>.jsonl.…`, compressed, durable, and read back before
 * it gets its name. The same bytes that an eviction before had archived are used again.
 *
 * @throws TURNLOG_IO, or what `pause` throws; nothing but an archive that no header names is left then.
 */
export async function archivePrefix(
  work: ArchiveWork,
  source: ByteSource,
  cut: number,
  toSeq: number,
  codecName: ArchiveCodec['name'],
): Promise<ArchiveFile> {
  const codec = archiveCodec(codecName);
  const rawSha256 = await digestOf(work, blocksOf(source, cut));
  const name = archiveName(toSeq, codecName);
  const known = await reusableBytes(work, name, codec, rawSha256);
  // Whoever wrote it may have been stopped before its name was durable.
  if (known !== null) work.env.fs.syncDirectory(work.paths.archive);
  const bytes = known ?? (await writeArchive(work, name, codec, { source, cut, rawSha256 }));
  return { file: name, codec: codecName, bytes, raw_bytes: cut, raw_sha256: rawSha256 };
}

interface Raw {
  readonly source: ByteSource;
  readonly cut: number;
  readonly rawSha256: string;
}

async function writeArchive(work: ArchiveWork, name: string, codec: ArchiveCodec, raw: Raw): Promise<number> {
  const { draft, archive } = await draftArchive(work, name, codec, blocksOf(raw.source, raw.cut));
  try {
    // Bytes that changed between two readings are nobody's history.
    if (archive.raw_sha256 !== raw.rawSha256) throw readBackDiffers(draft.path);
    draft.publish();
    return draft.length;
  } catch (error) {
    draft.discard();
    throw error;
  }
}

/** An archive that is whole, durable and read back, under its temporary name; and what a header says of it. */
export interface DraftedArchive {
  readonly draft: DraftFile;
  readonly archive: ArchiveFile;
}

/**
 * Compresses `blocks` into what is to become the archive `name`. Whoever asks for it publishes or discards it.
 *
 * @throws TURNLOG_IO, or what `pause` throws; nothing is left then.
 */
export async function draftArchive(
  work: ArchiveWork,
  name: string,
  codec: ArchiveCodec,
  blocks: Iterable<Uint8Array>,
): Promise<DraftedArchive> {
  const { env, paths } = work;
  ensureArchiveDirectory(work);
  const draft = new DraftFile(env.fs, env.ids, join(paths.archive, name));
  const digest = new RunningSha256();
  let rawBytes = 0;
  try {
    for (const block of blocks) {
      digest.update(block);
      rawBytes += block.length;
      draft.write(await codec.compress(block));
      await work.pause();
    }
    draft.sync();
    const rawSha256 = digest.digestHex();
    await checkBack(work, codec, draft, rawSha256);
    const facts = { file: name, codec: codec.name, bytes: draft.length };
    return { draft, archive: { ...facts, raw_bytes: rawBytes, raw_sha256: rawSha256 } };
  } catch (error) {
    draft.discard();
    throw error;
  }
}

/** A disk can accept bytes and keep others; after this the log no longer has them. */
async function checkBack(
  work: ArchiveWork,
  codec: ArchiveCodec,
  draft: DraftFile,
  rawSha256: string,
): Promise<void> {
  if ((await digestOf(work, codec.pieces(draft, draft.length))) === rawSha256) return;
  throw readBackDiffers(draft.path);
}

function readBackDiffers(path: string): TurnlogError {
  return new TurnlogError('TURNLOG_IO', {
    details: { step: 'read-back', path, errno: null },
    message: `what was read back is not what was archived: ${path}`,
  });
}

/** Bytes of an archive of that name that already holds the same; null when there is none. */
async function reusableBytes(
  work: ArchiveWork,
  name: string,
  codec: ArchiveCodec,
  rawSha256: string,
): Promise<number | null> {
  const file = openInside(work.env.fs, work.paths.archive, name);
  if (file === null) return null;
  try {
    const { size } = file.status();
    return (await digestOf(work, codec.pieces(file, size))) === rawSha256 ? size : null;
  } catch (error) {
    // A file that cannot be opened is no archive of anything: it is written anew.
    if (error instanceof TurnlogError && error.details['reason'] !== undefined) return null;
    throw error;
  } finally {
    file.close();
  }
}

/**
 * Stores the leaf hashes of a log from its first record on, 32 bytes each, as `archive/leaves-<toSeq>.bin`: what is
 * left of records that are dropped. `leaves` gives them in blocks.
 */
export async function writeLeaves(
  work: ArchiveWork,
  toSeq: number,
  leaves: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const { env, paths } = work;
  ensureArchiveDirectory(work);
  const draft = new DraftFile(env.fs, env.ids, join(paths.archive, leavesName(toSeq)));
  try {
    for await (const block of leaves) {
      draft.write(block);
      await work.pause();
    }
    draft.publish();
  } catch (error) {
    draft.discard();
    throw error;
  }
}

function ensureArchiveDirectory({ env, paths }: ArchiveWork): void {
  const { fs, ownership } = env;
  if (ensurePrivateDirectory(fs, paths.archive, ownership) === 'created') fs.syncDirectory(paths.directory);
}

async function digestOf(work: ArchiveWork, pieces: Iterable<Uint8Array>): Promise<string> {
  const digest = new RunningSha256();
  for (const piece of pieces) {
    digest.update(piece);
    await work.pause();
  }
  return digest.digestHex();
}

/** The first `length` bytes of a source in blocks, each of its own. */
export function* blocksOf(source: ByteSource, length: number): Iterable<Uint8Array> {
  for (let offset = 0; offset < length; ) {
    const block = new Uint8Array(Math.min(limits.gzipMemberBytes, length - offset));
    if (!readFully(source, block, offset)) throw endedEarly(offset, block.length);
    yield block;
    offset += block.length;
  }
}

/** The error of a file that is shorter than what is known of it. */
export function endedEarly(offset: number, byteCount: number): TurnlogError {
  return new TurnlogError('TURNLOG_IO', {
    details: { step: 'read', offset, byteCount, errno: null },
    message: `a file ended before byte ${offset + byteCount}, which it should have`,
  });
}
