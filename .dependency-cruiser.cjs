const { readdirSync } = require('node:fs');
const path = require('node:path');

/** Who may import whom: one room a concern, and no way back (CONTRIBUTING.md). */
const GROUND = [
  'config',
  'errors',
  'events',
  'tenancy',
  'fields',
  'listing',
  'rate-limit',
  'database',
  'embedded-postgres',
  'rest',
];
const PLATFORM = ['auth', 'http', 'mcp'];
const COMMAND_LINE = ['cli'];
/** The test kit, which may import anything. */
const TESTING = ['testing'];
/** Runs at a caller's, without anything of the server. */
const CLIENT = ['client'];
const FEATURES = readdirSync(path.join(__dirname, 'src'), { withFileTypes: true })
  .filter(
    (entry) =>
      entry.isDirectory() &&
      ![...GROUND, ...PLATFORM, ...COMMAND_LINE, ...CLIENT, ...TESTING].includes(entry.name),
  )
  .map(({ name }) => name);

/** They read what several features have, and none imports them. */
const ABOVE_FEATURES = ['prompts'];

const folder = (names) => `^src/(${names.join('|')})/`;
const role = (name) => String.raw`\.${name}\.ts$`;
const specs = String.raw`\.spec\.ts$`;

/** Features point one way: what is listed may be imported, and only through these files. */
const FEATURE_DOORS = String.raw`\.(module|service|dto|entity)\.ts$|^src/leads/live-lead\.ts$`;

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: { pathNot: folder(TESTING) },
      to: { circular: true },
    },
    {
      name: 'ground-imports-only-ground',
      severity: 'error',
      from: { path: folder(GROUND) },
      to: { path: '^src/', pathNot: folder(GROUND) },
    },
    {
      name: 'platform-imports-no-feature',
      severity: 'error',
      from: { path: folder(PLATFORM) },
      to: { path: '^src/', pathNot: folder([...GROUND, ...PLATFORM]) },
    },
    {
      name: 'auth-does-not-import-http',
      severity: 'error',
      from: { path: '^src/auth/' },
      to: { path: '^src/http/' },
    },
    {
      name: 'http-does-not-import-mcp',
      severity: 'error',
      from: { path: '^src/(auth|http)/' },
      to: { path: '^src/mcp/' },
    },
    {
      name: 'features-meet-at-their-doors',
      severity: 'error',
      from: { path: folder(FEATURES) },
      to: { path: folder(FEATURES), pathNot: ['^src/$1/', FEATURE_DOORS] },
    },
    {
      name: 'features-point-towards-leads',
      severity: 'error',
      from: { path: folder(FEATURES.filter((name) => !ABOVE_FEATURES.includes(name))) },
      to: { path: folder(FEATURES.filter((name) => name !== 'leads')), pathNot: '^src/$1/' },
    },
    {
      name: 'controllers-and-tools-go-through-services',
      severity: 'error',
      from: { path: ['controller', 'tools', 'completions', 'prompt'].map(role) },
      to: { path: [role('repository'), role('entity'), '^src/database/'] },
    },
    {
      name: 'services-know-neither-http-nor-sql',
      severity: 'error',
      from: { path: folder(FEATURES), pathNot: [role('controller'), role('module')] },
      to: { path: ['^node_modules/express', '^src/http/'] },
    },
    {
      name: 'typeorm-stays-in-its-rooms',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          role('repository'),
          role('entity'),
          role('module'),
          '^src/(database|embedded-postgres|listing|testing)/',
        ],
      },
      to: { path: 'node_modules/(typeorm|pg|@nestjs/typeorm)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'the-sdk-of-sessions-has-one-room',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/mcp/protocol/session-protocol.ts$' },
      to: { path: 'node_modules/@modelcontextprotocol/sdk/' },
    },
    {
      name: 'the-client-stands-alone',
      severity: 'error',
      from: { path: folder(CLIENT) },
      to: { pathNot: folder(CLIENT) },
    },
    {
      name: 'the-server-does-not-import-the-client',
      severity: 'error',
      from: { path: '^src/', pathNot: folder(CLIENT) },
      to: { path: folder(CLIENT) },
    },
    {
      name: 'nothing-imports-the-test-kit',
      severity: 'error',
      from: { path: '^src/', pathNot: [folder(TESTING), specs] },
      to: { path: folder(TESTING) },
    },
    {
      name: 'nothing-imports-the-entry-points',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(cli|testing)/' },
      to: { path: String.raw`^src/[^/]+\.ts$|^src/cli/` },
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
      // The test kit starts what was built.
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
