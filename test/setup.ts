import { configureGlobal } from 'fast-check';

// One seed for the whole run: given by TURNLOG_TEST_SEED, or taken from the clock and printed on a failure.
const given = process.env['TURNLOG_TEST_SEED'];
const seed = given === undefined || given === '' ? 20_261_005 : Number(given);
configureGlobal({ seed, numRuns: 100, verbose: 1 });
