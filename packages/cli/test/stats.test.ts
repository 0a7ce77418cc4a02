import { caseBytes, filledProgram, TestProgram, turn } from './support.js';

test('an unknown zone is a usage error', async () => {
  const program = await filledProgram();
  expect((await program.run(['stats', '--tz', 'Mars/Olympus'])).exit).toBe(2);
});

const threadA = '11111111-1111-4111-8111-111111111111';
const threadB = '22222222-2222-4222-8222-222222222222';

function withTranscripts(): TestProgram {
  const program = new TestProgram();
  let path = '';
  for (const name of ['u', 'ann', '.claude', 'projects', '-repo-demo']) {
    path += `/${name}`;
    program.disk.plantDirectory(path);
  }
  for (const thread of [threadA, threadB]) {
    const bytes = caseBytes('B90-usage-repeat-and-replay', `claude/projects/-repo-demo/${thread}.jsonl`);
    program.disk.plantFile(`${path}/${thread}.jsonl`, bytes);
  }
  return program;
}

test('B90 an answer counts once over snapshots, repeats and continuations; importing twice changes nothing', async () => {
  const program = withTranscripts();
  const first = await program.run(['import', 'claude', '--final', '--json']);
  expect([first.exit, JSON.parse(first.stdout).summary.sessions]).toMatchObject([0, { new: 2 }]);
  const counted = await program.run(['stats', '--by', 'session', '--json']);
  expect(JSON.parse(counted.stdout)).toMatchObject({
    total: { answers: 2, usage: { input_tokens: 200, output_tokens: 100 }, cost: { usd: null } },
    imported: { raw_rows: 9, unique_rows: 7 },
    links: [{ session: `claude-${threadB}`, linked_to: [`claude-${threadA}`] }],
  });
  const again = await program.run(['import', 'claude', '--final', '--json']);
  expect([again.exit, JSON.parse(again.stdout).summary]).toMatchObject([0, { imported: 0, unchanged: 2 }]);
  expect((await program.run(['stats', '--by', 'session', '--json'])).stdout).toBe(counted.stdout);
});

test('a figure of cost names its source; without one it is unknown', async () => {
  const program = withTranscripts();
  await program.run(['import', '--final']);
  program.disk.plantFile('/u/prices.json', Buffer.from('{"models":{"*":{"input":1000,"output":0}}}'));
  const { stdout } = await program.run(['stats', '--prices', '/u/prices.json', '--json']);
  expect(JSON.parse(stdout).total.cost).toMatchObject({ usd: 0.2, sources: ['prices'], unpriced: 0 });
  const table = await program.run(['stats', '--prices', '/u/prices.json']);
  expect(table.stdout).toContain('$0.2000 (prices)');
  expect((await program.run(['stats'])).stdout).not.toContain('$');
  program.disk.plantFile('/u/prices.json', Buffer.from('{"models":{"*":{"input":-1}}}'));
  expect((await program.run(['stats', '--prices', '/u/prices.json'])).exit).toBe(2);
});

test('sub-agents have rows of their own, or with --rollup stand in the one that started them; the total is the same', async () => {
  const program = await filledProgram();
  const run = { type: 'run.started', program: 'p', version: '1', cwd: '/', workspace: '/w' };
  await program.fill('child', [{ ...run, agent: 'subagent', parent: { session: 's-1' } }, ...turn]);
  const apart = JSON.parse((await program.run(['stats', '--by', 'session', '--json'])).stdout);
  const rolled = JSON.parse((await program.run(['stats', '--by', 'session', '--rollup', '--json'])).stdout);
  expect(apart.rows.map(({ session }: { readonly session: string }) => session)).toEqual(['child', 's-1']);
  expect(rolled.rows.map(({ session }: { readonly session: string }) => session)).toEqual(['s-1']);
  expect(rolled.total).toEqual(apart.total);
  expect(rolled.rows[0].usage).toEqual(apart.total.usage);
});

test('CL-2 a sum that no double holds is a text beside its mark', async () => {
  const program = new TestProgram();
  await program.fill('s', [
    { type: 'turn.started' },
    { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
  ]);
  await program.run(['append', 's', '--event', '{"type":"turn.started"}']);
  const event = '{"type":"turn.completed","usage":{"input_tokens":9007199254740993,"output_tokens":1}}';
  expect((await program.run(['append', 's', '--event', event])).exit).toBe(0);
  const { usage } = JSON.parse((await program.run(['stats', '--json'])).stdout).total;
  expect(usage).toMatchObject({
    input_tokens: '9007199254740994',
    input_tokens_exact: true,
    output_tokens: 2,
  });
});

test('a page ends with a cursor that holds no key of a row, in plain text or encoded, and goes on behind it', async () => {
  const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_');
  const program = new TestProgram();
  for (const name of [secret, `${secret}-other`, 'plain', 'zebra']) {
    const id = `s-${name.slice(-5)}`;
    const run = {
      type: 'run.started',
      program: 'p',
      version: '1',
      cwd: `/w/${name}`,
      workspace: `/w/${name}`,
    };
    await program.fill(id, [run, ...turn]);
  }
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const more: readonly string[] = cursor === null ? [] : ['--cursor', cursor];
    const { stdout } = await program.run(['stats', '--limit', '1', '--json', ...more]);
    const { rows, next_cursor } = JSON.parse(stdout);
    for (const row of rows) seen.push(row.workspace);
    cursor = next_cursor;
    expect(Buffer.from(cursor ?? '', 'base64url').toString()).toMatch(/^[0-9a-f]{24}$|^$/);
  } while (cursor !== null);
  expect(new Set(seen).size).toBe(4);
  expect(seen.join()).not.toContain(secret);
});

test.each([20, 24, 40, 80])('tables fit %d columns', async (columns) => {
  const program = new TestProgram();
  await program.fill('claude-1e0a84da-d36b-4e8a-925c-b32310479358', turn);
  for (const argv of [['sessions'], ['stats', '--by', 'session'], ['stats', '--by', 'day,session']]) {
    const { stdout } = await program.run(argv, { columns });
    const longest = Math.max(
      ...stdout
        .split('\n')
        .slice(1)
        .map(({ length }) => length),
    );
    expect([argv, longest <= columns]).toEqual([argv, true]);
  }
});
