/** Prints the run in one plain line at its very end. */
export default class SummaryReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests }) {
    console.log(
      `tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`,
    );
  }
}
