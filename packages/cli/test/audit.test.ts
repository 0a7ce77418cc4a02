import { filledProgram, type TestProgram, turn } from './support.js';

const json = async (program: TestProgram, ...argv: readonly string[]) => {
  const { exit, stdout } = await program.run([...argv, '--json']);
  return { exit, found: JSON.parse(stdout) };
};

async function packed(...more: readonly string[]): Promise<TestProgram> {
  const program = await filledProgram();
  expect((await program.run(['pack', 's-1', '--no-record', ...more])).exit).toBe(0);
  return program;
}

const events = (program: TestProgram): string => `${program.session('s-1')}/events.jsonl`;

function change(program: TestProgram, path: string, edit: (text: string) => string): void {
  const file = program.disk.open(path, 'read');
  const bytes = Buffer.alloc(file.status().size);
  file.read(bytes, 0);
  file.close();
  program.disk.plantFile(path, Buffer.from(edit(bytes.toString('utf8'))));
}

test('verify ends with 0, 1, 3 and 4, and says why', async () => {
  const program = await packed();
  const pack = `${program.session('s-1')}/derived/audit-pack.json`;
  expect((await json(program, 'verify', 's-1')).found).toMatchObject({ verdict: 'verified', exit: 0 });
  change(program, events(program), (text) => text.replace('It is fixed', 'It is mixed'));
  const edited = await json(program, 'verify', 's-1');
  expect([edited.exit, edited.found.verdict]).toEqual([1, 'mismatch']);
  expect(edited.found.mismatches[0]).toMatchObject({
    diagnosis: 'edited',
    index: 4,
    seq: 5,
    leaves_intact: 5,
  });
  change(program, pack, (text) => text.replace('"events.jsonl"', '"../events.jsonl"'));
  const invalid = await json(program, 'verify', 's-1');
  expect([invalid.exit, invalid.found.verdict]).toEqual([3, 'invalid-pack']);
  const signed = await packed();
  const nonsense = Buffer.from('no note\n');
  signed.disk.plantFile(`${signed.session('s-1')}/derived/audit-pack.checkpoint`, nonsense);
  const bad = await json(signed, 'verify', 's-1');
  expect([bad.exit, bad.found.verdict]).toEqual([4, 'bad-signature']);
  expect((await signed.run(['verify', 's-1'])).stdout).toContain('bad-signature');
});

test('verify without a pack cannot prove completeness, which only --require-pack makes a failure', async () => {
  const program = await filledProgram();
  const alone = await json(program, 'verify', 's-1');
  expect([alone.exit, alone.found.completeness]).toEqual([0, 'cannot-prove']);
  expect((await json(program, 'verify', 's-1', '--require-pack')).exit).toBe(1);
  expect((await json(program, 'verify', 's-1', '--require-signature')).exit).toBe(4);
});

test('--exact, and a copy of a session with --dir', async () => {
  const program = await packed();
  await program.fill('s-1', turn);
  expect((await json(program, 'verify', 's-1')).found.tree.grown_by).toBe(6);
  expect((await json(program, 'verify', 's-1', '--exact')).exit).toBe(1);
  program.disk.rename(program.session('s-1'), '/out/copy');
  const copy = await json(program, 'verify', '--dir', '/out/copy');
  expect([copy.exit, copy.found.session_id]).toEqual([0, 's-1']);
});

test('a pack made with --out is verified from there, and its directory keeps its mode', async () => {
  const program = await filledProgram();
  program.disk.setMode('/out', 0o755);
  expect((await program.run(['pack', 's-1', '--no-record', '--out', '/out'])).exit).toBe(0);
  expect(program.disk.status('/out')?.mode).toBe(0o755);
  const found = await json(program, 'verify', 's-1', '--dir', '/out');
  expect([found.exit, found.found.completeness]).toEqual([0, 'proven']);
  expect((await json(program, 'verify', 's-1')).found.completeness).toBe('cannot-prove');
});

test('pack says in the log that it was made, unless --no-record', async () => {
  const program = await packed();
  const { found } = await json(program, 'pack', 's-1');
  expect([found.record_seq, found.previous === null]).toEqual([7, false]);
  const shown = await program.run(['show', 's-1:7', '--raw']);
  expect(JSON.parse(shown.stdout).event).toEqual({
    type: 'log.pack',
    pack_sha256: found.sha256,
    size: 6,
    root: found.tree.root,
  });
});

test('prove and verify --proof, with the record and with another', async () => {
  const program = await filledProgram();
  const { found } = await json(program, 'prove', 's-1', '3');
  expect(found).toMatchObject({ session_id: 's-1', index: 2, seq: 3, size: 6 });
  program.disk.plantFile('/out/proof.json', Buffer.from(JSON.stringify(found)));
  expect((await json(program, 'verify', '--proof', '/out/proof.json')).found).toMatchObject({
    verdict: 'verified',
  });
  for (const [seq, exit] of [
    ['3', 0],
    ['4', 1],
  ] as const) {
    const { bytes } = await program.run(['show', `s-1:${seq}`, '--raw']);
    program.disk.plantFile('/out/line', bytes);
    const checked = await json(program, 'verify', '--proof', '/out/proof.json', '--record', '/out/line');
    expect([seq, checked.exit]).toEqual([seq, exit]);
  }
  program.disk.plantFile('/out/proof.json', Buffer.from(JSON.stringify({ ...found, index: 3 })));
  expect((await json(program, 'verify', '--proof', '/out/proof.json')).exit).toBe(1);
  program.disk.plantFile('/out/proof.json', Buffer.from('{}'));
  expect((await json(program, 'verify', '--proof', '/out/proof.json')).exit).toBe(3);
  expect((await json(program, 'prove', 's-1', '99')).exit).toBe(6);
});

