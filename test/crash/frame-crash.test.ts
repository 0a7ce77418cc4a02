import { describeCrashTier } from './crash-tier.js';
import { frameScenarios } from './frame-scenarios.js';

describeCrashTier(frameScenarios, 1_000);
