import { readFileSync } from 'node:fs';
import type { EventInput } from '@turnlog/log';
import { type EngineName, openSearch, type SearchAnswer, type SearchRequest } from '@turnlog/search';
import { openStore } from '@turnlog/store';
import { createTestMachine, FakeClock, ModelFileSystem, SeededRandom } from '@turnlog/testkit';
import { comparable, engines, reader, type SearchedStore, withSearchedStore } from './searched-store.js';

const words = ['disk', 'full', 'parser', 'lines', 'lost', 'token', 'retry', 'cache', 'user_id', 'src/log.ts'];
const startMs = Date.UTC(2026, 8, 1);
const sessions = ['a', 'b', 'c', 'untimed'];

/** Items in all their snapshots, words of users and of nobody, in turns; of one session the times are not known. */
async function fill(place: SearchedStore, random: SeededRandom): Promise<void> {
  const pick = (): string => words[random.below(words.length)] ?? '';
  const text = (): string => Array.from({ length: 1 + random.below(9) }, pick).join(' ');
  for (const session of sessions) {
    const log = await place.store.open(session);
    let tsMs = startMs;
    const append = (event: object): void => {
      tsMs += random.below(4) * 3_600_000;
      log.append(event as EventInput, { tsMs: session === 'untimed' ? null : tsMs });
    };
    append({
      type: 'run.started',
      program: 'p',
      cwd: `/w/${session}`,
      agent: session === 'c' ? 'subagent' : 'primary',
    });
    for (let turn = 0; turn < 6; turn += 1) {
      append({ type: 'turn.started' });
      for (let at = 0; at < 10; at += 1) append(someEvent(random, text));
      append({ type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } });
    }
    await log.close();
  }
}

function someEvent(random: SeededRandom, text: () => string): object {
  const id = `i${random.below(4)}`;
  const said = random.below(6) === 0 ? '' : text();
  const kind = random.below(5);
  if (kind === 0) {
    const origin = random.below(2) === 0 ? 'prompt' : 'injected';
    return { type: 'user.message', id: 'u', origin, content: [{ type: 'text', text: said }] };
  }
  if (kind === 1) {
    const call = { id, type: 'tool_invocation', tool_name: 'shell', status: 'completed' };
    return { type: 'item.completed', item: { ...call, arguments: { path: 'src/log.ts', text: said } } };
  }
  const event = ['item.started', 'item.updated', 'item.completed'][random.below(3)] ?? 'item.completed';
  return { type: event, item: { id, type: 'agent_message', text: said } };
}

interface Line {
  readonly text: string;
  readonly seq: number;
  readonly tsMs: number | null;
}

function linesOf(place: SearchedStore, session: string): readonly Line[] {
  const text = readFileSync(place.path(`sessions/${session}/events.jsonl`), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { seq, ts }: { seq: number; ts: string | null } = JSON.parse(line);
      return { text: `${line}\n`, seq, tsMs: ts === null ? null : Date.parse(ts) };
    });
}

type Logs = ReadonlyMap<string, readonly Line[]>;

interface Point {
  readonly asOf: string;
  readonly tsMs: number;
  /** The session and the seq that it names. */
  readonly named: readonly [session: string, seq: number] | null;
}

function somePoint(logs: Logs, random: SeededRandom): Point {
  if (random.below(2) === 0) {
    const tsMs = startMs + random.below(130) * 3_600_000 + random.below(2);
    return { asOf: new Date(tsMs).toISOString(), tsMs, named: null };
  }
  const session = ['a', 'b', 'c'][random.below(3)] ?? 'a';
  const lines = logs.get(session) ?? [];
  const { seq, tsMs } = lines[random.below(lines.length)] ?? { seq: 1, tsMs: startMs };
  return { asOf: `${session}:${seq}`, tsMs: tsMs ?? 0, named: [session, seq] };
}

/** What the logs held at that moment, as logs of their own. */
function cutAt(logs: Logs, { tsMs, named }: Point): ReadonlyMap<string, string> {
  const cut = new Map<string, string>();
  for (const [session, lines] of logs) {
    const kept = lines.filter((line) =>
      named !== null && session === named[0] ? line.seq <= named[1] : line.tsMs !== null && line.tsMs <= tsMs,
    );
    if (kept.length > 0) cut.set(session, kept.map(({ text }) => text).join(''));
  }
  return cut;
}

