import { filledProgram, TestProgram } from './support.js';

const event = '{"type":"error","message":"m"}';

test('appends from --event or stdin, keeping the text of the event', async () => {
  const program = new TestProgram();
  const big = '{"type":"x.acme.n","n":12345678901234567890,"z":-0}';
  const { exit, stdout } = await program.run(['append', 's', '--json'], { stdin: `${big}\n` });
  expect([exit, JSON.parse(stdout)]).toMatchObject([
    0,
    { schema_version: 1, id: 's', seq: 1, turn: null, duplicate: false },
  ]);
  expect((await program.run(['show', 's', '--raw'])).stdout).toContain(`"event":${big}}`);
  expect((await program.run(['append', 's', '--event', event])).stderr).toContain('s:2');
});

test('a key makes a retry harmless; another event under it is a conflict', async () => {
  const program = new TestProgram();
  const line = ['append', 's', '--event', event, '--key', 'k', '--json'];
  expect(JSON.parse((await program.run(line)).stdout)).toMatchObject({ seq: 1, duplicate: false });
  expect(JSON.parse((await program.run(line)).stdout)).toMatchObject({ seq: 1, duplicate: true });
  const other = await program.run(['append', 's', '--event', '{"type":"error","message":"n"}', '--key', 'k']);
  expect(other.exit).toBe(5);
});

test('--expect-seq appends only behind that seq', async () => {
  const program = await filledProgram();
  expect((await program.run(['append', 's-1', '--event', event, '--expect-seq', '3'])).exit).toBe(5);
  expect((await program.run(['append', 's-1', '--event', event, '--expect-seq', '6'])).exit).toBe(0);
  expect((await program.run(['append', 'fresh', '--event', event, '--expect-seq', '0'])).exit).toBe(0);
});

const refused: readonly (readonly [name: string, argv: readonly string[], exit: number])[] = [
  ['no JSON', ['--event', 'nonsense'], 8],
  ['nothing', ['--event', ''], 8],
  ['no event', ['--event', '{"message":"m"}'], 8],
  ['a record of the engine', ['--event', '{"type":"log.evicted"}'], 8],
  ['too deep', ['--event', `{"type":"x.a.b","v":${'['.repeat(200)}${']'.repeat(200)}}`], 8],
  ['too large', ['--event', `{"type":"x.a.b","v":"${'x'.repeat(17_000_000)}"}`], 8],
  ['an empty key', ['--event', event, '--key', ''], 8],
  ['a seq that the new session does not have', ['--event', event, '--expect-seq', '4'], 5],
  ['no number', ['--event', event, '--expect-seq', '-1'], 2],
];

test.each(refused)('%s is refused before anything is created', async (_name, argv, exit) => {
  const program = new TestProgram();
  const result = await program.run(['append', 'never', ...argv]);
  expect(result.exit).toBe(exit);
  expect(program.disk.list('/')).toEqual([]);
});

test('--wait waits for a writer so long, and no longer', async () => {
  const program = await filledProgram();
  const held = await (await program.store()).open('s-1');
  const line = ['append', 's-1', '--event', event, '--wait', '2s', '--json'];
  const before = program.clock.monotonicMs();
  const { exit, stdout } = await program.run(line);
  expect([exit, JSON.parse(stdout).error.code]).toEqual([5, 'locked']);
  expect(program.clock.monotonicMs() - before).toBeGreaterThanOrEqual(2_000);
  await held.close();
  expect((await program.run(line)).exit).toBe(0);
});
