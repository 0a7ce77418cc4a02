import { publishDerived } from '@turnlog/fs';
import { logicalDigest } from '@turnlog/kernel';
import { CrashSignal, enumerateDisks } from '@turnlog/testkit';
import {
  openFold,
  publishViews,
  rebuildViews,
  runFolds,
  toolCalls,
  toolsView,
  usageEntries,
  usageView,
  views,
} from '@turnlog/views';
import fc from 'fast-check';
import { arbitraryLines } from './arbitrary-log.js';
import { digestOfLines, line, logOf, TestStore, turnCompleted, turnStarted } from './support.js';

const turn = [
  turnStarted,
  { type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'x' } },
  turnCompleted(10, 1),
];

function outcomes(place: TestStore, session = 's-1'): readonly string[] {
  return rebuildViews(place.store, session, 'check').map(({ outcome }) => outcome);
}

const all = (outcome: string): readonly string[] => views.map(() => outcome);

function startsOf(place: TestStore, session = 's-1'): readonly string[] {
  return place.reading(session, (reader) => views.map((view) => view.open(place.fs, reader).start));
}

test('I9, B84: views that are brought up step by step equal those that are folded from the start', async () => {
  const place = await TestStore.make();
  for (let round = 0; round < 4; round += 1) {
    await place.write('s-1', turn);
    if (round > 0) expect(startsOf(place)).toEqual(all('resumed'));
    publishViews(place.store, 's-1');
    expect(outcomes(place)).toEqual(all('equal'));
  }
  expect(place.json('s-1', 'usage')).toMatchObject({
    turns: [{ turn: 1 }, { turn: 2 }, { turn: 3 }, { turn: 4 }],
  });
});

test('the cursor in the file is behind the last line, and nothing before it is read again', async () => {
  const place = await TestStore.make();
  for (let round = 0; round < 40; round += 1) await place.write('s-1', turn);
  publishViews(place.store, 's-1');
  const log = place.text('s-1', 'events.jsonl');
  const { turnlog } = place.json('s-1', 'activity') as { turnlog: { cursor: Record<string, unknown> } };
  expect(turnlog.cursor).toMatchObject({ offset: log.length, seq: 120 });
  await place.write('s-1', turn);
  place.fs.journal.length = 0;
  publishViews(place.store, 's-1');
  const read = place.fs.journal
    .filter(({ verb, path }) => verb === 'read' && path.endsWith('events.jsonl'))
    .reduce((sum, { byteCount }) => sum + byteCount, 0);
  // Heads, tails and the line of each cursor; a reading of the whole would take a hundred times the new bytes.
  expect(read).toBeLessThan(log.length * 2);
  expect(outcomes(place)).toEqual(all('equal'));
});

test('a view that lies behind the others is brought up with them', async () => {
  const place = await TestStore.make();
  await place.write('s-1', turn);
  publishViews(place.store, 's-1');
  await place.write('s-1', turn);
  publishViews(place.store, 's-1', views.slice(0, 2));
  await place.write('s-1', turn);
  expect(startsOf(place)).toEqual(all('resumed'));
  expect(outcomes(place)).toEqual(all('equal'));
  publishViews(place.store, 's-1');
  expect(outcomes(place)).toEqual(all('equal'));
});

test('a record without its 0x0A counts in answers, and is read again when the cursor passes it', async () => {
  const place = await TestStore.make();
  const whole = logOf([...turn, ...turn]);
  place.plant('s-1', whole.slice(0, -1));
  publishViews(place.store, 's-1');
  const entries = (): number =>
    place.reading('s-1', (reader) => {
      const fold = openFold(place.fs, reader, usageView);
      runFolds(reader, [fold]);
      return usageEntries(fold.state).length;
    });
  expect(entries()).toBe(2);
  const document = place.json('s-1', 'usage') as {
    turns: readonly object[];
    turnlog: { cursor: { seq: number } };
  };
  expect(document.turns[1]).toMatchObject({ closed_by: null });
  expect(document.turnlog.cursor.seq).toBe(5);
  place.plant('s-1', whole);
  publishViews(place.store, 's-1');
  expect(place.json('s-1', 'usage')).toMatchObject({ turns: [{}, { closed_by: 'turn.completed' }] });
  expect(entries()).toBe(2);
});

