/**
 * Prints the closing line of a run, alone and last: `N passed, N failed`, after a line `N skipped` when there
 * were any. A suite that could not be loaded counts as a failure although none of its tests ran, and so does
 * each check that `pnpm test` ran before and found wanting. After a failure it says how to run with that seed.
 */
export default class PlainSummaryReporter {
  #out;
  #environment;

  constructor(_globalConfig, _options, { out = process.stdout, environment = process.env } = {}) {
    this.#out = out;
    this.#environment = environment;
  }

  onRunComplete(_contexts, results) {
    // Jest prints its own summary after this call; the last word is spoken when the process ends.
    process.once('exit', () => this.#out.write(this.lines(results).join('\n').concat('\n')));
  }

  lines(results) {
    const failedChecks = Number(this.#environment.TURNLOG_FAILED_CHECKS ?? 0);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + failedChecks;
    const skipped = results.numPendingTests + results.numTodoTests;
    const seed = this.#environment.TURNLOG_TEST_SEED;
    return [
      ...(failed > 0 ? [`seed: run again with TURNLOG_TEST_SEED=${seed}`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
      `${results.numPassedTests} passed, ${failed} failed`,
    ];
  }
}
