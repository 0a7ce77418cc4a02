import { JudgedDisks } from '@turnlog/testkit';
import { soakBudget } from '../figures.js';
import { faults } from './all-faults.js';
import { writePaths } from './write-path-scenarios.js';
import { enumerateWritePath, failWritePath, type WritePath } from './write-path-world.js';

// A rename that another program holds up is tried again for two seconds; no test waits for that.
beforeEach(() => {
  jest.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
});

afterEach(() => {
  jest.restoreAllMocks();
});

// Errnos that nothing tells apart are one kind of failure here; the log's own loops try each.
const kinds = faults.filter(([name]) => /^(EIO once|EDQUOT once|ENOSPC from|a short write)/.test(name));
const named = writePaths.map((path) => [path.name, path] as const);
let states = 0;
let struckRuns = 0;

test.each(named)(
  '%s: a crash at any call leaves old or new, what was acknowledged, and the logs as they were; done again it is whole',
  async (_name, path) => {
    const outcome = await enumerateWritePath(path);
    states += outcome.states;
    expect(outcome.problems).toEqual([]);
    expect(outcome.crashPoints).toBeGreaterThan(3);
  },
  120_000 + soakBudget('TURNLOG_CRASH_DISKS', 96) * 2_000,
);

test.each(named)(
  '%s: whatever call fails, the failure is typed, nothing stays open or locked, and done again it is whole',
  async (_name, path) => {
    const judged = new JudgedDisks();
    for (const [fault, faultAt] of kinds) {
      const { struck, problems } = await failWritePath(path, faultAt, judged);
      struckRuns += struck;
      expect({ fault, problems }).toEqual({ fault, problems: [] });
    }
  },
  120_000,
);

/** Ways of writing that are known to be wrong, which the same checks must find wrong. */
const wrongRuns: readonly (readonly [name: string, of: string, run: WritePath['run']])[] = [
  [
    'a file that is written where it stands',
    'export over an older file',
    async ({ fs, acknowledge }) => {
      const file = fs.open('/out/s-1.md', 'append');
      file.truncate(0);
      file.write(Buffer.from('# Session'));
      file.close();
      acknowledge('exported');
    },
  ],
  [
    'a blob that has its name before its bytes are synced',
    'asset store',
    async ({ fs, acknowledge }) => {
      const digest = 'a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e';
      const path = `/store/assets/a7/${digest}`;
      if (fs.status('/store/assets/a7') === null) fs.makeDirectory('/store/assets/a7');
      if (fs.status(path) !== null) return;
      const file = fs.open(path, 'create');
      file.write(Buffer.from('first'));
      file.close();
      acknowledge(digest);
    },
  ],
];

test.each(wrongRuns)('the checks bite: %s is found', async (_name, of, run) => {
  const path = writePaths.find(({ name }) => name === of);
  if (path === undefined) throw new Error('there is no such way of writing');
  expect((await enumerateWritePath({ ...path, run })).problems).not.toEqual([]);
});

test('so many disks and failures were tried', () => {
  process.stdout.write(
    `${states} crash states of other written files, ${struckRuns} runs with a fault, none violated an invariant\n`,
  );
  expect(states).toBeGreaterThan(soakBudget('TURNLOG_CRASH_DISKS', 96) < 96 ? 0 : 2_000);
  expect(struckRuns).toBeGreaterThan(500);
});