test('prove --from --to shows that one pack goes on from another', async () => {
  const program = await filledProgram();
  program.disk.plantDirectory('/out/a');
  program.disk.plantDirectory('/out/b');
  await program.run(['pack', 's-1', '--no-record', '--out', '/out/a']);
  await program.fill('s-1', turn);
  await program.run(['pack', 's-1', '--no-record', '--out', '/out/b']);
  const packs = ['--from', '/out/a/audit-pack.json', '--to', '/out/b/audit-pack.json'];
  const { exit, found } = await json(program, 'prove', ...packs);
  expect([exit, found.from.size, found.to.size]).toEqual([0, 6, 12]);
  program.disk.plantFile('/out/proof.json', Buffer.from(JSON.stringify(found)));
  expect((await json(program, 'verify', '--proof', '/out/proof.json')).exit).toBe(0);
  const back = ['--from', '/out/b/audit-pack.json', '--to', '/out/a/audit-pack.json'];
  expect((await json(program, 'prove', ...back)).exit).toBe(2);
});

test('a pack of the store vouches for every session, before and after its ledger has records', async () => {
  const program = await filledProgram();
  for (let round = 0; round < 2; round += 1) {
    const { exit, found } = await json(program, 'pack', '--store');
    expect([exit, found.sessions, found.session_id]).toEqual([0, 1, 'ledger']);
    expect((await json(program, 'verify')).found).toMatchObject({
      verdict: 'verified',
      completeness: 'proven',
    });
  }
  const before = events(program);
  change(program, before, (text) => text.replace('It is fixed', 'It is mixed'));
  const edited = await json(program, 'verify');
  expect([edited.exit, edited.found.mismatches[0]?.path]).toEqual([1, 'sessions/s-1']);
  change(program, before, (text) => `${text.split('\n').slice(0, 3).join('\n')}\n`);
  expect((await json(program, 'verify')).found.mismatches[0]).toMatchObject({ diagnosis: 'shorter' });
  program.disk.rename(program.session('s-1'), '/out/s-1');
  expect((await json(program, 'verify')).found.missing).toContain('sessions/s-1');
});

const refused: readonly (readonly string[])[] = [
  ['pack'],
  ['pack', 's-1', '--store'],
  ['pack', '--store', '--bundle', '/out/b.tar'],
  ['pack', 's-1', '--origin', 'two words'],
  ['pack', 's-1', '--ssh-agent'],
  ['prove', 's-1'],
  ['prove', 's-1', 'x'],
  ['prove', '--from', '/out/a'],
  ['verify', 's-1', '--proof', '/out/p'],
  ['verify', '--record', '/out/p'],
];

test.each(refused.map((argv) => [argv.join(' '), argv] as const))(
  '%s is refused with exit 2',
  async (_name, argv) => {
    expect((await (await filledProgram()).run(argv)).exit).toBe(2);
  },
);

test('keys and trust come from files, whose text is never shown', async () => {
  const program = await filledProgram();
  program.disk.plantFile(
    '/out/key',
    Buffer.from('-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n'),
  );
  const { exit, stdout, stderr } = await program.run(['pack', 's-1', '--key', '/out/key', '--json']);
  expect([exit, JSON.parse(stdout).error.code]).toEqual([2, 'bad-config']);
  expect(stdout + stderr).not.toContain('c2VjcmV0');
  program.disk.plantFile('/out/trust', Buffer.from('nonsense\n'));
  expect((await program.run(['verify', 's-1', '--trust', '/out/trust'])).exit).toBe(2);
  const variables = { env: { TURNLOG_TRUST_FILE: '/out/trust', TURNLOG_KEY_FILE: '/out/key' } };
  expect((await program.run(['verify', 's-1'], variables)).exit).toBe(2);
  expect((await program.run(['pack', 's-1'], variables)).exit).toBe(2);
});

test('A-21 a removed session is missing, and what the ledger said of it before it went is quoted', async () => {
  const program = await packed();
  const { tree } = (await json(program, 'verify', 's-1')).found;
  program.fs.journal.length = 0;
  expect((await program.run(['session', 'delete', 's-1', '--yes'])).exit).toBe(0);
  const steps = program.fs.journal.map(({ verb, path }) => `${verb} ${path}`);
  const said = steps.findIndex((step) => /^sync\w* .*\/ledger\/events\.jsonl$/.test(step));
  const gone = steps.findIndex((step) => step.startsWith('rename ') && step.endsWith('/sessions/s-1'));
  expect([said >= 0, said < gone]).toEqual([true, true]);
  const { exit, found } = await json(program, 'verify', 's-1');
  expect([exit, found.verdict, found.missing]).toEqual([
    1,
    'missing',
    expect.arrayContaining(['events.jsonl']),
  ]);
  expect(found.removed).toMatchObject({
    ledger_seq: 1,
    fate: 'removed',
    reason: 'manual',
    size: tree.size,
    root: tree.root,
    size_agrees: true,
    root_agrees: true,
  });
  expect((await program.run(['verify', 's-1'])).stdout).toContain('size as packed, root as packed');
});

test('AU-29: what came after the pack, and another root than was packed, are told apart', async () => {
  const program = await filledProgram();
  program.disk.plantDirectory('/packs');
  expect((await program.run(['pack', 's-1', '--no-record', '--out', '/packs'])).exit).toBe(0);
  await program.fill('s-1', turn);
  await program.run(['session', 'delete', 's-1', '--yes']);
  const grown = await json(program, 'verify', 's-1', '--dir', '/packs');
  expect([grown.exit, grown.found.verdict]).toEqual([1, 'missing']);
  expect(grown.found.removed).toMatchObject({ size_agrees: false, root_agrees: false });
  expect((await program.run(['verify', 'never-there'])).exit).toBe(6);
});
