// The comparison of a session with its pack.

import { fail, hex, isObject, parsed, sha256, unbase64 } from './bytes.mjs';
import { evictedLeaves } from './history.mjs';
import { assuranceOf, packPath, readPack } from './pack.mjs';
import { leavesOf, readLog } from './read-log.mjs';
import { redactionsIn, statementsIn } from './redactions.mjs';
import { emptyTree, leafHash, rootOf, verifyConsistency, verifyInclusion } from './tree.mjs';

/** What the bytes tell of a log that is not as packed: undone text modes, and marks of its records, which prove nothing. */
async function diagnosisOf(bytes, log, leaves, { tree }, entry) {
  const undone = bytes.filter((byte, at) => byte !== 0x0d || bytes[at + 1] !== 0x0a).subarray(0, entry.bytes);
  if ((await sha256(undone)) === entry.sha256) return { diagnosis: 'transformed', transform: 'crlf' };
  const [packed, first] = [tree.size - tree.evicted, log.before.size];
  if (leaves.length === 0) return { diagnosis: 'unreadable', leaves_gone: packed };
  if (tree.marks?.each !== 1 || first !== tree.evicted) return { diagnosis: 'replaced' };
  const was = hex(unbase64(tree.marks.prefixes)).match(/.{8}/g) ?? [];
  const is = was.map((mark, at) => leaves[at] !== undefined && hex(leaves[at].subarray(0, 4)) === mark);
  const [leaves_gone, leaves_intact] = [Math.max(packed - leaves.length, 0), is.filter((isSame) => isSame).length];
  if (bytes.length < entry.bytes && leaves_intact === leaves.length) return { diagnosis: 'shorter', leaves_gone, leaves_intact };
  const at = is.includes(false) ? is.indexOf(false) : packed;
  const [{ seq = null, offset = bytes.length }, isNone] = [log.records[at] ?? {}, leaves_intact === 0 && packed > 1];
  return { diagnosis: isNone ? 'replaced' : 'edited', index: first + at, seq, offset, leaves_gone, leaves_intact };
}

async function verifyLog(session, pack, entry, found) {
  const bytes = await session.read(entry.path);
  if (bytes === null || bytes.length === 0) return found.missing.push(entry.path);
  const [log, { size, root, evicted }] = [readLog(bytes), pack.tree];
  const [own, head, archives] = [await leavesOf(bytes, log), log.before, []];
  // As long as the header stands for no more than was packed, nothing but its frontier is needed.
  const kept = head.size > size ? await evictedLeaves(session, log.header, archives) : [];
  const [from, leaves] = head.size > size ? [emptyTree, [...(kept ?? []), ...own]] : [head, own];
  const recomputed = kept && from.size + leaves.length >= size ? await rootOf(from, leaves.slice(0, size - from.size)) : null;
  const all = redactionsIn([...archives.flatMap(({ records }) => records), ...log.records]);
  const grown_by = Math.max(head.size + own.length - size, 0);
  found.tree = { size, root, recomputed, grown_by, evicted: head.size, redacted: all.filter(({ index }) => index < size) };
  const isRedacted = found.tree.redacted.length > pack.redacted.length;
  [session.log, session.hasChanged] = [log, head.size > evicted || isRedacted || grown_by > 0];
  if (kept === null) return found.unproven.push('tree');
  const differs = (reason, more = {}) => found.mismatches.push({ path: entry.path, reason, ...more });
  // What is behind the packed records, and has left the log too, must be as the header says.
  const isChain = from === head || (await rootOf(from, kept)) === (await rootOf(head));
  if (recomputed !== root || !isChain) return differs('content', await diagnosisOf(bytes, log, leaves, pack, entry));
  found.completeness = 'proven';
  for (const { index, seq } of all.filter(({ statement_seq }) => statement_seq === null))
    differs('redaction-unexplained', { diagnosis: 'replaced', index, seq });
  await compareRest(bytes, log, { pack, entry, differs, isRedacted });
}

/** The records are as packed: counts and the bytes around them must be so as well, or the difference has a reason. */
async function compareRest(bytes, log, { pack, entry, differs, isRedacted }) {
  const [{ size, evicted }, first] = [pack.tree, log.before.size];
  const packed = log.records.filter(({ index }) => index < size);
  const last = packed.reduce((most, { seq }) => Math.max(most, seq), log.header?.to_seq ?? 0);
  const isNamed = first > evicted || ((packed[0]?.seq ?? null) === pack.first_seq && last === pack.last_seq);
  if (!isNamed || pack.event_count !== size - evicted) differs('counts');
  const damage = await Promise.all(log.damage.map(({ offset, end }) => sha256(bytes.subarray(offset, end))));
  const gone = pack.damage.find((each) => !damage.includes(each.sha256));
  // The header of a log says anew what its archives hold when records in them are redacted.
  const isRestated = statementsIn(log.records).some(({ index, at }) => index < first && at >= size);
  const isExplained = first > evicted || (!gone && (isRedacted || isRestated));
  const isSame = isExplained || (await sha256(bytes.subarray(0, entry.bytes))) === entry.sha256;
  if (!isSame) differs(gone ? 'damage' : 'between-records', { diagnosis: 'edited', offset: gone?.offset });
}

