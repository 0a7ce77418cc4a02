import { filledProgram, TestProgram } from './support.js';

const line = '{"schema_version":"0.18.0","event":{"type":"thread.started","thread_id":"v-9"}}\n';

function withForeign(): TestProgram {
  const program = new TestProgram();
  for (const path of ['/w', '/w/.vtcode', '/w/.vtcode/sessions', '/w/.vtcode/sessions/v-9'])
    program.disk.plantDirectory(path);
  program.disk.plantFile('/w/.vtcode/sessions/v-9/events.jsonl', Buffer.from(line));
  return program;
}

test('sessions of an agent are found in the usual place of the workspace, and doing it again changes nothing', async () => {
  const program = withForeign();
  for (const argv of [['import'], ['import', 'vtcode'], ['import', '--from', 'vtcode']]) {
    const { exit } = await program.run(argv, { cwd: '/w' });
    expect(exit).toBe(0);
  }
  const { stdout } = await program.run(['sessions', '--json']);
  expect(
    JSON.parse(stdout).sessions.map(({ id, events }: { readonly id: string; readonly events: number }) => [
      id,
      events,
    ]),
  ).toEqual([['v-9', 2]]);
  const again = await program.run(['import', '--json'], { cwd: '/w' });
  expect(JSON.parse(again.stdout).summary).toMatchObject({
    sources: 1,
    imported: 0,
    unchanged: 1,
    failed: 0,
  });
});

test('--dry-run names what would be imported and writes nothing', async () => {
  const program = withForeign();
  const before = program.disk.mutationCount;
  const { exit, stdout } = await program.run(['import', '--dry-run', '--json'], { cwd: '/w' });
  expect([exit, JSON.parse(stdout).sources]).toEqual([
    0,
    [{ path: '/w/.vtcode/sessions/v-9/events.jsonl', kind: 'vtcode' }],
  ]);
  expect(program.disk.mutationCount).toBe(before);
});

test('--path looks elsewhere; links are counted and not followed; what nobody knows is counted', async () => {
  const program = withForeign();
  program.disk.plantDirectory('/z');
  program.disk.plantLink('/z/link', '/w/.vtcode');
  program.disk.plantFile('/z/other.jsonl', Buffer.from('{"a":1}\n'));
  const { exit, stdout } = await program.run(['import', '--path', '/z', '--json'], { cwd: '/w' });
  expect([exit, JSON.parse(stdout).summary]).toEqual([
    1,
    expect.objectContaining({ sources: 0, links: 1, unknown: 1 }),
  ]);
});

test('a file that was named and is in no known format is refused with exit 3, a missing one with 6', async () => {
  const program = withForeign();
  program.disk.plantFile('/w/notes.txt', Buffer.from('hello\n'));
  expect((await program.run(['import', 'notes.txt'], { cwd: '/w' })).exit).toBe(3);
  expect((await program.run(['import', 'nothing.jsonl'], { cwd: '/w' })).exit).toBe(6);
  expect(
    (
      await program.run(['import', '.vtcode/sessions/v-9/events.jsonl', '--from', 'codex-exec'], {
        cwd: '/w',
      })
    ).exit,
  ).toBe(3);
});

test('B73: an import leaves its source as it was', async () => {
  const program = await filledProgram();
  const before = Buffer.from(program.disk.contentOf('/foreign/v-1/events.jsonl'));
  await program.run(['import', '/foreign']);
  expect(Buffer.from(program.disk.contentOf('/foreign/v-1/events.jsonl')).equals(before)).toBe(true);
  expect(program.disk.list('/foreign/v-1').map(({ name }) => name)).toEqual(['events.jsonl']);
});

test('a saved run is imported as it would have been recorded: it ran in the workspace of -C', async () => {
  const run = ['{"type":"thread.started","thread_id":"t-1"}', '{"type":"turn.started"}', ''].join('\n');
  const started: unknown[] = [];
  for (const verb of ['import', 'record'] as const) {
    const program = withForeign();
    program.disk.plantFile('/w/run.jsonl', Buffer.from(run));
    const argv = verb === 'import' ? ['import', 'run.jsonl'] : ['record', '--from', 'codex-exec'];
    await program.run(['-C', '/w', ...argv], verb === 'import' ? {} : { stdin: run });
    const log = program.disk.contentOf(`${program.root}/sessions/codex-t-1/events.jsonl`);
    const [, second] = Buffer.from(log).toString().split('\n');
    const { type, cwd, workspace } = JSON.parse(String(second)).event;
    expect(type).toBe('run.started');
    started.push({ cwd, workspace });
  }
  expect(started).toEqual([
    { cwd: '/w', workspace: '/w' },
    { cwd: '/w', workspace: '/w' },
  ]);
});
