// The comparison of a session with its pack.

import { fail, hex, isObject, parsed, sha256, unbase64 } from './bytes.mjs';
import { assuranceOf, packPath, readPack } from './pack.mjs';
import { evictedLeaves, leavesOf, readLog } from './read-log.mjs';
import { fits } from './shapes.mjs';
import { leafHash, rootAt, treeOf, verifyConsistency, verifyInclusion } from './tree.mjs';

/** What the bytes tell of a log that is not as packed: undone text modes, and marks of its records, which prove nothing. */
async function diagnosisOf(bytes, log, leaves, { tree }, entry) {
  const undone = bytes.filter((byte, at) => byte !== 0x0d || bytes[at + 1] !== 0x0a).subarray(0, entry.bytes);
  if ((await sha256(undone)) === entry.sha256) return { diagnosis: 'transformed', transform: 'crlf' };
  const [packed, first] = [tree.size - tree.evicted, log.header?.tree.size ?? 0];
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

/** Redacted records, each with the later record that says so by index and leaf. */
function redactionsIn(records, leaves, first) {
  const redacted = new Map();
  for (const [at, { event, seq }] of records.entries()) {
    if (event.type === 'log.redacted') redacted.set(first + at, { index: first + at, seq, statement_seq: null });
    const named = event.type === 'log.redaction' && fits('statement', event) ? event.indexes : [];
    for (const [position, index] of named.entries())
      if (redacted.has(index) && hex(leaves[index - first]) === event.leaves[position]) redacted.get(index).statement_seq ??= seq;
  }
  return [...redacted.values()];
}

async function verifyLog(session, pack, entry, found) {
  const bytes = await session.read(entry.path);
  if (bytes === null || bytes.length === 0) return found.missing.push(entry.path);
  const [log, { tree }] = [readLog(bytes), pack];
  const [leaves, head] = [await leavesOf(bytes, log), log.header?.tree ?? { size: 0, frontier: [] }];
  // As long as the header stands for no more than was packed, nothing but its frontier is needed.
  const kept = head.size > tree.size ? await evictedLeaves(session, log.header) : [];
  const levels = await treeOf(kept?.length > 0 ? { size: 0, frontier: [] } : head, [...(kept ?? []), ...leaves]);
  const [all, recomputed] = [redactionsIn(log.records, leaves, head.size), await rootAt(levels, tree.size)];
  const redacted = all.filter(({ index }) => index < tree.size);
  const grown_by = Math.max(head.size + leaves.length - tree.size, 0);
  found.tree = { size: tree.size, root: tree.root, recomputed, grown_by, evicted: head.size, redacted };
  session.log = log;
  if (kept === null) return found.unproven.push('tree');
  const differs = (reason, more = {}) => found.mismatches.push({ path: entry.path, reason, ...more });
  if (recomputed !== tree.root) return differs('content', await diagnosisOf(bytes, log, leaves, pack, entry));
  found.completeness = 'proven';
  const unexplained = all.filter(({ statement_seq }) => statement_seq === null);
  for (const { index, seq } of unexplained) differs('redaction-unexplained', { diagnosis: 'replaced', index, seq });
  const isCut = head.size > tree.evicted;
  await compareRest(bytes, log, { pack, entry, found, differs, isCut, isRedacted: redacted.length > pack.redacted.length });
  session.hasChanged = isCut || redacted.length > pack.redacted.length || grown_by > 0;
}

/** The records are as packed: counts and the bytes around them must be so as well, or the difference has a reason. */
async function compareRest(bytes, log, { pack, entry, found, differs, isCut, isRedacted }) {
  const seqs = isCut ? [] : log.records.slice(0, pack.event_count).map(({ seq }) => seq);
  const last = seqs.reduce((most, seq) => Math.max(most, seq), isCut ? pack.last_seq : (log.header?.to_seq ?? 0));
  const isNamed = last === pack.last_seq && (seqs[0] ?? pack.first_seq) === pack.first_seq;
  if (!isNamed || pack.event_count !== pack.tree.size - pack.tree.evicted) differs('counts');
  const damage = await Promise.all(log.damage.map(({ offset, end }) => sha256(bytes.subarray(offset, end))));
  const isKept = pack.damage.every((each) => damage.includes(each.sha256));
  if (isCut && !isKept) found.unproven.push('damage');
  const isSame = isCut || (isRedacted && isKept) || (await sha256(bytes.subarray(0, entry.bytes))) === entry.sha256;
  if (!isSame) differs(isKept ? 'between-records' : 'damage', { diagnosis: 'edited' });
}

async function verifyEntry(session, pack, entry, found) {
  const isLog = entry.path === 'events.jsonl';
  if (isLog && pack.tree) return await verifyLog(session, pack, entry, found);
  const bytes = await session.read(entry.path);
  if (bytes === null) return found.missing.push(entry.path);
  const isSame = (isLog || bytes.length === entry.bytes) && (await sha256(bytes.subarray(0, entry.bytes))) === entry.sha256;
  const isStale = found.mismatches.length === 0 && (session.hasChanged || pack.live) && /^(index|derived)$/.test(entry.role);
  if (!isSame && isStale) found.stale.push(entry.path);
  else if (!isSame) found.mismatches.push({ path: entry.path, reason: 'content', diagnosis: 'replaced' });
}

// The pack itself, and what comes and goes.
const passedOver = /^derived\/audit-pack\.(json(\.sig)?|checkpoint|sha256)$|^pin\.json$|^session\.(lock|owner)|\.t-[0-9a-f]{16}$/;

async function verifyFiles(session, pack, found) {
  const isLog = ({ path }) => path === 'events.jsonl';
  for (const entry of new Set([...pack.entries.filter(isLog), ...pack.entries])) await verifyEntry(session, pack, entry, found);
  if (!pack.entries.some(isLog) && pack.tree?.size !== 0) found.missing.push('events.jsonl');
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
    const [worst = 'verified'] = Object.keys(lists).filter((name) => lists[name].length > 0);
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
