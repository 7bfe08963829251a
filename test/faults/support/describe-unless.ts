/** Like `describe`, but says so where its tests cannot run on this machine, and why. */
export function describeUnless(whyNot: string | undefined, name: string, tests: () => void): void {
  if (whyNot === undefined) {
    describe(name, tests);
    return;
  }
  process.stdout.write(`${name}: skipped, ${whyNot}\n`);
  describe.skip(name, tests);
}
