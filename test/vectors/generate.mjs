// Writes the published test vectors of audits: trees, proofs, evictions, redactions, notes, forged proofs, packs with their verdicts.
// It shares no code with the product: everything is computed here from RFC 6962, RFC 8032, the C2SP notes and the
// description of the formats, in the simplest way. `node test/vectors/generate.mjs` writes what is missing, and
// refuses to change what is there; `--check` only compares.

import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = join(dirname(fileURLToPath(import.meta.url)), 'audit');
const isCheck = process.argv.includes('--check');
let differences = 0;

const sha = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const hex = (bytes) => bytes.toString('hex');
const leaf = (bytes) => sha(Buffer.of(0), bytes);
const node = (left, right) => sha(Buffer.of(1), left, right);

const split = (size) => {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
};

/** Merkle tree hash of a list of leaf hashes, as RFC 6962 defines it. */
function root(leaves) {
  if (leaves.length === 0) return sha();
  if (leaves.length === 1) return leaves[0];
  const half = split(leaves.length);
  return node(root(leaves.slice(0, half)), root(leaves.slice(half)));
}

/** PATH(index, leaves) of RFC 6962. */
function path(index, leaves) {
  if (leaves.length === 1) return [];
  const half = split(leaves.length);
  return index < half
    ? [...path(index, leaves.slice(0, half)), root(leaves.slice(half))]
    : [...path(index - half, leaves.slice(half)), root(leaves.slice(0, half))];
}

/** SUBPROOF(earlier, leaves, isWhole) of RFC 6962. */
function subproof(earlier, leaves, isWhole) {
  if (earlier === leaves.length) return isWhole ? [] : [root(leaves)];
  const half = split(leaves.length);
  return earlier <= half
    ? [...subproof(earlier, leaves.slice(0, half), isWhole), root(leaves.slice(half))]
    : [...subproof(earlier - half, leaves.slice(half), false), root(leaves.slice(0, half))];
}

/** Roots of the perfect subtrees, largest first. */
function frontier(leaves) {
  const roots = [];
  for (let from = 0; from < leaves.length; ) {
    let width = 1;
    while (width * 2 <= leaves.length - from) width *= 2;
    roots.push(root(leaves.slice(from, from + width)));
    from += width;
  }
  return roots;
}

const lineV = (n) =>
  `{"schema_version":"0.18.0","seq":${n},"ts":"${new Date(Date.UTC(2026, 0, 5, 10, 0, n)).toISOString()}","event":{"type":"error","message":"m${n}"}}`;
const linesV = Array.from({ length: 70 }, (_, at) => lineV(at + 1));
const leavesV = linesV.map((line) => leaf(Buffer.from(line)));
const inputsR = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const leavesR = inputsR.map((input) => leaf(Buffer.from(input, 'hex')));

function put(name, content) {
  const file = join(home, name);
  const text =
    typeof content === 'string' || Buffer.isBuffer(content)
      ? content
      : `${JSON.stringify(content, null, 1)}\n`;
  const bytes = Buffer.from(text);
  if (existsSync(file)) {
    if (readFileSync(file).equals(bytes)) return;
    differences += 1;
    process.stderr.write(`${name} is not what the generator gives\n`);
    return;
  }
  if (isCheck) {
    differences += 1;
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes, { flag: 'wx' });
}

// tree.json

const sizes = Array.from({ length: 71 }, (_, size) => size);
put('tree.json', {
  lines: linesV,
  leaves: leavesV.map(hex),
  sizes: sizes.map((size) => {
    const leaves = leavesV.slice(0, size);
    return { size, root: hex(root(leaves)), frontier: frontier(leaves).map(hex) };
  }),
  inclusion: sizes
    .filter((size) => size <= 17)
    .flatMap((size) =>
      leavesV.slice(0, size).map((_, index) => ({
        size,
        index,
        seq: index + 1,
        leaf: hex(leavesV[index]),
        root: hex(root(leavesV.slice(0, size))),
        path: path(index, leavesV.slice(0, size)).map(hex),
      })),
    ),
  consistency: sizes
    .filter((size) => size <= 17)
    .flatMap((size) =>
      sizes
        .filter((earlier) => earlier >= 1 && earlier <= size)
        .map((earlier) => ({
          from: { size: earlier, root: hex(root(leavesV.slice(0, earlier))) },
          to: { size, root: hex(root(leavesV.slice(0, size))) },
          path: subproof(earlier, leavesV.slice(0, size), true).map(hex),
        })),
    ),
  rfc6962: {
    inputs: inputsR,
    roots: inputsR.map((_, at) => ({ size: at + 1, root: hex(root(leavesR.slice(0, at + 1))) })),
  },
});

