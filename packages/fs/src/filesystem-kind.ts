import { statfsSync } from 'node:fs';
import { ioError } from './file-errors.js';

/** What a directory lies on, as far as it matters to programs that share memory through files. */
export interface FilesystemKind {
  /** As people know it, as in `NFS`; `unknown (0x…)` for one that is not in the list. */
  readonly name: string;
  /**
   * `local`: every process that sees it runs on one machine and may map its files. `network`: others may write to it,
   * or its maps and locks cannot be relied on. `unknown` is to be treated as `network`.
   */
  readonly reach: 'local' | 'network' | 'unknown';
}

type Row = readonly [magic: number, name: string, reach: 'local' | 'network'];

/** @see statfs(2) and linux/magic.h; the two small numbers are those of macOS. */
const rows: readonly Row[] = [
  [0x6969, 'NFS', 'network'],
  [0x517b, 'SMB', 'network'],
  [0xfe534d42, 'SMB2', 'network'],
  [0xff534d42, 'CIFS', 'network'],
  [0x5346414f, 'AFS', 'network'],
  [0x6b414653, 'AFS', 'network'],
  [0x01021997, '9p', 'network'],
  [0x65735546, 'FUSE', 'network'],
  [0x00c36400, 'Ceph', 'network'],
  [0xef53, 'ext', 'local'],
  [0x58465342, 'XFS', 'local'],
  [0x9123683e, 'Btrfs', 'local'],
  [0x2fc12fc1, 'ZFS', 'local'],
  [0xf2f52010, 'F2FS', 'local'],
  [0xca451a4e, 'bcachefs', 'local'],
  [0x3153464a, 'JFS', 'local'],
  [0x52654973, 'ReiserFS', 'local'],
  [0x01021994, 'tmpfs', 'local'],
  [0x858458f6, 'ramfs', 'local'],
  [0x794c7630, 'overlayfs', 'local'],
  [0xf15f, 'eCryptfs', 'local'],
  [0x1a, 'APFS', 'local'],
  [0x17, 'HFS+', 'local'],
];

const kinds: ReadonlyMap<number, FilesystemKind> = new Map(
  rows.map(([magic, name, reach]) => [magic, { name, reach }]),
);

/**
 * What the directory at `path` lies on. Only what is known to be local counts as local.
 *
 * @param typeOf gives the number by which the system names the file system of a path; by default it is asked.
 * @throws TURNLOG_IO
 */
export function filesystemKind(path: string, typeOf: (path: string) => bigint = statfsType): FilesystemKind {
  // Some systems give the number as a signed one.
  const type = Number(BigInt.asUintN(32, typeOf(path)));
  return kinds.get(type) ?? { name: `unknown (0x${type.toString(16)})`, reach: 'unknown' };
}

function statfsType(path: string): bigint {
  try {
    return statfsSync(path, { bigint: true }).type;
  } catch (error) {
    throw ioError('filesystemKind', path, error);
  }
}
