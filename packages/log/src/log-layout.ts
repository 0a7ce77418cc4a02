import { join } from 'node:path';

/** Session id of the store-wide log: no session has it. */
export const ledgerId = 'ledger';

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
  /** Marker of a rewrite under way, below `index`. */
  pendingRewrite: 'pending-rewrite.json',
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
  readonly pendingRewrite: string;
  readonly archive: string;
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
    pendingRewrite: join(index, logNames.pendingRewrite),
    archive: join(directory, logNames.archive),
  };
}

/** Name, below `index`, of the file that keeps the bytes cut off a torn tail. */
export function tornName(offset: number, sha256: string): string {
  return `torn-${offset}-${sha256.slice(0, 8)}.bin`;
}

/** Name, below `archive`, of the prefix that ends with `toSeq`, compressed. */
export function archiveName(toSeq: number, codec: 'gzip' | 'zstd'): string {
  return `e-${toSeq}.jsonl.${codec === 'gzip' ? 'gz' : 'zst'}`;
}

/** What the name of an archived prefix says; null for anything else, also from a record. */
export function archivedTo(name: string): { readonly toSeq: number; readonly codec: 'gzip' | 'zstd' } | null {
  const found = /^e-([1-9]\d{0,15})\.jsonl\.(gz|zst)$/.exec(name);
  return found === null ? null : { toSeq: Number(found[1]), codec: found[2] === 'gz' ? 'gzip' : 'zstd' };
}

/** Name, below `archive`, of the leaf hashes of all records up to `toSeq`. */
export function leavesName(toSeq: number): string {
  return `leaves-${toSeq}.bin`;
}
