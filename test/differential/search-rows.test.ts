import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { engines, idsOf, type SearchedStore, withSearchedStore } from './searched-store.js';

/** Faults that searches met in the field, each against every engine; those of words alone are with the tokenizer. */

test('B122 fifty strong hits outside the filter, a weak one inside, limit 5: the one hit', async () => {
  await withSearchedStore(async (place) => {
    await place.say(
      'loud',
      Array.from({ length: 50 }, () => 'lock lock lock'),
    );
    await place.say('quiet', [
      'among many other words of this long line there is one lock and nothing else of it',
    ]);
    const filters = new Map([['session', ['quiet']]] as const);
    const { hits, total, hidden_matches: hidden } = await place.answer({ text: 'lock', limit: 5, filters });
    expect([hits.map(({ id }) => id), total, hidden]).toEqual([['quiet:1'], { value: 1, relation: 'eq' }, 0]);
  });
});

test('B127 user_id by user, id and user_id: found, and the whole form first', async () => {
  await withSearchedStore(async (place) => {
    await place.say('a', ['the user has no id', 'id of a user', 'column user_id', 'nothing of it']);
    for (const text of ['user', 'id', 'user_id', 'USER_ID']) {
      const { hits } = await place.answer({ text });
      expect([text, hits.map(({ id }) => id).sort()]).toEqual([text, ['a:1', 'a:2', 'a:3']]);
    }
    const [first, ...others] = (await place.answer({ text: 'user_id' })).hits;
    expect([first?.id, first?.tier]).toEqual(['a:3', 1]);
    expect(others.map(({ tier }) => tier)).toEqual([0, 0]);
  });
});

test('B136 Cyrillic, Greek, Thai and Hebrew are found; a query without a token says so', async () => {
  await withSearchedStore(async (place) => {
    const texts = ['Привет, мир', 'ΟΔΟΣ της πόλης', 'ภาษาไทยง่าย', 'שָׁלוֹם עולם'];
    await place.say('a', texts);
    const asked = ['мир', 'οδός', 'ภาษาไทย', 'שלום'];
    for (const [at, text] of asked.entries()) {
      const [best] = (await place.answer({ text })).hits;
      expect([text, best?.id]).toEqual([text, `a:${at + 1}`]);
    }
    for (const text of ['', ' ', '\u200b\u00ad']) {
      expect(await place.answer({ text })).toMatchObject({ hits: [], reason: 'no-searchable-term' });
    }
  });
});

test('B137 a word that stands only in the last part of a record scores above 0', async () => {
  await withSearchedStore(async (place) => {
    const call = {
      id: 'c',
      type: 'mcp_tool_call',
      tool_name: 'issues.search',
      arguments: { query: 'locks' },
    };
    await place.append('a', [
      { type: 'item.completed', item: { ...call, result: 'an answer with zeppelin', status: 'completed' } },
      { type: 'item.completed', item: { id: 'm', type: 'agent_message', text: 'issues and locks' } },
    ]);
    for (const [text, expected] of [
      ['zeppelin', ['a:1']],
      ['locks', ['a:2', 'a:1']],
      ['issues.search', ['a:1', 'a:2']],
    ] as const) {
      const answer = await place.answer({ text });
      expect([text, idsOf(answer)]).toEqual([text, expected]);
      for (const { score } of answer.hits) expect(score).toBeGreaterThan(0);
    }
  });
});

test('B38 a bad record ends no indexing, and the place is looked at again when the file has changed', async () => {
  await withSearchedStore(async (place) => {
    await place.say('a', ['needle one']);
    const path = place.path('sessions/a/events.jsonl');
    appendFileSync(path, 'this is no record\n');
    const lines = [record(2, 'needle two'), record(3, 'needle three')];
    appendFileSync(path, lines.join(''));
    expect([...idsOf(await place.answer({ text: 'needle' }))].sort()).toEqual(['a:1', 'a:2', 'a:3']);
    // A session of which nothing can be read holds up no other.
    await place.say('b', ['needle']);
    const other = place.path('sessions/b/events.jsonl');
    const whole = readFileSync(other);
    writeFileSync(other, 'no record at all\n');
    place.restart();
    expect(await foundBy(place)).toEqual(engines.map(() => ['a:1', 'a:2', 'a:3']));
    writeFileSync(other, Buffer.concat([whole, Buffer.from(record(2, 'needle again'))]));
    expect(await foundBy(place)).toEqual(engines.map(() => ['a:1', 'a:2', 'a:3', 'b:1', 'b:2']));
  });
});

function record(seq: number, text: string): string {
  const event = { type: 'item.completed', item: { id: `x${seq}`, type: 'agent_message', text } };
  return `${JSON.stringify({ schema_version: '0.18.0', seq, event })}\n`;
}

async function foundBy(place: SearchedStore): Promise<readonly (readonly string[])[]> {
  const found: (readonly string[])[] = [];
  for (const engine of engines) found.push([...idsOf(await place.ask({ text: 'needle', engine }))].sort());
  return found;
}
