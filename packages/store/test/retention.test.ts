import {
  carryOutCleanUp,
  conversation,
  deleteSession,
  listPins,
  openStore,
  pinSession,
  planCleanUp,
  type RetentionOptions,
  retentionPolicy,
  unpinSession,
} from '@turnlog/store';
import { BoundedStore, dayMs, hourMs } from './bounded-store.js';

const five: readonly (readonly [id: string, ageDays: number])[] = [
  ['s-1', 50],
  ['s-2', 40],
  ['s-3', 35],
  ['s-4', 2],
  ['s-5', 1],
];

function fiveSessions(): BoundedStore {
  const bounded = new BoundedStore();
  for (const [id, ageDays] of five) bounded.add(id, { ageMs: ageDays * dayMs });
  return bounded;
}

describe('who goes', () => {
  test('T-73 of five sessions three are over age: with at most 4 and 30 days three are removed, the oldest by count', async () => {
    const bounded = fiveSessions();
    const report = await bounded.cleanUp({ maxSessions: 4, maxAgeDays: 30 });
    expect(report.removed.map(({ id, reason }) => [id, reason])).toEqual([
      ['s-1', 'count'],
      ['s-2', 'age'],
      ['s-3', 'age'],
    ]);
    expect(bounded.ids()).toEqual(['s-4', 's-5']);
  });

  test('T-73 one over age under the count is removed', async () => {
    const bounded = new BoundedStore();
    bounded.add('old', { ageMs: 31 * dayMs });
    bounded.add('new', { ageMs: dayMs });
    const report = await bounded.cleanUp({ maxSessions: 4, maxAgeDays: 30 });
    expect(report.removed.map(({ id, reason }) => [id, reason])).toEqual([['old', 'age']]);
  });

  const active: readonly (readonly [
    name: string,
    options: RetentionOptions,
    ageDays: number,
    more: { keep?: readonly string[]; status?: 'active' | 'completed' },
    gone: boolean,
  ])[] = [
    ['an active one of today stays', { maxSessions: 1, maxAgeDays: 30 }, 1, {}, false],
    ['an active one over age is removed', { maxSessions: 1, maxAgeDays: 30 }, 31, {}, true],
    ['both off: an active one over any age stays', {}, 4_000, {}, false],
    ['both off: a completed one over any age stays', {}, 4_000, { status: 'completed' }, false],
    [
      'the current session stays, however old',
      { maxSessions: 1, maxAgeDays: 30 },
      4_000,
      { keep: ['it'] },
      false,
    ],
    ['0 and 0 remove nothing', { maxSessions: 0, maxAgeDays: 0 }, 4_000, {}, false],
    [
      '0 and 0 remove nothing, of completed ones either',
      { maxSessions: 0, maxAgeDays: 0 },
      4_000,
      { status: 'completed' },
      false,
    ],
  ];

  test.each(active)('T-74 %s', async (_name, options, ageDays, { keep = [], status = 'active' }, isGone) => {
    const bounded = new BoundedStore();
    bounded.add('it', { ageMs: ageDays * dayMs, status });
    bounded.add('other', { ageMs: hourMs, status: 'active' });
    const before = bounded.snapshot(bounded.session('it'));
    expect(await bounded.removed(options, { keep })).toEqual(isGone ? ['it'] : []);
    const after = bounded.snapshot(
      isGone ? `${bounded.root}/trash/${bounded.trash()[0]}` : bounded.session('it'),
    );
    // Neither log nor manifest of an abandoned one is edited.
    expect([...after.values()]).toEqual([...before.values()]);
  });

  test('T-79, B155, B158 age is that of the last event: mtime 60 days back, a start 100 days ago, times with offsets', async () => {
    const bounded = new BoundedStore();
    bounded.add('touched', { ageMs: hourMs });
    bounded.add('long', { ageMs: hourMs });
    const begun = new Date(bounded.clock.now() - 100 * dayMs).toISOString();
    const lines = Buffer.from(bounded.disk.contentOf(`${bounded.session('long')}/events.jsonl`)).toString();
    bounded.plant('long', [lines.replace(/"ts":"[^"]*"/, `"ts":"${begun}"`)]);
    // The same instant, written in two ways: as text the second would be later by 13 hours.
    const offset = (ms: number): string => `${new Date(ms + 13 * hourMs).toISOString().slice(0, 19)}+13:00`;
    bounded.add('utc', { ageMs: 30 * dayMs - hourMs });
    bounded.add('offset-young', { ageMs: 30 * dayMs - hourMs, written: offset });
    bounded.add('offset-old', { ageMs: 30 * dayMs + hourMs, written: offset });
    for (const id of bounded.ids()) {
      const past = bounded.clock.now() - 60 * dayMs;
      for (const path of [bounded.session(id), `${bounded.session(id)}/events.jsonl`]) {
        bounded.disk.setTimes(path, past, past);
      }
    }
    expect(await bounded.removed({ maxAgeDays: 30 })).toEqual(['offset-old']);
    // A dry run comes first, and what goes lies in the trash.
    expect(bounded.trash()).toHaveLength(1);
  });

  test('T-79 an unknown time is never old, neither by age nor by count', async () => {
    const bounded = new BoundedStore();
    bounded.plant('unknown', [
      '{"schema_version":"0.18.0","event":{"type":"thread.completed","thread_id":"t"}}\n',
    ]);
    bounded.add('old', { ageMs: 31 * dayMs });
    bounded.add('new', { ageMs: hourMs });
    expect(await bounded.removed({ maxSessions: 1, maxAgeDays: 30 })).toEqual(['old', 'new']);
    expect(bounded.ids()).toEqual(['unknown']);
  });

  test('T-78, B77 without records: a new one stays, after an hour it goes, whatever its mtime; a first turn that crashed and an import stay', async () => {
    const bounded = new BoundedStore();
    bounded.plant('empty', []);
    bounded.plantDirectories();
    bounded.disk.plantDirectory(bounded.session('without-log'));
    bounded.plant('crashed', ['{"schema_version":"0.18.0","event":{"type":"turn.started"}}\n']);
    bounded.plant('torn', ['{"schema_version":"0.18.0","ev']);
    bounded.plant('imported', [
      `{"schema_version":"0.18.0","event":{"type":"log.imported","source":{"kind":"vtcode","session_id":"x","bytes":0,"sha256":"${'0'.repeat(64)}"},"records":0,"damage_count":0,"turn_base":1,"schema_versions":[]}}\n`,
    ]);
    bounded.plant('with-view', []);
    bounded.disk.plantFile(`${bounded.session('with-view')}/derived/memory.json`, Buffer.from('{}'));
    bounded.plant('lost', []);
    bounded.disk.removeFile(`${bounded.session('lost')}/events.jsonl`);
    bounded.disk.plantFile(`${bounded.session('lost')}/manifest.json`, Buffer.from('{}'));
    expect(await bounded.removed({})).toEqual([]);
    bounded.clock.advance(hourMs - 1);
    for (const id of bounded.ids()) bounded.disk.setTimes(bounded.session(id), 0, 0);
    expect(await bounded.removed({})).toEqual([]);
    bounded.clock.advance(1);
    for (const id of bounded.ids()) {
      const now = bounded.clock.now();
      bounded.disk.setTimes(bounded.session(id), now, now);
    }
    const report = await bounded.cleanUp({});
    expect(report.removed.map(({ id, reason }) => [id, reason])).toEqual([
      ['empty', 'empty'],
      ['without-log', 'empty'],
    ]);
    expect(bounded.ids()).toEqual(['crashed', 'imported', 'lost', 'torn', 'with-view']);
    // Off is off.
    bounded.plant('another', []);
    bounded.clock.advance(400 * dayMs);
    expect(await bounded.removed({ emptyAfterMs: 0 })).toEqual([]);
  });

  test('B77 a session that is opened five times without a message leaves no directory', async () => {
    const bounded = new BoundedStore();
    const store = await bounded.open();
    for (let time = 0; time < 5; time += 1) await (await store.open('s-1')).close();
    expect(bounded.ids()).toEqual([]);
  });

  test('B162 retention: when everything is older than the window, the newest N stay', async () => {
    const bounded = fiveSessions();
    bounded.clock.advance(1_000 * dayMs);
    expect(await bounded.removed({ maxSessions: 2 })).toEqual(['s-1', 's-2', 's-3']);
    expect(bounded.ids()).toEqual(['s-4', 's-5']);
  });

  test('all sessions count, also those that cannot go', async () => {
    const bounded = fiveSessions();
    bounded.add('live', { ageMs: hourMs, status: 'active' });
    bounded.plant('bad', ['no record\n']);
    expect(await bounded.removed({ maxSessions: 5 }, { keep: ['s-1'] })).toEqual(['s-2', 's-3']);
  });
});

describe('forks', () => {
  test('T-105, B62 a fork of an old session adds less than 1 MB; its parent stays through retention while it is there, and goes after it was removed', async () => {
    const bounded = new BoundedStore();
    const store = await bounded.open();
    const parent = await store.open('parent');
    for (let count = 0; count < 40; count += 1) {
      parent.append({ raw: `{"type":"x.test.note","text":"${'x'.repeat(100_000)}"}` });
    }
    await parent.close();
    const { lastSeq } = store.summarize('parent');
    const before = bounded.disk.usedBytes;
    expect(before).toBeGreaterThan(4_000_000);
    bounded.clock.advance(90 * dayMs);
    const fork = await store.open('fork');
    fork.append({
      type: 'run.started',
      program: 'agent',
      cwd: '/w',
      forked_from: { session: 'parent', seq: lastSeq },
    });
    await fork.close();
    expect(bounded.disk.usedBytes - before).toBeLessThan(1_000_000);
    expect([...conversation(store, 'fork')].length).toBe(41);
    expect(await bounded.removed({ maxAgeDays: 30 })).toEqual([]);
    await deleteSession(store, 'fork');
    expect(await bounded.removed({ maxAgeDays: 30 })).toEqual(['parent']);
  });

  test('a parent stays while a fork of it stays, and is the next when its last fork goes', async () => {
    const bounded = new BoundedStore();
    bounded.add('parent', { ageMs: 90 * dayMs });
    bounded.add('fork-1', { ageMs: 50 * dayMs, forkedFrom: 'parent' });
    bounded.add('fork-2', { ageMs: dayMs, forkedFrom: 'parent' });
    bounded.add('aside', { ageMs: 60 * dayMs });
    const plan = await bounded.plan({ maxAgeDays: 30 });
    expect(plan.sessions.going.map(({ session }) => session.id)).toEqual(['aside', 'fork-1']);
    expect(plan.sessions.staying.find(({ session }) => session.id === 'parent')).toMatchObject({
      why: 'fork',
      fork: 'fork-2',
    });
    expect(await bounded.removed({ maxAgeDays: 30 })).toEqual(['aside', 'fork-1']);
    bounded.clock.advance(40 * dayMs);
    expect(await bounded.removed({ maxAgeDays: 30 })).toEqual(['fork-2', 'parent']);
  });

  test('by count the oldest that may go goes in place of the parent; forks in a ring and of themselves hold nobody up', async () => {
    const bounded = new BoundedStore();
    bounded.add('parent', { ageMs: 90 * dayMs });
    bounded.add('fork', { ageMs: 10 * dayMs, forkedFrom: 'parent' });
    bounded.add('aside', { ageMs: 5 * dayMs });
    bounded.add('own', { ageMs: 4 * dayMs, forkedFrom: 'own' });
    expect((await bounded.plan({ maxSessions: 3 })).sessions.going.map(({ session }) => session.id)).toEqual([
      'fork',
    ]);
    expect((await bounded.plan({ maxSessions: 2 })).sessions.going.map(({ session }) => session.id)).toEqual([
      'fork',
      'parent',
    ]);
    expect((await bounded.plan({ maxSessions: 1, maxAgeDays: 1 })).sessions.going).toHaveLength(4);
    const ring = new BoundedStore();
    ring.add('a', { ageMs: 90 * dayMs, forkedFrom: 'b' });
    ring.add('b', { ageMs: 90 * dayMs, forkedFrom: 'a' });
    expect(await ring.removed({ maxAgeDays: 30 })).toEqual([]);
  });

  test('a fork that came after the plan keeps its parent', async () => {
    const bounded = new BoundedStore();
    bounded.add('parent', { ageMs: 90 * dayMs });
    const store = await bounded.open();
    const plan = planCleanUp(store, { policy: retentionPolicy({ maxAgeDays: 30 }) });
    bounded.add('fork', { ageMs: 0, forkedFrom: 'parent' });
    const report = await carryOutCleanUp(store, plan);
    expect(report.stayed).toEqual([{ id: 'parent', why: 'fork' }]);
    expect(bounded.ids()).toEqual(['fork', 'parent']);
  });
});

describe('values', () => {
  const names = ['maxSessions', 'maxAgeDays', 'emptyAfterMs', 'trashDays'] as const;
  const given = (name: (typeof names)[number], value: unknown): RetentionOptions =>
    Object.assign({}, { [name]: value });

  test.each(names)(
    'T-80, B159 %s: 0 is off, -1, NaN, fractions and "30" are refused, 1e9 and more saturate',
    async (name) => {
      const key = {
        maxSessions: 'maxSessions',
        maxAgeDays: 'maxAgeMs',
        emptyAfterMs: 'emptyAfterMs',
        trashDays: 'trashMs',
      } as const;
      expect(retentionPolicy(given(name, 0))[key[name]]).toBeNull();
      for (const value of [-1, Number.NaN, '30', 0.5, Number.NEGATIVE_INFINITY, null, true]) {
        expect(() => retentionPolicy(given(name, value))).toThrow(
          expect.objectContaining({ code: 'TURNLOG_BAD_CONFIG', details: expect.objectContaining({ name }) }),
        );
      }
      for (const value of [1e9, 1e300, Number.POSITIVE_INFINITY]) {
        const policy = retentionPolicy(given(name, value));
        const ceiling = name === 'maxSessions' ? Number.MAX_SAFE_INTEGER : 36_500 * dayMs;
        expect(policy[key[name]]).toBeLessThanOrEqual(ceiling);
        expect(policy[key[name]]).toBeGreaterThan(0);
        const bounded = fiveSessions();
        if (name !== 'emptyAfterMs') expect(await bounded.removed(given(name, value))).toEqual([]);
      }
    },
  );

  test('T-80 what is not said is off for count and age, an hour for empty ones, 30 days for the trash', () => {
    expect(retentionPolicy({})).toEqual({
      maxSessions: null,
      maxAgeMs: null,
      emptyAfterMs: hourMs,
      trashMs: 30 * dayMs,
    });
  });
});

describe('what is not followed', () => {
  test('T-75, B110 links: an entry is skipped, `sessions` itself refused, a root resolved once; manifests name nothing; a pin that is one is UNSAFE_PATH', async () => {
    const bounded = fiveSessions();
    bounded.disk.plantDirectory('/outside');
    bounded.disk.plantDirectory('/outside/s-9');
    bounded.disk.plantFile(
      '/outside/s-9/events.jsonl',
      bounded.disk.contentOf(`${bounded.session('s-1')}/events.jsonl`),
    );
    const outside = bounded.snapshot('/outside');
    bounded.disk.plantLink(bounded.session('s-9'), '/outside/s-9');
    bounded.disk.plantLink(bounded.session('gone'), '/nowhere');
    bounded.disk.plantFile(
      `${bounded.session('s-1')}/manifest.json`,
      Buffer.from('{"session_id":"../outside/s-9","turnlog":{}}'),
    );
    bounded.disk.plantLink(`${bounded.session('s-2')}/pin.json`, '/outside/s-9/events.jsonl');
    bounded.disk.plantLink(`${bounded.session('s-3')}/manifest.json`, '/outside/s-9/events.jsonl');
    bounded.disk.plantLink(`${bounded.session('s-4')}/manifest.json`, '/nowhere');
    const plan = await bounded.plan({ maxSessions: 1, maxAgeDays: 1 });
    const stays = new Map(plan.sessions.staying.map(({ session, why }) => [session.id, why]));
    for (const id of ['s-9', 'gone', 's-2', 's-3', 's-4'])
      expect([id, stays.get(id)]).toEqual([id, 'unsafe']);
    expect(await bounded.removed({ maxSessions: 1, maxAgeDays: 1 })).toEqual(['s-1', 's-5']);
    const store = await bounded.open();
    await expect(pinSession(store, 's-2', 'x')).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
    await expect(unpinSession(store, 's-2')).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
    await expect(deleteSession(store, 's-2')).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
    await expect(deleteSession(store, 's-9')).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
    expect(bounded.snapshot('/outside')).toEqual(outside);
    expect(listPins(store).size).toBe(0);

    bounded.disk.plantLink('/data/link', bounded.root);
    const linked = await openStore({ root: '/data/link', environment: bounded.machine, cwd: '/', env: {} });
    expect(linked.root).toBe(bounded.root);
    const throughLink = planCleanUp(linked, { policy: retentionPolicy({ maxAgeDays: 1 }) });
    expect(throughLink.sessions.staying.find(({ session }) => session.id === 's-9')?.why).toBe('unsafe');

    const swapped = new BoundedStore();
    swapped.disk.plantDirectory('/data');
    swapped.disk.plantDirectory(swapped.root);
    swapped.disk.plantDirectory('/outside');
    swapped.disk.plantDirectory('/outside/s-9');
    swapped.disk.plantLink(`${swapped.root}/sessions`, '/outside');
    await expect(swapped.cleanUp({ maxAgeDays: 1 })).rejects.toMatchObject({ code: 'TURNLOG_UNSAFE_PATH' });
    expect(swapped.disk.status('/outside/s-9')?.kind).toBe('directory');
  });

  test('a name that is no id, a plain file and an import under way are no candidates', async () => {
    const bounded = new BoundedStore();
    bounded.add('old', { ageMs: 90 * dayMs });
    bounded.disk.plantDirectory(`${bounded.root}/sessions/.import-0123456789abcdef`);
    bounded.disk.plantDirectory(`${bounded.root}/sessions/con`);
    bounded.disk.plantFile(`${bounded.root}/sessions/note`, Buffer.from('x'));
    bounded.clock.advance(dayMs);
    expect(await bounded.removed({ maxSessions: 1, maxAgeDays: 30 })).toEqual(['old']);
    expect(bounded.ids()).toEqual(['.import-0123456789abcdef', 'con', 'note']);
  });
});
