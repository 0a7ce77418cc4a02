import { join } from 'node:path';
import { encodeEvent, encodeRecord, formatTimestamp } from '@turnlog/events';
import { writeAll } from '@turnlog/fs';
import { errnoOf, type FileHandle, isTurnlogError, RunningSha256, TurnlogError } from '@turnlog/kernel';
import { logPaths, openLogReader, openOwnedLog, tornName } from '@turnlog/log';
import type { ImportReport, ImportState } from './import-report.js';
import {
  type Building,
  firstEventOf,
  type ImportTarget,
  importedSource,
  moveIntoPlace,
  startBuilding,
  takenNames,
} from './import-target.js';
import { digestedId, isSessionName } from './session-name.js';
import { type Members, textMember } from './source-object.js';
import { copyBytes, digestOf } from './survey-log.js';
import { openVtcodeSource, type VtcodeSource } from './vtcode-source.js';

const prefix = 'vtcode';
/** How often an import is begun again when the place it was built in went away under it. */
const attemptsMax = 3;

/**
 * Imports a session of VT Code: a session directory, or a file of log lines. The new log is one record,
 * `log.imported`, and then the bytes of the source as they are, damage included; only a byte-order mark in front
 * is left out, and a torn tail goes to a file of its own below `index`. The session is built beside the others,
 * read back and then renamed into place, so that it is there whole or not at all.
 *
 * The same bytes again change nothing. A source that has grown, or was rewritten, becomes a further session,
 * linked by `source.session_id`.
 *
 * @throws TURNLOG_NOT_FOUND, TURNLOG_UNSAFE_PATH (the source is a link), TURNLOG_UNKNOWN_SOURCE,
 *   TURNLOG_LOG_UNREADABLE, TURNLOG_ID_COLLISION when another import was faster, TURNLOG_IO.
 */
export async function importVtcode(target: ImportTarget, path: string): Promise<ImportReport> {
  const source = openVtcodeSource(target.environment.fs, path);
  try {
    if (source.survey.bytes === 0) return reportOf(source, 'empty', null);
    const place = choosePlace(target, source);
    if (place.state !== 'unchanged') await build(target, source, place.sessionId);
    return reportOf(source, place.state, place.sessionId);
  } finally {
    source.file.close();
  }
}

interface Place {
  readonly sessionId: string;
  readonly state: ImportState;
}

/** The ids that an import of this source may have, in the order in which they are tried. */
function candidateIds(source: VtcodeSource): readonly string[] {
  const { sessionId, survey } = source;
  const preferred = isSessionName(sessionId) ? sessionId : digestedId(prefix, sessionId);
  const numbered = `${preferred}.c${survey.sha256.slice(0, 8)}`;
  const digested = digestedId(prefix, `${sessionId}\0${survey.sha256}`);
  return [preferred, numbered, digested].filter(isSessionName);
}

function choosePlace(target: ImportTarget, source: VtcodeSource): Place {
  const taken = takenNames(target);
  const ids = candidateIds(source);
  let state: ImportState = 'new';
  for (const sessionId of ids) {
    const imported = importedSource(firstEventOf(target, sessionId), prefix);
    if (imported === null || textMember(imported, 'session_id') !== source.sessionId) continue;
    const relation = relationTo(imported, source);
    if (relation === 'unchanged') return { sessionId, state: relation };
    if (state !== 'grown') state = relation;
  }
  const free = ids.find((id) => !taken.has(id.toLowerCase()));
  if (free === undefined) {
    throw new TurnlogError('TURNLOG_ID_COLLISION', { details: { sessionId: ids[0], tried: ids } });
  }
  return { sessionId: free, state };
}

/** How an earlier import of the same thread relates to the present bytes. */
function relationTo(imported: Members, source: VtcodeSource): ImportState {
  const { bytes, sha256 } = imported;
  if (sha256 === source.survey.sha256 && bytes === source.survey.bytes) return 'unchanged';
  if (typeof bytes !== 'number' || bytes > source.survey.bytes) return 'rewritten';
  return digestOf(source.file, 0, bytes) === sha256 ? 'grown' : 'rewritten';
}

async function build(target: ImportTarget, source: VtcodeSource, sessionId: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await buildOnce(target, source, sessionId);
      return;
    } catch (error) {
      // Somebody who cleans up behind killed imports may take the place for one, in the moments without a lock.
      if (errnoOf(error) !== 'ENOENT' || attempt === attemptsMax) throw error;
    }
  }
}

async function buildOnce(target: ImportTarget, source: VtcodeSource, sessionId: string): Promise<void> {
  const building = await startBuilding(target);
  try {
    const written = writeSession(target, building, source);
    await building.release();
    if (source.survey.isLineEnded) await publishDerived(target, building, sessionId);
    check(target, building, source, written, sessionId);
    moveIntoPlace(target, building, sessionId);
  } catch (error) {
    throw await discardAfter(building, error);
  }
}

