import { type AgentPorts, type Divergence, DivergenceError, type PlayOptions } from '@turnlog/replay';
import { SeededRandom } from '@turnlog/testkit';
import { livePorts, outcomeOf, ReplayWorld, say } from './replay-world.js';

/** One act of an agent; what it leaves is its place in the list. */
type Act =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly n: number; readonly fate: string };

async function perform(ports: AgentPorts, acts: readonly Act[], done: () => void): Promise<void> {
  for (const act of acts) {
    if (act.kind === 'say') say(ports, act.text);
    else await outcomeOf(ports.tool(act.name, { n: act.n, fate: act.fate }));
    done();
  }
}

/** Acts that all differ, so that each place can be told from the others. */
function randomActs(random: SeededRandom): readonly Act[] {
  return Array.from({ length: 6 + random.below(6) }, (_, n): Act => {
    if (n % 2 === 0) return { kind: 'say', text: `says ${n}` };
    return { kind: 'call', name: `tool_${n}`, n, fate: random.below(3) === 0 ? 'error' : 'ok' };
  });
}

interface Mutation {
  readonly name: string;
  /** The kinds of acts it can be made at. */
  readonly at: Act['kind'];
  apply(acts: readonly Act[], place: number): readonly Act[];
  readonly kind: (acts: readonly Act[], place: number) => string;
  readonly path?: string;
}

const without = (acts: readonly Act[], place: number): readonly Act[] => acts.filter((_, at) => at !== place);
const changed = (acts: readonly Act[], place: number, change: (act: Act) => Act): readonly Act[] =>
  acts.map((act, at) => (at === place ? change(act) : act));
const isCallBehind = (acts: readonly Act[], place: number): boolean =>
  acts.slice(place + 1).some(({ kind }) => kind === 'call');

const mutations: readonly Mutation[] = [
  {
    name: 'a changed argument',
    at: 'call',
    apply: (acts, place) => changed(acts, place, (act) => (act.kind === 'call' ? { ...act, n: 99 } : act)),
    kind: () => 'request-differs',
    path: '/arguments/n',
  },
  {
    name: 'a changed text',
    at: 'say',
    apply: (acts, place) =>
      changed(acts, place, (act) => (act.kind === 'say' ? { ...act, text: 'other' } : act)),
    kind: () => 'event-differs',
    path: '/item/text',
  },
  {
    name: 'a call that asks for another fate',
    at: 'call',
    apply: (acts, place) =>
      changed(acts, place, (act) => (act.kind === 'call' ? { ...act, fate: 'other' } : act)),
    kind: () => 'request-differs',
    path: '/arguments/fate',
  },
  {
    name: 'a dropped call',
    at: 'call',
    apply: without,
    kind: (acts, place) => (isCallBehind(acts, place) ? 'wrong-order' : 'missing-call'),
  },
  {
    name: 'an extra call',
    at: 'call',
    apply: (acts, place) => [
      ...acts.slice(0, place + 1),
      ...acts.slice(place, place + 1),
      ...acts.slice(place + 1),
    ],
    kind: () => 'unexpected-call',
  },
  {
    name: 'a call nobody recorded',
    at: 'call',
    apply: (acts, place) => changed(acts, place, () => ({ kind: 'call', name: 'never', n: 0, fate: 'ok' })),
    kind: () => 'unexpected-call',
  },
];

async function divergenceOf(
  world: ReplayWorld,
  run: (ports: AgentPorts) => Promise<void>,
  options: PlayOptions = {},
): Promise<Divergence> {
  try {
    await world.replay(run, options);
  } catch (error) {
    if (error instanceof DivergenceError) return error.divergence;
    throw error;
  }
  throw new Error('nothing diverged');
}

