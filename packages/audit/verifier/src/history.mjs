// What has left a log: a chain of archives, and hashes where records were dropped.

import { sha256 } from './bytes.mjs';
import { leavesOf, readLog } from './read-log.mjs';

/**
 * The leaves of all evicted records, from archives or where these were dropped; null when they are not there, or are not as
 * the headers say. The archives are put into `archives`, with their records, oldest first.
 */
export async function evictedLeaves(session, header, archives = []) {
  if (header === null) return [];
  const { to_seq, tree, archive } = header;
  const kept = await session.read(`archive/leaves-${to_seq}.bin`);
  if (kept?.length === 32 * tree.size) return Array.from({ length: tree.size }, (_, at) => kept.subarray(32 * at, 32 * at + 32));
  const [path, { raw_bytes, raw_sha256 }] = [`archive/${archive?.file}`, archive ?? {}];
  const bytes = await session.unpack(path).catch(() => null);
  if (bytes === null || bytes.length !== raw_bytes || (await sha256(bytes)) !== raw_sha256) return null;
  const log = readLog(bytes);
  const before = log.before.size < tree.size ? await evictedLeaves(session, log.header, archives) : null;
  archives.push({ path, records: log.records });
  return before && [...before, ...(await leavesOf(bytes, log))];
}