/** Removes what was built. The failure that led here is the one to be told, with what stayed. */
async function discardAfter(building: Building, failure: unknown): Promise<unknown> {
  try {
    await building.discard();
    return failure;
  } catch (error) {
    if (!isTurnlogError(error) || !isTurnlogError(failure)) throw error;
    const details = { ...failure.details, leftOver: building.directory };
    return new TurnlogError(failure.code, { details, cause: error });
  }
}

/** Writes the log, and the torn tail aside; returns the digest of the log. */
function writeSession(target: ImportTarget, building: Building, source: VtcodeSource): string {
  const { fs } = target.environment;
  const paths = logPaths(building.directory);
  const head = headOf(target, source);
  const { from, to, bytes } = source.survey;
  // What is copied must be what was counted and hashed: a program may still be writing the source.
  const seen = new RunningSha256();
  const copy = (start: number, end: number, take: (block: Uint8Array) => void): boolean =>
    copyBytes(source.file, start, end, (block) => {
      seen.update(block);
      take(block);
    });
  copy(0, from, () => undefined);
  const sha256 = writeFile(target, paths.events, (take) => {
    take(head);
    return copy(from, to, take);
  });
  if (to < bytes) {
    fs.makeDirectory(paths.index);
    const torn = digestOf(source.file, to, bytes) ?? '';
    const path = join(paths.index, tornName(head.length + (to - from), torn));
    writeFile(target, path, (take) => copy(to, bytes, take));
    fs.syncDirectory(paths.index);
  }
  if (seen.digestHex() !== source.survey.sha256) throw sourceChanged(source);
  fs.syncDirectory(building.directory);
  return sha256;
}

function writeFile(
  target: ImportTarget,
  path: string,
  write: (take: (block: Uint8Array) => void) => boolean,
): string {
  const file: FileHandle = target.environment.fs.open(path, 'create');
  const hash = new RunningSha256();
  try {
    const isWhole = write((block) => {
      hash.update(block);
      writeAll(file, block);
    });
    if (!isWhole) {
      throw new TurnlogError('TURNLOG_IO', { details: { path, reason: 'the source became shorter' } });
    }
    file.sync();
    return hash.digestHex();
  } finally {
    file.close();
  }
}

function sourceChanged({ path }: VtcodeSource): TurnlogError {
  return new TurnlogError('TURNLOG_IO', {
    details: { path, reason: 'the source changed while it was read' },
  });
}

function headOf(target: ImportTarget, source: VtcodeSource): Uint8Array {
  const { survey, turnBase, sessionId, name } = source;
  const event = encodeEvent({
    type: 'log.imported',
    source: { kind: prefix, session_id: sessionId, name, bytes: survey.bytes, sha256: survey.sha256 },
    records: survey.records,
    damage_count: survey.damageCount,
    turn_base: turnBase.value,
    schema_versions: survey.schemaVersions,
  });
  return encodeRecord({ seq: 1, ts: formatTimestamp(target.environment.clock.now()) }, event);
}

/** Lets the engine write turn index and manifest, so that the first reader need not scan. */
async function publishDerived(target: ImportTarget, building: Building, sessionId: string): Promise<void> {
  const log = await openOwnedLog(target.environment, building.directory, sessionId);
  await log.close();
}

/** Reads the new log back: all records of the source behind the first, and the bytes that were written. */
function check(
  target: ImportTarget,
  building: Building,
  source: VtcodeSource,
  writtenSha256: string,
  sessionId: string,
): void {
  const reader = openLogReader(target.environment.fs, building.directory, sessionId);
  try {
    const { eventCount } = reader.state.lifecycle;
    const hash = new RunningSha256();
    for (const block of reader.bytes(0, reader.length)) hash.update(block);
    const isSame = hash.digestHex() === writtenSha256;
    if (isSame && eventCount === source.survey.records + 1) return;
    throw new TurnlogError('TURNLOG_INTERNAL', {
      details: { path: building.directory, eventCount, records: source.survey.records, isSame },
    });
  } finally {
    reader.close();
  }
}

function reportOf(source: VtcodeSource, state: ImportState, sessionId: string | null): ImportReport {
  const { survey, path, name, turnBase } = source;
  const { bytes, sha256, records, damageCount, unansweredCount, schemaVersions, ledger, refused } = survey;
  return {
    state,
    sessionId,
    childSessionIds: [],
    source: { kind: prefix, sessionId: source.sessionId, path, name, bytes, sha256 },
    pendingBytes: 0,
    records,
    damageCount,
    unansweredCount,
    turnBase,
    schemaVersions,
    ledger,
    refused,
  };
}
