import { asked, ended, listIn, type Reply, said, World } from './world.js';

const hardCap = 65_536;
const byDefault = 16_384;

/** Many sessions with long paths, long texts and texts that JSON makes longer. */
function crowded(longest: number): World {
  const world = new World();
  const wide = `/w/${'w'.repeat(700)}`;
  const heavy = '\u0007"\\é'.repeat(400);
  for (let at = 0; at < 14; at += 1) {
    const paths = Array.from({ length: 8 }, (_, n) => ({
      path: `src/${at}/${'d'.repeat(900)}/${n}.ts`,
      kind: 'add',
    }));
    world.plant(`session-${at}`, [
      { type: 'run.started', program: 'p', version: '1', cwd: wide, workspace: wide },
      { type: 'journal.set', title: `title ${at} ${heavy}` },
      { type: 'turn.started' },
      asked('m1', `find the needle ${heavy}`),
      {
        type: 'item.completed',
        item: { id: 'f1', type: 'file_change', status: 'completed', changes: paths },
      },
      {
        type: 'item.completed',
        item: {
          id: 'f2',
          type: 'file_change',
          status: 'completed',
          changes: [{ path: 'src/needle.ts', kind: 'update' }, ...paths],
        },
      },
      said('a1', `the needle ${'x'.repeat(at === 7 ? longest : 2_000)}`),
      ended,
    ]);
  }
  return world;
}

const tools: readonly (readonly [tool: string, list: string, input: object])[] = [
  ['turnlog_search', 'hits', { text: 'needle', limit: 100 }],
  ['turnlog_timeline', 'turns', { session: 'session-7' }],
  ['turnlog_get', 'records', { session: 'session-7' }],
  ['turnlog_blame', 'records', { path: 'src/needle.ts', limit: 100 }],
  ['turnlog_stats', 'rows', { by: ['session'], limit: 500 }],
];

test.each(tools)('%s keeps within its bytes', async (tool, list, input) => {
  const world = crowded(tool === 'turnlog_search' ? 40_000 : 1_048_576);
  for (const [maxBytes, bytesMax] of [
    [undefined, byDefault],
    [4_096, 4_096],
    [hardCap, hardCap],
    [10_000_000, hardCap],
  ] as const) {
    const { bytes, isError } = await world.one(tool, {
      ...input,
      ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
    });
    expect([tool, maxBytes, isError, bytes <= bytesMax]).toEqual([tool, maxBytes, false, true]);
  }
  const small = await world.one(tool, { ...input, max_bytes: 6_000 });
  const large = await world.one(tool, { ...input, max_bytes: hardCap });
  expect(listIn(small, list).length).toBeLessThanOrEqual(listIn(large, list).length);
});

const identity = (item: Readonly<Record<string, unknown>>): string =>
  String(
    item['id'] ?? (item['session'] === undefined ? item['turn'] : `${item['session']}:${item['seq'] ?? ''}`),
  );

test.each(tools)('%s comes to an end by its cursors, and passes nothing twice', async (tool, list, input) => {
  const world = crowded(40_000);
  const seen: string[] = [];
  let cursor: unknown;
  let pages = 0;
  do {
    const reply: Reply = await world.one(tool, {
      ...input,
      max_bytes: 12_000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    expect([reply.isError, reply.bytes <= 12_000]).toEqual([false, true]);
    seen.push(...listIn(reply, list).map(identity));
    cursor = reply.document['next_cursor'] ?? undefined;
    pages += 1;
    expect(pages).toBeLessThan(100);
  } while (cursor !== undefined);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.length).toBeGreaterThan(0);
});

test('an error keeps within the bytes of an answer, whatever there is to say', async () => {
  const world = new World();
  for (let at = 0; at < 900; at += 1)
    world.plant(`many-${at}-${'x'.repeat(100)}`, [{ type: 'turn.started' }]);
  const { isError, bytes, document } = await world.one('turnlog_get', { session: 'many' });
  expect([isError, Object(document['error']).code]).toEqual([true, 'TURNLOG_AMBIGUOUS_ID']);
  expect(bytes).toBeLessThanOrEqual(byDefault);
});
