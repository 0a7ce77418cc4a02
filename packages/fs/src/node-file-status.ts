import { type BigIntStats, lstatSync } from 'node:fs';
import { execPath } from 'node:process';
import type { FileKind, FileStatus } from '@turnlog/kernel';

interface Kinds {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

export function fileKind(entry: Kinds): FileKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

export function fileStatus(stats: BigIntStats): FileStatus {
  return {
    kind: fileKind(stats),
    size: Number(stats.size),
    mode: Number(stats.mode & 0o777n),
    uid: process.geteuid === undefined ? null : Number(stats.uid),
    device: stats.dev.toString(),
    inode: stats.ino.toString(),
    modifiedMs: Number(stats.mtimeNs / 1000n) / 1000,
    birthNs: birthTimesAreKept() ? stats.birthtimeNs.toString() : '0',
  };
}

let birthTimesKept: boolean | null = null;

/**
 * Whether times of birth are told. Where the kernel call for them is missing or forbidden the runtime hands out
 * the time of the last change instead, which moves with each touch and would disown a lock. The file of the
 * running program has long been changed after its birth, so equal times give the substitute away.
 */
function birthTimesAreKept(): boolean {
  if (birthTimesKept === null) {
    const stats = lstatSync(execPath, { bigint: true });
    birthTimesKept = stats.birthtimeNs !== stats.ctimeNs;
  }
  return birthTimesKept;
}
