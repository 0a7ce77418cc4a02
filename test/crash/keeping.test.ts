import { type Fault, JudgedDisks } from '@turnlog/testkit';
import { keepingScenarios } from './keeping-scenarios.js';
import {
  enumerateKeeping,
  failKeeping,
  type KeepingScenario,
  type KeepingWorld,
  root,
} from './keeping-world.js';

// A rename that another program holds up is tried again for two seconds; no test waits for that.
beforeEach(() => {
  jest.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
});

afterEach(() => {
  jest.restoreAllMocks();
});

const errnos = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES'] as const;
const faults: readonly ((call: number) => Fault)[] = [
  ...errnos.map(
    (errno) =>
      (call: number): Fault => ({ call, lasting: 'once', effect: { errno } }),
  ),
  ...errnos.map(
    (errno) =>
      (call: number): Fault => ({ call, lasting: 'from-then-on', effect: { errno } }),
  ),
  (call) => ({ call, lasting: 'once', effect: 'short-write' }),
];

const named = keepingScenarios.map((scenario) => [scenario.name, scenario] as const);
const pinNames: ReadonlySet<string> = new Set(['pin', 'unpin']);
let stateCount = 0;
let struckCount = 0;

async function crashEverywhere(scenario: KeepingScenario): Promise<void> {
  const { crashPoints, states, problems } = await enumerateKeeping(scenario);
  stateCount += states;
  expect(problems).toEqual([]);
  expect(crashPoints).toBeGreaterThan(2);
}

test.each(named.filter(([name]) => !pinNames.has(name)))(
  'T-83: %s: after a crash at any call the session is whole, the next run finishes, and there is one record',
  async (_name, scenario) => crashEverywhere(scenario),
  120_000,
);

test.each(named.filter(([name]) => pinNames.has(name)))(
  '%s: after a crash at any call the session is whole, and the next run finishes',
  async (_name, scenario) => crashEverywhere(scenario),
  120_000,
);

test.each(named)(
  '%s: whatever call fails, the session is whole, no lock is held, and the next run finishes',
  async (_name, scenario) => {
    const judged = new JudgedDisks();
    for (const faultAt of faults) {
      const { struck, problems } = await failKeeping(scenario, faultAt, judged);
      struckCount += struck;
      expect(problems).toEqual([]);
    }
  },
  120_000,
);

/** Protocols that are known to be wrong, which the same checks must find wrong. */
const canaries: readonly (readonly [name: string, run: (world: KeepingWorld) => Promise<void>])[] = [
  [
    'a removal that copies and deletes in place',
    async ({ fs, store }) => {
      if (!store.has('s-1')) return;
      if (fs.status(`${root}/trash`) === null) fs.makeDirectory(`${root}/trash`);
      const target = `${root}/trash/s-1.20261005T080000Z.0123abcd`;
      if (fs.status(target) === null) fs.makeDirectory(target);
      if (fs.status(`${root}/sessions/s-1/events.jsonl`) === null) return;
      fs.rename(`${root}/sessions/s-1/events.jsonl`, `${target}/events.jsonl`);
    },
  ],
  [
    'a removal that no ledger knows',
    async ({ fs, store }) => {
      if (!store.has('s-1')) return;
      if (fs.status(`${root}/trash`) === null) fs.makeDirectory(`${root}/trash`);
      fs.rename(`${root}/sessions/s-1`, `${root}/trash/s-1.20261005T080000Z.0123abcd`);
    },
  ],
];

test.each(canaries)('the checks bite: %s is found', async (_name, run) => {
  const byHand = keepingScenarios.find(({ name }) => name === 'the first removal of a store, by hand');
  if (byHand === undefined) throw new Error('there is no such scenario');
  const canary: KeepingScenario = { ...byHand, run };
  expect((await enumerateKeeping(canary)).problems).not.toEqual([]);
});

test('so many states and failures were tried', () => {
  process.stdout.write(
    `${stateCount} crash states of kept and removed sessions, ${struckCount} runs with a fault\n`,
  );
  expect(stateCount).toBeGreaterThan(1_000);
  expect(struckCount).toBeGreaterThan(5_000);
});
