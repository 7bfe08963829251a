import { readSettings } from '../../../../src/platform/config/settings.js';
import { sessionHeader, type McpHttpClient } from '../../../../src/testing/mcp-client.js';
import type { TestApp } from '../../../../src/testing/test-app.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import {
  expectAlive,
  expectRefusal,
  FOREIGN_ORIGIN,
  mcpHelpers,
} from '../../../support/mcp/mcp-helpers.js';

let app: TestServer;
let tenant: Tenant;
let mcp: McpHttpClient;
const { callerOf, callerWithoutKey, start, stopAll } = mcpHelpers(() => app);

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => stopAll());

describe('the Origin of a request (protection against DNS rebinding)', () => {
  const ORIGIN = 'https://app.example';

  const initialize = (caller: McpHttpClient, origin: string) =>
    caller.initialize({}, { Origin: origin });

  it('accepts a request without Origin', async () => {
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
  ])('accepts the origin %s by default', async (origin) => {
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
  ])('answers 403 to the origin "%s" by default', async (origin) => {
    expectRefusal(await initialize(mcp, origin), 403, 'origin_not_allowed');
    expectRefusal(await initialize(callerWithoutKey(), origin), 403, 'origin_not_allowed');
  });

  it('answers 403 to a foreign origin that resolves to this host', async () => {
    const origin = `http://rebound.example:${app.port}`;
    expectRefusal(await initialize(mcp, origin), 403, 'origin_not_allowed');
  });

  it.each(['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND'])(
    'answers 403 to %s with a foreign Origin on every path below /mcp, before all other checks',
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

  it('answers 403 without a body to HEAD with a foreign Origin', async () => {
    const session = await mcp.openSession();
    const headers = { ...FOREIGN_ORIGIN, ...sessionHeader(session) };
    expect(await mcp.request('HEAD', { headers })).toMatchObject({ status: 403, body: undefined });
  });

  it('answers 403 without CORS headers to a preflight with a foreign Origin', async () => {
    const headers = { ...FOREIGN_ORIGIN, 'Access-Control-Request-Method': 'POST' };
    const answer = await callerWithoutKey().request('OPTIONS', { headers });
    expectRefusal(answer, 403, 'origin_not_allowed');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each(['/api/v1/me', '/mcps', '/health/live', '/openapi.json'])(
    'ignores a foreign Origin on %s',
    async (path) => {
      const [without, foreign] = await Promise.all([
        mcp.request('GET', { path }),
        mcp.request('GET', { path, headers: FOREIGN_ORIGIN }),
      ]);
      expect(foreign.status).toBe(without.status);
    },
  );

  describe('with MCP_ALLOWED_ORIGINS and CORS_ORIGINS', () => {
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
      'accepts the listed origin %s',
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
    ])('answers 403 to the origin %s, which is not listed', async (origin) => {
      expectRefusal(await initialize(caller, origin), 403, 'origin_not_allowed');
    });

    it('accepts a request without Origin', async () => {
      await caller.openSession();
    });

    it('exposes the session id and the rate limits to a page of an allowed origin', async () => {
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

    it('allows the headers of the protocol in a preflight of an allowed origin', async () => {
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

  it.each(PATHS)(
    'receive the message that the key is wrong, which clients show: %s',
    async (path) => {
      const { body } = await callerWithoutKey().request('POST', { path, body: {} });
      expect(body).toMatchObject({
        error: {
          message: expect.stringMatching(
            /OAuth is switched off.*API key.*missing, invalid or expired/,
          ),
        },
      });
    },
  );

  it.each(PATHS)('are answered with 404 in JSON: %s', async (path) => {
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
