/** swc compiles TypeScript, and packages that have only ES modules, to CommonJS for Jest. */
const transform = (typescript) => [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      parser: typescript ? { syntax: 'typescript', decorators: true } : { syntax: 'ecmascript' },
      transform: typescript
        ? { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false }
        : {},
      keepClassNames: true,
    },
    module: { type: 'commonjs' },
    sourceMaps: typescript ? 'inline' : false,
    swcrc: false,
  },
];

const PACKAGES_WITHOUT_COMMONJS = ['@nestjs', 'uuid'];

// A time zone with daylight saving and a historical offset with seconds: no test may depend on it.
process.env.TZ ??= 'America/New_York';

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testRegex: String.raw`\.spec\.ts$`,
  moduleNameMapper: { [String.raw`^(\.{1,2}/.*)\.js$`]: ['$1.ts', '$1.js', '$1'] },
  transform: {
    [String.raw`^.+\.ts$`]: transform(true),
    [String.raw`^.+\.m?js$`]: transform(false),
  },
  transformIgnorePatterns: [`/node_modules/(?!(${PACKAGES_WITHOUT_COMMONJS.join('|')})/)`],
  globalSetup: './src/testing/global-setup.mjs',
  globalTeardown: './src/testing/global-teardown.mjs',
  maxWorkers: '100%',
  // The time of a machine that has much else to do; no test and no hook sets one of its own.
  testTimeout: 300_000,
};
