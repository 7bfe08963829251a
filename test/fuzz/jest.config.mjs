import base from '../../jest.config.mjs';

const { FUZZ_RUNS: runs } = process.env;
if (runs === undefined) throw new Error('start the fuzz tests by npm run test:fuzz');

export default {
  ...base,
  rootDir: '../..',
  roots: ['<rootDir>/test/fuzz'],
  testRegex: String.raw`\.fuzz\.ts$`,
  maxWorkers: '100%',
  // A run takes milliseconds, and up to a second where it makes a failing input smaller.
  testTimeout: 120_000 + Number(runs) * 500,
};
