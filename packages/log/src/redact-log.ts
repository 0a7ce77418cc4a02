import { basename } from 'node:path';
import type { LogRedactionEvent } from '@turnlog/events';
import { type FileSystem, type HeldLock, limits } from '@turnlog/kernel';
import { EngineEvent } from './append.js';
import { checkArchives } from './archive-check.js';
import { archivedTo, type LogPaths, logPaths } from './log-layout.js';
import type { LogReader } from './log-reader.js';
import { LogWriter } from './log-writer.js';
import { type MaintenanceReport, MaintenanceReports } from './maintenance-report.js';
import { openLogReader } from './open-log-reader.js';
import { type OpenedLog, openLogFiles } from './opened-log.js';
import type { LogEnvironment } from './options.js';
import { type RedactedLeaf, rewriteRedacted } from './redaction-rewrite.js';

/** What is to be done to a log. */
export interface RedactionOrder {
  /** What the log is told before anything is replaced; null when it has been told already. */
  readonly statement: LogRedactionEvent | null;
  /** The records that go, in the order of the history. */
  readonly targets: readonly RedactedLeaf[];
}

export interface RedactLogOptions {
  /** How long to wait for the lock, in milliseconds; by default 10 s. */
  readonly waitMs?: number;
  /** Called when all is written and nothing has been replaced yet: the last moment for what must not outlive it. */
  readonly beforeReplace?: () => Promise<void>;
}

export interface RedactedLog {
  /** Seq of the statement; null when it stood there already. */
  readonly statementSeq: number | null;
  /** Archives that no header names and of which it cannot be told what they hold. They were left alone. */
  readonly unnamedArchives: readonly string[];
  /** What failed of the upkeep; the next writer's open makes up for it. */
  readonly maintenance: readonly MaintenanceReport[];
}

/**
 * Redacts records of the log in `directory`, which must exist. Under its lock `decide` looks at the log as it is and
 * says what is to be done, null for nothing; what it throws leaves the log as it was. The statement is durable before
 * anything is written anew.
 *
 * @throws TURNLOG_LOCKED after `waitMs`; TURNLOG_RECORD_TOO_LARGE for a statement over too many records; TURNLOG_IO,
 *   LOCK_LOST: then the statement may stand there and nothing is replaced, or the next writer's open finishes it.
 */
export async function redactLog(
  env: LogEnvironment,
  directory: string,
  sessionId: string,
  decide: (reader: LogReader) => RedactionOrder | null,
  options: RedactLogOptions = {},
): Promise<RedactedLog | null> {
  const redaction = new Redaction(env, logPaths(directory), sessionId, options);
  const lock = await env.locks.acquire(directory, {
    mode: 'owned',
    waitMs: options.waitMs ?? limits.sharedLockWaitMs,
    onLost: (cause) => redaction.lose(cause),
  });
  try {
    return await redaction.run(lock, decide);
  } finally {
    await lock.release();
  }
}

class Redaction {
  readonly #env: LogEnvironment;
  readonly #paths: LogPaths;
  readonly #sessionId: string;
  readonly #options: RedactLogOptions;
  readonly #reports = new MaintenanceReports();
  #writer: LogWriter | null = null;

  constructor(env: LogEnvironment, paths: LogPaths, sessionId: string, options: RedactLogOptions) {
    this.#env = env;
    this.#paths = paths;
    this.#sessionId = sessionId;
    this.#options = options;
  }

  lose(cause: unknown): void {
    this.#writer?.poisonByLock(cause);
  }

  async run(
    lock: HeldLock,
    decide: (reader: LogReader) => RedactionOrder | null,
  ): Promise<RedactedLog | null> {
    const { fs } = this.#env;
    const writer = this.#open(lock, openLogFiles(this.#env, this.#paths, this.#sessionId));
    try {
      writer.begin();
      const reader = openLogReader(fs, this.#paths.directory, this.#sessionId, { unreadable: 'show' });
      let isReleased = false;
      const release = (): void => {
        if (isReleased) return;
        isReleased = true;
        reader.close();
      };
      try {
        const order = decide(reader);
        return order === null ? null : await this.#carryOut(lock, writer, { reader, release }, order);
      } finally {
        release();
      }
    } finally {
      this.#writer?.closeFiles();
    }
  }

  #open(lock: HeldLock, opened: OpenedLog): LogWriter {
    const options = { durability: 'event', reports: this.#reports, writes: 'by-class' } as const;
    this.#writer = new LogWriter(this.#env, opened, lock, options);
    return this.#writer;
  }

  async #carryOut(
    lock: HeldLock,
    writer: LogWriter,
    { reader, release }: { readonly reader: LogReader; readonly release: () => void },
    { statement, targets }: RedactionOrder,
  ): Promise<RedactedLog> {
    const statementSeq = statement === null ? null : writer.append(new EngineEvent(statement)).seq;
    writer.sync();
    let unnamedArchives: readonly string[] = [];
    if (targets.length > 0) {
      unnamedArchives = removeSpareArchives(this.#env.fs, reader);
      const opened = await rewriteRedacted({
        env: this.#env,
        writer,
        reader,
        release,
        targets,
        pause: () => pause(writer),
        beforeReplace: this.#options.beforeReplace ?? (async () => undefined),
      });
      writer.closeFiles();
      // Its first publish brings what is derived up to the new log and removes the marker.
      this.#open(lock, opened).begin();
    }
    return { statementSeq, unnamedArchives, maintenance: this.#reports.take() };
  }
}

/**
 * Removes archives that a crash has left behind, whose records stand elsewhere too: they hold what is to go. Returns the
 * paths of those of which that cannot be told.
 */
function removeSpareArchives(fs: FileSystem, reader: LogReader): readonly string[] {
  const unnamed = checkArchives(fs, reader, 'names').filter(
    ({ kind, path }) => kind === 'unnamed' && archivedTo(basename(path)) !== null,
  );
  const spare = unnamed.filter(({ isSpare }) => isSpare);
  for (const { path } of spare) fs.removeFile(path);
  if (spare.length > 0) fs.syncDirectory(logPaths(reader.directory).archive);
  return unnamed.filter(({ isSpare }) => !isSpare).map(({ path }) => path);
}

/** Lets the lock be kept alive; gives up when it has been lost. */
async function pause(writer: LogWriter): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  writer.checkOwnership();
}
