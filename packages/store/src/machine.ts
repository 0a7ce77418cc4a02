import {
  createHost,
  createNodeFileSystem,
  createRandomIds,
  createSystemClock,
  createWriterLocks,
  firstWarningOnly,
} from '@turnlog/fs';
import type { LogEnvironment } from '@turnlog/log';

/** Name and version for owner records. */
export const programName = 'turnlog/0.1.0';

/** This machine, but for the parts that are given. */
export function completeEnvironment(given: Partial<LogEnvironment> = {}): LogEnvironment {
  const fs = given.fs ?? createNodeFileSystem();
  const clock = given.clock ?? createSystemClock();
  const ids = given.ids ?? createRandomIds();
  const host = given.host ?? createHost();
  return {
    fs,
    clock,
    ids,
    host,
    locks: given.locks ?? createWriterLocks({ fs, ids, clock, host, program: programName }),
    ownership: given.ownership ?? {
      uid: host.uid,
      onModeWarning: firstWarningOnly(({ path }) => {
        process.emitWarning(`others may be able to read this: modes cannot be set here: ${path}`);
      }),
    },
  };
}

/** Where this process stands, for callers that do not say. */
export function processPlace(): {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
} {
  return { cwd: process.cwd(), env: process.env };
}
