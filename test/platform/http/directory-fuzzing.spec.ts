import http from 'node:http';
import { ANSWER_TYPE } from '../../../src/testing/envelope.js';
import { TestServer } from '../../../src/testing/test-server.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { ALL_ROUTES, type Route } from '../../../src/testing/routes.js';

/**
 * The paths that a fuzzer can find: the public pages, and with a key the GET routes
 * (docs/contract/running.md#public-pages).
 */
const PAGES = [
  ...['/console', '/docs', '/docs/start.js', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js'],
  ...['/openapi.json', '/health/live', '/health/ready', '/metrics'],
];
const BEHIND_KEY = ALL_ROUTES.filter(
  ({ method, pattern, query }: Route) =>
    method === 'GET' &&
    !pattern.includes(':') &&
    query === undefined &&
    // It needs the id of a resource.
    pattern !== '/api/v1/availability',
).map(({ pattern }) => pattern);

/** Typical names in the word lists of fuzzers. */
const WORDS = `
  .aws/credentials .dockerenv .DS_Store .env .env.local .env.production .git .git/HEAD .git/config
  .gitignore .hg .htaccess .htpasswd .npmrc .ssh/id_rsa .svn/entries .vscode/settings.json
  .well-known .well-known/openid-configuration .well-known/security.txt _next _profiler actuator
  actuator/env actuator/heapdump admin admin/login api api-docs api/admin api/admin/keys api/docs
  api/graphql api/internal api/keys api/v0/leads api/v1 api/v1/admin api/v1/api_keys api/v1/debug
  api/v1/health api/v1/internal api/v1/keys api/v1/leads api/v1/leads/export api/v1/login
  api/v1/me api/v1/metrics api/v1/appointments api/v1/organizations api/v1/tasks api/v1/tenants
  api/v1/users api/v2 api/v2/leads app.js assets auth backup backup.sql cgi-bin/test config
  config.json console core data data/postgres db debug debug/pprof debug/vars dist dist/src/main.js
  docker-compose.yml Dockerfile docs docs/index.html docs/package.json docs/swagger-ui.css
  docs/swagger-ui-bundle.js docs/start.js dump.sql error.log favicon.ico graphiql graphql health
  health/live health/ready healthz heapdump home index.html index.js index.php info inspect jmx
  jolokia keys login logs manage manager/html mcp mcp/sessions mcp/sse mcp/tools metrics
  metrics/json migrations node_modules node_modules/pg/package.json openapi openapi.json
  openapi.yaml ormconfig.ts package-lock.json package.json phpinfo.php phpmyadmin ping pprof
  prometheus public purge README.md redoc robots.txt rpc server-info server-status sitemap.xml
  socket.io src src/main.ts sse static status storage swagger swagger-ui swagger-ui.html
  swagger.json swagger/index.html test tmp trace tsconfig.json upload uploads v1/leads v2 vendor
  version web.config wp-admin wp-login.php ws xmlrpc.php
`
  .trim()
  .split(/\s+/);

/** Path traversal out of the folder of static files. */
const TRAVERSALS = [
  ...['..', '%2e%2e', '.%2e', '..%2f..', '..%5c..', '....//', '%252e%252e', '..;', '..%00'].flatMap(
    (up) => [`/docs/${up}/package.json`, `/docs/${up}/${up}/${up}/etc/passwd`, `/${up}/etc/passwd`],
  ),
  ...['/docs//etc/passwd', '/docs/%2fetc%2fpasswd', '/docs/file:///etc/passwd', '/metrics/..'],
  ...['/docs/swagger-ui.css/../package.json', '/docs/swagger-ui.css%00.json', '/etc/passwd'],
  ...['/docs/swagger-ui.css/', '/docs/SWAGGER-UI.css', '/docs/./swagger-ui.css', '/..', '/.', '//'],
];

const ENDINGS = ['', '/', '.bak', '?debug=1'];

const PATHS = [
  ...WORDS.flatMap((word) => ENDINGS.map((ending) => `/${word}${ending}`)),
  ...TRAVERSALS,
  ...BEHIND_KEY,
  '/',
];

interface Refusal {
  readonly error: { readonly code: string };
}

let app: TestServer;
let tenant: Tenant;
let agent: http.Agent;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization({ scopes: app.scopes.every });
  agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
});
afterAll(async () => {
  agent.destroy();
  await app.stop();
});

/** Requests a raw path. Returns the status and code of an error, or otherwise the body. */
function shownAt(path: string, headers: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get({ port: app.port, path, headers, agent }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.once('end', () => {
        const isJson = response.headers['content-type'] === ANSWER_TYPE;
        const { error, ...rest } = (isJson ? JSON.parse(text) : {}) as Partial<Refusal>;
        const isRefusal = error !== undefined && Object.keys(rest).length === 0;
        resolve(isRefusal ? `${response.statusCode} ${error.code}` : text);
      });
    });
    request.once('error', reject);
  });
}

/** The paths whose result is not one of these errors. */
async function found(authorization: readonly string[], refusals: readonly string[]) {
  const headers = ['Host', 'a', ...authorization];
  const shown = [...new Set(PATHS)].map(async (path) => {
    return refusals.includes(await shownAt(path, headers)) ? [] : [path];
  });
  return (await Promise.all(shown)).flat().sort();
}

describe('a directory fuzzer', () => {
  const pages = ['/', '/console/', ...PAGES.flatMap((path) => [path, `${path}?debug=1`])].sort();

  it('finds only the public pages without a key', async () => {
    expect(await found([], ['401 unauthorized', '404 not_found'])).toEqual(pages);
  });

  it('finds the public pages and the GET routes with a key', async () => {
    const authorization = ['Authorization', `Bearer ${tenant.key.key}`];
    // An unknown query parameter, an event stream without a session, and the routes of operators.
    const refusals = [
      ...['404 not_found', '400 validation_error', '400 no_session'],
      '403 insufficient_scope',
    ];
    expect(await found(authorization, refusals)).toEqual([...pages, ...BEHIND_KEY].sort());
  });
});
