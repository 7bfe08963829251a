import { readSettings } from '../../src/config/settings.js';
import { sessionHeader, type McpHttpClient } from '../../src/testing/mcp-client.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { expectAlive, expectRefusal, FOREIGN_ORIGIN, mcpHelpers } from '../support/mcp-helpers.js';

let app: TestApp;
let tenant: Tenant;
let mcp: McpHttpClient;
const { callerOf, callerWithoutKey, start, stopAll } = mcpHelpers(() => app);

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => stopAll());

describe('Origin (MCP SDK: DNS rebinding)', () => {
  const ORIGIN = 'https://app.example';

  const initialize = (caller: McpHttpClient, origin: string) =>
    caller.initialize({}, { Origin: origin });

  it('given no Origin, when a request is sent, then it passes', async () => {
    await mcp.openSession();
  });

  it.each([
    'http://localhost',
    'http://localhost:3000',
    'https://localhost:8443',
    'http://127.0.0.1',
    'http://127.0.0.1:6274',
    'https://127.0.0.1:1',
    'http://[::1]',
    'http://[::1]:65535',
  ])('given the default, when a page of %s asks, then it passes', async (origin) => {
    expect(await initialize(mcp, origin)).toMatchObject({ status: 200 });
  });

  it.each([
    'null',
    '',
    '*',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://localhost:3000.evil.example',
    'http://evil.example:3000#localhost',
    'http://localhost@evil.example',
    'http://evil-localhost',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.2',
    'http://10.0.0.1',
    'http://[::2]',
    'http://0.0.0.0:3000',
    'ftp://localhost',
    'file://',
    'chrome-extension://localhost',
    'localhost',
    'http://localhost/',
    'http://localhost:',
    'http://localhost, https://evil.example',
    'https://evil.example http://localhost',
  ])('given the default, when a page of "%s" asks, then it is 403', async (origin) => {
    expectRefusal(await initialize(mcp, origin), 403, 'origin_not_allowed');
    expectRefusal(await initialize(callerWithoutKey(), origin), 403, 'origin_not_allowed');
  });

  it('given this very host by name, when a page of a foreign origin asks, then it is 403', async () => {
    const origin = `http://rebound.example:${app.port}`;
    expectRefusal(await initialize(mcp, origin), 403, 'origin_not_allowed');
  });

  it.each(['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND'])(
    'given a foreign Origin, when %s is sent anywhere under /mcp, then it is 403 before everything else',
    async (method) => {
      const session = await mcp.openSession();
      for (const path of ['/mcp', '/mcp?x=1', '/mcp/', '/mcp/x', '/mcp/x/y?z', '/mcp/%E0%A4%A']) {
        for (const caller of [mcp, callerWithoutKey()]) {
          const headers = { ...FOREIGN_ORIGIN, ...sessionHeader(session) };
          const answer = await caller.request(method, { path, headers });
          expectRefusal(answer, 403, 'origin_not_allowed');
          expect(answer.headers.get('www-authenticate')).toBeNull();
        }
      }
      await expectAlive(mcp, session);
    },
  );

  it('given a foreign Origin, when HEAD is sent, then it is 403', async () => {
    const session = await mcp.openSession();
    const headers = { ...FOREIGN_ORIGIN, ...sessionHeader(session) };
    expect(await mcp.request('HEAD', { headers })).toMatchObject({ status: 403, body: undefined });
  });

  it('given a foreign Origin, when a preflight is sent, then no page may ask', async () => {
    const headers = { ...FOREIGN_ORIGIN, 'Access-Control-Request-Method': 'POST' };
    const answer = await callerWithoutKey().request('OPTIONS', { headers });
    expectRefusal(answer, 403, 'origin_not_allowed');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each(['/api/v1/me', '/mcps', '/health/live', '/openapi.json'])(
    'given a foreign Origin, when %s is asked for, then it is answered as without one',
    async (path) => {
      const [without, foreign] = await Promise.all([
        mcp.request('GET', { path }),
        mcp.request('GET', { path, headers: FOREIGN_ORIGIN }),
      ]);
      expect(foreign.status).toBe(without.status);
    },
  );

  describe('where MCP_ALLOWED_ORIGINS and CORS_ORIGINS are set', () => {
    const preflight = {
      Origin: ORIGIN,
      'Access-Control-Request-Method': 'DELETE',
      'Access-Control-Request-Headers': 'authorization, mcp-session-id, last-event-id',
    };
    let open: TestApp;
    let caller: McpHttpClient;

    beforeAll(async () => {
      const { mcpAllowedOrigins, corsOrigins } = readSettings({
        MCP_ALLOWED_ORIGINS: `${ORIGIN}, https://two.example:8443`,
        CORS_ORIGINS: `${ORIGIN}, https://rest.example`,
      });
      open = await start({ mcpAllowedOrigins, corsOrigins });
      caller = callerOf(tenant, open);
    });

    it.each([ORIGIN, 'https://two.example:8443'])(
      'given the list, when a page of %s on it asks, then it passes',
      async (origin) => {
        expect(await initialize(caller, origin)).toMatchObject({ status: 200 });
      },
    );

    it.each([
      'http://localhost:3000',
      'http://127.0.0.1',
      'http://app.example',
      'https://app.example:444',
      'https://app.example.evil.example',
      'https://x.app.example',
      'https://two.example',
      'https://rest.example',
      'loopback',
      'null',
    ])('given the list, when a page of %s asks, then it is 403', async (origin) => {
      expectRefusal(await initialize(caller, origin), 403, 'origin_not_allowed');
    });

    it('given the list, when no Origin comes, then it passes', async () => {
      await caller.openSession();
    });

    it('given a page of an allowed origin, when it asks, then it may read the session and the limits', async () => {
      const opened = await initialize(caller, ORIGIN);
      const refused = await caller.post('{', { Origin: ORIGIN });
      const session = opened.headers.get('mcp-session-id')!;
      const stream = await caller.openStream(session, { Origin: ORIGIN });
      for (const { headers } of [opened, refused, stream]) {
        expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
        const exposed = headers.get('access-control-expose-headers')!.split(',');
        expect(exposed).toEqual(
          expect.arrayContaining(['Mcp-Session-Id', 'RateLimit-Reset', 'Retry-After']),
        );
      }
    });

    it('given a page of an allowed origin, when its browser asks beforehand, then it may send the headers of the protocol', async () => {
      const { status, headers } = await callerWithoutKey(open).request('OPTIONS', {
        headers: preflight,
      });
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(headers.get('access-control-allow-methods')).toContain('DELETE');
      expect(headers.get('access-control-allow-headers')).toContain('mcp-session-id');
      expect(headers.get('access-control-allow-headers')).toContain('last-event-id');
    });
  });
});

describe('the discovery requests of OAuth clients', () => {
  const PATHS = [
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/register',
    '/authorize',
    '/token',
  ];

  it.each(PATHS)('given no key, when %s is asked for, then it is 404 in JSON', async (path) => {
    for (const caller of [callerWithoutKey(), mcp]) {
      expectRefusal(await caller.request('GET', { path }), 404, 'not_found');
      const body = { client_name: 'test', redirect_uris: ['http://localhost:1'] };
      expectRefusal(await caller.request('POST', { path, body }), 404, 'not_found');
    }
    const answer = await callerWithoutKey().request('GET', { path, headers: FOREIGN_ORIGIN });
    expectRefusal(answer, 404, 'not_found');
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });
});
