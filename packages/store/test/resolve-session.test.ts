import type { Store } from '@turnlog/store';
import { TestStore } from './support.js';

async function storeWith(
  sessions: Readonly<Record<string, readonly object[]>>,
): Promise<{ readonly store: Store; readonly machine: TestStore }> {
  const machine = new TestStore();
  const store = await machine.open();
  for (const [id, events] of Object.entries(sessions)) {
    machine.clock.advance(1_000);
    const session = await store.open(id);
    for (const event of events) session.append({ raw: JSON.stringify(event) });
    await session.close();
  }
  return { store, machine };
}

const titled = (title: string): readonly object[] => [{ type: 'journal.set', title }];
const inPlace = (workspace: string): readonly object[] => [
  { type: 'run.started', program: 'p', cwd: workspace },
];

test('a whole id means itself, also when others begin with it', async () => {
  const { store } = await storeWith({ parser: titled('x'), 'parser-2': titled('y') });
  expect(store.resolve('parser')).toBe('parser');
  expect(store.resolve('parser-')).toBe('parser-2');
});

test('L-50: a beginning of four characters or more stands for the one id that has it', async () => {
  const { store } = await storeWith({ 'abcd-1': titled('x'), 'abcd-2': titled('y'), 'wxyz-1': titled('z') });
  expect(store.resolve('wxyz')).toBe('wxyz-1');
  expect(() => store.resolve('wxy')).toThrow(expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }));
  expect(() => store.resolve('abcd')).toThrow(
    expect.objectContaining({
      code: 'TURNLOG_AMBIGUOUS_ID',
      details: expect.objectContaining({ candidates: ['abcd-1', 'abcd-2'] }),
    }),
  );
});

test('a title stands for the one session that has it; all that share it are named', async () => {
  const { store } = await storeWith({
    's-0001': titled('Fix the parser'),
    's-0002': titled('Two of a kind'),
    's-0003': titled('Two of a kind'),
    's-0004': titled('wordlike'),
  });
  expect(store.resolve('Fix the parser')).toBe('s-0001');
  expect(store.resolve('wordlike')).toBe('s-0004');
  expect(() => store.resolve('Two of a kind')).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ candidates: ['s-0002', 's-0003'] }) }),
  );
  expect(() => store.resolve('No such title')).toThrow(
    expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }),
  );
});

test('@last is the session with the newest event, of all or of one workspace', async () => {
  const { store, machine } = await storeWith({
    first: inPlace('/srv/a'),
    second: inPlace('/srv/b'),
    third: inPlace('/srv/a'),
  });
  expect(store.resolve('@last')).toBe('third');
  expect(store.resolve('@last:/srv/b')).toBe('second');
  expect(store.resolve('@last:srv/b')).toBe('second');
  machine.clock.advance(1_000);
  await store.transaction('first', (log) => log.append({ type: 'error', message: 'later' }));
  expect(store.resolve('@last:/srv/a')).toBe('first');
  expect(() => store.resolve('@last:/srv/c')).toThrow(expect.objectContaining({ code: 'TURNLOG_NOT_FOUND' }));
});