test.each(mutations)(
  'R-3 $name is found where it is, with kind, path and cause, and nothing after it runs',
  async (mutation) => {
    const random = new SeededRandom(7);
    for (let round = 0; round < 20; round += 1) {
      const world = new ReplayWorld();
      const acts = randomActs(random);
      await world.record((ports) => perform(ports, acts, () => undefined), livePorts(world));
      const places = acts.flatMap((act, at) => (act.kind === mutation.at ? [at] : []));
      const place = places[random.below(places.length)] ?? 0;
      const mutant = mutation.apply(acts, place);
      let done = 0;
      const found = await divergenceOf(world, (ports) => perform(ports, mutant, () => (done += 1)));
      const kind = mutation.kind(acts, place);
      expect([place, found.kind]).toEqual([place, kind]);
      // A call that is left out shows where the next one comes, and an extra one behind itself.
      const shownAt = mutation.name === 'an extra call' ? place + 1 : place;
      if (mutation.apply !== without) expect(done).toBe(shownAt);
      const callsBefore = acts.slice(0, shownAt).filter((act) => act.kind === 'call').length;
      if (mutation.at === 'say')
        expect(found.at.seq).toBe(acts.slice(0, place + 1).filter((act) => act.kind === 'say').length);
      else
        expect(found.at.exchange).toBe(
          isCallBehind(acts, shownAt - 1) || kind !== 'unexpected-call' ? callsBefore + 1 : null,
        );
      if (mutation.path !== undefined) expect(found.diff.map(({ path }) => path)).toEqual([mutation.path]);
      expect(found.cause === null).toBe(callsBefore === 0);
    }
  },
);

test('R-3 swapped calls are told from calls that nobody recorded', async () => {
  const world = new ReplayWorld();
  const acts = randomActs(new SeededRandom(3));
  await world.record((ports) => perform(ports, acts, () => undefined), livePorts(world));
  const [first, second] = acts.flatMap((act, at) => (act.kind === 'call' ? [at] : []));
  if (first === undefined || second === undefined) throw new Error('there are two calls');
  const swapped = acts.map(
    (act, at) => (at === first ? acts[second] : at === second ? acts[first] : act) ?? act,
  );
  let done = 0;
  const found = await divergenceOf(world, (ports) => perform(ports, swapped, () => (done += 1)));
  expect(found).toMatchObject({
    kind: 'wrong-order',
    at: { exchange: 1 },
    nearest: { exchange: 2, distance: 0 },
  });
  expect(done).toBe(first);
});

test('R-3 another error than the recorded one shows in what the agent makes of it', async () => {
  const world = new ReplayWorld();
  const run =
    (word: string) =>
    async (ports: AgentPorts): Promise<void> => {
      const outcome = await outcomeOf(ports.tool('x', { n: 1, fate: 'error' }));
      say(ports, `${word}: ${outcome}`);
    };
  await world.record(run('failed'), livePorts(world));
  await world.replay(run('failed'));
  const found = await divergenceOf(world, run('broke'));
  expect(found).toMatchObject({
    kind: 'event-differs',
    at: { seq: 1 },
    cause: { why: 'the last served exchange before this point' },
    diff: [{ path: '/item/text', expected: 'failed: Error no 1', got: 'broke: Error no 1' }],
  });
});

test('a divergence stops the replay, also for code that catches it', async () => {
  const world = new ReplayWorld();
  await world.record(
    (ports) => perform(ports, [{ kind: 'say', text: 'a' }], () => undefined),
    livePorts(world),
  );
  const player = await world.open();
  const recorded = JSON.parse(world.files()['events.jsonl'] ?? '').event;
  expect(() => player.log.append({ ...recorded, item: { ...recorded.item, text: 'b' } })).toThrow(
    DivergenceError,
  );
  // What would have been right comes too late.
  expect(() => player.log.append(recorded)).toThrow(DivergenceError);
  expect(() => player.finish()).toThrow(expect.objectContaining({ code: 'TURNLOG_REPLAY_MISS' }));
});

test('RE-20: at most twenty differences, long texts around the first one, nothing of a control character', async () => {
  const world = new ReplayWorld();
  const event = (letter: string): { readonly type: string } => ({
    type: 'x.test.wide',
    ...Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`m${at}`, `${'y'.repeat(500)}${letter}\u001b[31m`]),
    ),
  });
  await world.record(async (ports) => void ports.log.append(event('a')), {});
  const found = await divergenceOf(world, async (ports) => void ports.log.append(event('b')));
  expect(found.diff).toHaveLength(20);
  expect(found.diff_truncated).toBe(true);
  expect(String(found.diff[0]?.got)).toMatch(/^…y+b\\x1b\[31m$/);
  expect(JSON.stringify(found)).not.toContain('\\u001b');
});
