/** The suite is not a dependency, because it needs Node.js 22 and 60 packages. */
export const SUITE = [
  '--package=node@22',
  '--package=@modelcontextprotocol/conformance@0.2.0-alpha.12',
];
