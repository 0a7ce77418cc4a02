import { FaultFileSystem, SeededRandom } from '@turnlog/testkit';
import { corpusBytes, hasCorpus, linesOf, sayWithoutCorpus } from './stream-lines.js';
import {
  contentsOf,
  eventsOf,
  importAll,
  importOne,
  lineEnds,
  logsOf,
  makeThreadDesk,
  member,
  plantFiles,
  storeSessions,
} from './thread-files.js';
import { codexFiles, forgetMapping, handMade, message, meta, rolloutLine } from './thread-samples.js';

sayWithoutCorpus('thread-growth');

const samples: readonly (readonly [name: string, read: () => Uint8Array])[] = [
  ['a thread made by hand', handMade],
  ...(hasCorpus
    ? codexFiles.map(([name, path]) => [name, () => corpusBytes('codex', ...path)] as const)
    : []),
];

test.each(samples)(
  'G-5 %s: a second pass changes no byte, with its state, without and of other rules',
  async (_name, read) => {
    const desk = makeThreadDesk();
    const first = await importOne(desk, read());
    const before = logsOf(desk);
    expect(Object.keys(before)).toHaveLength(1);
    const derived = `${storeSessions}/${first.sessionId}/derived`;
    expect((await importAll(desk)).outcomes.unchanged).toBe(1);
    expect(logsOf(desk)).toEqual(before);

    desk.fs.removeFile(`${derived}/import.json`);
    expect((await importAll(desk)).outcomes.unchanged).toBe(1);
    expect(logsOf(desk)).toEqual(before);
    expect(desk.fs.status(`${derived}/import.json`)).not.toBeNull();

    forgetMapping(desk.fs, `${derived}/import.json`);
    expect((await importAll(desk)).outcomes.unchanged).toBe(1);
    expect(logsOf(desk)).toEqual(before);

    desk.fs.plantFile(`${derived}/import-digests.bin`, new Uint8Array(8));
    plantFiles(desk, { 'one.jsonl': read() });
    expect((await importAll(desk)).outcomes.unchanged).toBe(1);
    expect(logsOf(desk)).toEqual(before);
  },
  60_000,
);

test.each(samples)(
  'G-6 %s: grown in steps it is what it is imported at once',
  async (_name, read) => {
    const bytes = read();
    const whole = makeThreadDesk();
    await importOne(whole, bytes);
    const expected = contentsOf(whole);
    const ends = lineEnds(bytes);
    const random = new SeededRandom(6);
    const stops =
      ends.length <= 500
        ? ends
        : [...new Set(Array.from({ length: 64 }, () => ends[random.below(ends.length)] ?? 0))].sort(
            (a, b) => a - b,
          );
    const desk = makeThreadDesk();
    for (const stop of stops) {
      plantFiles(desk, { 'one.jsonl': bytes.subarray(0, stop) });
      await importAll(desk, { final: false });
    }
    // Logs only grow: what each step wrote is a prefix of what stands there at the end.
    plantFiles(desk, { 'one.jsonl': bytes });
    await importAll(desk);
    expect(contentsOf(desk)).toEqual(expected);
  },
  120_000,
);

const lost: readonly (readonly [name: string, isLost: boolean])[] = [
  ['with its state', false],
  ['without', true],
];

test.each(lost)(
  'a file that was final and grew all the same, %s: turns end once, each byte is counted once',
  async (_name, isLost) => {
    const desk = makeThreadDesk();
    const words = (text: string): readonly object[] => [
      rolloutLine('event_msg', { type: 'user_message', message: text }),
      rolloutLine('response_item', message('assistant', `about ${text}`)),
    ];
    const first = [rolloutLine('session_meta', meta('late'), 0), ...words('one')];
    const all = linesOf(...first, ...words('two'));
    await importOne(desk, linesOf(...first));
    if (isLost) desk.fs.removeFile(`${storeSessions}/codex-late/derived/import.json`);
    const grown = await importOne(desk, all);
    expect(grown).toMatchObject({
      outcome: 'grown',
      ledger: { bytes: all.length - linesOf(...first).length },
    });
    const events = eventsOf(desk, 'codex-late');
    const marks = events.map(({ type }) => String(type)).filter((type) => /^turn\.|run\.imported/.test(type));
    expect(marks).toEqual([
      'turn.started',
      'turn.completed',
      'run.imported',
      'turn.started',
      'turn.completed',
      'run.imported',
    ]);
    const passes = events.filter(({ type }) => type === 'run.imported');
    expect(passes.map((pass) => [pass['from'], pass['to'], member(pass, 'ledger', 'bytes')])).toEqual([
      [0, linesOf(...first).length, linesOf(...first).length],
      [linesOf(...first).length, all.length, all.length - linesOf(...first).length],
    ]);
  },
);

test('a state that was changed is not believed', async () => {
  const desk = makeThreadDesk();
  const bytes = handMade();
  const cut = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;
  const { sessionId } = await importOne(desk, bytes.subarray(0, cut), { final: false });
  const path = `${storeSessions}/${sessionId}/derived/import.json`;
  const text = new TextDecoder().decode(desk.fs.contentOf(path));
  expect(text).toContain('"itemCount":');
  desk.fs.plantFile(path, new TextEncoder().encode(text.replace('"itemCount":', '"itemCount":9')));
  await importOne(desk, bytes);
  const whole = makeThreadDesk();
  await importOne(whole, bytes);
  expect(contentsOf(desk)).toEqual(contentsOf(whole));
});

test('a file that did not change is not opened again, whether it is final or not', async () => {
  const desk = makeThreadDesk();
  const bytes = handMade();
  await importOne(desk, bytes.subarray(0, bytes.length - 9), { final: false });
  const faults = new FaultFileSystem(desk.fs);
  const target = { ...desk.target, environment: { ...desk.machine, fs: faults } };
  const again = await importAll(desk, { final: false }, target);
  expect(again.outcomes.unchanged).toBe(1);
  expect(again.pendingBytes).toBeGreaterThan(0);
  expect(faults.countOf('open', (path) => path.startsWith('/foreign'))).toBe(0);
  await importAll(desk, {}, target);
  const opened = faults.countOf('open', (path) => path.startsWith('/foreign'));
  expect(opened).toBeGreaterThan(0);
  await importAll(desk, {}, target);
  expect(faults.countOf('open', (path) => path.startsWith('/foreign'))).toBe(opened);
});
