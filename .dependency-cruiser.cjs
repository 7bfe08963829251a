const { readdirSync } = require('node:fs');
const path = require('node:path');

/** The import rules of CONTRIBUTING.md#import-rules. */

/** The folders of the platform. Each imports only those before it. */
const RANKS = [
  ['config', 'errors'],
  ['fields', 'outgoing'],
  ['data'],
  ['discovery'],
  ['access'],
  ['jobs'],
  ['http'],
  ['nest'],
  ['extension'],
];

/** Modules that read several others. */
const COMPOSITE_MODULES = ['counts', 'prompts', 'personal-data'];

/** The modules that every module may import. */
const COMMON_MODULES = ['auth', 'events', 'mcp', 'custom-fields'];

/** The files of a module that other modules may import. */
const PUBLIC_FILES = String.raw`\.(module|service|dto|entity)\.ts$|^src/modules/leads/lead-(exists|fields)\.ts$|^src/modules/resources/bookings/(any-of|local-times)\.ts$`;

const platform = (folders) => `^src/platform/(${folders.join('|')})/`;
const modules = (names) => `^src/modules/(${names.join('|')})/`;
const suffix = (name) => String.raw`\.${name}\.ts$`;
const specs = String.raw`\.spec\.ts$`;

const MODULES = readdirSync(path.join(__dirname, 'src/modules'));
/** The modules of records. */
const RESOURCES = MODULES.filter((name) => !COMMON_MODULES.includes(name));

const higherRanks = RANKS.slice(0, -1).map((folders, rank) => ({
  name: `${folders.join('-and-')}-imports-no-higher-rank`,
  severity: 'error',
  from: { path: platform(folders) },
  to: { path: platform(RANKS.slice(rank + 1).flat()) },
}));

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: { pathNot: '^src/testing/' },
      to: { circular: true },
    },
    ...higherRanks,
    {
      name: 'platform-imports-only-platform',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/', pathNot: '^src/(platform|testing)/' },
    },
    {
      name: 'modules-import-only-modules-and-platform',
      severity: 'error',
      from: { path: '^src/modules/' },
      to: { path: '^src/', pathNot: '^src/(platform|modules|testing)/' },
    },
    {
      name: 'common-modules-import-no-resource',
      severity: 'error',
      from: { path: modules(COMMON_MODULES) },
      to: { path: modules(RESOURCES) },
    },
    {
      name: 'resources-depend-only-on-leads-and-resources',
      severity: 'error',
      from: { path: modules(RESOURCES.filter((name) => !COMPOSITE_MODULES.includes(name))) },
      to: {
        path: modules(RESOURCES.filter((name) => !['leads', 'resources'].includes(name))),
        pathNot: '^src/modules/$1/',
      },
    },
    {
      name: 'resources-import-only-public-files-of-resources',
      severity: 'error',
      from: { path: modules(RESOURCES) },
      to: { path: modules(RESOURCES), pathNot: ['^src/modules/$1/', PUBLIC_FILES] },
    },
    {
      name: 'sign-in-is-loaded-only-if-it-is-on',
      severity: 'error',
      from: { path: '^src/', pathNot: String.raw`^src/modules/oauth/(?!grants\.)` },
      to: {
        path: String.raw`^src/modules/oauth/(?!grants\.)|node_modules/(oidc-provider|jose)/`,
        dynamic: false,
      },
    },
    {
      name: 'the-sdk-of-opentelemetry-is-loaded-only-if-traces-are-exported',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        path: String.raw`node_modules/@opentelemetry/(?!api/)`,
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-the-start-and-the-command-line-import-ops',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(ops|testing)/' },
      to: { path: '^src/ops/' },
    },
    {
      name: 'controllers-and-tools-use-services',
      severity: 'error',
      from: { path: ['controller', 'tools', 'prompt'].map(suffix) },
      to: {
        path: [suffix('repository'), suffix('entity'), '^src/platform/data/'],
        pathNot: String.raw`^src/platform/data/(lists/|batches/|call\.ts$)`,
      },
    },
    {
      name: 'services-and-repositories-import-no-tools',
      severity: 'error',
      from: {
        path: modules(RESOURCES),
        pathNot: ['tools', 'prompt', 'module', 'extension']
          .map(suffix)
          .concat(String.raw`-tools\.dto\.ts$`, '^src/modules/oauth/'),
      },
      to: { path: ['^src/modules/mcp/', suffix('tools'), String.raw`-tools\.dto\.ts$`] },
    },
    {
      name: 'services-do-not-import-http',
      severity: 'error',
      from: { path: modules(RESOURCES), pathNot: ['controller', 'filter', 'module'].map(suffix) },
      to: { path: ['^node_modules/express', '^src/platform/http/'] },
    },
    {
      name: 'typeorm-only-in-repositories-and-data',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          ...['repository', 'entity', 'module'].map(suffix),
          '^src/(platform/data|ops/backup|ops/embedded-postgres|ops/open-database|testing)',
        ],
      },
      to: { path: 'node_modules/(typeorm|pg|@nestjs/typeorm)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'mcp-sdk-only-in-session-protocol',
      severity: 'error',
      from: { path: '^src/', pathNot: '/session-protocol.ts$' },
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
      from: { path: '^src/client/' },
      to: { pathNot: '^src/client/' },
    },
    {
      name: 'server-does-not-import-client',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/client/' },
      to: { path: '^src/client/' },
    },
    {
      name: 'only-specs-import-testing',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/testing/', specs] },
      to: { path: '^src/testing/' },
    },
    {
      name: 'entry-points-are-not-imported',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(ops|testing)/' },
      to: { path: String.raw`^src/[^/]+\.ts$` },
    },
    {
      name: 'no-undeclared-packages',
      severity: 'error',
      from: { path: '^src/', pathNot: [specs, '^src/testing/'] },
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
