import { publishDerived } from '@turnlog/fs';
import { publishViews, type RebuildReport, rebuildSession, views } from '@turnlog/views';
import { TestStore, turnCompleted, turnStarted } from './support.js';

const turn = [{ type: 'run.started', program: 'p', cwd: '/srv/a' }, turnStarted, turnCompleted(10, 1)];

async function recorded(): Promise<TestStore> {
  const place = await TestStore.make();
  await place.write('s-1', turn);
  await place.write('s-1', turn);
  return place;
}

function outcomesOf({ parts }: RebuildReport): Readonly<Record<string, string>> {
  return Object.fromEntries(parts.map(({ name, outcome }) => [name, outcome]));
}

const every = (outcome: string): Readonly<Record<string, string>> =>
  Object.fromEntries(views.map(({ name }) => [name, outcome]));

test('I3, I9: rebuilt and checked, everything is equal; checked again after more, it still is', async () => {
  const place = await recorded();
  const first = await rebuildSession(place.store, 's-1', { mode: 'check' });
  expect(outcomesOf(first)).toEqual({ index: 'equal', ...every('absent') });
  expect(first.driftCount).toBe(0);
  const published = await rebuildSession(place.store, 's-1', { mode: 'publish' });
  expect(published.parts.every(({ isPublished }) => isPublished)).toBe(true);
  const again = await rebuildSession(place.store, 's-1', { mode: 'check' });
  expect(outcomesOf(again)).toEqual({ index: 'equal', ...every('equal') });
  expect(again.parts.map(({ digest }) => digest)).toEqual(
    again.parts.map(({ publishedDigest }) => publishedDigest),
  );
  await place.write('s-1', turn);
  expect((await rebuildSession(place.store, 's-1', { mode: 'check' })).driftCount).toBe(0);
});

test('a check writes nothing', async () => {
  const place = await recorded();
  publishViews(place.store, 's-1');
  const before = place.disk.mutationCount;
  await rebuildSession(place.store, 's-1', { mode: 'check' });
  expect(place.disk.mutationCount).toBe(before);
});

test('the first difference is named, by a pointer and both values', async () => {
  const place = await recorded();
  publishViews(place.store, 's-1');
  const { turnlog_seal: _seal, ...document } = place.json('s-1', 'usage') as {
    turnlog_seal: unknown;
    turns: Record<string, unknown>[];
  };
  const [first, second] = document.turns;
  const changed = { ...document, turns: [first, { ...second, model: 'm/~x', stated_ms: 1 }] };
  publishDerived(place.disk, place.path('s-1', 'derived/usage.json'), JSON.stringify(changed));
  const report = await rebuildSession(place.store, 's-1', { mode: 'check', only: ['views'] });
  expect(report.driftCount).toBe(1);
  const usage = report.parts.find(({ name }) => name === 'usage');
  expect(usage).toMatchObject({ outcome: 'different', isPublished: false });
  expect(usage?.difference).toEqual({ place: '/state/turns/1/model', published: '"m/~x"', rebuilt: 'null' });
  expect(usage?.digest).not.toBe(usage?.publishedDigest);
  const mended = await rebuildSession(place.store, 's-1', { mode: 'publish', only: ['views'] });
  expect(mended.driftCount).toBe(1);
  expect((await rebuildSession(place.store, 's-1', { mode: 'check' })).driftCount).toBe(0);
});

test('a view that was cut short is drift, one that is missing is not', async () => {
  const place = await recorded();
  publishViews(place.store, 's-1');
  const path = place.path('s-1', 'derived/tools.json');
  place.disk.plantFile(path, Buffer.from(place.text('s-1', 'derived/tools.json')).subarray(0, 20));
  place.disk.removeFile(place.path('s-1', 'derived/files.json'));
  const report = await rebuildSession(place.store, 's-1', { mode: 'check' });
  expect(outcomesOf(report)).toMatchObject({ tools: 'wrong', files: 'absent', usage: 'equal' });
  expect(report.driftCount).toBe(1);
});

test('a manifest that claims another count or workspace is found, and rebuilt from the log', async () => {
  const place = await recorded();
  const path = place.path('s-1', 'manifest.json');
  const right = place.text('s-1', 'manifest.json');
  for (const [from, to, pointer] of [
    ['"turn_count":2', '"turn_count":7', '/state/turn_count'],
    ['"workspaces":["/srv/a"]', '"workspaces":["/srv/b"]', '/state/workspaces/0'],
    ['"event_count":6', '"event_count":9', '/state/event_count'],
  ] as const) {
    expect(right).toContain(from);
    place.disk.plantFile(path, Buffer.from(right.replace(from, to)));
    const report = await rebuildSession(place.store, 's-1', { mode: 'check', only: ['index'] });
    // A turn count that the turn index does not bear out makes the manifest no evidence at all.
    if (from.startsWith('"turn_count"')) expect(report.parts[0]?.outcome).toBe('stale');
    else expect(report.parts[0]).toMatchObject({ outcome: 'different', difference: { place: pointer } });
    await rebuildSession(place.store, 's-1', { mode: 'publish', only: ['index'] });
    expect(place.text('s-1', 'manifest.json')).toBe(right);
  }
});

