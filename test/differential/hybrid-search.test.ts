import { mirrorEngine } from '@turnlog/mirror';
import type { SearchHit, SearchRequest } from '@turnlog/search';
import { hashEncoderProvider, openSearch, type Search, type SearchAnswer } from '@turnlog/search';
import { SeededRandom } from '@turnlog/testkit';
import { engines, reader, type SearchedStore, withSearchedStore } from './searched-store.js';

const words = [
  'pool',
  'pooled',
  'connection',
  'time',
  'timeout',
  'disk',
  'full',
  'user_id',
  'bread',
  '用户身份',
];

function oneOf<Value>(random: SeededRandom, values: readonly Value[]): Value | undefined {
  return values[random.below(values.length)];
}

async function fill(place: SearchedStore, random: SeededRandom): Promise<void> {
  for (let session = 0; session < 6; session += 1) {
    const texts = Array.from({ length: 12 }, () =>
      Array.from({ length: 1 + random.below(9) }, () => oneOf(random, words)).join(' '),
    );
    await place.say(`s${session}`, texts, session === 3 ? null : Date.UTC(2026, 0, 1 + session));
  }
}

function randomRequest(random: SeededRandom): SearchRequest {
  const text = Array.from({ length: 1 + random.below(4) }, () => oneOf(random, words)).join(' ');
  const filter = random.below(4) === 0 ? new Map([['session', [`s${random.below(6)}`]] as const]) : null;
  const asOf = random.below(5) === 0 ? `s${random.below(6)}:${1 + random.below(12)}` : null;
  return {
    text,
    limit: 1 + random.below(8),
    explain: true,
    ...(filter === null ? {} : { filters: filter }),
    ...(asOf === null ? {} : { asOf }),
  };
}

/** Without the model, which takes too long for thousands of queries. */
function searchOf({ store }: SearchedStore): Search {
  return openSearch(store, [mirrorEngine(store)], [hashEncoderProvider]);
}

/** The parts sum to the lexical score, and times the factor they are the score of the lexical list. */
function expectParts({ explain, score }: SearchHit, mode: 'lexical' | 'hybrid'): void {
  const sum = (explain?.terms ?? []).reduce((parts, { part }) => parts + part, 0);
  expect(Math.abs(sum - (explain?.lexical ?? Number.NaN))).toBeLessThanOrEqual(1e-9);
  const product = (explain?.lexical ?? Number.NaN) * (explain?.recency.factor ?? Number.NaN);
  expect(Math.abs(product - (explain?.score ?? Number.NaN))).toBeLessThanOrEqual(1e-9);
  if (mode === 'lexical') {
    expect(explain?.score).toBe(score);
    expect(explain?.lists).toBeUndefined();
    return;
  }
  const shares = Object.values(explain?.lists ?? {});
  expect(shares.length).toBeGreaterThan(0);
  for (const { rank, share } of shares) expect(share).toBe(1 / (60 + rank));
  expect(Math.abs(shares.reduce((all, { share }) => all + share, 0) - score)).toBeLessThanOrEqual(1e-12);
}

test('Q-9 explanations of 2,000 random queries sum to their scores, shares of lists to the fused ones', async () => {
  await withSearchedStore(async (place) => {
    const random = new SeededRandom(20_261_130);
    await fill(place, random);
    const search = searchOf(place);
    let explained = 0;
    for (let at = 0; at < 2_000; at += 1) {
      const mode = at % 5 === 0 ? 'hybrid' : 'lexical';
      const { hits } = await search.search({ ...randomRequest(random), mode, waitMs: 60_000 }, reader);
      for (const hit of hits) expectParts(hit, mode);
      explained += hits.length;
    }
    search.close();
    expect(explained).toBeGreaterThan(3_000);
  });
}, 240_000);

test('every engine gives the same hybrid answer', async () => {
  await withSearchedStore(async (place) => {
    const random = new SeededRandom(7);
    await fill(place, random);
    const search = searchOf(place);
    for (let at = 0; at < 30; at += 1) {
      const request = { ...randomRequest(random), mode: 'hybrid', waitMs: 60_000 } as const;
      const answers: SearchAnswer[] = [];
      for (const engine of engines) answers.push(await search.search({ ...request, engine }, reader));
      const [first, ...others] = answers;
      expect(answers.map(({ engine }) => engine)).toEqual(engines);
      for (const other of others) {
        expect(other.hits).toEqual(first?.hits);
        expect([other.total, other.degraded]).toEqual([first?.total, first?.degraded]);
      }
      if (request.asOf === undefined) expect(first?.hits.length).toBeGreaterThan(0);
    }
    search.close();
  });
});