const call = (id: string): object => ({
  type: 'item.started',
  item: { id, type: 'tool_invocation', tool_name: id, status: 'completed' },
});
const begin = { type: 'journal.begin', frame: 'f', fence: null, kind: 'plan' };
/** The commit of a frame that ends just before, whose lines are those of `line`. */
const commit = (count: number, ...members: readonly (readonly [seq: number, event: object])[]): object => ({
  type: 'journal.commit',
  frame: 'f',
  count,
  sha256: digestOfLines(members.map(([seq, event]) => line(seq, event))),
});

const frames: readonly (readonly [title: string, events: readonly object[], tools: readonly string[]])[] = [
  [
    'members of a frame count when it is committed',
    [call('a'), begin, call('b'), commit(1, [3, call('b')]), call('c')],
    ['a', 'b', 'c'],
  ],
  ['members of a frame that is open at the end have no effect yet', [call('a'), begin, call('b')], ['a']],
  [
    'members of a frame that was made void have no effect',
    [begin, call('b'), { type: 'journal.void', frame: 'f' }, call('c')],
    ['c'],
  ],
  [
    'members of a frame that another begins in have no effect',
    [begin, call('b'), begin, call('c'), commit(1, [4, call('c')])],
    ['c'],
  ],
  [
    'a commit of another count makes the frame broken',
    [begin, call('b'), commit(2, [2, call('b')]), call('c')],
    ['c'],
  ],
  [
    'a commit of another frame makes the frame broken',
    [begin, call('b'), { ...commit(1, [2, call('b')]), frame: 'g' }],
    [],
  ],
  ['a commit of other records makes the frame broken', [begin, call('b'), commit(1, [2, call('x')])], []],
  [
    'what never stands in a frame ends it',
    [begin, call('b'), turnStarted, call('c'), commit(1, [2, call('b')])],
    ['c'],
  ],
];

test.each(frames)('%s', async (_title, events, tools) => {
  const place = await TestStore.make();
  place.plant('s-1', logOf(events));
  const named = place.reading('s-1', (reader) => {
    const fold = openFold(place.fs, reader, toolsView);
    runFolds(reader, [fold]);
    return toolCalls(fold.state).map(({ tool }) => tool);
  });
  expect(named).toEqual(tools);
});

test('no cursor stands inside of a frame: what is published waits for its commit', async () => {
  const place = await TestStore.make();
  await place.write('s-1', [call('a')]);
  const before = place.text('s-1', 'events.jsonl');
  const rest = [begin, call('b'), commit(1, [3, call('b')])].map((event, index) => line(index + 2, event));
  place.plant('s-1', before + rest.slice(0, 2).join(''));
  publishViews(place.store, 's-1');
  expect(place.json('s-1', 'tools')).toMatchObject({
    tools: [{ tool: 'a' }],
    turnlog: { cursor: { seq: 1 } },
  });
  place.plant('s-1', (before + rest.join('')).slice(0, -1));
  publishViews(place.store, 's-1');
  expect(place.json('s-1', 'tools')).toMatchObject({
    tools: [{ tool: 'a' }],
    turnlog: { cursor: { seq: 1 } },
  });
  place.plant('s-1', before + rest.join(''));
  expect(startsOf(place)).toEqual(all('resumed'));
  publishViews(place.store, 's-1');
  expect(place.json('s-1', 'tools')).toMatchObject({
    tools: [{ tool: 'a' }, { tool: 'b' }],
    turnlog: { cursor: { seq: 4 } },
  });
  expect(outcomes(place)).toEqual(all('equal'));
});

