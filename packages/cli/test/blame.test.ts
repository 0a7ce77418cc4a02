import { editedRoot, edits, filledProgram, storedLines, type TestProgram } from './support.js';

interface Said {
  readonly exit: number;
  readonly document: {
    readonly records: readonly { readonly session: string; readonly seq: number }[];
    readonly origin: {
      readonly status: string;
      readonly reason: string | null;
      readonly line: number | null;
      readonly text: string | null;
      readonly record: { readonly seq: number } | null;
    } | null;
    readonly next_cursor: string | null;
    readonly left: number;
    readonly unread: readonly { readonly session: string; readonly code: string }[];
  };
}

async function asked(program: TestProgram, ...argv: readonly string[]): Promise<Said> {
  const { exit, stdout } = await program.run(['blame', ...argv, '--root', editedRoot, '--json']);
  return { exit, document: JSON.parse(stdout) };
}

const seqs = ({ document }: Said): readonly number[] => document.records.map(({ seq }) => seq);

test('what changed a path is listed, the newest first; readers and commands that name it only on request', async () => {
  const program = await filledProgram();
  expect(seqs(await asked(program, 'src/bridge.ts'))).toEqual([5, 4]);
  expect(seqs(await asked(program, 'src/bridge.ts', '--reads'))).toEqual([6, 5, 4]);
  expect(seqs(await asked(program, 'src/bridge.ts', '--mentions'))).toEqual([7, 5, 4]);
  expect(seqs(await asked(program, 'src/bridge.ts', '--reads', '--mentions'))).toEqual([7, 6, 5, 4]);
});

test('a path is one of a workspace, or absolute; what begins with ./ lies in the current directory', async () => {
  const program = await filledProgram();
  expect(seqs(await asked(program, '/w/src/bridge.ts'))).toEqual([5, 4]);
  expect(seqs(await asked(program, './bridge.ts', '-C', '/w/src'))).toEqual([5, 4]);
  expect(seqs(await asked(program, './bridge.ts', '-C', '/elsewhere'))).toEqual([]);
  expect(seqs(await asked(program, 'bridge.ts', '-C', '/w/src'))).toEqual([]);
});

test('exit 1 says that no record touched the path', async () => {
  const program = await filledProgram();
  expect(await asked(program, 'src/other.ts')).toMatchObject({ exit: 1, document: { records: [] } });
  const text = await program.run(['blame', 'src/other.ts', '--root', editedRoot]);
  expect([text.exit, text.stdout]).toEqual([1, '']);
  expect(text.stderr).toBe('no record touched src/other.ts\n');
});

test('a line is followed back to the record that wrote it', async () => {
  const program = await filledProgram();
  const first = await asked(program, 'src/bridge.ts:1');
  expect(first).toMatchObject({ exit: 0, document: { records: [] } });
  expect(first.document.origin).toMatchObject({ status: 'added', line: 1, text: 'one', record: { seq: 4 } });
  const second = await asked(program, 'src/bridge.ts:2');
  expect(second.document.origin).toMatchObject({
    status: 'added',
    line: 2,
    text: 'zwei',
    record: { seq: 5 },
  });
  const text = await program.run(['blame', 'src/bridge.ts:2', '--root', editedRoot]);
  expect(text.stdout).toBe('e-1:5  2026-10-05 08:00:04\n  2: zwei\n');
});

test('a line that nobody wrote is unknown, with exit 1 and the reason', async () => {
  const program = await filledProgram();
  const { exit, document } = await asked(program, 'src/bridge.ts:9');
  expect([exit, document.origin?.status, document.origin?.reason]).toEqual([1, 'unknown', 'no-such-line']);
  const text = await program.run(['blame', 'src/bridge.ts:9', '--root', editedRoot]);
  expect([text.exit, text.stdout]).toEqual([
    1,
    'e-1:4  2026-10-05 08:00:03\n  unknown: the record made the file, without such a line\n',
  ]);
});

test('--follow goes on under the name that a file had before', async () => {
  const program = await filledProgram();
  const renamed = {
    type: 'item.completed',
    item: {
      id: 'f3',
      type: 'file_change',
      status: 'completed',
      changes: [{ path: 'src/bruecke.ts', kind: 'update' }],
      unified_diff:
        'diff --git a/src/bridge.ts b/src/bruecke.ts\nsimilarity index 100%\nrename from src/bridge.ts\nrename to src/bruecke.ts\n',
    },
  };
  const path = `${editedRoot}/sessions/e-1/events.jsonl`;
  program.disk.plantFile(path, Buffer.from(storedLines([...edits, renamed])));
  expect(seqs(await asked(program, 'src/bruecke.ts'))).toEqual([10]);
  expect(seqs(await asked(program, 'src/bruecke.ts', '--follow'))).toEqual([10, 5, 4]);
});

