import { answer, call, restart, result, text, threadA, user } from './claude-lines.js';
import { linesOf } from './stream-lines.js';
import {
  contentOf,
  eventsOf,
  importAll,
  importOne,
  makeThreadDesk,
  member,
  plantFiles,
  storeSessions,
  type ThreadDesk,
} from './thread-files.js';
import { message, meta, rolloutLine } from './thread-samples.js';

const turnCount = 40;
const long = 'x'.repeat(100_000);

/** A transcript of about 4 MiB: each turn asks, calls, gets a long result, and answers. */
function transcript(): Uint8Array {
  restart();
  const turns = Array.from({ length: turnCount }, (_, n) => [
    user(`do ${n}`),
    answer(`msg_${n}`, call(`c${n}`)),
    result(`c${n}`, long),
    answer(`msg_${n}`, text(`done ${n}`)),
  ]);
  return linesOf(...turns.flat());
}

function rollout(): Uint8Array {
  const turns = Array.from({ length: turnCount }, (_, n) => [
    rolloutLine('event_msg', { type: 'task_started', turn_id: `t${n}` }),
    rolloutLine('event_msg', { type: 'user_message', message: `do ${n}` }),
    rolloutLine('response_item', message('assistant', `${long}${n}`)),
    rolloutLine('event_msg', { type: 'task_complete', turn_id: `t${n}` }),
  ]);
  return linesOf(rolloutLine('session_meta', meta(threadA), 0), ...turns.flat());
}

const samples: readonly (readonly [
  name: string,
  make: () => Uint8Array,
  sessionId: string,
  isFinal: boolean,
])[] = [
  ['a transcript', transcript, `claude-${threadA}`, true],
  ['a rollout', rollout, `codex-${threadA}`, true],
  ['a transcript that may go on', transcript, `claude-${threadA}`, false],
  ['a rollout that may go on', rollout, `codex-${threadA}`, false],
];

/** Imports, and is told to stop as soon as anything was read. */
function importAndStop(desk: ThreadDesk, final = true): ReturnType<typeof importAll> {
  const stop = new AbortController();
  return importAll(desk, { final, signal: stop.signal, onProgress: () => stop.abort() });
}

test.each(samples)(
  '%s: an import that is stopped leaves what it read, and those after it do the rest',
  async (_name, make, sessionId, final) => {
    const bytes = make();
    const whole = makeThreadDesk();
    await importOne(whole, bytes, { final });
    const expected = contentOf(whole, sessionId);

    const desk = makeThreadDesk();
    plantFiles(desk, { 'one.jsonl': bytes });
    let passes = 0;
    let read = 0;
    for (let pending = bytes.length; pending > 0; passes += 1) {
      const report = await importAndStop(desk, final);
      const [source] = report.sources;
      expect(source?.outcome).toBe(passes === 0 ? 'new' : 'grown');
      expect(report.isWhole).toBe(true);
      expect(source?.pendingBytes).toBeLessThan(pending);
      read += source?.ledger.bytes ?? 0;
      pending = source?.pendingBytes ?? 0;
      expect(desk.machine.locks.inspect(`${storeSessions}/${sessionId}`)).toBeNull();
      // Whatever is there is a beginning of what will be there.
      const content = contentOf(desk, sessionId);
      expect(content).toEqual(expected.slice(0, content.length));
    }
    expect([passes > 2, read]).toEqual([true, bytes.length]);
    expect(contentOf(desk, sessionId)).toEqual(expected);
    const ends = eventsOf(desk, sessionId).filter(({ type }) => type === 'run.imported');
    expect(ends.map(({ from, to, final }) => [from, to, final])).toEqual(
      ends.map(({ to }, n) => [
        n === 0 ? 0 : member(ends[n - 1], 'to'),
        n === ends.length - 1 ? bytes.length : to,
        final && n === ends.length - 1,
      ]),
    );
    expect((await importAll(desk, { final })).outcomes.unchanged).toBe(1);
  },
  60_000,
);

test('a file that has to be folded once more is gone through whole: what it holds is in the log already', async () => {
  const desk = makeThreadDesk();
  const bytes = transcript();
  await importOne(desk, bytes);
  const sessionId = `claude-${threadA}`;
  const before = contentOf(desk, sessionId);
  desk.fs.removeFile(`${storeSessions}/${sessionId}/derived/import.json`);
  expect((await importAndStop(desk)).sources[0]).toMatchObject({ outcome: 'unchanged', pendingBytes: 0 });
  expect(contentOf(desk, sessionId)).toEqual(before);

  // The second turn is gone from the file: all that follows stands elsewhere now.
  const lines = new TextDecoder().decode(bytes).split('\n');
  plantFiles(desk, { 'one.jsonl': Buffer.from([...lines.slice(0, 4), ...lines.slice(8)].join('\n')) });
  expect((await importAndStop(desk)).sources[0]).toMatchObject({ outcome: 'rewritten', pendingBytes: 0 });
  expect(contentOf(desk, sessionId)).toEqual(before);
});

test('nothing is begun any more when the signal is there first', async () => {
  const desk = makeThreadDesk();
  plantFiles(desk, { 'one.jsonl': rollout() });
  const report = await importAll(desk, { signal: AbortSignal.abort() });
  expect([report.sources, desk.fs.list(storeSessions)]).toEqual([[], []]);
});
