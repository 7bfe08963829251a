import base from '../../jest.config.mjs';

const { FAULTS_ROUNDS: rounds } = process.env;
if (rounds === undefined) throw new Error('start the fault tests by npm run test:faults');

const { globalSetup: _setUp, globalTeardown: _tearDown, ...shared } = base;

// Files run one after another, because each starts a PostgreSQL of its own and measures times.
export default {
  ...shared,
  rootDir: '../..',
  roots: ['<rootDir>/test/faults'],
  testRegex: String.raw`\.fault\.ts$`,
  maxWorkers: 1,
  testTimeout: 60_000 + Number(rounds) * 30_000,
};
