import { basename, join } from 'node:path';
import { checkDirectory } from '@turnlog/fs';
import { type FileHandle, type FileSystem, TurnlogError } from '@turnlog/kernel';
import { logNames } from '@turnlog/log';
import { readVtcodeMetadata, statedSessionId, type TurnBase, turnBaseFrom } from './foreign-turn-base.js';
import { openNamed } from './source-files.js';
import { type LogSurvey, surveyLog } from './survey-log.js';

/** A log of VT Code, open for reading and read through once. */
export interface VtcodeSource {
  readonly file: FileHandle;
  readonly path: string;
  readonly name: string;
  /** From its first record; else from the directory's manifest; else the name. Not checked. */
  readonly sessionId: string;
  readonly turnBase: TurnBase;
  readonly survey: LogSurvey;
}

/**
 * Opens a session directory, or a file of log lines, and reads it through.
 *
 * @throws TURNLOG_NOT_FOUND, TURNLOG_UNSAFE_PATH, TURNLOG_IO; TURNLOG_LOG_UNREADABLE when no record can be read
 *   in a directory's log, TURNLOG_UNKNOWN_SOURCE when there is none in a file.
 */
export function openVtcodeSource(fs: FileSystem, path: string): VtcodeSource {
  const status = fs.status(path);
  if (status === null) throw new TurnlogError('TURNLOG_NOT_FOUND', { details: { path } });
  const isDirectory = status.kind === 'directory';
  if (isDirectory) checkDirectory(fs, path, null);
  const metadata = isDirectory ? readVtcodeMetadata(fs, path) : null;
  const file = openNamed(fs, isDirectory ? join(path, logNames.events) : path);
  try {
    const { size } = file.status();
    const survey = surveyLog(file, size);
    if (survey.records === 0 && size > 0) throw unreadable(path, isDirectory, survey);
    const stated = metadata === null ? undefined : statedSessionId(metadata);
    const name = basename(path);
    return {
      file,
      path,
      name,
      sessionId: survey.threadId ?? stated ?? stemOf(name),
      turnBase: metadata === null ? { value: 1, isCertain: false } : turnBaseFrom(metadata, size),
      survey,
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

function unreadable(path: string, isDirectory: boolean, survey: LogSurvey): TurnlogError {
  const { damageCount, bytes } = survey;
  const code = isDirectory ? 'TURNLOG_LOG_UNREADABLE' : 'TURNLOG_UNKNOWN_SOURCE';
  return new TurnlogError(code, { details: { path, from: 'vtcode', damageCount, bytes } });
}

function stemOf(name: string): string {
  return name.endsWith('.jsonl') ? name.slice(0, -'.jsonl'.length) : name;
}
