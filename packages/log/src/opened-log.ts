import { join } from 'node:path';
import { ensurePrivateDirectory, openOwnFile, temporaryNamePattern, tightenEntries } from '@turnlog/fs';
import { errnoOf, type Generation, TurnlogError } from '@turnlog/kernel';
import type { DamageReport } from './damage-report.js';
import { gatherEvidence, oldTurnNumber } from './evidence.js';
import { KeyIndex } from './idempotency.js';
import { LogFile } from './log-file.js';
import type { LogPaths } from './log-layout.js';
import { LogScan, scanWholeLog } from './log-scan.js';
import type { LogState } from './log-state.js';
import type { LogEnvironment } from './options.js';
import type { PublishQueue } from './publish-queue.js';
import { Publisher } from './publisher.js';
import { mendTail, missingRecords, type RecoveredEvent } from './recover.js';
import { findLostTail, type LostTail, planScan, type ScanPlan } from './recovery-plan.js';

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
  /** What the log must be told before anything else is appended, and the seq that goes before it. */
  readonly recovered: readonly RecoveredEvent[];
  readonly lostTail: LostTail | null;
}

/** Opens or creates the files of a log whose lock is held, and reads what its metadata does not cover. */
export function openLogFiles(env: LogEnvironment, paths: LogPaths, sessionId: string): OpenedLog {
  tidyDirectories(env, paths);
  const { file, isNew } = openEvents(env, paths);
  try {
    return readOpened(env, paths, sessionId, file, isNew);
  } catch (error) {
    file.close();
    throw error;
  }
}

function readOpened(
  env: LogEnvironment,
  paths: LogPaths,
  sessionId: string,
  file: LogFile,
  isNew: boolean,
): OpenedLog {
  const evidence = gatherEvidence(env.fs, paths, sessionId, file, file.length);
  const plan = planScan(evidence, file.length);
  const generation = generationOf(plan, env);
  const scan = scanPlanned(env, paths, plan, file);
  if (scan.isUnreadable()) throw logUnreadable(paths, sessionId, scan);
  const damage = scan.damage();
  const mended = mendTail(env, paths, file, scan);
  const { queue } = scan;
  const keys = new KeyIndex({
    fs: env.fs,
    ids: env.ids,
    path: paths.keys,
    sessionId,
    generation,
    publishedCount: plan.kind === 'full' ? null : plan.manifest.state.keyCount,
    scanKeys: () => new LogScan(file, { tree: 'none' }).run(file.length).keys,
  });
  for (const used of scan.keys) keys.noteScanned(used);
  const publisher = new Publisher({
    fs: env.fs,
    ids: env.ids,
    ownership: env.ownership,
    paths,
    sessionId,
    generation,
    source: file,
    queue,
    keys,
    tree: scan.tree,
    treeBytes: scan.state.length,
    indexBytes: plan.kind === 'full' ? null : plan.manifest.indexBytes,
    publishedBytes: plan.kind === 'full' ? null : plan.manifest.state.length,
    scanIndexLines: (state) => indexLines(env, paths, file, state),
  });
  return {
    paths,
    sessionId,
    file,
    isNew,
    state: scan.state,
    generation,
    queue,
    keys,
    publisher,
    scan: plan.kind,
    damage,
    isLineEnded: mended.isLineEnded,
    recovered: [...mended.events, ...missingRecords(evidence, scan)],
    lostTail: findLostTail(evidence, scan.state),
  };
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

function generationOf(plan: ScanPlan, env: LogEnvironment): Generation {
  if (plan.kind !== 'full') return plan.manifest.generation;
  return plan.keptGeneration ?? (env.ids.randomHex(16) as Generation);
}

/** Removes the temp files that a crash left, and tightens modes; the lock says that nobody is using them. */
function tidyDirectories(env: LogEnvironment, paths: LogPaths): void {
  const { fs, ownership } = env;
  for (const directory of [paths.directory, paths.index]) {
    if (fs.status(directory)?.kind !== 'directory') continue;
    for (const entry of fs.list(directory)) {
      if (entry.kind === 'file' && temporaryNamePattern.test(entry.name))
        fs.removeFile(join(directory, entry.name));
    }
    tightenEntries(fs, directory, ownership);
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
