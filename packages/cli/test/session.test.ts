import { filledProgram, type TestProgram, turn } from './support.js';

interface Listed {
  readonly id: string;
  readonly title: string | null;
  readonly tags: readonly string[];
  readonly archived: boolean;
}

async function list(program: TestProgram, ...argv: readonly string[]): Promise<readonly Listed[]> {
  const { stdout } = await program.run(['sessions', '--json', ...argv]);
  return JSON.parse(stdout).sessions;
}

test('a session is renamed by a record in its log; the newest title counts', async () => {
  const program = await filledProgram();
  for (const title of ['First „one“', 'Second']) {
    expect((await program.run(['session', 'rename', 's-1', title])).exit).toBe(0);
  }
  expect((await list(program))[0]).toMatchObject({ id: 's-1', title: 'Second' });
  const { stdout } = await program.run(['tail', 's-1', '-n', '1', '--json']);
  const [last] = JSON.parse(stdout).records;
  expect(last).toMatchObject({
    seq: turn.length + 2,
    event: { type: 'journal.set', fence: null, title: 'Second' },
  });
});

test('a title stands for its session; what is so already is not written again', async () => {
  const program = await filledProgram();
  await program.run(['session', 'rename', 's-1', 'My work']);
  const { exit, stdout } = await program.run(['session', 'rename', 'My work', 'My work', '--json']);
  expect([exit, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({ id: 's-1', seq: null, changed: false, title: 'My work' }),
  ]);
});

test('tags are added and taken away; sessions are found by them and show them', async () => {
  const program = await filledProgram();
  await program.fill('s-2', turn);
  await program.run(['session', 'tag', 's-1', 'red', 'green']);
  await program.run(['session', 'tag', 's-1', 'blue', 'red']);
  await program.run(['session', 'tag', 's-1', '--remove', 'green', 'none']);
  expect((await list(program, '--tag', 'blue')).map(({ id, tags }) => [id, tags])).toEqual([
    ['s-1', ['red', 'blue']],
  ]);
  expect((await program.run(['sessions'])).stdout).toContain('#red #blue');
});

test('an archived session is out of the list until it is taken back', async () => {
  const program = await filledProgram();
  await program.run(['session', 'archive', 's-1']);
  expect(await list(program)).toEqual([]);
  expect((await list(program, '--archived')).map(({ id }) => id)).toEqual(['s-1']);
  expect((await program.run(['sessions', '--archived'])).stdout).toContain('archived');
  await program.run(['session', 'archive', 's-1', '--undo']);
  expect(await list(program)).toHaveLength(1);
});

const refused: readonly (readonly [argv: readonly string[], exit: number])[] = [
  [['rename', 's-1'], 2],
  [['rename', 's-1', ''], 2],
  [['rename', 's-1', 'a', 'b'], 2],
  [['rename', 's-1', 'two\nlines'], 2],
  [['rename', 's-1', 'x'.repeat(201)], 2],
  [['rename', 's-1', 'a', '--undo'], 2],
  [['tag', 's-1'], 2],
  [['tag', 's-1', ' '], 2],
  [['tag', 's-1', 'a', '--undo'], 2],
  [['archive', 's-1', 'x'], 2],
  [['archive', 's-1', '--remove'], 2],
  [['destroy', 's-1'], 2],
  [['archive'], 2],
  [['archive', 'no-such'], 6],
];

test.each(refused)('session %j is refused and changes nothing', async (argv, exit) => {
  const program = await filledProgram();
  const before = program.disk.mutationCount;
  expect((await program.run(['session', ...argv])).exit).toBe(exit);
  expect(program.disk.mutationCount).toBe(before);
});

test('pages go through a list without a gap or a repetition, also when one is added before the place', async () => {
  const program = await filledProgram();
  for (const id of ['s-2', 's-3', 's-4', 's-5']) await program.fill(id, turn);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const more: readonly string[] = cursor === null ? [] : ['--cursor', cursor];
    const { stdout } = await program.run(['sessions', '--json', '--sort', 'id', '--limit', '2', ...more]);
    const document = JSON.parse(stdout);
    seen.push(...document.sessions.map(({ id }: Listed) => id));
    cursor = document.summary.next_cursor;
    if (seen.length === 2) await program.fill('r-0', turn);
  } while (cursor !== null);
  expect(seen).toEqual(['s-1', 's-2', 's-3', 's-4', 's-5']);
});

test('a cursor of another query is refused', async () => {
  const program = await filledProgram();
  await program.fill('s-2', turn);
  const { stdout } = await program.run(['sessions', '--json', '--limit', '1']);
  const cursor = JSON.parse(stdout).summary.next_cursor;
  for (const argv of [
    ['sessions', '--sort', 'id'],
    ['sessions', '--tag', 'x'],
    ['stats', '--by', 'session'],
  ]) {
    const { exit, stdout: told } = await program.run([...argv, '--json', '--cursor', cursor]);
    expect([exit, JSON.parse(told).error.code]).toEqual([2, 'cursor-mismatch']);
  }
});

test('pages of statistics have the total of all rows', async () => {
  const program = await filledProgram();
  await program.fill('s-2', turn);
  const rows: string[] = [];
  let cursor: string | null = null;
  do {
    const more: readonly string[] = cursor === null ? [] : ['--cursor', cursor];
    const { stdout } = await program.run(['stats', '--by', 'session', '--json', '--limit', '1', ...more]);
    const document = JSON.parse(stdout);
    rows.push(...document.rows.map(({ session }: { readonly session: string }) => session));
    expect(document.total.sessions).toBe(2);
    cursor = document.next_cursor;
  } while (cursor !== null);
  expect(rows).toEqual(['s-1', 's-2']);
});
