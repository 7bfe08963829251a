import base from '../../jest.config.mjs';

const { globalSetup: _setUp, globalTeardown: _tearDown, ...shared } = base;

// Each file starts PostgreSQL servers of its own, and mostly waits.
export default {
  ...shared,
  rootDir: '../..',
  roots: ['<rootDir>/test/topology'],
  testRegex: String.raw`\.topology\.ts$`,
  maxWorkers: 2,
  testTimeout: 180_000,
};
