/** More lines are dropped, because a failing server may log without end. */
const MAX_LINES = 100;

declare global {
  /** What the environment of Jest prints if the running test fails. */
  var latitudeTestLog: string[] | undefined;
}

/** The log of the servers of tests. */
export const testLog = {
  /** Whether it is written to standard output. Otherwise, it is kept for the report of a failing test. */
  isPrinted: false,

  write(line: string): void {
    if (testLog.isPrinted) {
      process.stdout.write(line);
      return;
    }
    const lines = (globalThis.latitudeTestLog ??= []);
    if (lines.length < MAX_LINES) lines.push(line);
  },
};
