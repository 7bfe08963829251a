// Runs the fuzz tests with a number of inputs and a seed.
import { randomInt } from 'node:crypto';
import { runSuite } from '../support/suite.mjs';

const RUNS = { min: 1, max: 1_000_000, default: 50 };
const MAX_SEED = 2 ** 31 - 1;

await runSuite('fuzz', {
  usage: `npm run test:fuzz -- [options] [files]

  --runs N   inputs that each property is tried with, ${RUNS.min} to ${RUNS.max} (${RUNS.default})
  --seed N   what the inputs follow from, 0 to ${MAX_SEED} (default: random)
  --help     show this
`,
  options: { runs: RUNS, seed: { min: 0, max: MAX_SEED, default: randomInt(MAX_SEED) } },
  announce: ({ seed }, command) => `Seed ${seed}. To run the same again: ${command}`,
});
