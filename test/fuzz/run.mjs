// Runs the fuzz tests with a number of inputs and a seed.
import { randomInt } from 'node:crypto';
import { runSuite } from '../support/suite.mjs';

const RUNS = { least: 1, most: 1_000_000, default: 50 };
const MOST_SEED = 2 ** 31 - 1;

await runSuite('fuzz', {
  usage: `npm run test:fuzz -- [options] [files]

  --runs N   inputs that each property is tried with, ${RUNS.least} to ${RUNS.most} (${RUNS.default})
  --seed N   what the inputs follow from, 0 to ${MOST_SEED} (another one each time)
  --help     show this
`,
  options: { runs: RUNS, seed: { least: 0, most: MOST_SEED, default: randomInt(MOST_SEED) } },
  announce: ({ seed }, command) => `Seed ${seed}. To run the same again: ${command}`,
});
