import { createWriterLocks } from '@turnlog/fs';
import {
  carryOutCleanUp,
  deleteSession,
  listPins,
  parseTrashName,
  pinSession,
  planCleanUp,
  planDeletion,
  restoreSession,
  retentionPolicy,
  unpinSession,
} from '@turnlog/store';
import { BoundedStore, dayMs, hourMs } from './bounded-store.js';

function oldSession(id = 's-1'): BoundedStore {
  const bounded = new BoundedStore();
  bounded.add(id, { ageMs: 90 * dayMs });
  return bounded;
}

const aged = { maxAgeDays: 30 } as const;

describe('removal', () => {
  test('T-81, B157 all parts go to the trash, the ledger says what went; a directory that was deleted by hand is not listed', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    await (await store.open('s-1')).close();
    for (const name of [
      'archive/e-4.jsonl.gz',
      'derived/memory.json',
      'index/torn-1-00000000.bin',
      'strange',
    ]) {
      bounded.disk.plantFile(`${bounded.session('s-1')}/${name}`, Buffer.from(name));
    }
    const before = bounded.snapshot(bounded.session('s-1'));
    const manifest = JSON.parse(before.get(`${bounded.session('s-1')}/manifest.json`) ?? '');
    const { trash } = await deleteSession(store, 's-1');
    expect(trash).toMatch(/^s-1\.20261005T080000Z\.[0-9a-f]{8}$/);
    const moved = `${bounded.root}/trash/${trash}`;
    expect([...bounded.snapshot(moved)].map(([path, bytes]) => [path.slice(moved.length), bytes])).toEqual(
      [...before].map(([path, bytes]) => [path.slice(bounded.session('s-1').length), bytes]),
    );
    expect(await store.list()).toEqual([]);
    const lines = readLines(bounded, `${moved}/events.jsonl`);
    expect(await bounded.ledger()).toEqual([
      {
        key: `remove:s-1:${manifest.turnlog.generation}`,
        type: 'log.removed',
        session_id: 's-1',
        generation: manifest.turnlog.generation,
        reason: 'manual',
        first_seq: 1,
        last_seq: 4,
        events: 4,
        turns: 1,
        bytes: lines.length,
        last_ts: '2026-07-07T08:00:00.000Z',
        tree: { size: 4, root: manifest.turnlog.tree.root },
        trash,
      },
    ]);

    bounded.add('by-hand', { ageMs: hourMs });
    for (const path of [`${bounded.session('by-hand')}/events.jsonl`]) bounded.disk.removeFile(path);
    bounded.disk.removeDirectory(bounded.session('by-hand'));
    expect(await store.list()).toEqual([]);
    expect(store.has('by-hand')).toBe(false);
  });

  test('the order of a removal: lock, record, rename, both directories synced; the lock goes along, and nothing of it stays', async () => {
    const bounded = oldSession();
    const { disk, fs, clock, machine } = bounded;
    const locks = createWriterLocks({ ...machine, fs, clock, program: 'turnlog/test' });
    const store = await bounded.open({ locks });
    fs.journal.length = 0;
    const { trash } = await deleteSession(store, 's-1');
    const moved = `${bounded.root}/trash/${trash}`;
    const calls = fs.journal.map(({ verb, path }) => `${verb} ${path}`);
    const order = [
      `makeDirectory ${bounded.session('s-1')}/session.lock`,
      `syncDirectory ${bounded.root}`,
      `syncData ${bounded.root}/ledger/events.jsonl`,
      `rename ${bounded.session('s-1')}`,
      `syncDirectory ${bounded.root}/trash`,
      `syncDirectory ${bounded.root}/sessions`,
      `removeDirectory ${moved}/session.lock`,
    ];
    let from = 0;
    for (const call of order) {
      const at = calls.indexOf(call, from);
      expect([call, at >= from]).toEqual([call, true]);
      from = at + 1;
    }
    expect(disk.list(moved).map(({ name }) => name)).toEqual(['events.jsonl']);
    expect(bounded.ids()).toEqual([]);
    await restoreSession(store, trash);
    await (await store.open('s-1')).close();
    expect(disk.list(bounded.session('s-1')).filter(({ name }) => name.startsWith('session.'))).toEqual([]);
  });

  test('T-82, B160 of ids that share a prefix only the exact one goes; a shortened one that fits two is AMBIGUOUS_ID naming both', async () => {
    const bounded = new BoundedStore();
    for (const id of ['abcdefgh', 'abcdefgh-1', 'abcdefgh-2', 'ABCDEFGH-3'])
      bounded.add(id, { ageMs: hourMs });
    const store = await bounded.open();
    await expect(deleteSession(store, 'abcdefg')).rejects.toMatchObject({ code: 'TURNLOG_NOT_FOUND' });
    await deleteSession(store, 'abcdefgh');
    expect(bounded.ids()).toEqual(['ABCDEFGH-3', 'abcdefgh-1', 'abcdefgh-2']);
    expect(() => store.resolve('abcdefgh')).toThrow(
      expect.objectContaining({
        code: 'TURNLOG_AMBIGUOUS_ID',
        details: expect.objectContaining({ candidates: ['abcdefgh-1', 'abcdefgh-2'] }),
      }),
    );
    expect(store.resolve('abcdefgh-1')).toBe('abcdefgh-1');
  });

  test('T-76 a session that is being written, completed or not, is never touched', async () => {
    const bounded = new BoundedStore();
    bounded.add('running', { ageMs: 90 * dayMs, status: 'active' });
    bounded.add('ended', { ageMs: 90 * dayMs });
    const store = await bounded.open();
    const open = [await store.open('running'), await store.open('ended')];
    const before = bounded.snapshot();
    const plan = await bounded.plan({ maxAgeDays: 30, maxSessions: 1 });
    expect(plan.sessions.staying.map(({ why }) => why)).toEqual(['live', 'live']);
    expect(await bounded.removed({ maxAgeDays: 30, maxSessions: 1 })).toEqual([]);
    await expect(deleteSession(store, 'ended')).rejects.toMatchObject({ code: 'TURNLOG_LOCKED' });
    expect(() => planDeletion(store, 'ended')).toThrow(expect.objectContaining({ code: 'TURNLOG_LOCKED' }));
    expect(bounded.snapshot()).toEqual(before);
    for (const session of open) await session.close();
    expect(await bounded.removed({ maxAgeDays: 30 })).toEqual(['ended', 'running']);
  });

  test('the lock of a process that died holds nobody up; of one that cannot be judged it does', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    await store.open('s-1');
    bounded.lockTable.judge(bounded.session('s-1'), 'unknown');
    expect(await bounded.removed(aged)).toEqual([]);
    bounded.lockTable.crash();
    expect(await bounded.removed(aged)).toEqual(['s-1']);
    expect(bounded.lockTable.holders.size).toBe(0);
  });

  test('T-76 whoever comes between plan and removal wins: a writer, one who wrote, a pin, a removal', async () => {
    const bounded = new BoundedStore();
    for (const id of ['held', 'used', 'pinned', 'removed', 'old']) bounded.add(id, { ageMs: 90 * dayMs });
    const store = await bounded.open();
    const plan = planCleanUp(store, { policy: retentionPolicy(aged) });
    const held = await store.open('held');
    const used = await store.open('used');
    used.append({ type: 'turn.started' });
    await used.close();
    await pinSession(store, 'pinned', 'wanted');
    await deleteSession(store, 'removed');
    const report = await carryOutCleanUp(store, plan);
    expect(report.removed.map(({ id }) => id)).toEqual(['old']);
    expect(report.stayed).toEqual([
      { id: 'held', why: 'live' },
      { id: 'pinned', why: 'pinned' },
      { id: 'removed', why: 'gone' },
      { id: 'used', why: 'changed' },
    ]);
    await held.close();
    expect(bounded.ids()).toEqual(['held', 'pinned', 'used']);
  });

  test('T-76 an opener that waited while the session was removed makes a new one, and runs its work once', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    const held = await bounded.machine.locks.acquire(bounded.session('s-1'), {
      mode: 'owned',
      waitMs: 0,
      onLost: () => undefined,
    });
    let runs = 0;
    const waiting = store.transaction('s-1', (log) => {
      runs += 1;
      return log.append({ type: 'turn.started' }).seq;
    });
    bounded.disk.plantDirectory(`${bounded.root}/trash`);
    bounded.disk.rename(bounded.session('s-1'), `${bounded.root}/trash/s-1.20261005T080000Z.00000000`);
    await held.release();
    bounded.clock.advance(1_000);
    expect([await waiting, runs]).toEqual([1, 1]);
    expect(
      readLines(bounded, `${bounded.session('s-1')}/events.jsonl`)
        .toString()
        .split('\n'),
    ).toHaveLength(2);
    expect(bounded.trash()).toHaveLength(1);
  });

  test('a pin that comes while a removal is being recorded is seen: the session is judged again', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    const plan = planCleanUp(store, { policy: retentionPolicy(aged) });
    let isPinned = false;
    const { acquire } = bounded.machine.locks;
    const locks = {
      ...bounded.machine.locks,
      acquire: async (...given: Parameters<typeof acquire>) => {
        const [directory] = given;
        if (directory.endsWith('/ledger') && !isPinned) {
          isPinned = true;
          await pinSession(store, 's-1', 'at the last moment');
        }
        return await acquire(...given);
      },
    };
    const report = await carryOutCleanUp(await bounded.open({ locks }), plan);
    expect(report.stayed).toEqual([{ id: 's-1', why: 'pinned' }]);
    expect((await bounded.ledger()).map(({ type }) => type)).toEqual(['log.pinned']);
  });

  test('the first error stops the run, which says what was done; the next run does the rest', async () => {
    const bounded = new BoundedStore();
    for (const id of ['a', 'b', 'c']) bounded.add(id, { ageMs: 90 * dayMs });
    bounded.fs.setFault({
      call: 1,
      lasting: 'once',
      effect: { errno: 'EIO' },
      applies: ({ verb, path }) => verb === 'rename' && path === bounded.session('b'),
    });
    const report = await bounded.cleanUp(aged);
    expect(report).toMatchObject({
      removed: [{ id: 'a' }],
      failure: { at: 'b', error: { code: 'TURNLOG_IO' } },
      leftCount: 2,
    });
    expect(bounded.ids()).toEqual(['b', 'c']);
    expect(await bounded.removed(aged)).toEqual(['b', 'c']);
    expect((await bounded.ledger()).map(({ session_id }) => session_id)).toEqual(['a', 'b', 'c']);
  });

  test('removed, restored and removed again: each removal has its record; a new session of the id as well', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    await (await store.open('s-1')).close();
    const first = await deleteSession(store, 's-1');
    expect(await restoreSession(store, first.trash)).toBe('s-1');
    const second = await deleteSession(store, 's-1');
    expect(second.trash).not.toBe(first.trash);
    bounded.add('s-1', { ageMs: hourMs });
    await deleteSession(store, 's-1');
    const ledger = await bounded.ledger();
    expect(ledger.map(({ type }) => type)).toEqual([
      'log.removed',
      'log.restored',
      'log.removed',
      'log.removed',
    ]);
    const keys = ledger.filter(({ type }) => type === 'log.removed').map(({ key }) => key);
    expect(keys[1]).toBe(`${keys[0]}:2`);
    expect(new Set(keys).size).toBe(3);
    expect(bounded.trash()).toHaveLength(2);
  });

  test('a removal that was recorded long ago and never made is not taken up: the trash counts from now', async () => {
    const bounded = oldSession();
    bounded.fs.setFault({
      call: 1,
      lasting: 'once',
      effect: { errno: 'EIO' },
      applies: ({ verb, path }) => verb === 'rename' && path.includes('/sessions/'),
    });
    const store = await bounded.open();
    await expect(deleteSession(store, 's-1')).rejects.toMatchObject({ code: 'TURNLOG_IO' });
    bounded.clock.advance(60 * dayMs);
    const { trash } = await deleteSession(store, 's-1');
    expect(parseTrashName(trash)?.removedMs).toBe(bounded.clock.now());
    expect((await bounded.cleanUp({})).purged).toEqual([]);
  });
});

