/** Like `describe`, but skips the tests and prints the reason if they cannot run on this machine. */
export function describeUnless(
  skipReason: string | undefined,
  name: string,
  tests: () => void,
): void {
  if (skipReason === undefined) {
    describe(name, tests);
    return;
  }
  process.stdout.write(`${name}: skipped, ${skipReason}\n`);
  describe.skip(name, tests);
}