const moved: readonly (readonly [title: string, change: (place: TestStore) => void])[] = [
  [
    'the log was replaced by another of the same length',
    (place) => {
      const changed = place.text('s-1', 'events.jsonl').replace('"output_tokens":1}', '"output_tokens":2}');
      place.plant('s-1', changed);
      place.disk.removeFile(place.path('s-1', 'manifest.json'));
    },
  ],
  [
    'the line of the cursor says something else',
    (place) => {
      for (const { name } of views) {
        const { turnlog_seal: _seal, turnlog, ...state } = place.json('s-1', name);
        const { cursor, ...own } = turnlog as { cursor: object };
        const changed = { ...state, turnlog: { ...own, cursor: { ...cursor, sha256: '0'.repeat(64) } } };
        publishDerived(place.disk, place.path('s-1', `derived/${name}.json`), JSON.stringify(changed));
      }
    },
  ],
  [
    'the manifest gives another generation',
    (place) => {
      const manifest = place
        .text('s-1', 'manifest.json')
        .replace(/"generation":"[0-9a-f]{32}"/, `"generation":"${'a'.repeat(32)}"`);
      place.disk.plantFile(place.path('s-1', 'manifest.json'), Buffer.from(manifest));
      const index = place
        .text('s-1', 'index/turns.jsonl')
        .replace(/"generation":"[0-9a-f]{32}"/, `"generation":"${'a'.repeat(32)}"`);
      place.disk.plantFile(place.path('s-1', 'index/turns.jsonl'), Buffer.from(index));
    },
  ],
  [
    'there is no manifest, so nobody can tell',
    (place) => place.disk.removeFile(place.path('s-1', 'manifest.json')),
  ],
];

test.each(moved)('folded from the start: %s', async (_title, change) => {
  const place = await TestStore.make();
  await place.write('s-1', turn);
  publishViews(place.store, 's-1');
  change(place);
  expect(startsOf(place)).toEqual(all('moved'));
  expect(outcomes(place)).toEqual(all('stale'));
});

test('folded from the start: seqs that do not rise, and a log that is shorter than the cursor', async () => {
  const place = await TestStore.make();
  await place.write('s-1', [...turn, ...turn]);
  publishViews(place.store, 's-1');
  const log = place.text('s-1', 'events.jsonl');
  const first = log.slice(0, log.indexOf('\n') + 1);
  place.plant('s-1', log + first);
  expect(startsOf(place)).toEqual(all('moved'));
  place.plant('s-1', first);
  expect(startsOf(place)).toEqual(all('moved'));
});

test('folded from the start: what is published was cut, changed, of another version, or another session', async () => {
  const place = await TestStore.make();
  await place.write('s-1', turn);
  await place.write('s-2', turn);
  publishViews(place.store, 's-1');
  const at = place.path('s-1', 'derived/usage.json');
  const whole = Buffer.from(place.text('s-1', 'derived/usage.json'));
  const startOf = (): string => startsOf(place)[1] ?? '';
  place.disk.plantFile(at, whole.subarray(0, -9));
  expect([startOf(), outcomes(place)[1]]).toEqual(['wrong', 'wrong']);
  place.disk.plantFile(at, Buffer.from('{"summary":"of another program"}'));
  expect(startOf()).toBe('wrong');
  place.disk.plantFile(place.path('s-2', 'derived/usage.json'), whole);
  expect(startsOf(place, 's-2')[1]).toBe('unpublished');
  const { turnlog_seal: _seal, turnlog, ...rest } = JSON.parse(whole.toString()) as Record<string, object>;
  publishDerived(place.disk, at, JSON.stringify({ ...rest, turnlog: { ...turnlog, version: 99 } }));
  expect([startOf(), outcomes(place)[1]]).toEqual(['unpublished', 'absent']);
  publishDerived(place.disk, at, JSON.stringify({ ...rest, turns: 7, turnlog }));
  expect(startOf()).toBe('unpublished');
  place.disk.removeFile(at);
  expect([startOf(), outcomes(place)[1]]).toEqual(['unpublished', 'absent']);
});

test('I10: a link that has the name of a view or of its directory is not read through, nor written through', async () => {
  const place = await TestStore.make();
  await place.write('s-1', turn);
  publishViews(place.store, 's-1');
  const victim = place.text('s-1', 'derived/usage.json');
  place.disk.plantFile('/elsewhere/usage.json', Buffer.from(victim));
  place.disk.removeFile(place.path('s-1', 'derived/usage.json'));
  place.disk.plantLink(place.path('s-1', 'derived/usage.json'), '/elsewhere/usage.json');
  const unsafe = expect.objectContaining({ code: 'TURNLOG_UNSAFE_PATH' });
  expect(startsOf(place)[1]).toBe('wrong');
  expect(() => publishViews(place.store, 's-1')).toThrow(unsafe);
  await place.write('s-2', turn);
  place.disk.plantDirectory('/elsewhere/derived');
  place.disk.plantLink(place.path('s-2', 'derived'), '/elsewhere');
  expect(startsOf(place, 's-2')).toEqual(all('wrong'));
  expect(() => publishViews(place.store, 's-2')).toThrow(unsafe);
  expect(Buffer.from(place.disk.contentOf('/elsewhere/usage.json')).toString()).toBe(victim);
  expect(place.disk.list('/elsewhere').map(({ name }) => name)).toEqual(['derived', 'usage.json']);
});

