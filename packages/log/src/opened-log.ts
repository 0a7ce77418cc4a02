import { join } from 'node:path';
import type { FrameEvent } from '@turnlog/events';
import { ensurePrivateDirectory, openOwnFile, temporaryNamePattern, tightenEntries } from '@turnlog/fs';
import { type DirectoryEntry, errnoOf, type Generation, TurnlogError } from '@turnlog/kernel';
import type { DamageReport } from './damage-report.js';
import { type Evidence, gatherEvidence, oldTurnNumber } from './evidence.js';
import { voidEvent } from './frame-writer.js';
import { KeyIndex, type UsedKey } from './idempotency.js';
import { LogFile } from './log-file.js';
import type { LogPaths } from './log-layout.js';
import { LogScan, scanWholeLog } from './log-scan.js';
import type { LogState } from './log-state.js';
import type { MerkleFrontier } from './merkle-frontier.js';
import type { LogEnvironment } from './options.js';
import { nameArchives } from './pending-archives.js';
import type { PublishQueue } from './publish-queue.js';
import { Publisher } from './publisher.js';
import { mendTail, missingRecords, type RecoveredEvent } from './recover.js';
import { findLostTail, type LostTail, planScan, type ScanPlan } from './recovery-plan.js';
import { isLogOf, isRewritten, type RewriteMarker, readMarker } from './rewrite-marker.js';

/** How much of the log was read at open. */
export type OpenScan = 'none' | 'tail' | 'full';

/** A log as a writer holds it right after open, before anything was repaired. */
export interface OpenedLog {
  readonly paths: LogPaths;
  readonly sessionId: string;
  readonly file: LogFile;
  readonly isNew: boolean;
  readonly state: LogState;
  readonly generation: Generation;
  readonly queue: PublishQueue;
  readonly keys: KeyIndex;
  readonly publisher: Publisher;
  readonly scan: OpenScan;
  /** Damage met while scanning, also what was cut from the end. */
  readonly damage: readonly DamageReport[];
  readonly isLineEnded: boolean;
  /** What was found about the end of the log, as it is written into it. */
  readonly recovered: readonly RecoveredEvent[];
  /** What the log must be told before anything else is appended: what was found, then the void of a frame. */
  readonly first: readonly (RecoveredEvent | FrameEvent)[];
  /** The seq that goes before all of it, where records were lost. */
  readonly lostTail: LostTail | null;
  /** Whether a rewrite has left its marker, to be removed when everything is published. */
  readonly hasMarker: boolean;
  /** What is odd about that marker, for people; null when nothing is. */
  readonly markerFault: string | null;
}

/** Opens or creates the files of a log whose lock is held, and reads what its metadata does not cover. */
export function openLogFiles(env: LogEnvironment, paths: LogPaths, sessionId: string): OpenedLog {
  const marker = readMarker(env.fs, paths);
  if (marker !== 'none' && marker !== 'unreadable') nameArchives(env, paths, marker);
  tidyDirectories(env, paths);
  const { file, isNew } = openEvents(env, paths);
  try {
    const rewrite = marker === 'none' ? null : judgeRewrite(marker, file);
    return readOpened(env, { paths, sessionId, file, isNew }, rewrite);
  } catch (error) {
    file.close();
    throw error;
  }
}

interface OpenFile {
  readonly paths: LogPaths;
  readonly sessionId: string;
  readonly file: LogFile;
  readonly isNew: boolean;
}

/** What a marker says of the log beside it. */
interface Rewrite {
  /** Given to the log when it is the new one and its manifest is still that of the old. */
  readonly generation: Generation | null;
  readonly fault: string | null;
}

/** Whether the rewrite of `marker` came to its rename, told by the log itself. */
function judgeRewrite(marker: RewriteMarker | 'unreadable', file: LogFile): Rewrite {
  if (marker === 'unreadable') return { generation: null, fault: 'the marker of a rewrite cannot be read' };
  if (isRewritten(file, file.length, marker)) return { generation: marker.to.generation, fault: null };
  if (isLogOf(file, file.length, marker.from)) return { generation: null, fault: null };
  return { generation: null, fault: 'the marker of a rewrite belongs to another log' };
}

