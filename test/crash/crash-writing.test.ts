import { enumerateCrashes } from '@turnlog/testkit';
import { describeCrashTier } from './crash-tier.js';
import { realEngine } from './real-engine.js';
import { writingScenarios } from './scenarios.js';

// With `crash-opening.test.ts` at least 20,000.
describeCrashTier(writingScenarios, 10_000);

test('T-14 a first append, with create, write and sync cut short in every order: it is there, or no session is', async () => {
  const scenario = writingScenarios.find(({ name }) => name === 'first append');
  expect(scenario).toBeDefined();
  if (scenario === undefined) return;
  const outcome = await enumerateCrashes(realEngine, scenario, { disksMax: 2_000, recoveryDisksMax: 4 });
  expect(outcome.examples).toEqual([]);
  expect(outcome.violations).toBe(0);
  expect(outcome.states).toBeGreaterThan(100);
});
