import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { ownLines, turn } from '../support.js';
import { bin, build, Running, turnlog, workspace } from './program.js';

let directory: TemporaryDirectory;

beforeAll(build, 120_000);

beforeEach(() => {
  directory = makeTemporaryDirectory();
});

afterEach(() => directory.remove());

function sizeOf(id: string): number {
  const path = join(directory.path, 'sessions', id, 'events.jsonl');
  return existsSync(path) ? statSync(path).size : 0;
}

function recordsOf(id: string): readonly { readonly seq: number; readonly type: string }[] {
  return JSON.parse(turnlog(directory.path, ['show', id, '--json']).stdout).records;
}

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(workspace, 'packages/cli/package.json'), 'utf8'));
  expect(turnlog('/nowhere', ['--version'])).toMatchObject({
    code: 0,
    stdout: `turnlog ${version}\n`,
    stderr: '',
  });
});

test('B15, B67: a recorder that is killed has lost nothing that it had read whole', async () => {
  const recorder = new Running(directory.path, ['record', 's', '--durability', 'buffered']);
  recorder.write(ownLines(turn.slice(0, 3)));
  await recorder.until(
    () =>
      sizeOf('s') > 0 &&
      readFileSync(join(directory.path, 'sessions/s/events.jsonl'), 'utf8').includes('"seq":4'),
  );
  recorder.write('{"event":{"type":"half');
  await recorder.stop('SIGKILL');
  const listed = JSON.parse(turnlog(directory.path, ['sessions', '--json']).stdout).sessions[0];
  expect(listed).toMatchObject({ id: 's', events: 4, in_turn: true, writer: { state: 'dead' } });
  expect(turnlog(directory.path, ['record', 's'], ownLines(turn.slice(3))).code).toBe(0);
  expect(recordsOf('s').map(({ type }) => type)).toEqual([
    'run.started',
    ...turn.map((event) => Reflect.get(event, 'type')),
  ]);
  expect(turnlog(directory.path, ['doctor', '--deep']).code).toBe(0);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  'CL-5: %s ends record after the record in hand: no half record, no temp file, the lock free',
  async (signal, code) => {
    const recorder = new Running(directory.path, ['record', 's', '--ack', '--durability', 'event']);
    recorder.write(ownLines(turn.slice(0, 2)));
    await recorder.until(() => recorder.stdout.includes('{"seq":3}'));
    recorder.write('{"event":{"type":"ha');
    expect(await recorder.stop(signal)).toMatchObject({ code, signal: null });
    const left = readdirSync(join(directory.path, 'sessions/s'), {
      recursive: true,
      encoding: 'utf8',
    }).sort();
    expect(left).toEqual(['events.jsonl', 'index', 'index/turns.jsonl', 'manifest.json']);
    expect(recordsOf('s')).toHaveLength(3);
    expect(turnlog(directory.path, ['record', 's'], ownLines(turn.slice(2))).code).toBe(0);
  },
);

test('a second recorder of one session is refused with the pid of the first; readers are not', async () => {
  const recorder = new Running(directory.path, ['record', 's']);
  recorder.write(ownLines(turn));
  await recorder.until(() => sizeOf('s') > 0);
  const second = turnlog(directory.path, ['record', 's', '--json'], ownLines(turn));
  expect(second.code).toBe(5);
  expect(JSON.parse(second.stdout).error).toMatchObject({
    code: 'locked',
    details: { pid: recorder.child.pid },
  });
  expect(turnlog(directory.path, ['tail', 's', '-n', '1']).code).toBe(0);
  expect(turnlog(directory.path, ['append', 's', '--event', '{"type":"x.a.b"}', '--wait', '1s']).code).toBe(
    5,
  );
  expect(await recorder.end()).toMatchObject({ code: 0 });
});

test('tail -f prints what another process records, and ends with 130 on SIGINT', async () => {
  turnlog(directory.path, ['record', 's'], ownLines(turn));
  const follower = new Running(directory.path, ['tail', 's', '-f', '-n', '1', '--jsonl']);
  await follower.until(() => follower.stdout.includes('"seq":7'));
  turnlog(directory.path, ['append', 's', '--event', '{"type":"x.acme.later"}']);
  await follower.until(() => follower.stdout.includes('x.acme.later'));
  expect(await follower.stop('SIGINT')).toMatchObject({ code: 130, signal: null, stderr: '' });
  expect(follower.stdout.trimEnd().split('\n')).toHaveLength(2);
});

test('I-2 a reader that takes one line and goes away ends it quietly', () => {
  const events = Array.from({ length: 4_000 }, (_, index) => ({
    type: 'x.acme.n',
    text: `${index} ${'x'.repeat(200)}`,
  }));
  turnlog(directory.path, ['record', 's'], ownLines(events));
  const command = `"${process.execPath}" "${bin}" --root "${directory.path}" show s --jsonl | head -1; exit "\${PIPESTATUS[0]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
});

test('I-2 a stdin and a stdout that are closed from the start end nothing badly', () => {
  const run = (redirection: string): number | null =>
    spawnSync('bash', [
      '-c',
      `"${process.execPath}" "${bin}" --root "${directory.path}" record s ${redirection}`,
    ]).status;
  expect(run('<&-')).toBe(0);
  expect(run('</dev/null >&-')).toBe(0);
});

test('the demo records, kills, goes on and checks itself', () => {
  const { status, stdout } = spawnSync(process.execPath, [join(workspace, 'examples/demo/run.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: directory.path },
  });
  expect(status).toBe(0);
  expect(stdout).toContain('in turn, writer died');
  expect(stdout).toContain('What happened:');
}, 60_000);

test('the example of the README is the file that runs, and does what it says', () => {
  const path = join(workspace, 'examples/append-and-read/append-and-read.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, join(directory.path, 'store')], {
    encoding: 'utf8',
  });
  expect([status, stdout, stderr]).toEqual([
    0,
    '1 turn.started\n2 item.completed\n3 turn.completed\nmy-agent-1: turns 1, events 3\n',
    '',
  ]);
  const readme = readFileSync(join(workspace, 'README.md'), 'utf8');
  expect(readme).toContain(`\`\`\`js\n${readFileSync(path, 'utf8')}\`\`\`\n`);
});
