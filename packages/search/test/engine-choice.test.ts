import { TurnlogError } from '@turnlog/kernel';
import { type EngineProvider, Engines, type OpenEngine } from '../src/engine-choice.js';
import type { EngineName, IndexState } from '../src/lexical-index.js';
import { WinkSegments } from '../src/wink-segments.js';

/** How an engine stands: how many bytes it is behind before and after it was waited for, and what is wrong with it. */
interface Standing {
  readonly behind: number;
  readonly lacks?: readonly string[];
  readonly isFull?: boolean;
  readonly failure?: string;
  readonly state?: IndexState;
}

class FakeEngine implements OpenEngine {
  readonly index: WinkSegments;
  readonly unindexedBytes = 0;
  readonly waits: number[] = [];
  isClosed = false;
  behind: number;
  lacks: readonly string[];
  readonly #isFull: boolean;
  readonly #onWait: (ms: number) => void;

  constructor(
    name: EngineName,
    { behind, lacks = [], isFull = false, state }: Standing,
    onWait: (ms: number) => void,
  ) {
    const index = new WinkSegments();
    Object.defineProperty(index, 'name', { value: name });
    if (state !== undefined) Object.defineProperty(index, 'state', { value: state });
    this.index = index;
    this.behind = behind;
    this.lacks = lacks;
    this.#isFull = isFull;
    this.#onWait = onWait;
  }

  async catchUp(waitMs: number): ReturnType<OpenEngine['catchUp']> {
    this.waits.push(waitMs);
    this.#onWait(waitMs);
    const events = this.behind === 0 ? 0 : null;
    return {
      behind: { events, bytes: this.behind, sessions: events === 0 ? 0 : 1 },
      failed: [],
      degraded: [],
      isFull: this.#isFull,
    };
  }

  close(): void {
    this.isClosed = true;
  }
}

/** Engines as they stand, in their order, on a clock that only waiting moves. */
class Desk {
  readonly engines: Engines;
  readonly opened = new Map<EngineName, FakeEngine>();
  #nowMs = 0;

