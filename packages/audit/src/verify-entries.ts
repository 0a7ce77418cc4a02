import type { FileSystem } from '@turnlog/kernel';
import { openGuarded } from './guarded-files.js';
import { HashingSource } from './hashing-source.js';
import type { PackEntry } from './pack.js';
import { transformOf } from './transforms.js';
import { type Mismatch, mismatchAt } from './verdict.js';

/** What was found of the files beside the log. */
export interface EntryFinding {
  readonly mismatches: readonly Mismatch[];
  readonly missing: readonly string[];
  readonly stale: readonly string[];
}

/** What is derived may lag behind, or be ahead, of a log that is as packed and has gone on since. */
export type DerivedFiles = 'as-packed' | 'may-be-stale';

/** Compares files with their digests, one at a time and a block at a time. */
export async function verifyEntries(
  fs: FileSystem,
  directory: string,
  entries: readonly PackEntry[],
  derived: DerivedFiles,
): Promise<EntryFinding> {
  const mismatches: Mismatch[] = [];
  const missing: string[] = [];
  const stale: string[] = [];
  for (const entry of entries) {
    const found = await verifyEntry(fs, directory, entry);
    if (found === 'missing') missing.push(entry.path);
    else if (found === 'same') continue;
    else if (derived === 'may-be-stale' && staleRoles.has(entry.role)) stale.push(entry.path);
    else mismatches.push(found);
  }
  return { mismatches, missing, stale };
}

const staleRoles: ReadonlySet<string> = new Set(['index', 'derived']);

async function verifyEntry(
  fs: FileSystem,
  directory: string,
  entry: PackEntry,
): Promise<Mismatch | 'same' | 'missing'> {
  const opened = openGuarded(fs, directory, entry.path);
  if (opened.kind === 'absent') return 'missing';
  if (opened.kind === 'unsafe') return mismatchAt(entry.path, 'content', { diagnosis: 'unreadable' });
  const { file } = opened;
  try {
    const { size } = file.status();
    const source = new HashingSource(file, entry.bytes);
    const isSame = size === entry.bytes && source.digestHex() === entry.sha256;
    if (isSame) return 'same';
    const transform = await transformOf(file, size, entry, 'whole');
    const diagnosis = transform === null ? 'replaced' : 'transformed';
    return mismatchAt(entry.path, 'content', { diagnosis, transform });
  } finally {
    file.close();
  }
}

/** The log of a pack that has no tree: the first bytes must be those that were packed. */
export async function verifyPrefix(
  fs: FileSystem,
  directory: string,
  entry: PackEntry,
): Promise<EntryFinding & { readonly isIntact: boolean; readonly hasGrown: boolean }> {
  const opened = openGuarded(fs, directory, entry.path);
  const failed = { mismatches: [], missing: [], stale: [], isIntact: false, hasGrown: false };
  if (opened.kind === 'absent') return { ...failed, missing: [entry.path] };
  if (opened.kind === 'unsafe') {
    return { ...failed, mismatches: [mismatchAt(entry.path, 'content', { diagnosis: 'unreadable' })] };
  }
  const { file } = opened;
  try {
    const { size } = file.status();
    if (size === 0 && entry.bytes > 0) return { ...failed, missing: [entry.path] };
    if (new HashingSource(file, entry.bytes).digestHex() === entry.sha256 && size >= entry.bytes) {
      return { ...failed, isIntact: true, hasGrown: size > entry.bytes };
    }
    const transform = await transformOf(file, size, entry, 'beginning');
    const diagnosis = transform === null ? 'replaced' : 'transformed';
    return { ...failed, mismatches: [mismatchAt(entry.path, 'content', { diagnosis, transform })] };
  } finally {
    file.close();
  }
}
