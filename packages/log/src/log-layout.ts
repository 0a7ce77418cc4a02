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

const temporaryForm = /^\.t-[0-9a-f]{16}$/;

/** Whether `name` is that of a temp file of a running operation; a writer's open removes left-over ones. */
export function isTemporaryName(name: string): boolean {
  return temporaryForm.test(name);
}

/** Name, below `index`, of the file that keeps the bytes cut off a torn tail. */
export function tornName(offset: number, sha256: string): string {
  return `torn-${offset}-${sha256.slice(0, 8)}.bin`;
}
