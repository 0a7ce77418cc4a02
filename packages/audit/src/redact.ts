import { join } from 'node:path';
import { checkDirectory, listIfThere } from '@turnlog/fs';
import type { SessionId } from '@turnlog/kernel';
import { historyLeaves, type LogReader, logPaths, redactLog } from '@turnlog/log';
import type { Store } from '@turnlog/store';
import { assetsOnlyIn, type RedactedAssets, type RedactedBlobs, removeAssets } from './redacted-assets.js';
import {
  type PlannedRedaction,
  planRedaction,
  type RedactionPlan,
  type RedactionRequest,
} from './redaction-plan.js';

/** What a redaction of a session takes out, or took out. */
export interface RedactionReport {
  readonly sessionId: string;
  readonly targets: readonly PlannedRedaction[];
  readonly assets: RedactedAssets;
  /** Seq of the statement; null when it stood there already, or nothing was done. */
  readonly statementSeq: number | null;
  /**
   * Files that may hold what went and were left alone: those of the session that no record leads to, and those that it
   * was imported from.
   */
  readonly outOfReach: readonly string[];
  /** What failed of the upkeep, one sentence each; the next writer's open makes up for it. */
  readonly maintenance: readonly string[];
}

/** Says what `redactSession` would do, and changes nothing. Errors as there. */
export function previewRedaction(store: Store, id: SessionId, request: RedactionRequest): RedactionReport {
  const reader = store.read(id, { unreadable: 'show' });
  try {
    const { targets } = planOf(store, reader, request);
    const { importedFrom, ...assets } = assetsOnlyIn(store, reader, targets);
    return {
      sessionId: id,
      targets,
      assets,
      statementSeq: null,
      outOfReach: [...tornFiles(store, reader.directory), ...importedFrom],
      maintenance: [],
    };
  } finally {
    reader.close();
  }
}

/**
 * Redacts records of a session (AU-22): says so in its log, durably; replaces them, in the log and in its archives, by
 * their leaf hashes; and removes the blobs that only they named, with the raw copies of what they were imported from. What was begun before is finished with it. Whatever is
 * derived from the log outside of its directory is the caller's to purge.
 *
 * @throws as `planRedaction` and `redactLog`.
 */
export async function redactSession(
  store: Store,
  id: SessionId,
  request: RedactionRequest,
  options: { readonly waitMs?: number } = {},
): Promise<RedactionReport> {
  const { environment: env } = store;
  const directory = store.sessionDirectory(id);
  // Whoever names a session that is not there hears that, and makes none.
  store.read(id, { unreadable: 'show' }).close();
  checkDirectory(env.fs, directory, env.ownership.uid);
  let targets: readonly PlannedRedaction[] = [];
  let blobs: RedactedBlobs = { going: [], raw: [], shared: [], importedFrom: [] };
  const decide = (reader: LogReader): RedactionPlan | null => {
    const plan = planOf(store, reader, request);
    targets = plan.targets;
    if (targets.length === 0) return null;
    blobs = assetsOnlyIn(store, reader, targets);
    return plan;
  };
  const redacted = await redactLog(env, directory, id, decide, {
    ...options,
    beforeReplace: async () => removeAssets(store, blobs.going),
  });
  const { importedFrom, ...assets } = blobs;
  return {
    sessionId: id,
    targets,
    assets,
    statementSeq: redacted?.statementSeq ?? null,
    outOfReach: [...(redacted?.unnamedArchives ?? []), ...tornFiles(store, directory), ...importedFrom],
    maintenance: (redacted?.maintenance ?? []).map(({ message }) => message),
  };
}

function planOf(store: Store, reader: LogReader, request: RedactionRequest): RedactionPlan {
  return planRedaction(reader, () => historyLeaves(store.environment.fs, reader), request);
}

const tornPattern = /^torn-/;

/** What was cut off torn tails is evidence, and may be half of a record that was written again later. */
function tornFiles({ environment: { fs } }: Store, directory: string): readonly string[] {
  const { index } = logPaths(directory);
  return listIfThere(fs, index)
    .filter(({ name }) => tornPattern.test(name))
    .map(({ name }) => join(index, name));
}
