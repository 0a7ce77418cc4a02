import { describeCrashTier } from './crash-tier.js';
import { writingScenarios } from './scenarios.js';

// With `crash-opening.test.ts` at least 20,000.
describeCrashTier(writingScenarios, 10_000);
