import { type CrashOutcome, describeCrashes, enumerateCrashes } from '@turnlog/testkit';
import { realEngine } from './real-engine.js';
import { scenarios } from './scenarios.js';

const outcomes: CrashOutcome[] = [];

test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
  'I1, I2, I3, I4, I5, I6, I7, I8: %s: every disk of every crash is recovered',
  async (_name, scenario) => {
    const outcome = await enumerateCrashes(realEngine, scenario);
    outcomes.push(outcome);
    expect(outcome.examples).toEqual([]);
    expect(outcome.violations).toBe(0);
    expect(outcome.crashPoints).toBeGreaterThan(1);
  },
  60_000,
);

test('at least 20,000 distinct crash states were opened and none violated an invariant', () => {
  process.stdout.write(`${describeCrashes(outcomes)}\n`);
  expect(outcomes).toHaveLength(scenarios.length);
  expect(outcomes.reduce((sum, { states }) => sum + states, 0)).toBeGreaterThanOrEqual(20_000);
  expect(outcomes.reduce((sum, { violations }) => sum + violations, 0)).toBe(0);
});
