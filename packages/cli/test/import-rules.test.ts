import { openLogReader } from '@turnlog/log';
import { TestProgram } from './support.js';

const thread = '11111111-1111-4111-8111-111111111111';

function plant(program: TestProgram, path: string, text: string): void {
  const parts = path.split('/').slice(1, -1);
  parts.forEach((_, index) => {
    const folder = `/${parts.slice(0, index + 1).join('/')}`;
    if (program.disk.status(folder) === null) program.disk.plantDirectory(folder);
  });
  program.disk.plantFile(path, Buffer.from(text));
}

const linesOf = (values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

interface Stored {
  readonly ts: string | null;
  readonly type: string;
  readonly event: Readonly<Record<string, unknown>>;
}

function storedIn(program: TestProgram, id: string): readonly Stored[] {
  const reader = openLogReader(program.disk, program.session(id), id);
  try {
    return [...reader.records()].map((record) => ({
      ts: record.ts,
      type: record.type,
      event: JSON.parse(Buffer.from(record.eventBytes()).toString()),
    }));
  } finally {
    reader.close();
  }
}

const forms: readonly (readonly [name: string, write: (ms: number) => unknown])[] = [
  ['seconds', (ms) => ms / 1_000],
  ['milliseconds', (ms) => ms],
  ['RFC 3339', (ms) => new Date(ms).toISOString()],
  ['RFC 3339 with an offset', (ms) => new Date(ms + 7_200_000).toISOString().replace('Z', '+02:00')],
];

test.each(forms)(
  'G-18, B100 times of a rollout in %s: what is exported has RFC 3339 and is read back',
  async (_name, write) => {
    const startMs = Date.UTC(2026, 3, 1, 10);
    const at = (n: number): number => startMs + n * 1_500;
    const line = (n: number, type: string, payload: object): object => ({
      timestamp: write(at(n)),
      type,
      payload,
    });
    const lines = [
      line(0, 'session_meta', { id: thread, cwd: '/repo', originator: 'codex-tui', source: 'cli' }),
      line(1, 'event_msg', { type: 'task_started', turn_id: 't1' }),
      line(2, 'event_msg', { type: 'user_message', message: 'do it' }),
      line(3, 'event_msg', { type: 'agent_message', message: 'done' }),
      line(4, 'event_msg', { type: 'task_complete', turn_id: 't1' }),
    ];
    const program = new TestProgram();
    plant(program, `/r/rollout-2026-04-01T10-00-00-${thread}.jsonl`, linesOf(lines));
    expect((await program.run(['import', '/r', '--final'])).exit).toBe(0);
    const id = `codex-${thread}`;
    const turns = storedIn(program, id).filter(({ type }) => /^turn|user\.message|item/.test(type));
    const iso = (n: number): string => new Date(at(n)).toISOString();
    expect(turns.map(({ type, ts }) => [type, ts])).toEqual([
      ['turn.started', iso(1)],
      ['user.message', iso(2)],
      ['item.completed', iso(3)],
      ['turn.completed', iso(4)],
    ]);

    const exported = await program.run(['export', id, '--format', 'jsonl']);
    expect(exported.exit).toBe(0);
    const times = exported.stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text).ts);
    expect(new Set(times.map((ts) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(ts)))).toEqual(
      new Set([true]),
    );
    const other = new TestProgram();
    other.plant(id, exported.bytes);
    expect(storedIn(other, id)).toEqual(storedIn(program, id));
    const show = async (each: TestProgram): Promise<unknown> =>
      JSON.parse((await each.run(['show', id, '--full', '--no-redact', '--json'])).stdout).records;
    expect(await show(other)).toEqual(await show(program));
  },
);

/** Records of parent and child have the same numbers. */
function numbered(count: number, more: object): readonly object[] {
  return Array.from({ length: count }, (_, n) => ({
    type: 'user',
    uuid: String(n),
    parentUuid: n === 0 ? null : String(n - 1),
    isSidechain: false,
    cwd: '/repo',
    version: '2.1.90',
    sessionId: thread,
    timestamp: `2026-01-05T10:00:0${n}.000Z`,
    message: { role: 'user', content: `word ${n}` },
    ...more,
  }));
}

test('G-19, B101 a sub-agent that numbers from 0 like its parent is a session of its own, linked; a drop shows', async () => {
  const parent = linesOf(numbered(2, {}));
  const child = linesOf(numbered(3, { isSidechain: true, agentId: '1' }));
  const program = new TestProgram();
  plant(program, `/p/${thread}.jsonl`, parent);
  plant(program, `/p/${thread}/subagents/agent-1.jsonl`, child);
  const whole = await program.run(['import', '/p', '--final', '--json']);
  const report = JSON.parse(whole.stdout);
  const [main, sub] = [`claude-${thread}`, `claude-${thread}.1`];
  expect(whole.exit).toBe(0);
  expect(
    report.sources.map((source: { readonly session: string; readonly records: number }) => [
      source.session,
      source.records,
    ]),
  ).toEqual([
    [main, 2],
    [sub, 3],
  ]);
  expect(report.summary).toMatchObject({
    sessions: { new: 2, forked: 0, conflict: 0 },
    bytes: { read: parent.length + child.length, refused: 0 },
  });
  const words = (id: string): readonly unknown[] =>
    storedIn(program, id)
      .filter(({ type }) => type === 'user.message')
      .map(({ event }) => [event['origin'], event['content']]);
  const said = (origin: string, count: number): readonly unknown[] =>
    Array.from({ length: count }, (_, n) => [origin, [{ type: 'text', text: `word ${n}` }]]);
  expect(words(main)).toEqual(said('prompt', 2));
  expect(words(sub)).toEqual(said('subagent_prompt', 3));
  const run = storedIn(program, sub).find(({ type }) => type === 'run.started');
  expect(run?.event).toMatchObject({ agent: 'subagent', parent: { session: main, thread_id: thread } });

  // The child first, or alone: it is the same session.
  const alone = new TestProgram();
  plant(alone, `/p/${thread}/subagents/agent-1.jsonl`, child);
  await alone.run(['import', '/p', '--final']);
  plant(alone, `/p/${thread}.jsonl`, parent);
  expect((await alone.run(['import', '/p', '--final'])).exit).toBe(0);
  for (const id of [main, sub]) {
    const typesOf = (each: TestProgram): readonly string[] => storedIn(each, id).map(({ type }) => type);
    expect([id, typesOf(alone)]).toEqual([id, typesOf(program)]);
  }

  const damaged = new TestProgram();
  plant(damaged, `/p/${thread}.jsonl`, parent);
  plant(damaged, `/p/${thread}/subagents/agent-1.jsonl`, child.replace('"uuid":"1"', '"uuid:"1"'));
  const dropped = await damaged.run(['import', '/p', '--final', '--json']);
  const { summary, sources } = JSON.parse(dropped.stdout);
  expect([dropped.exit, summary.refused, summary.files.with_damage]).toEqual([1, 1, 1]);
  expect(summary.records).toMatchObject({ 'refused:bad-json': 1 });
  expect(sources[1].refused).toEqual([expect.objectContaining({ line: 2, reason: 'bad-json' })]);
});
