// Runs the tests that start servers, commands, databases and browsers.
import { runSuite } from '../support/suite.mjs';

await runSuite('system', {
  usage: `npm run test:system -- [files]

  --help       show this

Tests whose Debian packages are not installed are skipped.
`,
  options: {},
});