  constructor(standings: Readonly<Partial<Record<EngineName, Standing>>>, costMs = 0) {
    const names: readonly EngineName[] = ['packed', 'fts5', 'wink'];
    const providers = names.flatMap((name): readonly EngineProvider[] => {
      const standing = standings[name];
      if (standing === undefined) return [];
      return [{ name, open: async () => this.#open(name, standing, costMs) }];
    });
    this.engines = new Engines(providers, { monotonicMs: () => this.#nowMs });
  }

  async ask(
    asked: EngineName | null = null,
    waitMs = 200,
  ): Promise<readonly [EngineName, readonly string[]]> {
    const { engine, degraded } = await this.engines.ready(asked, waitMs);
    return [engine.index.name as EngineName, degraded.map(({ name, reason }) => `${name}: ${reason}`)];
  }

  engine(name: EngineName): FakeEngine {
    const engine = this.opened.get(name);
    if (engine === undefined) throw new Error(`${name} was not opened`);
    return engine;
  }

  #open(name: EngineName, standing: Standing, costMs: number): FakeEngine {
    if (standing.failure !== undefined) {
      throw new TurnlogError('TURNLOG_NOT_FOUND', { details: {}, message: standing.failure });
    }
    const engine = new FakeEngine(name, standing, (ms) => {
      this.#nowMs += Math.min(ms, costMs);
    });
    this.opened.set(name, engine);
    return engine;
  }
}

const current: Standing = { behind: 0 };
const damage: IndexState = { kind: 'incomplete', reasons: ['x.seg is damaged'] };

const choices: readonly (readonly [
  why: string,
  standings: ConstructorParameters<typeof Desk>[0],
  asked: EngineName | null,
  engine: EngineName,
  degraded: readonly string[],
])[] = [
  ['the first answers', { packed: current, fts5: current, wink: current }, null, 'packed', []],
  ['one that is asked for answers', { packed: current, fts5: current, wink: current }, 'wink', 'wink', []],
  [
    'one that is asked for answers though others are further',
    { packed: { behind: 9, lacks: ['built'] }, fts5: current, wink: current },
    'packed',
    'packed',
    [],
  ],
  [
    'one that is asked for and is not there is named',
    { packed: current, wink: current },
    'fts5',
    'packed',
    ['fts5: it is not part of this installation'],
  ],
  [
    'one that is asked for and cannot be used is named',
    { packed: current, fts5: { behind: 0, failure: 'gone' }, wink: current },
    'fts5',
    'packed',
    ['fts5: gone'],
  ],
  [
    'a first one that is being built leaves it to the mirror',
    { packed: { behind: 9, lacks: ['it is being built'] }, fts5: current, wink: current },
    null,
    'fts5',
    ['packed: it is being built'],
  ],
  [
    'a mirror that is no further helps nothing',
    {
      packed: { behind: 9_000_000, lacks: ['it is being built'] },
      fts5: { behind: 9_000_000 },
      wink: current,
    },
    null,
    'packed',
    [],
  ],
  [
    'without a mirror it answers itself',
    {
      packed: { behind: 9, lacks: ['it is being built'] },
      fts5: { behind: 0, failure: 'gone' },
      wink: current,
    },
    null,
    'packed',
    [],
  ],
  [
    'behind when time is over, it leaves it to a mirror that is further',
    { packed: { behind: 9_000_000 }, fts5: { behind: 90 }, wink: current },
    null,
    'fts5',
    ['packed: 9000000 bytes of the logs are not in it yet'],
  ],
  [
    'a moment behind, it answers itself and says how far',
    { packed: { behind: 900 }, fts5: current, wink: current },
    null,
    'packed',
    [],
  ],
  [
    'full, it leaves it to others however little it lacks',
    { packed: { behind: 900, isFull: true }, fts5: current, wink: current },
    null,
    'fts5',
    ['packed: 900 bytes of the logs are not in it yet'],
  ],
  [
    'full, and no mirror: the one in memory',
    { packed: { behind: 9_000_000, isFull: true }, fts5: { behind: 0, failure: 'gone' }, wink: current },
    null,
    'wink',
    ['packed: 9000000 bytes of the logs are not in it yet'],
  ],
  [
    'full, and nobody is further',
    { packed: { behind: 9_000_000, isFull: true }, wink: { behind: 9_000_000 } },
    null,
    'packed',
    [],
  ],
  [
    'one that cannot be used is named, the next answers',
    { packed: { behind: 0, failure: 'refused' }, fts5: current, wink: current },
    null,
    'fts5',
    ['packed: refused'],
  ],
  [
    'none but the last can be used',
    { packed: { behind: 0, failure: 'refused' }, fts5: { behind: 0, failure: 'gone' }, wink: current },
    null,
    'wink',
    ['packed: refused', 'fts5: gone'],
  ],
  [
    'damage is told though all could be read again',
    { packed: { behind: 0, state: damage }, wink: current },
    null,
    'packed',
    ['packed: x.seg is damaged'],
  ],
];

test.each(choices)('%s', async (_why, standings, asked, engine, degraded) => {
  expect(await new Desk(standings).ask(asked)).toEqual([engine, degraded]);
});

test('what did not answer is built on, until it is built; nothing is built where nothing was left', async () => {
  const desk = new Desk({
    packed: { behind: 9, lacks: ['it is being built'] },
    fts5: current,
    wink: current,
  });
  await desk.engines.build(200);
  expect(await desk.ask()).toEqual(['fts5', ['packed: it is being built']]);
  const packed = desk.engine('packed');
  // Answering took nothing of its time.
  expect(packed.waits).toEqual([]);
  await desk.engines.build(200);
  expect(packed.waits).toEqual([200]);
  packed.behind = 0;
  packed.lacks = [];
  await desk.engines.build(200);
  await desk.engines.build(200);
  expect(packed.waits).toEqual([200, 200]);
  expect(await desk.ask()).toEqual(['packed', []]);
});

test('all engines together wait no longer than the answer may', async () => {
  const desk = new Desk({ packed: { behind: 9_000_000 }, fts5: { behind: 90 }, wink: current }, 150);
  await desk.ask(null, 200);
  expect([desk.engine('packed').waits, desk.engine('fts5').waits]).toEqual([[200], [50]]);
});

test('an engine that has become unusable is opened anew; all are closed together', async () => {
  const desk = new Desk({ packed: current, wink: current });
  await desk.ask();
  const first = desk.engine('packed');
  Object.defineProperty(first.index, 'state', { value: { kind: 'unusable', reason: 'gone' } });
  expect(await desk.ask()).toEqual(['packed', []]);
  expect([first.isClosed, desk.engine('packed') === first]).toEqual([true, false]);
  desk.engines.close();
  expect(desk.engine('packed').isClosed).toBe(true);
});
