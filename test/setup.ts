import { configureGlobal } from 'fast-check';

// One seed for the whole run. The configuration names one when the environment does not, so that a run without
// a seed, which nobody could repeat, is a mistake of the configuration.
const text = process.env['TURNLOG_TEST_SEED'] ?? '';
const seed = Number(text);
if (text === '' || !Number.isSafeInteger(seed)) throw new Error(`TURNLOG_TEST_SEED is no seed: "${text}"`);
configureGlobal({ seed, numRuns: 100, verbose: 1 });
