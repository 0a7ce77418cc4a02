import { dirname } from 'node:path';
import { removeFileIfThere } from '@turnlog/fs';
import { isTurnlogError, type SessionId, type TurnlogError } from '@turnlog/kernel';
import { checkArchives, logPaths } from '@turnlog/log';
import type { Finding } from './finding.js';
import { parseSessionId } from './session-id.js';
import type { Store } from './store.js';

/** One step of a repair. Its order is that of the plan. */
export type RepairStep =
  | { readonly kind: 'tighten'; readonly path: string }
  | { readonly kind: 'open'; readonly sessionId: string; readonly drops: 'nothing' | 'manifest' }
  /** `sessionId`: null for a temp file of the whole store. */
  | { readonly kind: 'remove'; readonly sessionId: string | null; readonly path: string };

/** What repairing the findings takes: modes first, then each session once, then what is to be removed. Pure. */
export function planRepair(findings: readonly Finding[]): readonly RepairStep[] {
  const steps: RepairStep[] = findings
    .filter(({ repair }) => repair === 'tighten')
    .map(({ path }) => ({ kind: 'tighten', path }));
  const sessions = new Map<string, 'nothing' | 'manifest'>();
  for (const { repair, sessionId } of findings) {
    if (sessionId === null || repair === null || repair === 'tighten' || repair === 'remove') continue;
    if (repair === 'rebuild' || !sessions.has(sessionId)) {
      sessions.set(sessionId, repair === 'rebuild' ? 'manifest' : 'nothing');
    }
  }
  for (const [sessionId, drops] of sessions) steps.push({ kind: 'open', sessionId, drops });
  for (const { repair, sessionId, path } of findings) {
    if (repair === 'remove') steps.push({ kind: 'remove', sessionId, path });
  }
  return steps;
}

/** A step that failed; the others were made all the same. */
export interface RepairFailure {
  readonly step: RepairStep;
  readonly error: TurnlogError;
}

/** Makes the steps of a plan; a failed one keeps no other from being made. */
export async function repair(store: Store, steps: readonly RepairStep[]): Promise<readonly RepairFailure[]> {
  const failures: RepairFailure[] = [];
  for (const step of steps) {
    try {
      await makeStep(store, step);
    } catch (error) {
      if (!isTurnlogError(error)) throw error;
      failures.push({ step, error });
    }
  }
  return failures;
}

async function makeStep(store: Store, step: RepairStep): Promise<void> {
  const { fs } = store.environment;
  if (step.kind === 'tighten') {
    const status = fs.status(step.path);
    if (status !== null) fs.setMode(step.path, status.kind === 'directory' ? 0o700 : 0o600);
    return;
  }
  if (step.kind === 'remove') {
    const { sessionId, path } = step;
    return sessionId === null
      ? removeFileIfThere(store.environment.fs, path)
      : removeSpare(store, parseSessionId(sessionId), path);
  }
  const id = parseSessionId(step.sessionId);
  // A manifest is derived: without it the next open reads the whole log.
  if (step.drops === 'manifest')
    removeFileIfThere(store.environment.fs, logPaths(store.sessionDirectory(id)).manifest);
  const session = await store.open(id);
  await session.close();
}

/** Under the lock nobody cuts the log, so that what is still spare stays so. */
async function removeSpare(store: Store, id: SessionId, path: string): Promise<void> {
  const { fs } = store.environment;
  const session = await store.open(id);
  try {
    const reader = store.read(id);
    try {
      const spare = checkArchives(fs, reader, 'names').filter(({ isSpare }) => isSpare);
      if (!spare.some((found) => found.path === path)) return;
    } finally {
      reader.close();
    }
    fs.removeFile(path);
    fs.syncDirectory(dirname(path));
  } finally {
    await session.close();
  }
}