function readOpened(env: LogEnvironment, open: OpenFile, rewrite: Rewrite | null): OpenedLog {
  const { paths, sessionId, file } = open;
  const evidence = gatherEvidence(env.fs, paths, sessionId, file, file.length);
  // A marker that explains nothing leaves the log as the only witness; so does one whose rewrite the manifest has not
  // heard of: a redaction can leave the log as long as it was, with the same line at either end.
  const isWitness = (rewrite?.fault ?? null) === null && !isManifestOld(evidence, rewrite);
  const plan: ScanPlan = isWitness ? planScan(evidence, file.length) : { kind: 'full', keptGeneration: null };
  const generation = generationOf(plan, rewrite?.generation ?? null, env);
  const scan = scanPlanned(env, paths, plan, file);
  if (scan.isUnreadable()) throw logUnreadable(paths, sessionId, scan);
  const damage = scan.damage();
  const mended = mendTail(env, paths, file, scan);
  const recovered = [...mended.events, ...missingRecords(evidence, scan)];
  const published = plan.kind === 'full' ? null : plan.manifest;
  const keeping = keepDerived(env, open, {
    generation,
    queue: scan.queue,
    keys: scan.keys,
    tree: scan.tree,
    treeBytes: scan.state.length,
    publishedKeyCount: published?.state.keyCount ?? null,
    indexBytes: published?.indexBytes ?? null,
    publishedBytes: published?.state.length ?? null,
  });
  return {
    ...open,
    ...keeping,
    state: scan.state,
    scan: plan.kind,
    damage,
    isLineEnded: mended.isLineEnded,
    recovered,
    first: [...recovered, ...unfinishedFrame(scan.state)],
    lostTail: findLostTail(evidence, scan.state),
    hasMarker: rewrite !== null,
    markerFault: rewrite?.fault ?? null,
  };
}

function isManifestOld({ manifest }: Evidence, rewrite: Rewrite | null): boolean {
  const generation = rewrite?.generation ?? null;
  return generation !== null && manifest !== null && manifest.generation !== generation;
}

/** What closes the frame that a crash left open at the end; frames are one write, so there is one at most. */
function unfinishedFrame({ frames }: LogState): readonly FrameEvent[] {
  return frames.open === null ? [] : [voidEvent(frames.open.frame)];
}

/** What is known of a log that has just been rewritten, without reading it again. */
export interface RewrittenLog {
  readonly generation: Generation;
  readonly state: LogState;
  readonly queue: PublishQueue;
  /** All keys of the log. */
  readonly keys: readonly UsedKey[];
  readonly tree: MerkleFrontier;
}

/** A log as a writer holds it right after a rewrite: nothing is published of it yet, and the marker is there. */
export function openRewritten(
  env: LogEnvironment,
  open: Omit<OpenFile, 'isNew'>,
  rewritten: RewrittenLog,
): OpenedLog {
  const { generation, state, queue, keys, tree } = rewritten;
  const keeping = keepDerived(env, open, {
    generation,
    queue,
    keys,
    tree,
    treeBytes: state.length,
    // All keys are at hand, so that none need be looked for in a file.
    publishedKeyCount: 0,
    indexBytes: null,
    publishedBytes: null,
  });
  return {
    ...open,
    ...keeping,
    isNew: false,
    state,
    scan: 'none',
    damage: [],
    isLineEnded: false,
    recovered: [],
    first: [],
    lostTail: null,
    hasMarker: true,
    markerFault: null,
  };
}

interface DerivedBasis {
  readonly generation: Generation;
  readonly queue: PublishQueue;
  readonly keys: readonly UsedKey[];
  readonly tree: MerkleFrontier;
  readonly treeBytes: number;
  readonly publishedKeyCount: number | null;
  readonly indexBytes: number | null;
  readonly publishedBytes: number | null;
}

