import { join } from 'node:path';

/** The names inside one log directory. They stand here and nowhere else. */
export const logNames = {
  /** Canonical: the records. */
  events: 'events.jsonl',
  /** Published summary. */
  manifest: 'manifest.json',
  /** Directory of what is derived from the records to find them again. */
  index: 'index',
  /** Turn index, below `index`. */
  turns: 'turns.jsonl',
  /** Idempotency keys, below `index`. */
  keys: 'keys.jsonl',
  /** Directory of evicted prefixes. */
  archive: 'archive',
  /** Directory of views. */
  derived: 'derived',
  /** Says that the session is not to be removed; derived from the ledger. */
  pin: 'pin.json',
} as const;

/** Absolute paths of one log directory. */
export interface LogPaths {
  readonly directory: string;
  readonly events: string;
  readonly manifest: string;
  readonly index: string;
  readonly turns: string;
  readonly keys: string;
}

export function logPaths(directory: string): LogPaths {
  const index = join(directory, logNames.index);
  return {
    directory,
    events: join(directory, logNames.events),
    manifest: join(directory, logNames.manifest),
    index,
    turns: join(index, logNames.turns),
    keys: join(index, logNames.keys),
  };
}

/** Name, below `index`, of the file that keeps the bytes cut off a torn tail. */
export function tornName(offset: number, sha256: string): string {
  return `torn-${offset}-${sha256.slice(0, 8)}.bin`;
}
