/** Prints the numbers of passed, failed and skipped tests in one line at the end. */
export default class SummaryReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests }) {
    console.log(
      `tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`,
    );
  }
}
