import base from '../../jest.config.mjs';

const { FAULTS_ROUNDS: rounds } = process.env;
if (rounds === undefined) throw new Error('start the fault tests by npm run test:faults');

const { globalSetup: _setUp, globalTeardown: _tearDown, ...shared } = base;

// Each file has a PostgreSQL of its own, and times are measured: one after another.
export default {
  ...shared,
  rootDir: '../..',
  roots: ['<rootDir>/test/faults'],
  testRegex: String.raw`\.fault\.ts$`,
  maxWorkers: 1,
  testTimeout: 60_000 + Number(rounds) * 30_000,
};