async function verifyEntry(session, entry, mayLag, found) {
  const isLog = entry.path === 'events.jsonl';
  const bytes = await session.read(entry.path);
  if (bytes === null) return found.missing.push(entry.path);
  const isSame = (isLog || bytes.length === entry.bytes) && (await sha256(bytes.subarray(0, entry.bytes))) === entry.sha256;
  if (!isSame && mayLag && /^(index|derived)$/.test(entry.role)) found.stale.push(entry.path);
  else if (!isSame) found.mismatches.push({ path: entry.path, reason: 'content', diagnosis: 'replaced' });
}

/** Archives that are others than were packed, and hold the same leaves: records in them were redacted since, each with a word. */
async function explainArchives(session, log, found) {
  const [archives, isStated] = [[], statementsIn(log.records).some(({ index }) => index < log.before.size)];
  const kept = isStated ? await evictedLeaves(session, log.header, archives) : null;
  if (kept === null || (await rootOf(emptyTree, kept)) !== (await rootOf(log.before))) return;
  const all = redactionsIn([...archives.flatMap(({ records }) => records), ...log.records]);
  if (all.some(({ statement_seq }) => statement_seq === null)) return;
  found.tree.redacted = all.filter(({ index }) => index < found.tree.size);
  const isSound = (mismatch) => archives.some(({ path }) => path === mismatch.path);
  found.stale.push(...found.mismatches.filter(isSound).map(({ path }) => path));
  found.mismatches = found.mismatches.filter((mismatch) => !isSound(mismatch));
}

// The pack itself, and what comes and goes.
const passedOver = /^derived\/audit-pack\.(json(\.sig)?|checkpoint|sha256)$|^pin\.json$|^session\.(lock|owner)|\.t-[0-9a-f]{16}$/;

async function verifyFiles(session, pack, found) {
  const log = pack.entries.find(({ path }) => path === 'events.jsonl');
  if (log && pack.tree) await verifyLog(session, pack, log, found);
  else if (!log && pack.tree?.size !== 0) found.missing.push('events.jsonl');
  const mayLag = found.mismatches.length === 0 && (session.hasChanged || pack.live);
  for (const entry of pack.entries.filter((each) => each !== log || !pack.tree)) await verifyEntry(session, entry, mayLag, found);
  const isChanged = found.mismatches.some(({ path }) => path.startsWith('archive/'));
  if (isChanged && found.completeness === 'proven') await explainArchives(session, session.log, found);
  const { session_id = pack.session_id } = parsed((await session.read('manifest.json')) ?? new Uint8Array(0)) ?? {};
  if (session_id !== pack.session_id) found.mismatches.push({ path: null, reason: 'other-session' });
  const { consistency: path, ...from } = pack.previous ?? {};
  if (path && !(await verifyConsistency({ from, to: pack.tree, path }))) found.unproven.push('previous');
  const known = new Set(pack.entries.map((entry) => entry.path));
  found.unaccounted = session.paths.filter((name) => !known.has(name) && !passedOver.test(name));
}

const exits = { verified: 0, mismatch: 1, 'invalid-pack': 3, 'bad-signature': 4 };

/**
 * Compares a session with its pack and gives what `turnlog verify --json` prints. A session has the `paths` of its
 * files, gives them by `read(path)` and `unpack(path, bytes)`, null where there is none, and gets the `log` that was read.
 */
export async function verifySession(session, trusted = []) {
  const lists = { mismatches: [], missing: [], unproven: [] };
  const found = { session_id: null, pack_sha256: null, tree: null, ...lists, stale: [], completeness: 'cannot-prove' };
  let [verdict, reason, assurance] = ['invalid-pack', null, 'self-attested'];
  try {
    const bytes = (await session.read(packPath)) ?? fail(`there is no ${packPath}`);
    const pack = await readPack(bytes);
    [found.session_id, found.pack_sha256] = [pack.session_id, await sha256(bytes)];
    await verifyFiles(session, pack, found);
    const [worst = 'verified'] = Object.keys(lists).filter((name) => found[name].length > 0);
    verdict = 'bad-signature';
    assurance = await assuranceOf(session, pack, bytes, trusted);
    verdict = worst.replace('mismatches', 'mismatch');
  } catch (error) {
    // What a file system refuses says nothing of the session.
    if (error.errno !== undefined) throw error;
    reason = error.message;
  }
  return { schema_version: 1, verdict, exit: exits[verdict] ?? 1, ...found, assurance, reason };
}

/** Checks a proof by itself, and that it is about the record of which the line is given. */
export async function verifyProof(bytes, line = null) {
  const proof = parsed(bytes);
  const isAny = isObject(proof) && (proof.from === undefined || [proof.from, proof.to].every(isObject));
  const isAbout = line === null || hex(await leafHash(line.at(-1) === 0x0a ? line.slice(0, -1) : line)) === proof.leaf;
  const isGood = isAny && isAbout && (proof.from ? await verifyConsistency(proof) : await verifyInclusion(proof));
  const verdict = isGood ? 'verified' : isAny ? 'mismatch' : 'invalid-pack';
  return { schema_version: 1, verdict, exit: exits[verdict], assurance: 'self-attested' };
}
