import { join } from 'node:path';
import { ensurePrivateDirectory, removeFileIfThere, writeAll } from '@turnlog/fs';
import { limits, TurnlogError } from '@turnlog/kernel';
import { digestRange } from './damage-report.js';
import type { Evidence } from './evidence.js';
import type { ByteSource } from './line-framer.js';
import { ioFailure, type LogFile } from './log-file.js';
import { type LogPaths, logNames, tornName } from './log-layout.js';
import type { LogScan } from './log-scan.js';
import { turnBaseOf } from './log-state.js';
import type { LogEnvironment } from './options.js';
import { findLostTail, type LostTail } from './recovery-plan.js';

/** The event of a `log.recovered` record: what a recovery found and did. */
export interface RecoveredEvent {
  readonly type: 'log.recovered';
  readonly reason: 'torn_tail' | 'tail_lost' | 'prefix_missing' | 'gap';
  readonly damage: readonly Readonly<Record<string, unknown>>[];
  readonly open_turn: number | null;
  readonly lost?: Readonly<Record<string, unknown>>;
  readonly turn_base?: number;
}

/** The bytes behind the last record of a log and what became of them. */
export interface MendedTail {
  readonly events: readonly RecoveredEvent[];
  /** Whether the newline of the last record was missing and has been written. */
  readonly isLineEnded: boolean;
}

/**
 * Makes the end of a log fit for appending: the missing newline of a whole record is written, a fragment is set
 * aside, durably, before it is cut. Nothing but the bytes behind the last record is touched.
 */
export function mendTail(env: LogEnvironment, paths: LogPaths, file: LogFile, scan: LogScan): MendedTail {
  const events: RecoveredEvent[] = [];
  let isLineEnded = false;
  // A fragment may stand on one line with a whole record: that record then needs its newline too.
  while (scan.unended !== null) {
    const { fragment } = scan.unended;
    if (fragment === null) {
      file.append(Uint8Array.of(0x0a));
      syncOrThrow(file, 'end-line');
      isLineEnded = true;
    } else {
      events.push(cutFragment(env, paths, file, fragment, scan.state.lifecycle.open?.turn ?? null));
    }
    scan.rereadLastLine(file.length);
  }
  return { events, isLineEnded };
}

/** What has to be said about records that are not there any more. */
export function missingRecords(evidence: Evidence, scan: LogScan): readonly RecoveredEvent[] {
  const events: RecoveredEvent[] = [];
  const openTurn = scan.state.lifecycle.open?.turn ?? null;
  const lostTail = findLostTail(evidence, scan.state);
  if (lostTail !== null) events.push(lostTailEvent(lostTail, openTurn));
  if (scan.state.isPrefixMissing && scan.prefixTurnBase === null) {
    events.push({
      type: 'log.recovered',
      reason: 'prefix_missing',
      damage: [],
      open_turn: openTurn,
      turn_base: turnBaseOf(scan.state),
    });
  }
  return events;
}

function lostTailEvent(lost: LostTail, openTurn: number | null): RecoveredEvent {
  return {
    type: 'log.recovered',
    reason: 'tail_lost',
    damage: [],
    open_turn: openTurn,
    lost: { from_seq: lost.fromSeq, to_seq: lost.toSeq, events: lost.toSeq - lost.fromSeq + 1 },
    turn_base: lost.turnBase,
  };
}

type Fragment = NonNullable<NonNullable<LogScan['unended']>['fragment']>;

function cutFragment(
  env: LogEnvironment,
  paths: LogPaths,
  file: LogFile,
  fragment: Fragment,
  openTurn: number | null,
): RecoveredEvent {
  const { kind, offset, length } = fragment;
  const sha256 = digestRange(file, offset, offset + length);
  const savedAs = isLongZeros(file, fragment) ? null : saveAside(env, paths, file, fragment, sha256);
  file.truncate(offset);
  syncOrThrow(file, 'truncate');
  return {
    type: 'log.recovered',
    reason: 'torn_tail',
    damage: [{ kind, offset, length, sha256, ...(savedAs === null ? {} : { saved_as: savedAs }) }],
    open_turn: openTurn,
  };
}

function syncOrThrow(file: LogFile, step: string): void {
  try {
    file.sync();
  } catch (cause) {
    throw ioFailure(step, file.path, 'unknown', cause);
  }
}

/** Copies the torn bytes to a file of their own and makes it durable; returns its name below the log directory. */
function saveAside(
  env: LogEnvironment,
  paths: LogPaths,
  log: LogFile,
  fragment: Fragment,
  sha256: string,
): string {
  const { fs, ownership } = env;
  const { index, directory } = paths;
  if (ensurePrivateDirectory(fs, index, ownership) === 'created') fs.syncDirectory(directory);
  const name = tornName(fragment.offset, sha256);
  const path = join(index, name);
  // A recovery that was cut short has left the same name with the same bytes, or fewer of them.
  removeFileIfThere(fs, path);
  const file = fs.open(path, 'create');
  try {
    copyRange(log, fragment, (bytes) => writeAll(file, bytes));
    file.sync();
  } finally {
    file.close();
  }
  fs.syncDirectory(index);
  return `${logNames.index}/${name}`;
}

function copyRange(
  source: ByteSource,
  range: { readonly offset: number; readonly length: number },
  write: (bytes: Uint8Array) => void,
): void {
  const block = new Uint8Array(Math.min(limits.readBlockBytes, range.length));
  const end = range.offset + range.length;
  for (let offset = range.offset; offset < end; ) {
    const count = source.read(block.subarray(0, Math.min(block.length, end - offset)), offset);
    if (count === 0) {
      throw new TurnlogError('TURNLOG_IO', {
        details: { step: 'save-torn', offset, length: range.length, outcome: 'none' },
      });
    }
    write(block.subarray(0, count));
    offset += count;
  }
}

/** A long run of zeros, as some file systems leave behind a crash, is not worth a copy. */
function isLongZeros(source: ByteSource, fragment: Fragment): boolean {
  if (fragment.length <= limits.savedZerosBytesMax) return false;
  const block = new Uint8Array(limits.readBlockBytes);
  const end = fragment.offset + fragment.length;
  for (let offset = fragment.offset; offset < end; ) {
    const count = source.read(block.subarray(0, Math.min(block.length, end - offset)), offset);
    if (count === 0 || block.subarray(0, count).some((byte) => byte !== 0)) return false;
    offset += count;
  }
  return true;
}
