const { readdirSync } = require('node:fs');
const path = require('node:path');

/** The import rules of CONTRIBUTING.md#import-rules. */

/** Shared code, which knows neither features nor the transports. */
const CORE = ['config', 'errors', 'tenancy', 'fields', 'listing', 'database', 'embedded-postgres'];
/** Authentication, rate limits and transports, which know no feature. */
const PLATFORM = ['auth', 'events', 'extension', 'http', 'jobs', 'mcp', 'rate-limit', 'rest'];
const ENTRY_FOLDERS = ['cli', 'server'];
/** The test kit, which may import everything. */
const TESTING = ['testing'];
/** The client library, which runs without the server. */
const CLIENT = ['client'];
const FEATURES = readdirSync(path.join(__dirname, 'src'), { withFileTypes: true })
  .filter(
    (entry) =>
      entry.isDirectory() &&
      ![...CORE, ...PLATFORM, ...ENTRY_FOLDERS, ...CLIENT, ...TESTING].includes(entry.name),
  )
  .map(({ name }) => name);

/** Features that read several other features. */
const COMPOSITE_FEATURES = ['prompts'];

const folder = (names) => `^src/(${names.join('|')})/`;
const suffix = (name) => String.raw`\.${name}\.ts$`;
const specs = String.raw`\.spec\.ts$`;

/** The files of a feature that other features may import. */
const PUBLIC_FILES = String.raw`\.(module|service|dto|entity)\.ts$|^src/leads/lead-(exists|name)\.ts$`;

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: { pathNot: folder(TESTING) },
      to: { circular: true },
    },
    {
      name: 'core-imports-only-core',
      severity: 'error',
      from: { path: folder(CORE) },
      to: { path: '^src/', pathNot: folder([...CORE, ...TESTING]) },
    },
    {
      name: 'platform-imports-no-feature',
      severity: 'error',
      from: { path: folder(PLATFORM) },
      to: { path: '^src/', pathNot: folder([...CORE, ...PLATFORM]) },
    },
    {
      name: 'http-does-not-import-mcp',
      severity: 'error',
      from: { path: '^src/(auth|http|rate-limit|rest)/' },
      to: { path: '^src/mcp/' },
    },
    {
      name: 'features-import-only-public-files-of-features',
      severity: 'error',
      from: { path: folder(FEATURES) },
      to: { path: folder(FEATURES), pathNot: ['^src/$1/', PUBLIC_FILES] },
    },
    {
      name: 'features-depend-only-on-leads',
      severity: 'error',
      from: { path: folder(FEATURES.filter((name) => !COMPOSITE_FEATURES.includes(name))) },
      to: { path: folder(FEATURES.filter((name) => name !== 'leads')), pathNot: '^src/$1/' },
    },
    {
      name: 'controllers-and-tools-use-services',
      severity: 'error',
      from: { path: ['controller', 'tools', 'completions', 'prompt'].map(suffix) },
      to: { path: [suffix('repository'), suffix('entity'), '^src/database/'] },
    },
    {
      name: 'services-do-not-import-http',
      severity: 'error',
      from: { path: folder(FEATURES), pathNot: [suffix('controller'), suffix('module')] },
      to: { path: ['^node_modules/express', '^src/http/'] },
    },
    {
      name: 'typeorm-only-in-repositories-and-database',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          suffix('repository'),
          suffix('entity'),
          suffix('module'),
          '^src/(database|embedded-postgres|listing|testing)/',
        ],
      },
      to: { path: 'node_modules/(typeorm|pg|@nestjs/typeorm)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'mcp-sdk-only-in-session-protocol',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/mcp/protocol/session-protocol.ts$' },
      to: { path: 'node_modules/@modelcontextprotocol/sdk/' },
    },
    {
      name: 'package-internals-only-in-their-file',
      severity: 'error',
      from: { path: '^src/', pathNot: String.raw`-internals\.ts$` },
      to: { path: 'node_modules/(@nestjs/common/(constants|enums)|typeorm/driver/)' },
    },
    {
      name: 'client-does-not-import-server',
      severity: 'error',
      from: { path: folder(CLIENT) },
      to: { pathNot: folder(CLIENT) },
    },
    {
      name: 'server-does-not-import-client',
      severity: 'error',
      from: { path: '^src/', pathNot: folder(CLIENT) },
      to: { path: folder(CLIENT) },
    },
    {
      name: 'only-specs-import-testing',
      severity: 'error',
      from: { path: '^src/', pathNot: [folder(TESTING), specs] },
      to: { path: folder(TESTING) },
    },
    {
      name: 'entry-points-are-not-imported',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: folder([...ENTRY_FOLDERS, ...TESTING]) },
      to: { path: String.raw`^src/[^/]+\.ts$|^src/(cli|server)/` },
    },
    {
      name: 'no-undeclared-packages',
      severity: 'error',
      from: { path: '^src/', pathNot: [specs, folder(TESTING)] },
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      // The test kit imports the build output.
      to: { couldNotResolve: true, pathNot: '/dist/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
