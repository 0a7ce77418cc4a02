import { edits, filledProgram, ownLines, TestProgram, turn, workingLines } from './support.js';

/** Time passes with every file that is opened. */
function slow(program: TestProgram, ms: number): void {
  program.fs.setFault({
    call: 1,
    lasting: 'once',
    effect: { errno: 'EIO' },
    applies: ({ verb }) => {
      if (verb === 'open') program.clock.advance(ms);
      return false;
    },
  });
}

test('a record whose time is over ends behind the record in hand: the turn is there, the lock is free, exit 5', async () => {
  const program = new TestProgram();
  const options = { stdin: ownLines(turn), stdinPausesMs: 10_000 };
  const { exit, stdout, stderr } = await program.run(['record', 'r-1', '--timeout', '10s'], options);
  expect([exit, stdout]).toEqual([5, '']);
  expect(stderr).toMatch(/busy: it was not done within --timeout/);
  const shown = await program.run(['show', 'r-1', '--json']);
  expect(JSON.parse(shown.stdout).records.length).toBeGreaterThanOrEqual(turn.length);
  expect(program.machine.locks.inspect(program.session('r-1'))).toBeNull();
  expect((await program.run(['record', 'r-1'], { stdin: ownLines(turn) })).exit).toBe(0);
});

test('for programs stdout holds the one document of what was done, or the failure where nothing was', async () => {
  const program = new TestProgram();
  const options = { stdin: ownLines(turn), stdinPausesMs: 1_000 };
  const recorded = await program.run(['record', 'r-1', '--timeout', '1s', '--json'], options);
  expect([recorded.exit, JSON.parse(recorded.stdout)]).toMatchObject([5, { id: 'r-1', appended: 6 }]);
  expect(JSON.parse(recorded.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    error: { code: 'busy', retryable: true, details: { flag: 'timeout', timeoutMs: 1_000 } },
  });
  const before = program.disk.contentOf(`${program.session('r-1')}/events.jsonl`);
  const appended = await program.run(['append', 'r-1', '--timeout', '1s', '--json'], options);
  expect([appended.exit, JSON.parse(appended.stdout).error.code]).toEqual([5, 'busy']);
  expect(program.disk.contentOf(`${program.session('r-1')}/events.jsonl`)).toEqual(before);
});

test('who waits for a lock waits no longer than the whole command may take', async () => {
  const program = await filledProgram();
  const held = await (await program.store()).open('s-1');
  for (const argv of [
    ['append', 's-1', '--event', '{"type":"error","message":"m"}', '--wait', '60s'],
    ['session', 'rename', 's-1', 'other'],
  ]) {
    const before = program.clock.monotonicMs();
    expect((await program.run([...argv, '--timeout', '2s'])).exit).toBe(5);
    expect(program.clock.monotonicMs() - before).toBe(2_000);
  }
  await held.close();
});

