import { join } from 'node:path';
import { type DirectoryEntry, isTurnlogError, type SessionId } from '@turnlog/kernel';
import { type LogEnvironment, logPaths } from '@turnlog/log';
import { leftOverBlobs } from './asset-store.js';
import { checkFrames, checkSession, entryFindings, type SessionCheckOptions } from './check-session.js';
import { type Finding, fault, notice } from './finding.js';
import { ledgerPath, sessionsPath } from './layout.js';
import { Ledger } from './ledger.js';
import { hasSessions } from './root.js';
import { isSessionId } from './session-id.js';

export interface CheckUpOptions extends SessionCheckOptions {
  /** This session only. */
  readonly session?: SessionId;
  /** Stops before the next session. */
  readonly signal?: AbortSignal;
}

export interface CheckUp {
  /** How many sessions were looked at. */
  readonly sessionCount: number;
  readonly findings: readonly Finding[];
}

/** Looks at everything in a store and changes nothing. One bad session keeps no other from being looked at. */
export async function checkUp(env: LogEnvironment, root: string, options: CheckUpOptions): Promise<CheckUp> {
  const findings: Finding[] = [];
  // A store that nothing was written to yet.
  if (env.fs.status(root) === null) return { sessionCount: 0, findings };
  if (options.session === undefined) findings.push(...checkRootItself(env, root));
  if (options.session === undefined && options.depth === 'whole-log')
    findings.push(...checkLedger(env, root));
  if (!hasSessions(env.fs, root, env.ownership.uid)) return { sessionCount: 0, findings };
  const entries = env.fs.list(sessionsPath(root));
  let sessionCount = 0;
  for (const entry of entries) {
    if (options.session !== undefined && entry.name !== options.session) continue;
    // A signal comes only when the work makes room for it.
    await new Promise((resolve) => setImmediate(resolve));
    if (options.signal?.aborted === true) break;
    if (entry.kind === 'directory' && isSessionId(entry.name)) sessionCount += 1;
    findings.push(...checkEntryOfSessions(env, root, entry, options));
  }
  if (options.session === undefined) findings.push(...casePairs(root, entries));
  return { sessionCount, findings };
}

function checkRootItself(env: LogEnvironment, root: string): readonly Finding[] {
  const findings: Finding[] = [];
  for (const path of [root, sessionsPath(root)]) {
    const status = env.fs.status(path);
    if (status !== null) findings.push(...entryFindings(env, null, path, status));
  }
  if (!env.fs.syncDirectory(root)) {
    const message =
      'this file system cannot make directories durable: a power cut may lose names of new files';
    findings.push(notice('directory-sync', null, root, message));
  }
  for (const path of leftOverBlobs(env, root)) {
    findings.push(fault('temporary-file', null, path, 'a temp file that a crash left', 'remove'));
  }
  return findings;
}

/** Frames of the ledger that are broken. */
function checkLedger(env: LogEnvironment, root: string): readonly Finding[] {
  const { events } = logPaths(ledgerPath(root));
  try {
    const reader = new Ledger(env, root).reader();
    if (reader === null) return [];
    try {
      return checkFrames(reader, null, events);
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!isTurnlogError(error)) throw error;
    return [fault('unreadable', null, events, error.message)];
  }
}

const importName = /^\.import-[0-9a-f]{16}$/;

function checkEntryOfSessions(
  env: LogEnvironment,
  root: string,
  { name, kind }: DirectoryEntry,
  options: CheckUpOptions,
): readonly Finding[] {
  const path = join(sessionsPath(root), name);
  if (importName.test(name)) {
    return [notice('import-under-way', null, path, 'an import is under way here, or was cut short')];
  }
  if (kind !== 'directory') return [fault('foreign-entry', null, path, `it is a ${kind}, not a session`)];
  if (!isSessionId(name)) return [fault('invalid-id', null, path, 'its name is no session id')];
  try {
    return checkSession(env, name, path, options);
  } catch (error) {
    if (!isTurnlogError(error)) throw error;
    return [fault('unreadable', name, path, error.message)];
  }
}

function casePairs(root: string, entries: readonly DirectoryEntry[]): readonly Finding[] {
  const seen = new Map<string, string>();
  return entries.flatMap(({ name }): readonly Finding[] => {
    const folded = name.toLowerCase();
    const other = seen.get(folded);
    seen.set(folded, name);
    if (other === undefined) return [];
    const message = `${name} differs from ${other} only in case: on some systems they are one directory`;
    return [fault('case-pair', name, join(sessionsPath(root), name), message)];
  });
}
