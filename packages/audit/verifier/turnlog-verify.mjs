#!/usr/bin/env node
// Says whether a copy of a Turnlog session is what its audit pack says, or whether a proof holds. Needs this file and Node 20,
// and only reads. Usage: node turnlog-verify.mjs [--trust KEYS] [--record LINE] DIR|PROOF … Exit: 0 verified, 1 not as packed
// or unproven, 2 usage, 3 no pack, 4 bad signature. Joined from packages/audit/verifier/src, where the comments are.
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
export const decodeBytes = (bytes) => new TextDecoder('latin1').decode(bytes);
export const decode = (bytes) => decoder.decode(bytes);
export const encode = (text) => new TextEncoder().encode(text);
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
export const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
export const unbase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
export const hasMark = (bytes) => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
export function concat(...parts) {
  const startOf = (at) => parts.slice(0, at).reduce((length, part) => length + part.length, 0);
  const whole = new Uint8Array(startOf(parts.length));
  for (const [at, part] of parts.entries()) whole.set(part, startOf(at));
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
export async function treeOf({ size, frontier }, leaves) {
  const [levels, peaks] = [[], frontier.map(unhex)];
  for (let [rest, nodes] = [size, leaves]; nodes.length + peaks.length > 0; rest = half(rest)) {
    const known = rest % 2 === 1 ? [peaks.pop(), ...nodes] : nodes;
    levels.push({ from: rest - (rest % 2), nodes: known });
    nodes = await Promise.all(Array.from({ length: half(known.length) }, (_, at) => nodeHash(known[2 * at], known[2 * at + 1])));
  }
  return levels;
}
export async function rootAt(levels, size) {
  let root = null;
  for (let [rest, level] = [size, 0]; rest > 0; [rest, level] = [half(rest), level + 1]) {
    const node = rest % 2 === 0 ? root : levels[level]?.nodes[rest - 1 - levels[level].from];
    if (node === undefined) return null;
    if (rest % 2 === 1) root = root === null ? node : await nodeHash(node, root);
  }
  return root === null ? await sha256(new Uint8Array(0)) : hex(root);
}
async function fold(index, size, start, path) {
  let [at, last, old, now] = [index, size - 1, start, start];
  for (const node of path.map(unhex)) {
    if (last === 0) return [];
    if (at % 2 === 1 || at === last) {
      [old, now] = [await nodeHash(node, old), await nodeHash(node, now)];
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else now = await nodeHash(now, node);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 ? [hex(old), hex(now)] : [];
}
const isPath = (path, size) => Array.isArray(path) && path.every(isHash) && path.length <= Math.log2(size) + 2;
export const isHead = ({ size, root }, trusted) =>
  isCount(size) && isHash(root) && size === trusted.size && root === trusted.root;
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
const [blanks, nesting] = [[0x20, 0x09, 0x0d], { '{': 1, '[': 1, ']': -1, '}': -1 }];
function skip(bytes, start, end, passed) {
  const at = bytes.subarray(start, end).findIndex((byte) => !passed.includes(byte));
  return at === -1 ? end : start + at;
}
const identifying = new Set(['schema_version', 'seq', 'ts', 'key', 'salt', 'event', 'event.type']);
function numbersIn(text) {
  const numbers = new Map();
  let [depth, outer, last] = [0, '', ''];
  for (const [token, number = ''] of text.matchAll(/"(?:[^"\\]|\\.)*?"|[{}[\]]|:[ \t\r]*(\d+(?![\d.eE]))?/g)) {
    depth += nesting[token] ?? 0;
    if (token.startsWith(':') && depth <= 2) {
      outer = depth === 1 ? JSON.parse(last) : outer;
      const place = depth === 1 ? outer : `${outer}.${JSON.parse(last)}`;
      if (numbers.has(place) && identifying.has(place)) return null;
      numbers.set(place, number);
    }
    last = token;
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
  const at = skip(bytes, start, end, [0]);
  const zeros = at > start ? [{ start, end: at, kind: 'nul-run' }] : [];
  if (at === end && (at > start || !isEnded)) return zeros;
  const isJudged = end - start <= bytesMax && skip(bytes, at, end, blanks) < end;
  const found = isJudged ? recordIn(bytes, at, end) : end - start > bytesMax ? 'too-long' : 'blank';
  if (found.event) return [...zeros, found];
  const heads = isJudged ? [...decodeBytes(bytes.subarray(at, end)).matchAll(/\{"schema_version":/g)] : [];
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
  const log = { header: null, records: [], damage: [] };
  let [highest, isFirst] = [0, true];
  const note = ({ start: offset, end, event, seq: stated }) => {
    const isHeader = isFirst && event.type === 'log.evicted';
    const seq = stated === null || (stated - highest > 2 ** 32 && !isHeader) ? Math.min(highest + 1, 2 ** 53 - 1) : stated;
    [highest, isFirst] = [Math.max(highest, seq), false];
    if (!isHeader) log.records.push({ offset, end, seq, event });
    else if (fits('header', event) && event.tree.frontier.length === ones(event.tree.size)) log.header = event;
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
export async function evictedLeaves(session, { to_seq, tree, archive }) {
  const kept = await session.read(`archive/leaves-${to_seq}.bin`);
  if (kept !== null) return Array.from({ length: tree.size }, (_, at) => kept.subarray(32 * at, 32 * at + 32));
  const raw = await session.unpack(`archive/${archive?.file}`, archive?.raw_bytes).catch(() => null);
  const log = readLog(raw ?? []);
  const before = log.header === null ? [] : log.header.to_seq < to_seq ? await evictedLeaves(session, log.header) : null;
  return raw === null || before === null ? null : [...before, ...(await leavesOf(raw, log))];
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
  return isMarked && (await rootAt(await treeOf({ size, frontier }, []), size)) === root;
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
  const form = /^(\S[^\n]*\n(0|[1-9]\d{0,15})\n([\w+/]{43}=)\n(?:[^\n]+\n)*)\n((?:— [^\n]+\n)+)$/;
  const [, body, size, root, signed] = form.exec(decode(file)) ?? fail('the checkpoint is none');
  const lines = signed.match(/[^\n]+/g).map((line) => {
    const [, name, blob] = /^— ([^\s+]+) ([\w+/]+=*)$/.exec(line) ?? fail('a line of the checkpoint is none');
    return { name, id: hex(unbase64(blob).subarray(0, 4)), signature: unbase64(blob).subarray(4) };
  });
  return { body: encode(body), size: Number(size), root: hex(unbase64(root)), lines };
}
export async function signersOf({ body, lines }, keys) {
  const signers = [];
  for (const [known, { name, id, signature }] of keys.flatMap((key) => lines.map((line) => [key, line]))) {
    if ((known.name ?? name) !== name || (await noteKeyId(name, known.key)) !== id) continue;
    if (!(await isSigned(known.key, body, signature))) fail('a signature of the checkpoint is wrong');
    signers.push(known);
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
export function openSession(root) {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const pathOf = ({ parentPath, path = parentPath, name }) => relative(root, join(path, name)).replaceAll(sep, '/');
  const files = new Set(entries.filter((entry) => entry.isFile()).map(pathOf));
  const read = async (path) => (files.has(path) ? readFile(join(root, path)) : null);
  const unpack = async (path, maxOutputLength) =>
    files.has(path) && path.endsWith('.gz') ? gunzipSync(await read(path), { maxOutputLength }) : null;
  return { paths: entries.map(pathOf), read, unpack };
}
async function main() {
  const [options, exits] = [{ trust: { type: 'string' }, record: { type: 'string' } }, new Set()];
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [keys, line] = [values.trust ? keysIn(decode(readFile(values.trust))) : [], values.record && readFile(values.record)];
  for (const name of positionals) {
    const told = await (statSync(name).isDirectory()
      ? verifySession(openSession(name), keys)
      : verifyProof(readFile(name), line));
    process.stdout.write(`${JSON.stringify({ ...told, name })}\n`);
    exits.add(told.exit);
  }
  return [3, 4, 1, 0].find((exit) => exits.has(exit)) ?? fail('give a directory or a proof');
}
const isProgram = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) process.exitCode = await main().catch(({ message }) => process.stderr.write(`${message}\n`) && 2);
