import { limits } from '@turnlog/kernel';
import { chooseTerms } from '../src/choose-terms.js';
import { help, PackedWorld, plainPlan, startMs } from './packed-world.js';

test('of very many terms the 64 rarest are kept, equals by their bytes, in the order in which they were typed', () => {
  const world = new PackedWorld();
  world.session('s', 'primary', []);
  const names = Array.from({ length: 70 }, (_, at) => `w${String((at * 31) % 70).padStart(2, '0')}`);
  const add = (seq: number, words: readonly string[]): void => {
    const place = { session: 's', seq, n: 0, turn: null, tsMs: startMs, tool: null, paths: [] };
    const terms = new Map(words.map((word) => [word, 1]));
    world.add({
      fields: { ...place, role: 'agent', kind: 'message' },
      len: words.length,
      terms,
      itemId: null,
    });
  };
  add(1, names);
  // The most frequent ones go first, though their bytes come first.
  add(2, ['w00', 'w01']);
  const plan = { ...plainPlan, terms: names.map((text) => ({ kind: 'token', text }) as const) };
  const { plan: kept, droppedCount } = chooseTerms(plan, world.index, help);
  const dropped = new Set(['w00', 'w01', 'w66', 'w67', 'w68', 'w69']);
  expect([limits.queryTermsMax, droppedCount]).toEqual([64, 6]);
  expect(kept.terms.map(({ text }) => text)).toEqual(names.filter((name) => !dropped.has(name)));
});