test('B65: five sessions of which two have a manifest are five, and rebuilding gives the others theirs', async () => {
  const place = await TestStore.make();
  const ids = ['s-1', 's-2', 's-3', 's-4', 's-5'];
  for (const id of ids) await place.write(id, turn);
  const right = ids.map((id) => place.text(id, 'manifest.json').replace(/"generation":"[0-9a-f]{32}"/, ''));
  for (const id of ids.slice(2)) place.disk.removeFile(place.path(id, 'manifest.json'));
  expect((await place.store.list({ sort: 'id' })).map(({ id, turns }) => [id, turns])).toEqual(
    ids.map((id) => [id, 1]),
  );
  for (const id of ids) await rebuildSession(place.store, id, { mode: 'publish', only: ['index'] });
  const healed = ids.map((id) => place.text(id, 'manifest.json').replace(/"generation":"[0-9a-f]{32}"/, ''));
  expect(healed).toEqual(right);
});

test('a turn index that says something else is found, and rebuilt with the generation it had', async () => {
  const place = await recorded();
  publishViews(place.store, 's-1');
  const path = place.path('s-1', 'index/turns.jsonl');
  const right = place.text('s-1', 'index/turns.jsonl');
  place.disk.plantFile(path, Buffer.from(right.replace('"status":"completed"', '"status":"failed"   ')));
  const report = await rebuildSession(place.store, 's-1', { mode: 'check' });
  expect(report.parts[0]).toMatchObject({ outcome: 'different', difference: { place: '/turns/0/status' } });
  expect(report.driftCount).toBe(1);
  await rebuildSession(place.store, 's-1', { mode: 'publish', only: ['index'] });
  expect(place.text('s-1', 'index/turns.jsonl')).toBe(right);
  const after = await rebuildSession(place.store, 's-1', { mode: 'check' });
  expect(outcomesOf(after)).toEqual({ index: 'equal', ...every('equal') });
});

test('I3: manifest, index and views deleted and rebuilt are those that were there, generation apart', async () => {
  const place = await recorded();
  publishViews(place.store, 's-1');
  const names = ['manifest.json', 'index/turns.jsonl', ...views.map(({ name }) => `derived/${name}.json`)];
  const read = (): readonly string[] =>
    names.map((name) =>
      place
        .text('s-1', name)
        .replace(/"generation":"[0-9a-f]{32}"/, '')
        .replace(/"turnlog_seal":.*/, ''),
    );
  const before = read();
  for (const name of names) place.disk.removeFile(place.path('s-1', name));
  const checked = await rebuildSession(place.store, 's-1', { mode: 'check' });
  expect(outcomesOf(checked)).toEqual({ index: 'absent', ...every('absent') });
  await rebuildSession(place.store, 's-1', { mode: 'publish' });
  expect(read()).toEqual(before);
});

test('the index of a session that somebody writes to is left alone; its views are not held up', async () => {
  const place = await recorded();
  const log = await place.store.open('s-1');
  const index = place.text('s-1', 'index/turns.jsonl');
  const locked = expect.objectContaining({ code: 'TURNLOG_LOCKED' });
  await expect(rebuildSession(place.store, 's-1', { mode: 'publish' })).rejects.toThrow(locked);
  expect(place.text('s-1', 'index/turns.jsonl')).toBe(index);
  await rebuildSession(place.store, 's-1', { mode: 'publish', only: ['views'] });
  await log.close();
  expect((await rebuildSession(place.store, 's-1', { mode: 'check' })).driftCount).toBe(0);
});

test('a log of which no record can be read, and one that is not there, are told apart', async () => {
  const place = await TestStore.make();
  place.plant('s-1', 'rubbish\nrubbish\n');
  const code = async (id: string): Promise<unknown> =>
    rebuildSession(place.store, id, { mode: 'check' }).catch((error: { code: string }) => error.code);
  expect(await code('s-1')).toBe('TURNLOG_LOG_UNREADABLE');
  expect(await code('s-2')).toBe('TURNLOG_NOT_FOUND');
  expect(await code('../s-1')).toBe('TURNLOG_INVALID_SESSION_ID');
});
