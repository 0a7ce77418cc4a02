import { join } from 'node:path';
import { temporaryNamePattern } from '@turnlog/fs';
import { logNames } from '@turnlog/log';
import type { EntryRole } from './pack.js';

/** Names of a pack and of what belongs to it. */
export const packNames = {
  pack: 'audit-pack.json',
  signature: 'audit-pack.json.sig',
  checkpoint: 'audit-pack.checkpoint',
  sums: 'audit-pack.sha256',
} as const;

const ownPaths: ReadonlySet<string> = new Set(
  Object.values(packNames).map((name) => `${logNames.derived}/${name}`),
);

/** The writer lock, its owner record, and claims to break it. */
const lockPattern = /^session\.(?:lock|owner)(?:\.[0-9a-z.]+)?$/;

/** What the replacement of a derived file left when it was interrupted. */
const leftoverPattern = /^[a-z0-9-]+\.json\.\d{1,10}$/;

/** Whether a path of a session directory is no part of a pack: what comes and goes, and packs themselves. */
export function isLeftOut(path: string): boolean {
  if (ownPaths.has(path) || path === logNames.pin || lockPattern.test(path)) return true;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return (
    temporaryNamePattern.test(name) || (path.startsWith(`${logNames.derived}/`) && leftoverPattern.test(name))
  );
}

/** What a file of a session directory is. */
export function roleOf(path: string): EntryRole {
  if (path === logNames.events) return 'canonical';
  if (path === logNames.manifest || path.startsWith(`${logNames.derived}/`)) return 'derived';
  if (path.startsWith(`${logNames.archive}/`)) return 'archive';
  return path.startsWith(`${logNames.index}/`) ? 'index' : 'other';
}

/** Where the pack of a session lies unless it was asked for elsewhere. */
export function packDirectoryOf(sessionDirectory: string): string {
  return join(sessionDirectory, logNames.derived);
}
