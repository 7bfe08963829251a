import base from '../../jest.config.mjs';

const { globalSetup: _setUp, globalTeardown: _tearDown, ...shared } = base;

// Each file has PostgreSQL servers of its own, and times are measured: one after another.
export default {
  ...shared,
  rootDir: '../..',
  roots: ['<rootDir>/test/topology'],
  testRegex: String.raw`\.topology\.ts$`,
  maxWorkers: 1,
};
