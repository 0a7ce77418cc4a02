import { type CrashOutcome, type CrashScenario, describeCrashes, enumerateCrashes } from '@turnlog/testkit';
import { soakBudget } from '../figures.js';
import { realEngine } from './real-engine.js';

const disksMax = soakBudget('TURNLOG_CRASH_DISKS', 96);
const limits = {
  disksMax,
  recoveryDisksMax: Math.max(3, Math.floor(disksMax / 100)),
  seed: soakBudget('TURNLOG_CRASH_SEED', 1),
};

/** One test for each scenario and one for their sum. A suite of half the tier, so that two can run side by side. */
export function describeCrashTier(scenarios: readonly CrashScenario[], statesMin: number): void {
  const outcomes: CrashOutcome[] = [];

  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    'I1, I2, I3, I4, I5, I6, I8: %s: every disk that a crash may leave is recovered',
    async (_name, scenario) => {
      const outcome = await enumerateCrashes(realEngine, scenario, limits);
      outcomes.push(outcome);
      expect(outcome.examples).toEqual([]);
      expect(outcome.violations).toBe(0);
      expect(outcome.crashPoints).toBeGreaterThan(1);
    },
    240_000 + disksMax * 1_000,
  );

  // A long run tries more of each; one that was scaled down has no floor.
  const floor = disksMax < 96 ? 1 : statesMin;

  test(`at least ${statesMin} distinct crash states were opened and none violated an invariant`, () => {
    process.stdout.write(`${describeCrashes(outcomes)}\n`);
    expect(outcomes).toHaveLength(scenarios.length);
    expect(outcomes.reduce((sum, { states }) => sum + states, 0)).toBeGreaterThanOrEqual(floor);
    expect(outcomes.reduce((sum, { violations }) => sum + violations, 0)).toBe(0);
  });
}