describe('pins', () => {
  test('T-77 pinned it is kept, unpinned removed; pins are listed of real directories only; without a root there is none', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    expect(listPins(await new BoundedStore().open()).size).toBe(0);
    expect(await pinSession(store, 's-1', 'the one with the fix')).toBe(true);
    const at = '2026-10-05T08:00:00.000Z';
    expect(readLines(bounded, `${bounded.session('s-1')}/pin.json`).toString()).toBe(
      `{"v":1,"reason":"the one with the fix","pinned_at":"${at}"}\n`,
    );
    expect(await bounded.ledger()).toEqual([
      { key: null, type: 'log.pinned', session_id: 's-1', reason: 'the one with the fix' },
    ]);
    expect([...listPins(store).values()]).toEqual([
      { sessionId: 's-1', reason: 'the one with the fix', pinnedAt: at },
    ]);
    expect(await bounded.removed({ maxAgeDays: 30, maxSessions: 1 })).toEqual([]);
    await expect(deleteSession(store, 's-1')).rejects.toMatchObject({
      code: 'TURNLOG_PINNED',
      details: { sessionId: 's-1', reason: 'the one with the fix' },
    });
    // A second time nothing has to be done; another reason takes the place of the first.
    expect(await pinSession(store, 's-1', 'the one with the fix')).toBe(false);
    expect(await pinSession(store, 's-1', 'another')).toBe(true);
    expect(await unpinSession(store, 's-1')).toBe(true);
    expect(await unpinSession(store, 's-1')).toBe(false);
    expect((await bounded.ledger()).map(({ type }) => type)).toEqual([
      'log.pinned',
      'log.pinned',
      'log.unpinned',
    ]);
    expect(listPins(store).size).toBe(0);
    expect(await bounded.removed(aged)).toEqual(['s-1']);
  });

  test('T-77 a pin of a session whose directory is gone, or a link, is not listed', async () => {
    const bounded = new BoundedStore();
    for (const id of ['here', 'moved']) bounded.add(id, { ageMs: hourMs });
    const store = await bounded.open();
    for (const id of ['here', 'moved']) await pinSession(store, id, 'r');
    bounded.disk.rename(bounded.session('moved'), '/data/moved');
    bounded.disk.plantLink(bounded.session('moved'), '/data/moved');
    expect([...listPins(store).keys()]).toEqual(['here']);
    await expect(pinSession(store, 'nobody', 'r')).rejects.toMatchObject({ code: 'TURNLOG_NOT_FOUND' });
    await expect(pinSession(store, '../x', 'r')).rejects.toMatchObject({
      code: 'TURNLOG_INVALID_SESSION_ID',
    });
  });

  test.each([
    ['the file alone', '{"v":1,"reason":"r","pinned_at":"2026-10-05T08:00:00.000Z"}\n', 'r'],
    ['a file that a crash left empty', '', null],
    ['a file of another form', '[1]', null],
  ] as const)('either protects: %s', async (_name, text, reason) => {
    const bounded = oldSession();
    bounded.disk.plantFile(`${bounded.session('s-1')}/pin.json`, Buffer.from(text));
    const store = await bounded.open();
    expect(listPins(store).get('s-1')).toMatchObject({ reason });
    expect(await bounded.removed(aged)).toEqual([]);
    expect(await unpinSession(store, 's-1')).toBe(true);
    expect(await bounded.removed(aged)).toEqual(['s-1']);
  });

  test('either protects: the ledger alone, which gives the file back', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    await pinSession(store, 's-1', 'r');
    bounded.disk.removeFile(`${bounded.session('s-1')}/pin.json`);
    expect(await bounded.removed(aged)).toEqual([]);
    expect(await pinSession(store, 's-1', 'r')).toBe(true);
    expect((await bounded.ledger()).length).toBe(1);
    expect(bounded.disk.status(`${bounded.session('s-1')}/pin.json`)).not.toBeNull();
  });
});

