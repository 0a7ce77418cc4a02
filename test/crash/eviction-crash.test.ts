import { type CrashOutcome, describeCrashes, enumerateCrashes } from '@turnlog/testkit';
import { type CrashRow, crashRows, rowOf } from './eviction-rows.js';
import { evictionScenarios } from './eviction-scenarios.js';
import { realEngine } from './real-engine.js';

const outcomes: CrashOutcome[] = [];
const seen = new Map<string, Set<CrashRow | null>>();

/** What each scenario takes out: the last seq of its first eviction. */
const cutAt: Readonly<Record<string, number>> = {
  'eviction with archive': 10,
  'eviction with drop': 10,
  'eviction with a failing hook': 10,
  'second eviction': 21,
  'second eviction with drop': 21,
  'eviction while appending': 10,
};

test.each(evictionScenarios.map((scenario) => [scenario.name, scenario] as const))(
  'I1, I2, I3, I4, I5, I6, I8: %s: every disk that a crash may leave is recovered, and upkeep ends what it began',
  async (name, scenario) => {
    const rows = new Set<CrashRow | null>();
    seen.set(name, rows);
    const outcome = await enumerateCrashes(
      realEngine,
      { ...scenario, observe: (disk, directory) => rows.add(rowOf(disk, directory, cutAt[name] ?? 0)) },
      { disksMax: 24, recoveryDisksMax: 2 },
    );
    outcomes.push(outcome);
    expect(outcome.examples).toEqual([]);
    expect(outcome.violations).toBe(0);
    expect(outcome.crashPoints).toBeGreaterThan(1);
  },
  240_000,
);

test.each([
  ['eviction with archive', crashRows],
  ['eviction with drop', crashRows],
  ['second eviction', crashRows],
  ['second eviction with drop', crashRows],
  ['eviction while appending', crashRows],
  ['eviction with a failing hook', ['before or in R1']],
] as const)('every row of the table was among the disks of: %s', (name, rows) => {
  const found = seen.get(name) ?? new Set();
  expect(rows.filter((row) => !found.has(row))).toEqual([]);
});

test('at least 4,000 distinct crash states of evictions were opened and none violated an invariant', () => {
  process.stdout.write(`${describeCrashes(outcomes)}\n`);
  expect(outcomes).toHaveLength(evictionScenarios.length);
  expect(outcomes.reduce((sum, { states }) => sum + states, 0)).toBeGreaterThanOrEqual(4_000);
  expect(outcomes.reduce((sum, { violations }) => sum + violations, 0)).toBe(0);
});
