// Runs the fault tests: once each, or as often as it takes to meet what is rare.
import { runSuite } from '../support/suite.mjs';

const ROUNDS = { least: 1, most: 10_000, default: 1 };

await runSuite('faults', {
  usage: `npm run test:faults -- [options] [files]

  --rounds N   how often each fault happens, ${ROUNDS.least} to ${ROUNDS.most} (${ROUNDS.default})
  --help       show this
`,
  options: { rounds: ROUNDS },
});
