import path from 'node:path';

const here = (file) => path.join(import.meta.dirname, file);

/** swc compiles the files of a repository to CommonJS for Jest, with the metadata of decorators. */
const transform = {
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
};

/**
 * The configuration of Jest for a repository with extensions: TypeScript and ES modules, and a PostgreSQL
 * for the whole run. Node loads the packages once per process, so `jest.mock` does not work for them.
 * @param overrides options of Jest that differ
 */
export function jestConfig(overrides = {}) {
  return {
    testEnvironment: here('environment.mjs'),
    // Loaded before the first suite, because the classes of Latitude register their metadata once.
    testEnvironmentOptions: { preload: ['latitude', 'latitude/testing'] },
    runtime: here('runtime.mjs'),
    testRegex: String.raw`\.spec\.ts$`,
    testPathIgnorePatterns: ['/node_modules/', '<rootDir>/dist/'],
    moduleNameMapper: { [String.raw`^(\.{1,2}/.*)\.js$`]: ['$1.ts', '$1.js', '$1'] },
    transform,
    // Node's own modules use these two.
    fakeTimers: { doNotFake: ['nextTick', 'queueMicrotask'] },
    globalSetup: here('../global-setup.mjs'),
    globalTeardown: here('../global-teardown.mjs'),
    testTimeout: 60_000,
    ...overrides,
  };
}
