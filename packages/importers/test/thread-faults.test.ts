import { isTurnlogError } from '@turnlog/kernel';
import {
  createTestMachine,
  enumerateDisks,
  FakeLockTable,
  type Fault,
  FaultFileSystem,
} from '@turnlog/testkit';
import { linesOf } from './stream-lines.js';
import {
  eventsOf,
  importAll,
  logsOf,
  makeThreadDesk,
  plantFiles,
  storeSessions,
  type ThreadDesk,
} from './thread-files.js';
import { message, meta, rolloutLine } from './thread-samples.js';

function thread(id: string, turns: number): Uint8Array {
  const lines = [rolloutLine('session_meta', meta(id), 0)];
  for (let turn = 1; turn <= turns; turn += 1) {
    lines.push(
      rolloutLine('event_msg', { type: 'task_started', turn_id: `t${turn}` }),
      rolloutLine('event_msg', {
        type: 'user_message',
        message: `prompt ${turn}`,
        images: ['data:image/png;base64,AAEC'],
      }),
      rolloutLine('response_item', message('assistant', `answer ${turn}`)),
      rolloutLine('event_msg', { type: 'task_complete', turn_id: `t${turn}` }),
    );
  }
  return linesOf(...lines);
}

/** What two imports, the second of a file that has grown, leave when nothing goes wrong. */
async function expectedLogs(): Promise<Readonly<Record<string, string>>> {
  const desk = makeThreadDesk();
  for (const turns of [1, 3]) {
    plantFiles(desk, { 'a.jsonl': thread('a', turns), 'b.jsonl': thread('b', 1) });
    await importAll(desk, { final: false });
  }
  return logsOf(desk);
}

/** One that dies: from the struck call on nothing happens any more, and its locks are a dead process's. */
async function importUntil(desk: ThreadDesk, fault: Fault): Promise<number> {
  const faulty = new FaultFileSystem(desk.fs, fault);
  const machine = createTestMachine({
    fs: faulty,
    clock: desk.clock,
    lockTable: new FakeLockTable(),
    seed: 77,
  });
  await importAll(desk, { final: false }, { ...desk.target, environment: machine }).catch(
    (error: unknown) => {
      if (!isTurnlogError(error)) throw error;
    },
  );
  return faulty.hitCount;
}

const faults: readonly (readonly [name: string, fault: Omit<Fault, 'call'>])[] = [
  ['killed', { lasting: 'from-then-on', effect: { errno: 'EIO' } }],
  ['one failed call', { lasting: 'once', effect: { errno: 'ENOSPC' } }],
];

test.each(faults)(
  'G-10 %s at any call of a first import or a growing one, and repeated: the same logs',
  async (_name, fault) => {
    const expected = await expectedLogs();
    const phases = fault.lasting === 'once' ? (['growing'] as const) : (['first', 'growing'] as const);
    for (const phase of phases) {
      for (let call = 1; ; call += 1) {
        const desk = makeThreadDesk();
        plantFiles(desk, { 'a.jsonl': thread('a', 1), 'b.jsonl': thread('b', 1) });
        if (phase === 'growing') {
          await importAll(desk, { final: false });
          plantFiles(desk, { 'a.jsonl': thread('a', 3) });
        }
        const hitCount = await importUntil(desk, { call, ...fault });
        await importAll(desk, { final: false });
        plantFiles(desk, { 'a.jsonl': thread('a', 3) });
        await importAll(desk, { final: false });
        expect({ phase, call, logs: logsOf(desk) }).toEqual({ phase, call, logs: expected });
        const names = desk.fs.list(storeSessions).map(({ name }) => name);
        expect(names).toEqual(['codex-a', 'codex-b']);
        if (hitCount === 0) {
          expect(call).toBeGreaterThan(30);
          break;
        }
      }
    }
  },
  120_000,
);

test('a file that cannot be read hides nothing, and is looked at again', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, { 'a.jsonl': thread('a', 1), 'b.jsonl': thread('b', 1), 'c.jsonl': thread('c', 1) });
  const faulty = new FaultFileSystem(desk.fs, {
    call: 1,
    lasting: 'from-then-on',
    effect: { errno: 'EACCES' },
    applies: ({ verb, path }) => verb === 'open' && path === '/foreign/b.jsonl',
  });
  const environment = { ...desk.machine, fs: faulty };
  const report = await importAll(desk, {}, { ...desk.target, environment });
  expect(report).toMatchObject({ isWhole: false, outcomes: { new: 2, failed: 1 } });
  expect((await importAll(desk)).outcomes).toMatchObject({ unchanged: 2, new: 1 });
  expect(eventsOf(desk, 'codex-b').length).toBeGreaterThan(3);
});

/** Imports two threads until the power fails at a call; gives the disks that may be left, and whether it came to its end. */
async function disksAfter(
  call: number,
): Promise<{ readonly disks: readonly ThreadDesk[]; readonly isWhole: boolean }> {
  const desk = makeThreadDesk();
  plantFiles(desk, { 'a.jsonl': thread('a', 2), 'b.jsonl': thread('b', 1) });
  desk.fs.crashAt(desk.fs.mutationCount + call);
  const isWhole = await importAll(desk).then(
    (report) => report.isWhole,
    () => false,
  );
  const disks = [...enumerateDisks(desk.fs, call, { disksMax: 24, imagesMax: 24 })];
  return { disks: disks.map((fs) => ({ ...desk, fs })), isWhole };
}

test('a power cut leaves a new session whole or not at all, and all of them when the import has returned', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, { 'a.jsonl': thread('a', 2), 'b.jsonl': thread('b', 1) });
  await importAll(desk);
  const expected = logsOf(desk);
  const left = new Set<number>();
  for (let call = 0; ; call += 1) {
    const { disks, isWhole } = await disksAfter(call);
    for (const disk of disks) {
      const logs = Object.entries(logsOf(disk)).filter(([path]) => !path.includes('.import-'));
      for (const [path, log] of logs)
        expect({ call, path, log }).toEqual({ call, path, log: expected[path] });
      if (isWhole) expect(logs).toHaveLength(2);
      left.add(logs.length);
    }
    if (isWhole) break;
  }
  expect([...left].sort()).toEqual([0, 1, 2]);
}, 120_000);
