import { join } from 'node:path';
import { temporaryNamePattern } from '@turnlog/fs';
import { type FileStatus, isTurnlogError, type LockHolder } from '@turnlog/kernel';
import {
  type BrokenFrame,
  checkArchives,
  effectiveRecords,
  invalidJournal,
  type LogEnvironment,
  type LogReader,
  logNames,
  logPaths,
  openLogReader,
  readManifest,
} from '@turnlog/log';
import { type Finding, fault } from './finding.js';

export interface SessionCheckOptions {
  /** Reads the whole log, whatever its manifest says. */
  readonly depth: 'metadata' | 'whole-log';
}

/** Files of another program's session format; it must not write into our directories. */
const foreignIndexNames: ReadonlySet<string> = new Set(['turns.json', 'pending-cap-rewrite.json']);

/** How deep the directories of a session are nested. */
const depthMax = 3;

/** What is not as it should be in one session. Nothing is created, locked or changed. */
export function checkSession(
  env: LogEnvironment,
  id: string,
  directory: string,
  options: SessionCheckOptions,
): readonly Finding[] {
  const lock = checkLock(env, id, directory);
  const files = checkFiles(env, id, directory, lock.isBusy, 1);
  return [...lock.findings, ...files, ...checkLog(env, id, directory, lock.isBusy, options)];
}

interface LockCheck {
  readonly findings: readonly Finding[];
  /** A writer may be at work: what is behind or unfinished may be so on purpose. */
  readonly isBusy: boolean;
}

function checkLock(env: LogEnvironment, id: string, directory: string): LockCheck {
  let holder: LockHolder | null;
  try {
    holder = env.locks.inspect(directory);
  } catch (error) {
    if (!isTurnlogError(error)) throw error;
    return {
      findings: [fault('bad-lock', id, directory, `the lock cannot be read: ${error.message}`)],
      isBusy: false,
    };
  }
  if (holder === null) return { findings: [], isBusy: false };
  const who = `pid ${holder.pid ?? 'unknown'} on ${holder.host ?? 'an unknown host'}`;
  switch (holder.state) {
    case 'alive':
      return { findings: [], isBusy: true };
    case 'dead':
      return {
        findings: [fault('dead-writer', id, directory, `its writer (${who}) died holding it`, 'writer-open')],
        isBusy: false,
      };
    case 'unknown': {
      const message = `a writer (${who}) holds it that cannot be judged from here; --force-unlock ${id} takes it`;
      return { findings: [fault('unknown-writer', id, directory, message)], isBusy: true };
    }
  }
}

function checkFiles(
  env: LogEnvironment,
  id: string,
  directory: string,
  isBusy: boolean,
  depth: number,
): readonly Finding[] {
  const own = checkEntry(env, id, directory, env.fs.status(directory));
  if (depth > depthMax) return own;
  const below = env.fs.list(directory).flatMap(({ name, kind }): readonly Finding[] => {
    const path = join(directory, name);
    if (kind === 'directory') return checkFiles(env, id, path, isBusy, depth + 1);
    const found = checkEntry(env, id, path, env.fs.status(path));
    return [...found, ...checkName(id, path, name, isBusy)];
  });
  return [...own, ...below];
}

function checkName(id: string, path: string, name: string, isBusy: boolean): readonly Finding[] {
  if (temporaryNamePattern.test(name) && !isBusy) {
    return [fault('temporary-file', id, path, 'a temp file that a crash left', 'writer-open')];
  }
  if (!foreignIndexNames.has(name)) return [];
  return [
    fault(
      'foreign-index',
      id,
      path,
      'another program wrote its own index here; it must not write into this store',
    ),
  ];
}

/** Kind, owner and mode of one file or directory. */
function checkEntry(
  env: LogEnvironment,
  id: string,
  path: string,
  status: FileStatus | null,
): readonly Finding[] {
  // Gone since it was listed.
  if (status === null) return [];
  return entryFindings(env, id, path, status);
}

/** As for the entries of a session; also for the root and `sessions/`, whose id is null. */
export function entryFindings(
  env: LogEnvironment,
  id: string | null,
  path: string,
  status: FileStatus,
): readonly Finding[] {
  const { uid } = env.ownership;
  if (status.kind === 'link' || status.kind === 'other') {
    return [fault('foreign-entry', id, path, `it is a ${status.kind}; nothing below the root is followed`)];
  }
  if (uid !== null && status.uid !== uid) {
    return [fault('foreign-entry', id, path, 'it belongs to another user')];
  }
  const wanted = status.kind === 'directory' ? 0o700 : 0o600;
  if (uid === null || (status.mode & 0o777 & ~wanted) === 0) return [];
  const message = `others may use it: mode ${status.mode.toString(8)} in place of ${wanted.toString(8)}`;
  return [fault('open-mode', id, path, message, 'tighten')];
}