test('published files and their directory are for the user alone', async () => {
  const place = await TestStore.make();
  await place.write('s-1', turn);
  publishViews(place.store, 's-1');
  expect(place.disk.status(place.path('s-1', 'derived'))?.mode).toBe(0o700);
  for (const { name } of views) {
    expect(place.disk.status(place.path('s-1', `derived/${name}.json`))?.mode).toBe(0o600);
  }
});

test('looking publishes nothing and changes nothing', async () => {
  const place = await TestStore.make();
  await place.write('s-1', turn);
  const before = place.disk.mutationCount;
  outcomes(place);
  expect(place.disk.mutationCount).toBe(before);
  expect(place.disk.status(place.path('s-1', 'derived'))).toBeNull();
});

test('B84: a crash at any step of publishing loses nothing: what is left is used or made again, and equals the log', async () => {
  const digestsOf = (place: TestStore): readonly string[] =>
    rebuildViews(place.store, 's-1', 'check').map(({ digest }) => digest);
  let states = 0;
  for (let call = 0; ; call += 1) {
    const place = await TestStore.make();
    await place.write('s-1', turn);
    publishViews(place.store, 's-1');
    await place.write('s-1', turn);
    const wanted = digestsOf(place);
    place.disk.crashAt(place.disk.mutationCount + call);
    try {
      publishViews(place.store, 's-1');
      expect(call).toBeGreaterThan(10);
      break;
    } catch (error) {
      if (!(error instanceof CrashSignal)) throw error;
    }
    for (const left of enumerateDisks(place.disk, 1, { disksMax: 20 })) {
      states += 1;
      const again = await TestStore.make(left);
      // A manifest may be lost with its directory's names; then nothing published is believed before the next writer.
      for (const outcome of outcomes(again)) expect(['equal', 'absent', 'wrong', 'stale']).toContain(outcome);
      expect(digestsOf(again)).toEqual(wanted);
      await (await again.store.open('s-1')).close();
      publishViews(again.store, 's-1');
      expect(outcomes(again)).toEqual(all('equal'));
    }
  }
  expect(states).toBeGreaterThan(50);
});

test('a full disk that cuts a file in silence is told, and the next publish makes it whole', async () => {
  const place = await TestStore.make();
  await place.write('s-1', turn);
  place.disk.setSpace(place.disk.usedBytes + 500);
  expect(() => publishViews(place.store, 's-1')).toThrow(expect.objectContaining({ code: 'TURNLOG_IO' }));
  for (const outcome of outcomes(place)) expect(['equal', 'absent', 'wrong']).toContain(outcome);
  place.disk.setSpace(null);
  publishViews(place.store, 's-1');
  expect(outcomes(place)).toEqual(all('equal'));
});

test('I9: any log, published at any line, equals the rebuilt one', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryLines, fc.nat(), async (lines, at) => {
      const place = await TestStore.make();
      place.plant('s-1', lines.slice(0, (at % lines.length) + 1).join(''));
      // A writer's open gives the log a generation, which a cursor needs.
      await (await place.store.open('s-1')).close();
      publishViews(place.store, 's-1');
      place.plant('s-1', place.text('s-1', 'events.jsonl') + lines.slice((at % lines.length) + 1).join(''));
      for (const outcome of outcomes(place)) expect(['equal', 'stale']).toContain(outcome);
    }),
    { numRuns: 60 },
  );
});

test('documents hold what they say: state and digest of one view', async () => {
  const place = await TestStore.make();
  await place.write('s-1', turn);
  const [report] = rebuildViews(place.store, 's-1', 'publish', views.slice(0, 1));
  const { turnlog: _own, turnlog_seal: _seal, ...state } = place.json('s-1', 'activity');
  expect(report?.digest).toBe(
    logicalDigest({ view: 'activity', version: 1, state: state as Record<string, never> }),
  );
});
