// Runs the fault tests, once or repeatedly to find rare failures.
import { runSuite } from '../support/suite.mjs';

const ROUNDS = { min: 1, max: 10_000, default: 1 };

await runSuite('faults', {
  usage: `npm run test:faults -- [options] [files]

  --rounds N   how often each fault happens, ${ROUNDS.min} to ${ROUNDS.max} (${ROUNDS.default})
  --help       show this
`,
  options: { rounds: ROUNDS },
});
