/**
 * Prints the closing line of a run, alone and last: `N passed, N failed`, after a line `N skipped` when there
 * were any. A suite that could not be loaded counts as a failure although none of its tests ran.
 */
export default class PlainSummaryReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    // Jest prints its own summary after this call; the last word is spoken when the process ends.
    process.once('exit', () => {
      if (skipped > 0) process.stdout.write(`${skipped} skipped\n`);
      process.stdout.write(`${results.numPassedTests} passed, ${failed} failed\n`);
    });
  }
}