describe('trash', () => {
  test('is purged after its days, which the ledger is told with the bytes; 0 is never', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    const { trash } = await deleteSession(store, 's-1');
    const bytes = [...bounded.snapshot(`${bounded.root}/trash`).values()]
      .filter((text) => text !== 'directory')
      .join('').length;
    bounded.clock.advance(30 * dayMs);
    expect((await bounded.cleanUp({})).purged).toEqual([]);
    bounded.clock.advance(1);
    expect((await bounded.cleanUp({ trashDays: 0 })).purged).toEqual([]);
    expect((await bounded.plan({})).purging.map(({ name }) => name)).toEqual([trash]);
    expect((await bounded.cleanUp({})).purged).toEqual([{ name: trash, bytes }]);
    expect(bounded.trash()).toEqual([]);
    expect((await bounded.ledger()).at(-1)).toEqual({
      key: null,
      type: 'log.purged',
      session_id: 's-1',
      trash,
      bytes,
    });
  });

  test('all of it goes when that is asked for, also what lies there since a moment', async () => {
    const bounded = oldSession();
    await deleteSession(await bounded.open(), 's-1');
    expect((await bounded.cleanUp({}, { purge: 'everything' })).purged).toHaveLength(1);
    expect(bounded.trash()).toEqual([]);
  });

  test('restored by rename where the id is free, in any case', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    const before = bounded.snapshot(bounded.session('s-1'));
    const { trash } = await deleteSession(store, 's-1');
    bounded.add('S-1', { ageMs: 0 });
    await expect(restoreSession(store, trash)).rejects.toMatchObject({ code: 'TURNLOG_ID_COLLISION' });
    await deleteSession(store, 'S-1');
    bounded.add('s-1', { ageMs: 0 });
    await expect(restoreSession(store, trash)).rejects.toMatchObject({ code: 'TURNLOG_ID_COLLISION' });
    await deleteSession(store, 's-1');
    expect(await restoreSession(store, trash)).toBe('s-1');
    expect(bounded.snapshot(bounded.session('s-1'))).toEqual(before);
    expect((await bounded.ledger()).at(-1)).toEqual({
      key: null,
      type: 'log.restored',
      session_id: 's-1',
      trash,
    });
    for (const name of [trash, 's-1', '../sessions/s-1', '', `con.20261005T080000Z.00000000`]) {
      await expect(restoreSession(store, name)).rejects.toMatchObject({ code: 'TURNLOG_NOT_FOUND' });
    }
    expect(bounded.lockTable.holders.size).toBe(0);
  });

  test('what was moved there by hand gets its record at the next run; names of others are left alone', async () => {
    const bounded = oldSession();
    bounded.disk.plantDirectory(`${bounded.root}/trash`);
    bounded.disk.plantDirectory(`${bounded.root}/trash/somebody`);
    bounded.disk.plantLink(`${bounded.root}/trash/s-9.20200101T000000Z.00000000`, '/data');
    const name = 's-1.20261005T080000Z.0123abcd';
    bounded.disk.rename(bounded.session('s-1'), `${bounded.root}/trash/${name}`);
    expect((await bounded.plan({})).settling).toEqual([{ kind: 'record', name }]);
    await bounded.cleanUp({});
    await bounded.cleanUp({});
    expect(await bounded.ledger()).toMatchObject([
      { type: 'log.removed', session_id: 's-1', reason: 'manual', trash: name, events: 4 },
    ]);
    expect((await bounded.cleanUp({}, { purge: 'everything' })).purged.map((purged) => purged.name)).toEqual([
      name,
    ]);
    expect(bounded.trash()).toEqual(['s-9.20200101T000000Z.00000000', 'somebody']);
  });

  test('a session directory that exists is a session, whatever the ledger says', async () => {
    const bounded = oldSession();
    const store = await bounded.open();
    const { trash } = await deleteSession(store, 's-1');
    bounded.disk.rename(`${bounded.root}/trash/${trash}`, bounded.session('s-1'));
    expect((await store.list()).map(({ id }) => id)).toEqual(['s-1']);
    expect(await bounded.removed(aged)).toEqual(['s-1']);
  });
});

test.each([
  ['s-1.20261005T080000Z.0123abcd', 's-1'],
  ['a.20200101T000000Z.00000000.20261005T080000Z.0123abcd', 'a.20200101T000000Z.00000000'],
  ['s-1.20261305T080000Z.0123abcd', null],
  ['s-1.20260230T080000Z.0123abcd', null],
  ['s-1.20261005T080000Z.0123ABCD', null],
  ['.20261005T080000Z.0123abcd', null],
  ['nul.20261005T080000Z.0123abcd', null],
  ['../x.20261005T080000Z.0123abcd', null],
] as const)('a name in the trash: %s', (name, id) => {
  expect(parseTrashName(name)?.sessionId ?? null).toBe(id);
});

function readLines(bounded: BoundedStore, path: string): Buffer {
  return Buffer.from(bounded.disk.contentOf(path));
}