// evicted.json

const generation = '0123456789abcdef0123456789abcdef';

function header(cut, archive) {
  const head = {
    schema_version: '0.18.0',
    seq: cut,
    ts: new Date(Date.UTC(2026, 0, 5, 10, 0, cut)).toISOString(),
    event: {
      type: 'log.evicted',
      generation,
      from_seq: 1,
      to_seq: cut,
      events: cut,
      turns: 0,
      total_events: cut,
      total_turns: 0,
      last_turn: 0,
      first_ts: new Date(Date.UTC(2026, 0, 5, 10, 0, 1)).toISOString(),
      last_ts: new Date(Date.UTC(2026, 0, 5, 10, 0, cut)).toISOString(),
      evicted_at: '2026-01-05T12:00:00.000Z',
      tree: {
        size: cut,
        root: hex(root(leavesV.slice(0, cut))),
        frontier: frontier(leavesV.slice(0, cut)).map(hex),
      },
      archive,
      summary: null,
    },
  };
  return JSON.stringify(head);
}

put('evicted.json', {
  cuts: [1, 2, 3, 4, 7, 8, 31, 64].map((cut) => {
    const size = 70;
    const earlier = Math.max(cut - 1, 1);
    return {
      cut,
      header: header(cut, null),
      leaves_file: Buffer.concat(leavesV.slice(0, cut)).toString('base64'),
      roots: sizes
        .filter((each) => each >= 1)
        .map((each) => ({ size: each, root: hex(root(leavesV.slice(0, each))) })),
      // From what is left in the log and its header alone.
      with_neither: {
        sizes_from: cut,
        inclusion: { index: cut, size, path: path(cut, leavesV).map(hex) },
        consistency: { from: cut, to: size, path: subproof(cut, leavesV, true).map(hex) },
      },
      // With an archive, or with the hashes that a drop leaves.
      with_leaves: {
        inclusion: { index: 0, size, path: path(0, leavesV).map(hex) },
        consistency: { from: earlier, to: size, path: subproof(earlier, leavesV, true).map(hex) },
      },
    };
  }),
});

// redacted.json

const said = (seq, event) =>
  JSON.stringify({ schema_version: '0.18.0', seq, ts: '2026-01-05T10:01:00.000Z', event });

/** What stands in the place of a line: its seq and time stay, and its leaf hash stands for its words. */
const redactedLine = (line) => {
  const { seq, ts, event } = JSON.parse(line);
  return JSON.stringify({
    schema_version: '0.18.0',
    seq,
    ts,
    event: {
      type: 'log.redacted',
      leaf: hex(leaf(Buffer.from(line))),
      original_type: event.type,
      length: Buffer.byteLength(line),
      redacted_at: '2026-01-05T10:01:00.000Z',
      reason: 'secret',
      actor: 'ann',
    },
  });
};

const gone = [2, 5, 6];
const sevenRedacted = linesV
  .slice(0, 7)
  .map((line, at) => (gone.includes(at + 1) ? redactedLine(line) : line));
const statement = (seq, indexes) =>
  said(seq, {
    type: 'log.redaction',
    indexes,
    leaves: indexes.map((index) => hex(leavesV[index])),
    reason: 'secret',
    actor: 'ann',
  });
const explaining = statement(8, [1, 4, 5]);
const lacking = statement(8, [1, 4]);

/** Leaves of the records of a log, a redacted one counting as what it replaced. */
const leavesOf = (lines) =>
  lines.map((line) => {
    const { event } = JSON.parse(line);
    return event.type === 'log.redacted' ? Buffer.from(event.leaf, 'hex') : leaf(Buffer.from(line));
  });