/** The keepers of what is derived from a log. */
function keepDerived(
  env: LogEnvironment,
  { paths, sessionId, file }: Omit<OpenFile, 'isNew'>,
  basis: DerivedBasis,
): Pick<OpenedLog, 'generation' | 'queue' | 'keys' | 'publisher'> {
  const { fs, ids, ownership } = env;
  const { generation, queue } = basis;
  const keys = new KeyIndex({
    fs,
    ids,
    path: paths.keys,
    sessionId,
    generation,
    publishedCount: basis.publishedKeyCount,
    scanKeys: () => new LogScan(file, { tree: 'none' }).run(file.length).keys,
  });
  for (const used of basis.keys) keys.noteScanned(used);
  const publisher = new Publisher({
    fs,
    ids,
    ownership,
    paths,
    sessionId,
    generation,
    source: file,
    queue,
    keys,
    tree: basis.tree,
    treeBytes: basis.treeBytes,
    indexBytes: basis.indexBytes,
    publishedBytes: basis.publishedBytes,
    scanIndexLines: (state) => indexLines(env, paths, file, state),
  });
  return { generation, queue, keys, publisher };
}

function indexLines(env: LogEnvironment, paths: LogPaths, file: LogFile, state: LogState): string {
  const oldNumber = (seq: number): number | null => oldTurnNumber(env.fs, paths, seq);
  const scan = scanWholeLog(file, state.length, { tree: 'none', oldTurnNumber: oldNumber });
  return scan.queue.peek(state.length).text;
}

/** The error of a log that holds bytes but no record. */
export function logUnreadable(paths: LogPaths, sessionId: string, scan: LogScan): TurnlogError {
  const { count, bytes } = scan.state.damage;
  return new TurnlogError('TURNLOG_LOG_UNREADABLE', {
    details: { path: paths.events, sessionId, damageCount: count, damageBytes: bytes },
  });
}

function scanPlanned(env: LogEnvironment, paths: LogPaths, plan: ScanPlan, file: LogFile): LogScan {
  if (plan.kind === 'full') {
    const oldNumber = (seq: number): number | null => oldTurnNumber(env.fs, paths, seq);
    return scanWholeLog(file, file.length, { tree: 'hashed', oldTurnNumber: oldNumber });
  }
  const { state, tree } = plan.manifest;
  return new LogScan(file, { tree: 'hashed', from: { state, tree } }).run(file.length);
}

function generationOf(plan: ScanPlan, rewritten: Generation | null, env: LogEnvironment): Generation {
  if (plan.kind !== 'full') return plan.manifest.generation;
  return plan.keptGeneration ?? rewritten ?? newGeneration(env);
}

/** A name for a rewrite of a log that no other has. */
export function newGeneration(env: LogEnvironment): Generation {
  return env.ids.randomHex(16) as Generation;
}

/** Removes the temp files that a crash left, and tightens modes; the lock says that nobody is using them. */
function tidyDirectories(env: LogEnvironment, paths: LogPaths): void {
  const { fs, ownership } = env;
  for (const directory of [paths.directory, paths.index, paths.archive]) {
    if (fs.status(directory)?.kind !== 'directory') continue;
    const kept: DirectoryEntry[] = [];
    for (const entry of fs.list(directory)) {
      if (entry.kind === 'file' && temporaryNamePattern.test(entry.name))
        fs.removeFile(join(directory, entry.name));
      else kept.push(entry);
    }
    tightenEntries(fs, directory, kept, ownership);
  }
}

function openEvents(
  env: LogEnvironment,
  paths: LogPaths,
): { readonly file: LogFile; readonly isNew: boolean } {
  const { fs, ownership } = env;
  if (fs.status(paths.index) !== null) ensurePrivateDirectory(fs, paths.index, ownership);
  try {
    return { file: LogFile.of(fs, openOwnFile(fs, paths.events, 'append', ownership)), isNew: false };
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  return { file: LogFile.of(fs, openOwnFile(fs, paths.events, 'create', ownership)), isNew: true };
}
