import { FaultLoop, type FaultOutcome } from '@turnlog/testkit';
import { faults } from './all-faults.js';
import { realEngine } from './real-engine.js';
import { openingScenarios, writingScenarios } from './scenarios.js';

// A rename that another program holds up is tried again for two seconds; no test waits for that.
beforeEach(() => {
  jest.spyOn(Atomics, 'wait').mockReturnValue('timed-out');
});

afterEach(() => {
  jest.restoreAllMocks();
});

const scenarios = [...writingScenarios, ...openingScenarios];
const outcomes: FaultOutcome[] = [];

describe.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', (_name, scenario) => {
  test('T-39, I7, I8: whatever call fails, nothing is half done and work goes on', async () => {
    const loop = new FaultLoop(realEngine, scenario);
    const found: string[] = [];
    for (const [name, at] of faults) {
      const outcome = await loop.run(at);
      outcomes.push(outcome);
      found.push(...outcome.examples.map((example) => `${name}: ${example}`));
    }
    expect(found).toEqual([]);
  }, 240_000);
});

test('each scenario was struck until it ended untouched', () => {
  const struck = outcomes.reduce((sum, { struckRuns }) => sum + struckRuns, 0);
  const violations = outcomes.reduce((sum, outcome) => sum + outcome.violations, 0);
  process.stdout.write(`${struck} runs with a fault, ${violations} violated an invariant\n`);
  expect(outcomes).toHaveLength(scenarios.length * faults.length);
  expect(struck).toBeGreaterThan(5_000);
  expect(violations).toBe(0);
});