const rootsOf = (lines) => {
  const leaves = leavesOf(lines);
  return leaves.map((_, at) => ({ size: at + 1, root: hex(root(leaves.slice(0, at + 1))) }));
};
const statedBy = (seq) => gone.map((n) => ({ index: n - 1, seq: n, statement_seq: seq }));
const variant = (lines, redacted, unexplained) => ({ lines, roots: rootsOf(lines), redacted, unexplained });

const saltedLine = (n, salt) =>
  `{"schema_version":"0.18.0","seq":${n},"ts":"2026-01-05T10:00:00.000Z","salt":"${salt}","event":{"type":"error","message":"the same"}}`;
const saltedPair = [
  saltedLine(1, '000102030405060708090a0b0c0d0e0f'),
  saltedLine(2, 'f0e0d0c0b0a090807060504030201000'),
];

put('redacted.json', {
  // The first seven lines of V as they were, and their root, which stays.
  original: { lines: linesV.slice(0, 7), root: hex(root(leavesV.slice(0, 7))) },
  explained: variant([...sevenRedacted, explaining], statedBy(8), []),
  unexplained: variant(
    [...sevenRedacted, lacking],
    statedBy(8).map((each) => (each.index === 5 ? { ...each, statement_seq: null } : each)),
    [{ index: 5, seq: 6 }],
  ),
  silent: variant(sevenRedacted, statedBy(null), [
    { index: 1, seq: 2 },
    { index: 4, seq: 5 },
    { index: 5, seq: 6 },
  ]),
  // Equal in all but the salt; what is left of them when they are redacted has nothing of either.
  salted: {
    lines: saltedPair,
    leaves: saltedPair.map((line) => hex(leaf(Buffer.from(line)))),
    redacted: saltedPair.map(redactedLine),
    root: hex(root(saltedPair.map((line) => leaf(Buffer.from(line))))),
  },
});

// notes.json

const der = (head, key) => Buffer.concat([Buffer.from(head, 'hex'), Buffer.from(key, 'hex')]);
const keyOf = (seed) =>
  createPrivateKey({ key: der('302e020100300506032b657004220420', seed), format: 'der', type: 'pkcs8' });
