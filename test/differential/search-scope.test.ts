import type { SearchRequest } from '@turnlog/search';
import { SeededRandom } from '@turnlog/testkit';
import { idsOf, type SearchedStore, withSearchedStore } from './searched-store.js';

const filters = (
  ...written: readonly (readonly ['session' | 'role' | 'kind' | 'tool' | 'workspace', readonly string[]])[]
) => new Map(written);

const words = ['disk', 'full', 'parser', 'lines', 'lost', 'token', 'retry', 'cache'];

async function begin(place: SearchedStore, session: string, agent: string, workspace: string): Promise<void> {
  await place.append(session, [{ type: 'run.started', program: 'p', cwd: workspace, agent }]);
}

/** Sessions of people, programs and sub-agents, with messages, calls, outputs and context. */
async function fill(place: SearchedStore, seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const pick = (): string => words[random.below(words.length)] ?? '';
  const text = (): string => Array.from({ length: 3 + random.below(12) }, pick).join(' ');
  for (let session = 0; session < 8; session += 1) {
    const id = `s${session}`;
    const agent = ['primary', 'primary', 'headless', 'subagent'][session % 4] ?? 'primary';
    await begin(place, id, agent, `/w${session % 3}`);
    const events = Array.from({ length: 20 }, (_, at) => {
      const item = { id: `i${at}`, type: 'agent_message', text: text() };
      const kind = random.below(4);
      if (kind === 0) return { type: 'item.completed', item };
      if (kind === 1) {
        return {
          type: 'user.message',
          id: `m${at}`,
          origin: 'prompt',
          content: [{ type: 'text', text: text() }],
        };
      }
      if (kind === 2) {
        return {
          type: 'user.message',
          id: `m${at}`,
          origin: 'injected',
          content: [{ type: 'text', text: text() }],
        };
      }
      const call = { id: `c${at}`, type: 'tool_invocation', tool_name: pick(), status: 'completed' };
      return { type: 'item.completed', item: { ...call, arguments: { text: text() } } };
    });
    await place.append(id, events);
  }
}

test('Q-11 a wider scope keeps every hit of the narrower one', async () => {
  await withSearchedStore(async (place) => {
    await fill(place, 11);
    const random = new SeededRandom(12);
    const some = (values: readonly string[]): readonly string[] =>
      values.filter(() => random.below(2) === 0).slice(0, values.length - 1);
    const fields = [
      ['session', ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']],
      ['workspace', ['/w0', '/w1', '/w2']],
      ['role', ['user', 'agent', 'tool']],
      ['kind', ['message', 'context', 'tool_call']],
    ] as const;
    for (let round = 0; round < 40; round += 1) {
      const [field, values] = fields[round % fields.length] ?? fields[0];
      const narrow = some(values);
      const added = values.find((value) => !narrow.includes(value)) ?? '';
      if (narrow.length === 0) continue;
      const text = `${words[random.below(words.length)]} ${words[random.below(words.length)]}`;
      const all = { text, limit: 100, includeHidden: round % 2 === 0 };
      const inNarrow = await place.answer({ ...all, filters: filters([field, narrow]) });
      const inWide = await place.answer({ ...all, filters: filters([field, [...narrow, added]]) });
      if (inWide.has_more) continue;
      expect(idsOf(inWide)).toEqual(expect.arrayContaining([...idsOf(inNarrow)]));
      expect(inWide.total.value).toBeGreaterThanOrEqual(inNarrow.total.value);
    }
  });
});

test('Q-11 many strong hits elsewhere do not crowd out the one that the filter leaves', async () => {
  await withSearchedStore(async (place) => {
    await place.say(
      'loud',
      Array.from({ length: 50 }, () => 'disk full disk full'),
    );
    await place.say('quiet', ['of all the things that were said here one was about a disk']);
    const { hits, total } = await place.answer({
      text: 'disk full',
      limit: 5,
      filters: filters(['session', ['quiet']]),
    });
    expect(hits.map(({ session }) => session)).toEqual(['quiet']);
    expect(total).toEqual({ value: 1, relation: 'eq' });
  });
});

test('Q-15 facets count all matches, hidden ones with the flag only, and never those that the filters leave out', async () => {
  await withSearchedStore(async (place) => {
    await fill(place, 15);
    for (const text of ['disk', 'disk full', 'lost parser cache']) {
      const plain = await place.answer({ text, facets: true, limit: 3 });
      const shown = await place.answer({ text, facets: true, limit: 3, includeHidden: true });
      expect(plain.hidden_matches).toBeGreaterThan(0);
      expect(shown.total.value).toBe(plain.total.value + plain.hidden_matches);
      expect(shown.hidden_matches).toBe(0);
      for (const { facets, total } of [plain, shown]) {
        for (const name of ['session', 'role', 'kind', 'workspace', 'day'] as const) {
          const sum = facets?.[name].reduce((counted, { count }) => counted + count, 0);
          expect([text, name, sum]).toEqual([text, name, total.value]);
        }
      }
      const sessions = plain.facets?.session.map(({ value }) => value) ?? [];
      expect(sessions.filter((id) => ['s2', 's3', 's6', 's7'].includes(id))).toEqual([]);
      expect(shown.facets?.session.map(({ value }) => value)).toEqual(expect.arrayContaining(['s2', 's3']));
      const onlyCalls = await place.answer({ text, facets: true, filters: filters(['kind', ['tool_call']]) });
      expect(onlyCalls.facets?.kind).toEqual([{ value: 'tool_call', count: onlyCalls.total.value }]);
      // What is hidden stays out before the best are taken, not behind.
      const few = await place.answer({ text, limit: 100 });
      expect(idsOf(plain)).toEqual(idsOf(few).slice(0, 3));
    }
  });
});

test('a cursor belongs to all that its answer depends on', async () => {
  await withSearchedStore(async (place) => {
    await place.say('a', ['needle one', 'needle two', 'needle three'], Date.UTC(2026, 8, 1));
    const request = { text: 'needle', limit: 1 } as const;
    const { next_cursor: next } = await place.ask(request);
    if (next === null) throw new Error('there are more');
    expect((await place.ask({ ...request, cursor: next })).hits.length).toBe(1);
    // How many are wanted, and what is told of them, changes nothing in what follows.
    expect((await place.ask({ ...request, limit: 2, explain: true, cursor: next })).hits.length).toBe(2);
    const others: readonly Partial<SearchRequest>[] = [
      { text: 'needle one' },
      { syntax: 'query' },
      { filters: new Map([['role', ['agent']]]) },
      { asOf: '2026-09-02T00:00:00Z' },
      { minScore: 0.001 },
      { group: 'session' },
      { includeHidden: true },
      { mode: 'hybrid' },
    ];
    for (const other of others) {
      await expect(place.ask({ ...request, ...other, cursor: next })).rejects.toMatchObject({
        code: 'TURNLOG_CURSOR_MISMATCH',
      });
    }
  });
});
