#!/usr/bin/env node
// Usage: node turnlog-verify.mjs [--trust KEYS] [--record LINE] DIR|PROOF … Says whether a session is as packed, a proof holds.
// Exit: 0 verified, 1 not so, 2 usage, 3 no pack, 4 bad signature. Made of packages/audit/verifier/src; comments are there.
import { constants, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
export const fail = (reason) => {
  throw new Error(reason);
};
export const bytesMax = 67_108_864;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
export const decode = (bytes) => decoder.decode(bytes);
export const encode = (text) => new TextEncoder().encode(text);
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
export const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
export const unbase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
export const hasMark = (bytes) => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
export function concat(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  parts.reduce((at, part) => whole.set(part, at) ?? at + part.length, 0);
  return whole;
}
export const digest = async (name, bytes) => new Uint8Array(await crypto.subtle.digest(name, bytes));
export const sha256 = async (bytes) => hex(await digest('SHA-256', bytes));
export const isSigned = async (key, data, signature) =>
  crypto.subtle.verify('Ed25519', await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']), signature, data);
export const isText = (value) => typeof value === 'string';
export const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
export const isHash = (value) => isText(value) && /^[0-9a-f]{64}$/.test(value);
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
export function parsed(bytes) {
  try {
    return JSON.parse(decode(bytes));
  } catch (error) {
    return error instanceof SyntaxError ? undefined : fail(error.message);
  }
}
export const leafHash = (line) => digest('SHA-256', concat([0], line));
const nodeHash = (left, right) => digest('SHA-256', concat([1], left, right));
const half = (size) => Math.floor(size / 2);
export const ones = (size) => (size === 0 ? 0 : (size % 2) + ones(half(size)));
export const emptyTree = { size: 0, frontier: [] };
export async function rootOf({ size, frontier }, leaves = []) {
  let [root, nodes, peaks] = [null, leaves, frontier.map(unhex)];
  for (let [before, whole] = [size, size + leaves.length]; whole > 0; [before, whole] = [half(before), half(whole)]) {
    const known = before % 2 === 1 ? [peaks.pop(), ...nodes] : nodes;
    if (whole % 2 === 1) root = root === null ? known.at(-1) : await nodeHash(known.at(-1), root);
    nodes = await Promise.all(Array.from({ length: half(known.length) }, (_, at) => nodeHash(known[2 * at], known[2 * at + 1])));
  }
  return root === null ? await sha256(new Uint8Array(0)) : hex(root);
}
async function fold(index, size, start, path) {
  let [nodes, old, now] = [path.map(unhex), start, start];
  for (let [at, last] = [index, size - 1]; last > 0; [at, last] = [half(at), half(last)]) {
    if (at % 2 === 0 && at === last) continue;
    const node = nodes.shift() ?? [];
    [old, now] = at % 2 === 1 ? [await nodeHash(node, old), await nodeHash(node, now)] : [old, await nodeHash(now, node)];
  }
  return nodes.length === 0 ? [hex(old), hex(now)] : [];
}
const isPath = (path, size) => Array.isArray(path) && path.every(isHash) && path.length <= Math.log2(size) + 2;
export const isHead = ({ size, root }, known) => isCount(size) && isHash(root) && size === known.size && root === known.root;
export async function verifyInclusion(proof, trusted = proof) {
  const { index, seq, leaf, size, root, path } = proof;
  if (!isHead(proof, trusted) || ![index, seq].every(isCount) || !isHash(leaf) || !isPath(path, size)) return false;
  return index < size && (await fold(index, size, unhex(leaf), path))[1] === root;
}
export async function verifyConsistency({ from, to, path }, trusted = { from, to }) {
  if (!isHead(from, trusted.from) || !isHead(to, trusted.to) || !isPath(path, to.size)) return false;
  if (from.size === 0 || from.size >= to.size) return from.size > 0 && path.length === 0 && isHead(from, to);
  const [first = '', ...rest] = ones(from.size) === 1 ? [from.root, ...path] : path;
  const width = Number(BigInt(from.size) & -BigInt(from.size));
  const [old, now] = await fold(from.size / width - 1, Math.ceil(to.size / width), unhex(first), rest);
  return first !== '' && old === from.root && now === to.root;
}
export const shapes = new Map(
  `pack session_id:id generated_at:text status:text turn_count:count event_count:count entries:entry*
  entry path:path bytes:count sha256:hash role:text; packed size:count root:hash frontier:hash* evicted:count
  own first_seq:count? last_seq:count last_ts:text? log_generation:text? tree:packed damage:damage* redacted:redacted* assets:asset* previous:previous?
  damage offset:count length:count kind:text sha256:hash; redacted index:count seq:count statement_seq:count?
  asset sha256:hash bytes:count? media_type:text?; previous pack_sha256:hash size:count root:hash consistency:hash*
  header from_seq:count to_seq:count events:count turns:count last_turn:count tree:head archive:archive?; head size:count frontier:hash*
  archive file:text codec:text bytes:count raw_bytes:count raw_sha256:hash; statement indexes:any* leaves:any* reason:text actor:text
  @thread.started thread_id:text; @turn.completed usage:object; @turn.failed message:text
  @thread.completed thread_id:text session_id:text subtype:text outcome_code:text usage:object numbers:counted`
    .split(/\n|; /)
    .map((line) => line.trim().split(' '))
    .map(([name, ...members]) => [name, members.map((member) => /(\w+):(\w+)(.?)/.exec(member))]),
);
export const isEntryPath = (path) => isText(path) && !/^$|^\/|\/$|\/\/|\\|\0|^[A-Za-z]:|(?:^|\/)\.\.?(?:\/|$)/.test(path);
const kinds = {
  ...{ text: isText, count: isCount, hash: isHash, object: isObject, path: isEntryPath, any: () => true },
  counted: (numbers) => (numbers.get('event.num_turns') ?? '') !== '',
  id: (id) => /^[a-z\d][\w.-]{0,127}$/i.test(id) && !/\.$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(id),
};
function isKind(kind, mark, value) {
  if (mark === '*') return Array.isArray(value) && value.length <= 1e6 && value.every((each) => isKind(kind, '', each));
  return (mark === '?' && value === null) || (kinds[kind] ? kinds[kind](value) : fits(kind, value));
}
export const faultIn = (shape, value) => shapes.get(shape).find(([, name, kind, mark]) => !isKind(kind, mark, value[name]))?.[1];
export const fits = (shape, value) => isObject(value) && faultIn(shape, value) === undefined;
const nesting = { '{': 1, '[': 1, ']': -1, '}': -1 };
const form = /("(?:[^"\\]|\\.)*?")[ \t\r]*:[ \t\r]*(\d+(?![\d.eE]))?|"(?:[^"\\]|\\.)*?"|[{}[\]]/g;
const identifying = new Set(['schema_version', 'seq', 'ts', 'key', 'salt', 'event', 'event.type']);
function numbersIn(text) {
  const [numbers, names] = [new Map(), []];
  let depth = 0;
  for (const [token, name, number = ''] of text.matchAll(form)) {
    depth += nesting[token] ?? 0;
    if (name === undefined || depth > 2) continue;
    names.splice(depth - 1, 2, JSON.parse(name));
    const place = names.join('.');
    if (numbers.has(place) && identifying.has(place)) return null;
    numbers.set(place, number);
  }
  return numbers;
}
function recordIn(bytes, start, end) {
  const value = parsed(bytes.subarray(start, end));
  if (value === undefined) return 'unreadable';
  const { schema_version: version, event } = isObject(value) ? value : {};
  if (!isText(version) || !isObject(event) || !isText(event.type)) return 'not-a-record';
  const numbers = numbersIn(decode(bytes.subarray(start, end)));
  if (numbers === null) return 'duplicate-key';
  if (shapes.has(`@${event.type}`) && !fits(`@${event.type}`, { ...event, numbers })) return 'lifecycle';
  const kept = event.type.startsWith('log.') ? event : { type: event.type };
  const seq = Number(numbers.get('seq') ?? '');
  return { start, end, event: kept, seq: isCount(seq) && seq > 0 ? seq : null };
}
function salvaged(bytes, start, cuts, isEnded, highestSeq) {
  const ends = cuts.filter((cut) => cut > start);
  if (ends.length === 0) return [];
  const found = ends.reduce((record, end) => (record?.event ? record : recordIn(bytes, start, end)), null);
  const kind = ends.length > 1 || isEnded ? 'fused-stub' : 'torn-tail';
  const piece = found.seq > highestSeq ? found : { start, end: ends.at(-1), kind };
  return [piece, ...salvaged(bytes, piece.end, cuts, isEnded, piece.seq ?? highestSeq)];
}
function piecesOf(bytes, start, end, isEnded, highestSeq) {
  const zeroCount = bytes.subarray(start, end).findIndex((byte) => byte !== 0);
  const at = zeroCount === -1 ? end : start + zeroCount;
  const zeros = at > start ? [{ start, end: at, kind: 'nul-run' }] : [];
  if (at === end && (at > start || !isEnded)) return zeros;
  const text = end - start > bytesMax ? '' : new TextDecoder('latin1').decode(bytes.subarray(at, end));
  const isJudged = /[^ \t\r]/.test(text);
  const found = isJudged ? recordIn(bytes, at, end) : end - start > bytesMax ? 'too-long' : 'blank';
  if (found.event) return [...zeros, found];
  const heads = [...text.matchAll(/\{"schema_version":/g)];
  const cuts = heads.length > 64 ? [] : [end, ...heads.map(({ index }) => at + index).reverse()];
  const pieces = salvaged(bytes, at, cuts, isEnded, highestSeq);
  return [...zeros, ...(pieces.some(({ event }) => event) ? pieces : [{ start: at, end, kind: isEnded ? found : 'torn-tail' }])];
}
function noteDamage(damage, { start: offset, end, kind }) {
  const last = damage.at(-1);
  if (last?.kind === kind && offset - last.end <= 1) last.end = end;
  else damage.push({ offset, end, kind });
}
export function readLog(bytes) {
  const log = { header: null, before: emptyTree, records: [], damage: [] };
  let [highest, isFirst] = [0, true];
  const note = ({ start: offset, end, event, seq: stated }) => {
    const isHeader = isFirst && event.type === 'log.evicted';
    const seq = stated === null || (stated - highest > 2 ** 32 && !isHeader) ? Math.min(highest + 1, 2 ** 53 - 1) : stated;
    [highest, isFirst] = [Math.max(highest, seq), false];
    if (!isHeader) log.records.push({ index: log.before.size + log.records.length, offset, end, seq, event });
    else if (fits('header', event) && event.tree.frontier.length === ones(event.tree.size))
      [log.header, log.before] = [event, event.tree];
  };
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(0x0a, at);
    const end = found === -1 ? bytes.length : found;
    const pieces = piecesOf(bytes, at === 0 && hasMark(bytes) ? 3 : at, end, found !== -1, highest);
    for (const piece of pieces) piece.event ? note(piece) : noteDamage(log.damage, piece);
    at = end + 1;
  }
  return log;
}
const leafOf = (bytes, { offset, end, event }) =>
  event.type === 'log.redacted' && isHash(event.leaf) ? unhex(event.leaf) : leafHash(bytes.subarray(offset, end));
export const leavesOf = async (bytes, { records }) => Promise.all(records.map((record) => leafOf(bytes, record)));
export const statementsIn = (records) =>
  records
    .filter(({ event }) => event.type === 'log.redaction' && fits('statement', event))
    .flatMap(({ index: at, seq, event }) => event.indexes.map((index, place) => ({ index, leaf: event.leaves[place], at, seq })))
    .filter(({ index, leaf, at }) => isCount(index) && index < at && isHash(leaf));
export function redactionsIn(records) {
  const keyOf = (index, leaf) => JSON.stringify([index, leaf]);
  const said = new Map(statementsIn(records.toReversed()).map(({ index, leaf, seq }) => [keyOf(index, leaf), seq]));
  const redacted = records.filter(({ event }) => event.type === 'log.redacted');
  return redacted.map(({ index, seq, event }) => ({ index, seq, statement_seq: said.get(keyOf(index, event.leaf)) ?? null }));
}
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
export const packPath = 'derived/audit-pack.json';
export async function readPack(bytes) {
  const pack = bytes.length <= bytesMax ? parsed(hasMark(bytes) ? bytes.subarray(3) : bytes) : undefined;
  if (!isObject(pack) || pack.schema_version !== 1) fail('it is no JSON of version 1');
  const fault = faultIn('pack', pack) ?? (pack.tree === undefined ? undefined : faultIn('own', pack));
  if (fault !== undefined) fail(`${fault} is missing or not as it has to be`);
  if (new Set(pack.entries.map(({ path }) => path)).size < pack.entries.length) fail('a path is there twice');
  const isWhole = pack.tree === undefined || (await isTree(pack.tree));
  return isWhole ? pack : fail('tree does not fit its size and root');
}
async function isTree({ hash, size, root, frontier, evicted, marks = null }) {
  if (hash !== 'rfc6962-sha256' || frontier.length !== ones(size) || evicted > size) return false;
  const length = Math.ceil((Math.ceil((size - evicted) / marks?.each) * 4) / 3) * 4;
  const isMarked = marks === null || (Math.log2(marks.each) % 1 === 0 && marks.prefixes?.length === length);
  return isMarked && (await rootOf({ size, frontier })) === root;
}
async function sshSigner(file, message) {
  const blob = unbase64(decode(file).replace(/-----[A-Z ]+-----|\s/g, ''));
  const [key, hash, signature] = [blob.subarray(33, 65), blob.subarray(92, 98), blob.subarray(-64)];
  const strings = (...parts) => concat(...parts.map((part) => [0, 0, 0, part.length, ...part]));
  const [magic, kind, name] = [encode('SSHSIG'), encode('ssh-ed25519'), decode(hash)];
  const head = strings(encode('turnlog-pack@v1'), [], hash);
  const whole = concat(magic, [0, 0, 0, 1], strings(strings(kind, key)), head, strings(strings(kind, signature)));
  if (!/^sha(256|512)$/.test(name) || hex(whole) !== hex(blob)) fail('the signature is of another kind');
  const signed = concat(magic, head, strings(await digest(name.replace('sha', 'SHA-'), message)));
  return (await isSigned(key, signed, signature)) ? key : fail('the signature is not over this pack');
}
export const noteKeyId = async (name, key) => (await sha256(concat(encode(`${name}\n`), [1], key))).slice(0, 8);
export function readNote(file) {
  const form = /^(\S[^\n]*\n(0|[1-9]\d{0,15})\n([\w+/]{43}=)\n(?:[^\n]+\n)*)\n((?:— [^\s+]+ [\w+/]+=*\n)+)$/;
  const [, body, size, root, signed] = form.exec(decode(file)) ?? fail('the checkpoint is none');
  const lines = Array.from(signed.matchAll(/— (\S+) (\S+)/g), ([, name, blob]) => ({ name, blob: unbase64(blob) }));
  return { body: encode(body), size: Number(size), root: hex(unbase64(root)), lines };
}
export async function signersOf({ body, lines }, keys) {
  const signers = [];
  for (const [known, { name, blob }] of keys.flatMap((key) => lines.map((line) => [key, line]))) {
    if ((known.name ?? name) !== name || (await noteKeyId(name, known.key)) !== hex(blob.subarray(0, 4))) continue;
    const isRight = await isSigned(known.key, body, blob.subarray(4));
    signers.push(isRight ? known : fail('a signature of the checkpoint is wrong'));
  }
  return signers;
}
export async function assuranceOf(session, { tree = {} }, bytes, trusted) {
  const [ssh, note] = [await session.read(`${packPath}.sig`), await session.read('derived/audit-pack.checkpoint')];
  const signers = ssh === null ? [] : [{ name: null, key: await sshSigner(ssh, bytes) }];
  const found = note === null ? [] : await signersOf(readNote(note), [...signers, ...trusted]);
  if (found.length > 0 && !isHead(readNote(note), tree)) fail('the checkpoint is about another tree');
  const keys = new Set([...signers, ...found].map(({ key }) => hex(key)));
  const known = new Set(trusted.map(({ key }) => hex(key)).filter((key) => keys.has(key))).size;
  if (known === 0 && trusted.length > 0) fail('no signature by a trusted key');
  return known > 1 ? 'witnessed' : known > 0 ? 'signed-trusted-key' : keys.size > 0 ? 'signed-unknown-key' : 'self-attested';
}
export const keysIn = (text) =>
  (text.match(/^[^#\n].*/gm) ?? []).map((line) => {
    const [, blob] = /^[^"]*(?:\+[0-9a-f]{8}\+|ssh-ed25519 )([\w+/]+=*)/.exec(line) ?? fail(`no key that is known here: ${line}`);
    return { name: null, key: unbase64(blob).subarray(-32) };
  });
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
  const isChain = from === head || (await rootOf(from, kept)) === (await rootOf(head));
  if (recomputed !== root || !isChain) return differs('content', await diagnosisOf(bytes, log, leaves, pack, entry));
  found.completeness = 'proven';
  for (const { index, seq } of all.filter(({ statement_seq }) => statement_seq === null))
    differs('redaction-unexplained', { diagnosis: 'replaced', index, seq });
  await compareRest(bytes, log, { pack, entry, differs, isRedacted });
}
async function compareRest(bytes, log, { pack, entry, differs, isRedacted }) {
  const [{ size, evicted }, first] = [pack.tree, log.before.size];
  const packed = log.records.filter(({ index }) => index < size);
  const last = packed.reduce((most, { seq }) => Math.max(most, seq), log.header?.to_seq ?? 0);
  const isNamed = first > evicted || ((packed[0]?.seq ?? null) === pack.first_seq && last === pack.last_seq);
  if (!isNamed || pack.event_count !== size - evicted) differs('counts');
  const damage = await Promise.all(log.damage.map(({ offset, end }) => sha256(bytes.subarray(offset, end))));
  const gone = pack.damage.find((each) => !damage.includes(each.sha256));
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
    if (error.errno !== undefined) throw error;
    reason = error.message;
  }
  return { schema_version: 1, verdict, exit: exits[verdict] ?? 1, ...found, assurance, reason };
}
export async function verifyProof(bytes, line = null) {
  const proof = parsed(bytes);
  const isAny = isObject(proof) && (proof.from === undefined || [proof.from, proof.to].every(isObject));
  const isAbout = line === null || hex(await leafHash(line.at(-1) === 0x0a ? line.slice(0, -1) : line)) === proof.leaf;
  const isGood = isAny && isAbout && (proof.from ? await verifyConsistency(proof) : await verifyInclusion(proof));
  const verdict = isGood ? 'verified' : isAny ? 'mismatch' : 'invalid-pack';
  return { schema_version: 1, verdict, exit: exits[verdict], assurance: 'self-attested' };
}
const readFile = (path) => new Uint8Array(readFileSync(path, { flag: constants.O_RDONLY | constants.O_NOFOLLOW }));
const maxOutputLength = 2 ** 31 - 1;
export function openSession(root) {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const pathOf = ({ parentPath, path = parentPath, name }) => relative(root, join(path, name)).replaceAll(sep, '/');
  const files = new Set(entries.filter((entry) => entry.isFile()).map(pathOf));
  const read = async (path) => (files.has(path) ? readFile(join(root, path)) : null);
  const unpack = async (path) =>
    files.has(path) && path.endsWith('.gz') ? gunzipSync(await read(path), { maxOutputLength }) : null;
  return { paths: entries.map(pathOf), read, unpack };
}
async function main() {
  const [options, exits] = [{ trust: { type: 'string' }, record: { type: 'string' } }, new Set()];
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [keys, line] = [values.trust ? keysIn(decode(readFile(values.trust))) : [], values.record && readFile(values.record)];
  for (const name of positionals) {
    const told = statSync(name).isFile() ? await verifyProof(readFile(name), line) : await verifySession(openSession(name), keys);
    process.stdout.write(`${JSON.stringify({ ...told, name })}\n`);
    exits.add(told.exit);
  }
  return [3, 4, 1, 0].find((exit) => exits.has(exit)) ?? fail('give a directory or a proof');
}
const isProgram = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) process.exitCode = await main().catch(({ message }) => process.stderr.write(`${message}\n`) && 2);
