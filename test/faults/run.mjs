// Runs the fault tests, once or repeatedly to find rare failures.
import { runSuite } from '../support/suite.mjs';

const ROUNDS = { least: 1, most: 10_000, default: 1 };

await runSuite('faults', {
  usage: `npm run test:faults -- [options] [files]

  --rounds N   how often each fault happens, ${ROUNDS.least} to ${ROUNDS.most} (${ROUNDS.default})
  --help       show this
`,
  options: { rounds: ROUNDS },
});