function checkLog(
  env: LogEnvironment,
  id: string,
  directory: string,
  isBusy: boolean,
  options: SessionCheckOptions,
): readonly Finding[] {
  const paths = logPaths(directory);
  let reader: LogReader;
  try {
    reader = openLogReader(env.fs, directory, id, { unreadable: 'show' });
  } catch (error) {
    if (!isTurnlogError(error)) throw error;
    if (error.code !== 'TURNLOG_NOT_FOUND') return [fault('unreadable', id, paths.events, error.message)];
    const isLost = env.fs.status(paths.manifest) !== null || env.fs.status(paths.turns) !== null;
    return isLost ? [fault('log-missing', id, paths.events, `${logNames.events} is missing`)] : [];
  }
  try {
    const findings = [...checkContent(reader, id, paths.events, isBusy)];
    if (reader.length > 0 && !isBusy) findings.push(...checkManifest(env, reader, id));
    findings.push(...checkArchive(env, reader, id, isBusy, options));
    if (options.depth === 'whole-log') {
      findings.push(...checkWholeLog(reader, id, paths.manifest), ...checkFrames(reader, id, paths.events));
    }
    return findings;
  } finally {
    reader.close();
  }
}

const archiveKinds = {
  missing: 'archive-missing',
  damaged: 'archive-damaged',
  unnamed: 'archive-unnamed',
} as const;

function checkArchive(
  { fs }: LogEnvironment,
  reader: LogReader,
  id: string,
  isBusy: boolean,
  { depth }: SessionCheckOptions,
): readonly Finding[] {
  const faults = checkArchives(fs, reader, depth === 'whole-log' ? 'whole' : 'names');
  return faults.flatMap(({ kind, path, message, isSpare }): readonly Finding[] => {
    // A writer may be about to name it.
    if (kind === 'unnamed' && isBusy) return [];
    return [fault(archiveKinds[kind], id, path, message, isSpare ? 'remove' : null)];
  });
}

/** Frames that no crash leaves: their records are there, and nobody may go by them. */
export function checkFrames(reader: LogReader, id: string | null, path: string): readonly Finding[] {
  const findings: Finding[] = [];
  const note = (broken: BrokenFrame): void => {
    findings.push(fault('broken-frame', id, path, invalidJournal(path, broken).message));
  };
  for (const _effective of effectiveRecords(reader.records(), note));
  return findings;
}

function* checkContent(reader: LogReader, id: string, path: string, isBusy: boolean): Iterable<Finding> {
  const { damage, lifecycle } = reader.state;
  const isFragment = damage.count === 1 && damage.last?.kind === 'torn-tail';
  if (lifecycle.eventCount === 0 && damage.count > 0 && !isFragment) {
    yield fault('unreadable', id, path, `no record can be read; ${damage.bytes} damaged bytes`);
  }
  for (const { kind, offset, length, line } of reader.damage()) {
    const where = `${length} bytes at offset ${offset}, line ${line}`;
    if (kind !== 'torn-tail') yield fault('damage', id, path, `${kind}: ${where}`);
    else if (!isBusy) yield fault('torn-tail', id, path, `an unfinished record: ${where}`, 'writer-open');
  }
  if (isBusy) return;
  const isUnended = reader.tail(1).some(({ flags }) => flags.includes('unterminated'));
  if (isUnended) yield fault('missing-newline', id, path, 'the last record has no newline', 'writer-open');
}

function checkManifest(env: LogEnvironment, reader: LogReader, id: string): readonly Finding[] {
  const paths = logPaths(reader.directory);
  const manifest = readManifest(env.fs, paths, id);
  const at = paths.manifest;
  if (manifest === null) {
    const isThere = env.fs.status(at) !== null;
    return isThere
      ? [fault('manifest-wrong', id, at, 'it is no manifest of this session', 'writer-open')]
      : [fault('manifest-missing', id, at, 'there is no manifest', 'writer-open')];
  }
  if (reader.generation === null) {
    // Behind damage only a whole scan says how things stand, so no manifest counts there, however right it is.
    if (manifest.state.length === reader.length && endsInDamage(reader)) return [];
    return [fault('manifest-wrong', id, at, 'it does not fit the log', 'writer-open')];
  }
  const behindBytes = reader.length - manifest.state.length;
  if (behindBytes === 0) return [];
  return [fault('manifest-behind', id, at, `it is ${behindBytes} bytes behind the log`, 'writer-open')];
}

function endsInDamage(reader: LogReader): boolean {
  return reader.state.damage.count > 0 && reader.tail(1).at(-1)?.end !== reader.length;
}

/** Reads everything and compares it with what the manifest led to. */
function checkWholeLog(reader: LogReader, id: string, path: string): readonly Finding[] {
  let records = 0;
  let highestSeq = 0;
  for (const piece of reader.pieces()) {
    if (piece.verdict !== 'record') continue;
    if (piece.offset > 0 || reader.state.evicted === null) records += 1;
    highestSeq = Math.max(highestSeq, piece.seq);
  }
  const { lifecycle, order } = reader.state;
  if (records === lifecycle.eventCount && highestSeq === order.highestSeq) return [];
  const message = `the log holds ${records} records up to seq ${highestSeq}, the manifest leads to ${lifecycle.eventCount} up to ${order.highestSeq}`;
  return [fault('manifest-wrong', id, path, message, 'rebuild')];
}
