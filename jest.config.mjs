import { availableParallelism } from 'node:os';
import { jestConfig } from './src/testing/jest/config.mjs';

// A time zone with daylight saving and a historical offset with seconds: no test may depend on it.
process.env.TZ ??= 'America/New_York';

export default jestConfig({
  // The files of the application run once per process.
  testEnvironmentOptions: { sharedFolder: 'src' },
  setupFiles: ['<rootDir>/test/support/set-up-suite.ts'],
  roots: ['<rootDir>/src', '<rootDir>/test'],
  globalSetup: './test/support/global-setup.mjs',
  globalTeardown: './test/support/global-teardown.mjs',
  // More than there are cores, because a worker often waits for its server.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  // Suites leave garbage behind in a process that loads packages once.
  workerIdleMemoryLimit: '1GB',
  // The time of a machine that has much else to do; no test and no hook sets one of its own.
  testTimeout: 300_000,
});
