import { ownLines, TestProgram } from './support.js';

interface Listed {
  readonly sessions: readonly { readonly id: string; readonly turns: number; readonly events: number }[];
}

/** Ten turns of three records. */
const turns = Array.from({ length: 10 }, (_, index) => [
  { type: 'turn.started' },
  {
    type: 'item.completed',
    item: { id: `i${index + 1}`, type: 'agent_message', text: `answer ${index + 1}` },
  },
  {
    type: 'turn.completed',
    usage: { input_tokens: 7, cached_input_tokens: 0, cache_creation_tokens: 0, output_tokens: 2 },
  },
]);

async function recorded(...flags: readonly string[]): Promise<TestProgram> {
  const program = new TestProgram();
  const result = await program.run(['record', 's', '--max-events', '12', ...flags], {
    stdin: ownLines(turns.flat()),
  });
  expect([result.exit, result.stderr]).toEqual([0, expect.stringContaining('recorded')]);
  return program;
}

test('a recording within a cap keeps its newest turns; the others are read from the archive', async () => {
  const program = await recorded();
  const { sessions } = JSON.parse((await program.run(['sessions', '--json'])).stdout) as Listed;
  expect(sessions).toMatchObject([{ id: 's', turns: 10 }]);
  expect(sessions[0]?.events).toBeLessThanOrEqual(12);
  const first = await program.run(['show', 's', '--turn', '1']);
  expect([first.exit, first.stdout]).toEqual([0, expect.stringContaining('answer 1')]);
  const range = await program.run(['show', 's:2..4', '--json']);
  expect(JSON.parse(range.stdout)).toMatchObject({ records: [{ seq: 2 }, { seq: 3 }, { seq: 4 }] });
  const whole = (await program.run(['show', 's'])).stdout;
  for (let turn = 1; turn <= 10; turn += 1) expect(whole).toContain(`answer ${turn}\n`);
  const { total } = JSON.parse((await program.run(['stats', '--json'])).stdout);
  expect(total).toMatchObject({ turns: 10 });
  expect((await program.run(['rebuild', '--check'])).exit).toBe(0);
});

test('turns that were dropped are gone, with the first seq that is there', async () => {
  const program = await recorded('--archive', 'drop');
  const first = await program.run(['show', 's', '--turn', '1', '--json']);
  expect([first.exit, JSON.parse(first.stdout)]).toMatchObject([6, { error: { code: 'gone' } }]);
  const { exit, stdout } = await program.run(['show', 's']);
  expect([exit, stdout]).toEqual([0, expect.stringContaining('answer 10')]);
  expect(stdout).not.toContain('answer 1\n');
});

test.each([
  ['--archive without a limit', ['--archive', 'drop']],
  ['a limit that is no number', ['--max-events', 'many']],
  ['a negative limit', ['--max-bytes', '-1']],
  ['an archive of another kind', ['--max-events', '5', '--archive', 'rar']],
])('%s is refused before anything is read', async (_name, flags) => {
  const program = new TestProgram();
  const { exit } = await program.run(['record', 's', ...flags], { stdin: ownLines(turns.flat()) });
  expect(exit).toBe(2);
  expect((await program.run(['sessions', '--json', '--include-hidden'])).stdout).toContain('"sessions":[]');
});
