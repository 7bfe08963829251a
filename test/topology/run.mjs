// Runs the tests with several servers of Debian's PostgreSQL.
import { runSuite } from '../support/suite.mjs';

await runSuite('topology', {
  usage: `npm run test:topology -- [files]

  --help       show this

Tests whose Debian packages are not installed are skipped.
`,
  options: {},
});
