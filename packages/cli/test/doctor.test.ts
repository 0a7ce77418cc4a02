import { gzipSync } from 'node:zlib';
import { filledProgram } from './support.js';

test('a healthy store, and one that does not exist, have nothing wrong', async () => {
  const program = await filledProgram();
  const { exit, stdout } = await program.run(['doctor', '--deep']);
  expect([exit, stdout]).toEqual([0, 'looked at 1 session, nothing is wrong\n']);
  const nowhere = await program.run(['doctor', '--root', '/nowhere', '--json']);
  expect([nowhere.exit, JSON.parse(nowhere.stdout).summary]).toEqual([
    0,
    { sessions: 0, found: 0, fixed: 0, left: 0 },
  ]);
});

test('--fix --dry-run prints the plan of --fix and changes nothing; --fix carries it out', async () => {
  const program = await filledProgram();
  program.disk.removeFile(`${program.session('s-1')}/manifest.json`);
  program.disk.setMode(program.session('s-1'), 0o755);
  const before = program.disk.mutationCount;
  const dry = JSON.parse((await program.run(['doctor', '--fix', '--dry-run', '--json'])).stdout);
  expect(program.disk.mutationCount - before).toBeLessThanOrEqual(1);
  const real = JSON.parse((await program.run(['doctor', '--fix', '--json'])).stdout);
  expect(real.plan).toEqual(dry.plan);
  expect(dry.summary).toEqual({ sessions: 1, found: 2, fixed: 0, left: 2 });
  expect(real.summary).toEqual({ sessions: 1, found: 2, fixed: 2, left: 0 });
});

test('an archive that no header names is in the plan before it is removed, and one that may be the only copy stays', async () => {
  const program = await filledProgram();
  const archive = `${program.session('s-1')}/archive`;
  program.disk.plantDirectory(archive);
  const path = `${archive}/e-9.jsonl.gz`;
  program.disk.plantFile(path, gzipSync(program.disk.contentOf(`${program.session('s-1')}/events.jsonl`)));
  const dry = JSON.parse((await program.run(['doctor', '--fix', '--dry-run', '--json'])).stdout);
  expect(dry.plan).toEqual([{ kind: 'remove', session: 's-1', path }]);
  expect(program.disk.status(path)).not.toBeNull();
  const fixed = await program.run(['doctor', '--fix']);
  expect([fixed.exit, fixed.stdout]).toEqual([0, expect.stringContaining('[fixed]')]);
  expect(program.disk.status(path)).toBeNull();
  program.disk.plantFile(path, Buffer.from('no archive'));
  const kept = await program.run(['doctor', '--deep', '--fix', '--json']);
  expect([kept.exit, JSON.parse(kept.stdout)]).toMatchObject([
    1,
    { findings: [{ kind: 'archive-unnamed', path, repair: null, fixed: false }], plan: [] },
  ]);
  expect(program.disk.status(path)).not.toBeNull();
});

test('--session looks at one session only, and says when there is none', async () => {
  const program = await filledProgram();
  program.plant('bad', 'x\ny\n');
  expect((await program.run(['doctor', '--session', 's-1'])).exit).toBe(0);
  expect((await program.run(['doctor', '--session', 'bad'])).exit).toBe(1);
  expect((await program.run(['doctor', '--session', 'nobody'])).exit).toBe(6);
});

test('--force-unlock takes the lock from a living writer by name and with --yes only', async () => {
  const program = await filledProgram();
  const held = await (await program.store()).open('s-1');
  expect((await program.run(['doctor', '--force-unlock', 's-1'])).exit).toBe(9);
  expect((await program.run(['doctor', '--force-unlock', 's-1', '--dry-run'])).exit).toBe(0);
  expect(program.lockTable.holders.size).toBe(1);
  const { exit, stderr } = await program.run(['doctor', '--force-unlock', 's-1', '--yes']);
  expect(exit).toBe(0);
  expect(stderr).toContain('took s-1 from pid 100 on box');
  expect(() => held.append({ type: 'turn.started' })).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/POISONED|LOCK_LOST/) }),
  );
  expect((await program.run(['doctor', '--force-unlock', 'nobody', '--yes'])).exit).toBe(6);
});