/** The answer of an index that knows nothing but these logs, at that moment. */
async function freshAnswer(
  logs: ReadonlyMap<string, string>,
  nowMs: number,
  request: SearchRequest,
): Promise<SearchAnswer> {
  const clock = new FakeClock();
  const disk = new ModelFileSystem({ clock });
  disk.plantDirectory('/store');
  disk.plantDirectory('/store/sessions');
  for (const [session, text] of logs) {
    disk.plantDirectory(`/store/sessions/${session}`);
    disk.plantFile(`/store/sessions/${session}/events.jsonl`, Buffer.from(text));
  }
  const environment = createTestMachine({ fs: disk, clock });
  const store = await openStore({ root: '/store', environment, cwd: '/', env: {} });
  clock.setNow(nowMs);
  const search = openSearch(store);
  try {
    return await search.search({ ...request, engine: 'wink', waitMs: 60_000 }, reader);
  } finally {
    search.close();
  }
}

/** Of another index the state has another name, and it leaves nothing out for want of a time. */
function told(answer: SearchAnswer): object {
  const { unknown_time: _, unindexed_bytes: __, ...same } = comparable(answer);
  return same;
}

const requests: readonly SearchRequest[] = [
  { text: 'disk full', explain: true, limit: 50 },
  { text: 'user_id', includeHidden: true, facets: true },
  { text: 'src/log.ts retry', group: 'session', includeHidden: true },
  { text: '+cache -lost pars*', syntax: 'query', limit: 3 },
];

test('Q-12 as of 200 random points each engine answers as an index over the logs up to there, also when what they held has been archived', async () => {
  await withSearchedStore(async (place) => {
    const random = new SeededRandom(12);
    await fill(place, random);
    const logs: Logs = new Map(sessions.map((session) => [session, linesOf(place, session)]));
    const asked: (readonly [SearchRequest, object])[] = [];
    let hits = 0;
    for (let at = 0; at < 200; at += 1) {
      const point = somePoint(logs, random);
      const request = requests[at % requests.length] ?? { text: 'disk' };
      const fresh = await freshAnswer(cutAt(logs, point), point.tsMs, request);
      hits += fresh.hits.length;
      asked.push([{ ...request, asOf: point.asOf }, told(fresh)]);
    }
    expect(hits).toBeGreaterThan(400);
    const expectAll = async (enginesAt: (at: number) => readonly EngineName[]): Promise<void> => {
      for (const [at, [request, expected]] of asked.entries()) {
        for (const engine of enginesAt(at)) {
          const answer = await place.ask({ ...request, engine });
          expect([request.asOf, answer.engine, told(answer)]).toEqual([request.asOf, engine, expected]);
        }
      }
    };
    await expectAll(() => engines);
    for (const session of ['a', 'b']) await evict(place, session);
    place.restart();
    // Each engine in its turn: what they answer from is the same as before, but for where the texts lie.
    await expectAll((at) => engines.slice(at % 3, (at % 3) + 1));
  });
}, 300_000);

/** Moves all but the last turns of a session into an archive. */
async function evict(place: SearchedStore, session: string): Promise<void> {
  const before = linesOf(place, session).length;
  const log = await place.store.open(session, { cap: { maxEvents: 30, archive: 'gzip' } });
  await log.maintain();
  await log.close();
  expect(linesOf(place, session).length).toBeLessThan(before);
}

test('a record that names no moment is an error that names it: one that is still to come, and one of no session', async () => {
  await withSearchedStore(async (place) => {
    await place.say('a', ['disk full', 'disk lost'], startMs);
    expect((await place.ask({ text: 'disk', asOf: 'a:1' })).total.value).toBe(1);
    const asked = (asOf: string): Promise<SearchAnswer> => place.ask({ text: 'disk', asOf });
    await expect(asked('a:3')).rejects.toMatchObject({
      code: 'TURNLOG_NOT_FOUND',
      message: 'there is no record a:3; the last one is 2',
    });
    await expect(asked('nobody:1')).rejects.toMatchObject({ code: 'TURNLOG_NOT_FOUND' });
  });
});
