import { describeCrashTier } from './crash-tier.js';
import { openingScenarios } from './scenarios.js';

// With `crash-writing.test.ts` at least 20,000.
describeCrashTier(openingScenarios, 10_000);
