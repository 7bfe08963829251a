// A time zone with daylight saving and a historical offset with seconds: no test may depend on it.
process.env.TZ ??= 'America/New_York';

export default {
  testEnvironment: './src/testing/jest/environment.mjs',
  runtime: '<rootDir>/src/testing/jest/runtime.mjs',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testRegex: String.raw`\.spec\.ts$`,
  moduleNameMapper: { [String.raw`^(\.{1,2}/.*)\.js$`]: ['$1.ts', '$1.js', '$1'] },
  // swc compiles the files of this repository to CommonJS for Jest.
  transform: {
    [String.raw`\.(ts|mjs)$`]: [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: {
            legacyDecorator: true,
            decoratorMetadata: true,
            useDefineForClassFields: false,
          },
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
        swcrc: false,
      },
    ],
  },
  // Node's own modules use these two.
  fakeTimers: { doNotFake: ['nextTick', 'queueMicrotask'] },
  globalSetup: './src/testing/global-setup.mjs',
  globalTeardown: './src/testing/global-teardown.mjs',
  maxWorkers: '100%',
  // The time of a machine that has much else to do; no test and no hook sets one of its own.
  testTimeout: 300_000,
};