test('pages follow each other; a cursor belongs to its path and flags', async () => {
  const program = await filledProgram();
  const ways = ['src/bridge.ts', '--reads', '--mentions', '--limit', '3'];
  const first = await asked(program, ...ways);
  expect([seqs(first), first.document.left]).toEqual([[7, 6, 5], 1]);
  const cursor = first.document.next_cursor ?? '';
  const second = await asked(program, ...ways, '--cursor', cursor);
  expect([seqs(second), second.document.next_cursor]).toEqual([[4], null]);
  for (const other of [
    ['src/other.ts', '--reads', '--mentions'],
    ['src/bridge.ts', '--reads'],
  ]) {
    const { exit, stdout } = await program.run([
      'blame',
      ...other,
      '--cursor',
      cursor,
      '--root',
      editedRoot,
      '--json',
    ]);
    expect([exit, JSON.parse(stdout).error.code]).toEqual([2, 'cursor-mismatch']);
  }
});

test('a session that cannot be read is named beside what is found, and no line is pinned on anybody', async () => {
  const program = await filledProgram();
  program.disk.plantDirectory(`${editedRoot}/sessions/bad`);
  program.disk.plantFile(`${editedRoot}/sessions/bad/events.jsonl`, Buffer.from('no record\n'));
  const rows = await asked(program, 'src/bridge.ts');
  expect([rows.exit, seqs(rows)]).toEqual([1, [5, 4]]);
  expect(rows.document.unread).toMatchObject([{ session: 'bad', code: 'log-unreadable' }]);
  const text = await program.run(['blame', 'src/bridge.ts', '--root', editedRoot]);
  expect(text.stderr).toContain('bad could not be read and is left out: log-unreadable');
  const line = await program.run(['blame', 'src/bridge.ts:1', '--root', editedRoot, '--json']);
  expect([line.exit, JSON.parse(line.stdout).error.code]).toEqual([8, 'log-unreadable']);
});

test('the table says who did what to which lines', async () => {
  const program = await filledProgram();
  const { stdout } = await program.run(['blame', 'src/bridge.ts', '--reads', '--root', editedRoot]);
  expect(stdout).toBe(
    [
      'RECORD  TURN  TIME (UTC)           DID     LINES  PATH',
      'e-1:6      1  2026-10-05 08:00:05  read           src/bridge.ts',
      'e-1:5      1  2026-10-05 08:00:04  update  1..2   src/bridge.ts',
      'e-1:4      1  2026-10-05 08:00:03  add     1..2   src/bridge.ts',
      '',
    ].join('\n'),
  );
});

test('--prove adds to each record what shows that it is in its log, as prove prints it', async () => {
  const program = await filledProgram();
  const told = await program.run(['blame', 'src/bridge.ts', '--prove', '--root', editedRoot, '--json']);
  expect(told.exit).toBe(0);
  const { records, unproven } = JSON.parse(told.stdout);
  expect(unproven).toEqual([]);
  for (const { session, seq, proof } of records) {
    const printed = await program.run(['prove', session, String(seq), '--root', editedRoot, '--json']);
    const { index, leaf, size, root, path } = JSON.parse(printed.stdout);
    expect(proof).toEqual({ index, seq, leaf, size, root, path });
  }
  expect(records.length).toBe(2);
  const line = await program.run(['blame', 'src/bridge.ts:1', '--prove', '--root', editedRoot, '--json']);
  const { origin } = JSON.parse(line.stdout);
  expect(origin.record.proof).toEqual(records[1].proof);
  const text = await program.run(['blame', 'src/bridge.ts:1', '--prove', '--root', editedRoot]);
  expect(text.stdout).toMatch(
    /\n {2}1: one\ne-1:4 is leaf 3 of 9\n {2}leaf [0-9a-f]{64}\n {2}root [0-9a-f]{64}\n$/,
  );
  const plain = await asked(program, 'src/bridge.ts');
  expect(JSON.stringify(plain.document)).not.toContain('prov');
});

test('secrets are looked for in paths as they are written: made comparable, an address is none any more', async () => {
  const program = await filledProgram();
  const address = 'https://ann:hunter2hunter2@host.example';
  const change = (id: string, path: string): object => ({
    type: 'item.completed',
    item: { id, type: 'file_change', status: 'completed', changes: [{ path, kind: 'add' }] },
  });
  program.plant(
    's-9',
    storedLines([
      { type: 'run.started', program: 'p', version: '1', cwd: '/w', workspace: '/w' },
      change('f1', `${address}/x.ts`),
      change('f2', 'plain/x.ts'),
    ]),
  );
  for (const form of [[], ['--json']]) {
    for (const path of [`/w/https:/ann:hunter2hunter2@host.example/x.ts`, 'plain/x.ts']) {
      const { exit, stdout } = await program.run(['blame', path, ...form]);
      const isPlain = path === 'plain/x.ts';
      expect([path, exit, stdout.includes('s-9')]).toEqual([path, 0, true]);
      const refs = form.length === 0 ? stdout : JSON.stringify(JSON.parse(stdout).records);
      expect([path, refs.includes('hunter2')]).toEqual([path, false]);
      expect([path, refs.includes('[redacted:url:')]).toEqual([path, !isPlain]);
    }
  }
});

test('an empty path is none', async () => {
  const program = await filledProgram();
  for (const path of ['', ' ']) {
    const { exit, stderr } = await program.run(['blame', path, '--root', editedRoot]);
    expect([exit, stderr]).toEqual([2, expect.stringMatching(/blame wants PATH/)]);
  }
});