test('a list that is followed ends when its time is over', async () => {
  const program = await filledProgram();
  const options = { stdinPausesMs: 0 };
  const ending = program.run(['tail', 's-1', '-f', '--timeout', '5s'], options);
  for (let turns = 0; turns < 50; turns += 1) {
    program.clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { exit, stdout } = await ending;
  expect([exit, stdout.trimEnd().split('\n').length]).toEqual([5, turn.length]);
});

const many = ['import', 'rebuild', 'export'] as const;

test.each(many)('%s of many things stops between two of them; the next one does the rest', async (verb) => {
  const program = await filledProgram();
  for (let n = 2; n <= 9; n += 1) {
    await program.fill(`s-${n}`, turn);
    program.disk.plantDirectory(`/foreign/v-${n}`);
    program.disk.plantFile(
      `/foreign/v-${n}/events.jsonl`,
      Buffer.from(`{"schema_version":"0.18.0","event":{"type":"thread.started","thread_id":"v-${n}"}}\n`),
    );
  }
  const ids = Array.from({ length: 9 }, (_, n) => `s-${n + 1}`);
  const lines = {
    import: ['import', '/foreign', '--jsonl'],
    rebuild: ['rebuild', ...ids, '--jsonl'],
    export: ['export', ...ids, '--out', '/out', '--force', '--jsonl'],
  };
  const rowsIn = (stdout: string): number => stdout.trimEnd().split('\n').length - 1;
  slow(program, 100);
  const stopped = await program.run([...lines[verb], '--timeout', '1s']);
  expect(stopped.exit).toBe(5);
  expect(stopped.stderr).toMatch(/"busy"/);
  const done = rowsIn(stopped.stdout);
  expect([done > 0, done < 9]).toEqual([true, true]);
  const names = program.disk.list(`${program.root}/sessions`).map(({ name }) => name);
  expect(names.filter((name) => name.startsWith('.'))).toEqual([]);
  expect(program.lockTable.holders.size).toBe(0);

  const { exit, stdout } = await program.run([...lines[verb], '--timeout', '1h']);
  expect([exit, rowsIn(stdout)]).toEqual([0, 9]);
});

test('blame that is stopped prints what it has found, and says that it is not all', async () => {
  const program = await filledProgram();
  for (let n = 2; n <= 9; n += 1) await program.fill(`s-${n}`, edits);
  slow(program, 100);
  const { exit, stdout, stderr } = await program.run(['blame', 'src/bridge.ts', '--json', '--timeout', '1s']);
  const { partial, records } = JSON.parse(stdout);
  expect([exit, partial, records.length < 17]).toEqual([5, true, true]);
  expect(stderr).toMatch(/"busy"/);
  const line = await program.run(['blame', 'src/bridge.ts:1', '--json', '--timeout', '1s']);
  expect([line.exit, JSON.parse(line.stdout)]).toMatchObject([5, { partial: true, origin: null }]);
  const text = await program.run(['blame', 'src/bridge.ts', '--timeout', '1s']);
  expect([text.exit, text.stderr]).toEqual([5, expect.stringMatching(/stopped before all sessions/)]);
  expect((await program.run(['blame', 'src/bridge.ts', '--timeout', '1h'])).exit).toBe(0);
});

test('a search that is stopped waits no longer for its index, and says that it is not all', async () => {
  const program = await filledProgram();
  for (let n = 2; n <= 40; n += 1) await program.fill(`s-${n}`, turn);
  slow(program, 100);
  for (const engine of ['packed', 'wink', 'fts5']) {
    const argv = ['search', 'fixed', '--engine', engine, '--wait', '1h', '--json'];
    const { exit, stdout } = await program.run([...argv, '--timeout', '1s']);
    const { partial, behind } = JSON.parse(stdout);
    expect([engine, exit, partial, behind.sessions > 0]).toEqual([engine, 5, true, true]);
  }
  program.fs.setFault(null);
  const { exit, stdout } = await program.run(['search', 'fixed', '--wait', '1h', '--json']);
  const { partial, behind } = JSON.parse(stdout);
  expect([exit, partial, behind.sessions]).toEqual([0, false, 0]);
});

test('a doctor who is stopped has looked at some sessions, and mends nothing', async () => {
  const program = await filledProgram();
  for (let n = 2; n <= 9; n += 1) await program.fill(`s-${n}`, turn);
  for (let n = 1; n <= 9; n += 1) program.disk.removeFile(`${program.session(`s-${n}`)}/manifest.json`);
  slow(program, 100);
  const { exit, stdout } = await program.run(['doctor', '--deep', '--fix', '--json', '--timeout', '1s']);
  const { findings, summary } = JSON.parse(stdout);
  const isMended = (n: number): boolean =>
    program.disk.status(`${program.session(`s-${n}`)}/manifest.json`) !== null;
  expect([exit, [1, 2, 3, 4, 5, 6, 7, 8, 9].filter(isMended)]).toEqual([5, []]);
  expect([findings.length > 0, findings.length < 9, summary.fixed ?? 0]).toEqual([true, true, 0]);
  program.fs.setFault(null);
  expect((await program.run(['doctor', '--deep', '--fix', '--timeout', '1h'])).exit).toBe(0);
  expect(JSON.parse((await program.run(['doctor', '--json'])).stdout).findings).toEqual([]);
});

test('every verb takes it, and one that is done in time is as it is without', async () => {
  for (const [verb, argv] of Object.entries(workingLines)) {
    const options = { stdin: verb === 'record' ? ownLines(turn) : '' };
    const plain = await (await filledProgram()).run(argv, options);
    const timed = await (await filledProgram()).run([...argv, '--timeout', '1h'], options);
    expect([verb, timed.exit, timed.stdout]).toEqual([verb, plain.exit, plain.stdout]);
  }
});

test.each(['', '5', '-1s', '1 s', 'soon', '1w'])('%j is no time to be given', async (text) => {
  const { exit, stderr } = await new TestProgram().run(['sessions', '--timeout', text]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('--timeout takes a duration')]);
});