const publicOf = (key) => createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(12);
const key1 = keyOf('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
const key2 = keyOf('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb');
const name = 'turnlog.example/s-vector';
const keyId = (of, key) => sha(Buffer.from(`${of}\n`), Buffer.of(1), publicOf(key)).subarray(0, 4);
const body = `${name}\n7\n${root(leavesV.slice(0, 7)).toString('base64')}\n`;
const signatureLine = (of, id, signature) =>
  `\u2014 ${of} ${Buffer.concat([id, signature]).toString('base64')}\n`;
const signed = (of, key) => signatureLine(of, keyId(of, key), sign(null, Buffer.from(body), key));
const flipped = Buffer.from(sign(null, Buffer.from(body), key1));
flipped[5] ^= 1;

put('notes.json', {
  checkpoint: { origin: name, size: 7, root: hex(root(leavesV.slice(0, 7))) },
  keys: [
    { name, key_id: hex(keyId(name, key1)), public: hex(publicOf(key1)) },
    { name: 'witness.example', key_id: hex(keyId('witness.example', key2)), public: hex(publicOf(key2)) },
  ],
  notes: [
    { what: 'signed', note: `${body}\n${signed(name, key1)}`, checks: ['valid', 'not-signed'] },
    {
      what: 'two signers',
      note: `${body}\n${signed(name, key1)}${signed('witness.example', key2)}`,
      checks: ['valid', 'valid'],
    },
    {
      what: 'wrong name',
      note: `${body}\n${signed('other.example', key1)}`,
      checks: ['not-signed', 'not-signed'],
    },
    {
      what: 'wrong key id',
      note: `${body}\n${signatureLine(name, Buffer.from('00000000', 'hex'), sign(null, Buffer.from(body), key1))}`,
      checks: ['not-signed', 'not-signed'],
    },
    {
      what: 'unknown signer',
      note: `${body}\n${signed('unknown.example', key2)}`,
      checks: ['not-signed', 'not-signed'],
    },
    {
      what: 'altered signature',
      note: `${body}\n${signatureLine(name, keyId(name, key1), flipped)}`,
      checks: ['invalid', 'not-signed'],
    },
    {
      what: 'altered text',
      note: `${body.replace('\n7\n', '\n8\n')}\n${signed(name, key1)}`,
      checks: ['invalid', 'not-signed'],
    },
  ],
});

// proofs-forged.json

const good = { index: 2, seq: 3, leaf: hex(leavesV[2]), size: 7, root: hex(root(leavesV.slice(0, 7))) };
const goodPath = path(2, leavesV.slice(0, 7)).map(hex);
const trusted = { size: 7, root: good.root };
const bit = (text) => `${text.slice(0, -1)}${(Number.parseInt(text.at(-1), 16) ^ 1).toString(16)}`;
const inner = node(leavesV[2], leavesV[3]);
const inclusion = (what, change, accept = false) => ({
  what,
  proof: { ...good, path: goodPath, ...change },
  trusted,
  accept,
});
put('proofs-forged.json', {
  inclusion: [
    inclusion('as it is', {}, true),
    inclusion('a bit of the leaf', { leaf: bit(good.leaf) }),
    inclusion('a bit of the root', { root: bit(good.root) }),
    ...goodPath.map((hash, at) =>
      inclusion(`a bit of node ${at}`, {
        path:
          goodPath.with?.(at, bit(hash)) ?? goodPath.map((each, here) => (here === at ? bit(hash) : each)),
      }),
    ),
    inclusion('a node removed', { path: goodPath.slice(1) }),
    inclusion('a node added', { path: [...goodPath, good.root] }),
    inclusion('a node doubled', { path: [goodPath[0], ...goodPath] }),
    inclusion('two nodes swapped', { path: [goodPath[1], goodPath[0], goodPath[2]] }),
    inclusion('the path of a neighbour', { path: path(3, leavesV.slice(0, 7)).map(hex) }),
    inclusion('the index before', { index: 1 }),
    inclusion('the index behind', { index: 3 }),
    inclusion('an index that is not there', { index: 7 }),
    inclusion('a size less', { size: 6 }),
    inclusion('a size more', { size: 8 }),
    inclusion('no size', { size: 0 }),
    inclusion('an inner node as a leaf', { leaf: hex(inner), path: goodPath.slice(1) }),
    inclusion('prefixes exchanged', { leaf: hex(sha(Buffer.of(1), Buffer.from(linesV[2]))) }),
    inclusion('a longer proof than there can be', { path: Array.from({ length: 60 }, () => goodPath[0]) }),
  ],
  consistency: (() => {
    const from = { size: 3, root: hex(root(leavesV.slice(0, 3))) };
    const to = { size: 7, root: good.root };
    const steps = subproof(3, leavesV.slice(0, 7), true).map(hex);
    const one = (what, change, accept = false) => ({
      what,
      proof: { from, to, path: steps, ...change },
      trusted: { from, to },
      accept,
    });
    return [
      one('as it is', {}, true),
      one('a node removed', { path: steps.slice(1) }),
      one('a node added', { path: [...steps, steps[0]] }),
      one('nothing', { path: [] }),
      one('another earlier size', { from: { ...from, size: 4 } }),
      one('an earlier size of 0', { from: { ...from, size: 0 } }),
      one('an earlier size beyond the later', { from: { ...from, size: 8 } }),
      one('a bit of the earlier root', { from: { ...from, root: bit(from.root) } }),
      { ...one('equal sizes with nodes', { from: to }), trusted: { from: to, to } },
    ];
  })(),
});

// packs/: sessions with a pack and the verdict on them

function packOf(files, tree, more = {}) {
  const entries = Object.entries(files).map(([file, bytes]) => ({
    path: file,
    bytes: bytes.length,
    sha256: hex(sha(bytes)),
    role: file === 'events.jsonl' ? 'canonical' : 'other',
  }));
  return {
    schema_version: 1,
    session_id: 's-7',
    generated_at: '2026-01-05T10:00:07.000Z',
    status: 'active',
    turn_count: 0,
    event_count: tree.length,
    entries,
    tree: {
      hash: 'rfc6962-sha256',
      size: tree.length,
      root: hex(root(tree)),
      frontier: frontier(tree).map(hex),
      evicted: 0,
      marks: { each: 1, prefixes: Buffer.concat(tree.map((each) => each.subarray(0, 4))).toString('base64') },
    },
    first_seq: 1,
    last_seq: tree.length,
    last_ts: null,
    log_generation: null,
    damage: [],
    redacted: [],
    assets: [],
    previous: null,
    redaction_state: 'none',
    producer: { name: 'vectors', version: '1', contract: '0.18.0' },
    ...more,
  };
}

const logOf = (lines) => Buffer.from(lines.map((line) => `${line}\n`).join(''));
const packedLog = logOf(linesV.slice(0, 7));
const packedTree = leavesV.slice(0, 7);
const plain = packOf({ 'events.jsonl': packedLog }, packedTree);

function session(folder, log, pack, expected, extra = {}) {
  if (log !== null) put(`packs/${folder}/session/events.jsonl`, log);
  const text = typeof pack === 'string' ? pack : `${JSON.stringify(pack, null, 2)}\n`;
  put(`packs/${folder}/session/derived/audit-pack.json`, text);
  for (const [file, content] of Object.entries(extra)) put(`packs/${folder}/session/${file}`, content);
  put(`packs/${folder}/expected.json`, expected);
}

const changedLines = linesV.slice(0, 7).map((line, at) => (at === 2 ? line.replace('"m3"', '"m!"') : line));
session('verified', packedLog, plain, { verdict: 'verified', exit: 0, grown_by: 0 });
session('grown', logOf(linesV.slice(0, 9)), plain, { verdict: 'verified', exit: 0, grown_by: 2 });
session('shorter', logOf(linesV.slice(0, 5)), plain, {
  verdict: 'mismatch',
  exit: 1,
  mismatch: { path: 'events.jsonl', diagnosis: 'shorter', leaves_gone: 2, leaves_intact: 5 },
});
session('edited', logOf(changedLines), plain, {
  verdict: 'mismatch',
  exit: 1,
  mismatch: {
    path: 'events.jsonl',
    diagnosis: 'edited',
    index: 2,
    seq: 3,
    offset: 2 * (linesV[0].length + 1),
    leaves_intact: 6,
  },
});
session('transformed', Buffer.from(packedLog.toString().replaceAll('\n', '\r\n')), plain, {
  verdict: 'mismatch',
  exit: 1,
  mismatch: { path: 'events.jsonl', diagnosis: 'transformed', transform: 'crlf' },
});
session('replaced', logOf(linesV.slice(20, 27)), plain, {
  verdict: 'mismatch',
  exit: 1,
  mismatch: { path: 'events.jsonl', diagnosis: 'replaced' },
});
session('unreadable', Buffer.from('no record\n'), plain, {
  verdict: 'mismatch',
  exit: 1,
  mismatch: { path: 'events.jsonl', diagnosis: 'unreadable' },
});
session('missing', null, plain, { verdict: 'missing', exit: 1, missing: ['events.jsonl'] });
session('unproven', logOf([header(31, null), ...linesV.slice(31, 40)]), plain, {
  verdict: 'unproven',
  exit: 1,
});
session(
  'invalid-path',
  packedLog,
  { ...plain, entries: [{ ...plain.entries[0], path: '../events.jsonl' }] },
  {
    verdict: 'invalid-pack',
    exit: 3,
  },
);
session(
  'invalid-frontier',
  packedLog,
  { ...plain, tree: { ...plain.tree, frontier: plain.tree.frontier.slice(1) } },
  {
    verdict: 'invalid-pack',
    exit: 3,
  },
);
session(
  'bad-signature',
  packedLog,
  plain,
  { verdict: 'bad-signature', exit: 4 },
  {
    'derived/audit-pack.json.sig': '-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n',
  },
);
const noTree = Object.fromEntries(
  ['schema_version', 'session_id', 'generated_at', 'status', 'turn_count', 'event_count', 'entries'].map(
    (key) => [key, plain[key]],
  ),
);
session('without-tree', packedLog, noTree, { verdict: 'verified', exit: 0, grown_by: 0 });

if (differences > 0) {
  process.stderr.write(`${differences} files differ\n`);
  process.exitCode = 1;
}
