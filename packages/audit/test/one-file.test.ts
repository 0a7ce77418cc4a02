import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DamageCollector, recordLeaf, Scanner } from '@turnlog/log';
import fc from 'fast-check';
import { OneFile, program, type Said } from './one-file.js';
import {
  evictedVectors,
  forgedVectors,
  noteVectors,
  redactedVectors,
  treeVectors,
  vectorsFolder,
} from './vectors.js';
import { AuditWorld, lineV, logV } from './world.js';

const one = new OneFile();
beforeAll(() => one.makeDirectory());
afterAll(() => one.remove());
const at = (...names: readonly string[]): string => one.at(...names);
const run = (...argv: readonly string[]): Said => one.run(...argv);
const onDisk = (world: AuditWorld, name: string): string => one.onDisk(world, name);
const bothSay = (session: string): Promise<Said['lines'][number]> => one.bothSay(session);

/** What the file says of the vectors, or of other files. */
function told(what: string, ...more: readonly string[]): ReturnType<typeof JSON.parse> {
  const runner = join(__dirname, 'run-one-file.mjs');
  const argv = [runner, vectorsFolder, what, ...more];
  return JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8', maxBuffer: 1 << 28 }));
}

test('AU-21: it is one file of less than 400 lines that imports from Node alone, evaluates nothing and asks no network', () => {
  const text = readFileSync(program, 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThan(400);
  const imported = [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, name]) => name);
  expect(imported).toEqual(['node:fs', 'node:path', 'node:url', 'node:util', 'node:zlib']);
  expect(text).not.toMatch(
    /\beval\b|\bFunction\(|\bimport\(|\brequire\(|fetch|WebSocket|XMLHttp|node:(?:net|http|vm|child)/,
  );
  expect(text).not.toMatch(/writeFile|appendFile|mkdir|rmSync|unlink|rename/);
});

test('what is published is what the build makes of its modules', () => {
  execFileSync(process.execPath, [join(dirname(program), 'build.mjs'), '--check'], { stdio: 'pipe' });
});

test('A-1 tree.json by the single-file verifier: leaves, roots, frontiers, set R, every proof', () => {
  const vectors = treeVectors();
  const found = told('tree');
  expect(found.leaves).toEqual(vectors.leaves);
  expect(found.roots).toEqual(vectors.sizes.map(({ root }) => root));
  const whole = vectors.sizes.at(-1)?.root;
  expect(found.fromFrontier).toEqual(vectors.sizes.map(({ root }) => [root, whole]));
  expect(found.reference).toEqual(vectors.rfc6962.roots.map(({ root }) => root));
  expect(found.inclusion).toEqual(vectors.inclusion.map(() => true));
  expect(found.consistency).toEqual(vectors.consistency.map(() => true));
});

test('A-1 evicted.json by the single-file verifier: roots across the cut from the frontier, with hashes, with neither', () => {
  const expected = evictedVectors().map(({ cut, roots }) => ({
    neither: null,
    fromFrontier: roots.filter(({ size }) => size >= cut).map(({ root }) => root),
    fromLeaves: roots.map(({ root }) => root),
  }));
  expect(told('evicted')).toEqual(expected);
});

test('A-1 redacted.json by the single-file verifier: the roots of the lines that were there', () => {
  const { explained, unexplained, silent, salted } = redactedVectors();
  const rootsOf = ({ roots }: typeof silent): readonly string[] => roots.map(({ root }) => root);
  expect(told('redacted')).toEqual({
    roots: [explained, unexplained, silent].map(rootsOf),
    salted: [[salted.root], [salted.root]],
  });
});

test('A-1 notes.json and proofs-forged.json by the single-file verifier', () => {
  const { keys, notes } = noteVectors();
  const checks = notes.map((note) => note.checks);
  expect(told('notes')).toEqual({ ids: keys.map((key) => key.key_id), checks });
  const { inclusion, consistency } = forgedVectors();
  expect(told('forged')).toEqual({
    inclusion: inclusion.map(({ accept }) => accept),
    consistency: consistency.map(({ accept }) => accept),
  });
});

const packs = readdirSync(join(vectorsFolder, 'packs'));

test('A-1 packs/ by the single-file verifier: verdict, exit and what it says of the difference', () => {
  const places = packs.map((name) => join(vectorsFolder, 'packs', name));
  const { lines } = run(...places.map((place) => join(place, 'session')));
  for (const [position, place] of places.entries()) {
    const {
      mismatch,
      grown_by: grown,
      missing,
      verdict,
      exit,
    } = JSON.parse(readFileSync(join(place, 'expected.json'), 'utf8'));
    const said = lines[position];
    expect({ place, ...said }).toMatchObject({
      place,
      verdict,
      exit,
      ...(missing === undefined ? {} : { missing }),
    });
    if (mismatch !== undefined) expect(said?.['mismatches']).toMatchObject([mismatch]);
    if (grown !== undefined && said?.['tree'] !== null)
      expect(said?.['tree']).toMatchObject({ grown_by: grown });
    expect(run(join(place, 'session')).exit).toBe(exit);
  }
});

test('sessions that grew, were cut with and without archive, and lost what the cut left, are told as the product tells them', async () => {
  for (const archive of ['gzip', 'drop'] as const) {
    const world = new AuditWorld();
    await world.turns(12);
    await world.pack();
    await world.turns(3);
    const grown = onDisk(world, `grown-${archive}`);
    expect(await bothSay(grown)).toMatchObject({ verdict: 'verified', tree: { grown_by: 9 } });
    await world.cut(20, archive);
    expect(await bothSay(onDisk(world, `cut-${archive}`))).toMatchObject({ verdict: 'verified' });
    await world.turns(20);
    await world.cut(9, archive);
    const cut = onDisk(world, `cut-twice-${archive}`);
    expect(await bothSay(cut)).toMatchObject({ verdict: 'verified' });
    for (const name of readdirSync(join(cut, 'archive'))) writeFileSync(join(cut, 'archive', name), 'gone');
    expect(run(cut)).toMatchObject({ exit: 1 });
  }
});

const redacted = (n: number): string => {
  const leaf = createHash('sha256')
    .update(`\0${lineV(n)}`)
    .digest('hex');
  const event = { type: 'log.redacted', leaf, original_type: 'error', length: 107, redacted_at: 'x' };
  return `${JSON.stringify({ schema_version: '0.18.0', seq: n, ts: '2026-01-05T10:00:09.000Z', event })}\n`;
};

test('redacted records are listed with the statement, and are a difference without one', async () => {
  const world = new AuditWorld();
  world.plantLog(logV(7));
  await world.pack();
  const lines = logV(7)
    .split('\n')
    .map((line, index) => (index === 4 ? redacted(5) : `${line}\n`));
  const changed = lines.slice(0, 7).join('');
  world.plant('events.jsonl', changed);
  expect(await bothSay(onDisk(world, 'unexplained'))).toMatchObject({
    verdict: 'mismatch',
    mismatches: [{ reason: 'redaction-unexplained', index: 4, seq: 5 }],
  });
  const { leaf } = JSON.parse(redacted(5)).event;
  const event = { type: 'log.redaction', indexes: [4], leaves: [leaf], reason: 'secret', actor: 'ann' };
  const said = JSON.stringify({ schema_version: '0.18.0', seq: 8, ts: null, event });
  world.plant('events.jsonl', `${changed}${said}\n`);
  expect(await bothSay(onDisk(world, 'explained'))).toMatchObject({
    verdict: 'verified',
    tree: { redacted: [{ index: 4, seq: 5, statement_seq: 8 }] },
  });
  world.plant('events.jsonl', `${changed}${said.replace('[4]', '[3]')}\n`);
  expect(await bothSay(onDisk(world, 'of-another'))).toMatchObject({ verdict: 'mismatch' });
});

/** Lines that no writer of ours makes, between records. */
const odd = Buffer.concat([
  Buffer.of(0xef, 0xbb, 0xbf),
  Buffer.from(`${logV(2)}\r\n \n{"half":\n\0\0\0\0${lineV(3)}\n`),
  Buffer.from(`{"schema_version":"0.18.0","seq":4,"ev${lineV(4)}${lineV(5)}\n`),
  Buffer.from(`{"half":${lineV(2)}${lineV(5)} ${lineV(6)}\n{"half":${lineV(2)}\n`),
  Buffer.from('{"schema_version":"0.18.0","seq":6,"seq":6,"event":{"type":"error","message":"x"}}\n'),
  Buffer.from('{"schema_version":"0.18.0","seq":6,"event":{"type":"turn.completed"}}\n'),
  Buffer.from('{"schema_version":"0.18.0","seq":6,"event":{"type":"error","message":"\\u0000'),
  Buffer.of(0xff, 0xfe),
  Buffer.from('"}}\n{"torn'),
]);

test('a log with damage, salvaged pieces and a torn end: verified, and changed damage is a difference', async () => {
  const world = new AuditWorld();
  world.plantLog(odd);
  await world.pack();
  expect(await bothSay(onDisk(world, 'odd'))).toMatchObject({ verdict: 'verified' });
  world.plant('events.jsonl', Buffer.from(odd.toString('latin1').replace('{"half":', '{"HALF":'), 'latin1'));
  expect(await bothSay(onDisk(world, 'odd-changed'))).toMatchObject({
    verdict: 'mismatch',
    mismatches: [{ reason: 'damage' }],
  });
});

interface ReadLog {
  readonly leaves: readonly string[];
  readonly records: readonly (readonly [offset: number, seq: number])[];
  readonly damage: readonly (readonly [kind: string, offset: number, length: number])[];
}

/** Records, leaves and damage of a log as the product finds them. */
function readByProduct(bytes: Buffer): ReadLog {
  const source = { read: (into: Uint8Array, offset: number) => bytes.copy(into, 0, offset) };
  const records: (readonly [number, number])[] = [];
  const leaves: string[] = [];
  const damage = new DamageCollector();
  const scanner = new Scanner(source, { to: bytes.length });
  let isFirst = true;
  for (let piece = scanner.next(); piece !== null; piece = scanner.next()) {
    if (piece.verdict === 'damage') damage.note(piece);
    else {
      const { type } = piece.record;
      const isHeader = isFirst && type === 'log.evicted';
      if (!isHeader) records.push([piece.offset, piece.seq]);
      const found = piece;
      if (!isHeader) leaves.push(recordLeaf(type, found.bytes, 0, found.length, () => found.readEvent()));
      isFirst = false;
    }
  }
  const places = damage.reports(source);
  return { leaves, records, damage: places.map(({ kind, offset, length }) => [kind, offset, length]) };
}

/** Holds what the file reads against what the product reads. */
function expectSameReading(files: readonly string[]): void {
  const found: readonly ReadLog[] = told('logs', ...files);
  for (const [position, path] of files.entries())
    expect([path, found[position]]).toEqual([path, readByProduct(readFileSync(path))]);
}

test('logs are read as the product reads them: records, their order, damage, leaves', () => {
  writeFileSync(at('odd.jsonl'), odd);
  const wire = ['golden.jsonl', 'odd.jsonl'].map((name) =>
    resolve(__dirname, '../../../test/golden/wire', name),
  );
  expectSameReading([at('odd.jsonl'), ...wire]);
});

/** What lines of logs are made of, and broken into. */
const pieces: readonly string[] = [
  ...[1, 2, 3, 4, 5, 6].map(lineV),
  ...[
    '\n',
    '\n',
    '\n',
    '\r\n',
    ' \t\n',
    '\0\0',
    '\xef\xbb\xbf',
    '\xff\xfe',
    '\\',
    '"',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
  ],
  '{"schema_version":',
  '{"schema_version":"0.18.0","seq":',
  '"0.18.0",',
  '"seq":2,',
  '"seq":1.0,',
  '"seq":99999999999999999999,',
  '"seq":9007199254740991,',
  '"event":{"type":"error","message":"x"}}',
  '"event":{"type":"turn.completed","usage":{}}}',
  '"event":{"type":"turn.completed","usage":[]}}',
  '"event":{"type":"turn.failed"}}',
  '"event":{"type":"turn\\u002efailed","message":"\\ud800"}}',
  '"event":{"type":"thread.started","thread_id":"t"}}',
  '"event":{"type":"a","type":"b"}}',
  '"event":{"type":"constructor","__proto__":{"type":"x"}}}',
  '"ev\\u0065nt":{"type":"b"},"x":[{"type":1,"seq":2},{"type":1}]}',
  `"event":{"type":"log.redacted","leaf":"${'0'.repeat(64)}"}}`,
  `"event":{"type":"log.redacted","leaf":"${'A'.repeat(64)}"}}`,
  '"event":{"type":"log.evicted","tree":{"size":1,"frontier":[]}}}',
];

const piece: fc.Arbitrary<string> = fc.constantFrom(...pieces);
const members: fc.Arbitrary<string> = fc.constantFrom(...pieces.filter((text) => /^"(?:seq|ev)/.test(text)));
const line: fc.Arbitrary<string> = fc.oneof(
  fc.integer({ min: 1, max: 9 }).map((n) => `${lineV(n)}\n`),
  fc
    .array(members, { minLength: 1, maxLength: 2 })
    .map((some) => `{"schema_version":"0.18.0",${some.join('')}\n`),
  fc.array(members, { maxLength: 2 }).map((some) => `{"schema_version":"0.18.0",${some.join('')}`),
  piece,
);

test('random pieces of lines, put together anyhow, are read as the product reads them', () => {
  const texts = fc.sample(fc.array(line, { maxLength: 24 }), 500);
  const files = texts.map((parts, n) => {
    writeFileSync(at(`random-${n}`), Buffer.from(parts.join(''), 'latin1'));
    return at(`random-${n}`);
  });
  const withRecords = files.filter((path) => readByProduct(readFileSync(path)).records.length > 1);
  expect(withRecords.length).toBeGreaterThan(150);
  expectSameReading(files);
});

test('who signed: unknown, known, known and required, another key, another pack; options of keys are refused', async () => {
  const world = new AuditWorld();
  world.plantLog(logV(7));
  await world.pack();
  const session = onDisk(world, 'signed');
  const pack = join(session, 'derived/audit-pack.json');
  for (const name of ['ann', 'bob']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', at(name)]);
    writeFileSync(at(`${name}.trust`), `# keys\n\n${name} ${readFileSync(at(`${name}.pub`), 'utf8')}`);
  }
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', at('ann'), '-n', 'turnlog-pack@v1', pack], {
    stdio: 'pipe',
  });
  expect(await bothSay(session)).toMatchObject({ verdict: 'verified', assurance: 'signed-unknown-key' });
  expect(run('--trust', at('ann.trust'), session).lines).toMatchObject([
    { verdict: 'verified', assurance: 'signed-trusted-key' },
  ]);
  expect(run('--trust', at('bob.trust'), session)).toMatchObject({
    exit: 4,
    lines: [{ verdict: 'bad-signature' }],
  });
  writeFileSync(at('late'), `ann valid-before="20200101" ${readFileSync(at('ann.pub'), 'utf8')}`);
  expect(run('--trust', at('late'), session)).toMatchObject({ exit: 2, lines: [] });
  writeFileSync(pack, `${readFileSync(pack, 'utf8')} `);
  expect(run(session)).toMatchObject({ exit: 4, lines: [{ assurance: 'self-attested' }] });
});

test('proofs: one that holds, of another record, forged, and what is none', () => {
  const [proof] = treeVectors().inclusion.filter(({ index, size }) => index === 2 && size === 7);
  const { consistency } = treeVectors();
  const file = (name: string, value: unknown): string => {
    writeFileSync(at(name), JSON.stringify(value));
    return at(name);
  };
  writeFileSync(at('line'), `${lineV(3)}\n`);
  writeFileSync(at('other'), `${lineV(4)}\n`);
  const good = file('good.json', proof);
  expect(run(good, file('consistency.json', consistency.at(-1))).exit).toBe(0);
  expect(run('--record', at('line'), good).exit).toBe(0);
  expect(run('--record', at('other'), good).exit).toBe(1);
  expect(run(file('forged.json', { ...proof, index: 3 })).exit).toBe(1);
  expect(run(good, file('none.json', [1])).exit).toBe(3);
  expect(run().exit).toBe(2);
  expect(run('--what', good).exit).toBe(2);
});

test('links are never followed, and nothing is opened for a pack that leads elsewhere', () => {
  const session = at('linked');
  cpSync(join(vectorsFolder, 'packs/verified/session'), session, { recursive: true });
  const log = join(session, 'events.jsonl');
  writeFileSync(at('elsewhere'), readFileSync(log));
  execFileSync('rm', [log]);
  symlinkSync(at('elsewhere'), log);
  expect(run(session)).toMatchObject({ exit: 1, lines: [{ verdict: 'missing', missing: ['events.jsonl'] }] });
  expect(dirname(log)).toBe(session);
});
