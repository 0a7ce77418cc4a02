import { limits } from '@turnlog/kernel';
import type { ChunkFields } from '../src/chunk.js';
import { ChunkTexts } from '../src/chunk-texts.js';
import type { LexicalIndex } from '../src/lexical-index.js';
import { searchSubstring } from '../src/substring-search.js';
import { PackedStore } from './packed-store.js';
import { plainPlan } from './packed-world.js';

const neverOver = (): boolean => false;

/** An index of so many chunks, the first the newest; every second one is of a tool. */
function indexOf(count: number): LexicalIndex {
  const fieldsOf = (seq: number): ChunkFields => {
    const place = { session: 's', seq, n: 0, turn: null, tsMs: null, tool: null, paths: [] };
    return { ...place, role: seq % 2 === 0 ? 'tool' : 'agent', kind: 'message' };
  };
  return {
    name: 'packed',
    state: { kind: 'ready' },
    revision: 'x',
    query: () => {
      throw new Error('no term is asked for');
    },
    fieldsOf: ({ seq }) => fieldsOf(seq),
    sessionInfo: (session) => ({ session, workspaces: [], agent: 'primary' }),
    *newestFirst() {
      for (let seq = 1; seq <= count; seq += 1) yield { session: 's', seq, n: 0 };
    },
    close: () => undefined,
  };
}

test('a text without a word is looked for in the 20,000 newest chunks that the filters let through, and in no more', async () => {
  const texts = new ChunkTexts((await PackedStore.open()).store);
  const sought = new Set([1, 20_000, 20_001, 39_999, 40_001]);
  const look = jest.spyOn(texts, 'text').mockImplementation(({ seq }) => (sought.has(seq) ? 'a => b' : 'x'));
  const all = searchSubstring('=>', plainPlan, indexOf(50_000), texts, neverOver);
  expect(limits.substringChunksMax).toBe(20_000);
  expect([all.hits.map(({ seq }) => seq), all.isCut]).toEqual([[1, 20_000], true]);
  expect(look).toHaveBeenCalledTimes(20_000);
  const plan = { ...plainPlan, filters: { ...plainPlan.filters, roles: ['agent'] as const } };
  const some = searchSubstring('=>', plan, indexOf(50_000), texts, neverOver);
  expect([some.hits.map(({ seq }) => seq), some.isCut]).toEqual([[1, 20_001, 39_999], true]);
  const whole = searchSubstring('=>', plainPlan, indexOf(20_000), texts, neverOver);
  expect([whole.hits.length, whole.isCut]).toEqual([2, false]);
});
