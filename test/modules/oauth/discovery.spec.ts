import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { rpcRequest } from '../../../src/testing/mcp-client.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { SignInServer } from '../../support/oauth/sign-in-server.js';

// Broken on purpose for docs/operating/runbook.md#keys-or-sign-ins-are-refused

const SCOPES = [
  ...['appointments:read', 'appointments:write', 'leads:read', 'leads:write'],
  ...['tasks:read', 'tasks:write'],
];

let server: SignInServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await SignInServer.start();
  tenant = await server.app.organization();
});
afterAll(() => server.stop());

const json = async (path: string) => (await fetch(server.url + path)).json();

describe('the metadata of the resource', () => {
  it.each([
    ['/.well-known/oauth-protected-resource', '/mcp'],
    ['/.well-known/oauth-protected-resource/mcp', '/mcp'],
    ['/.well-known/oauth-protected-resource/mcp/', '/mcp/'],
  ])('at %s has the identifier %s', async (path, resource) => {
    expect(await json(path)).toEqual({
      resource: server.url + resource,
      authorization_servers: [server.url],
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'Latitude',
    });
  });
});

it.each(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])(
  'the metadata of the authorization server at %s names what clients look for',
  async (path) => {
    expect(await json(path)).toMatchObject({
      issuer: server.url,
      authorization_endpoint: `${server.url}/oauth/authorize`,
      token_endpoint: `${server.url}/oauth/token`,
      registration_endpoint: `${server.url}/oauth/register`,
      revocation_endpoint: `${server.url}/oauth/revoke`,
      scopes_supported: SCOPES,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  },
);

describe('the public URL decides the addresses', () => {
  const FOREIGN = [
    ['Host', 'internal.example'],
    ['X-Forwarded-Host', 'evil.example'],
  ] as const;

  /** Sends a GET request directly to the server. */
  async function get(path: string, header: readonly [string, string]): Promise<string> {
    const headers = Object.fromEntries([header]);
    const options = { host: '127.0.0.1', port: server.app.port, path, headers, agent: false };
    const [answer] = (await once(http.get(options), 'response')) as [http.IncomingMessage];
    return text(answer);
  }

  it.each(FOREIGN)('of the metadata, whatever %s is', async (...header) => {
    for (const origin of ['', 'http://evil.example']) {
      const path = `${origin}/.well-known/oauth-authorization-server`;
      const metadata = JSON.parse(await get(path, header)) as object;
      expect(metadata).toMatchObject({
        issuer: server.url,
        authorization_endpoint: `${server.url}/oauth/authorize`,
        jwks_uri: `${server.url}/oauth/jwks`,
      });
      expect(JSON.stringify(metadata)).not.toMatch(/evil|internal/);
    }
  });

  it.each(FOREIGN)('to which a person returns, whatever %s is', async (...header) => {
    const { pathname, search } = new URL(server.authorizationUrl(await server.register()).url);
    await get(pathname + search, header);
    const [stored] = await server.app.sql<{ url: string }>(
      `select payload ->> 'returnTo' as url from oauth_artifacts where kind = 'Interaction' order by expires_at desc limit 1`,
    );
    expect(stored?.url).toMatch(new RegExp(`^${server.url}/oauth/authorize/`));
  });
});

it.each(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])(
  'a browser may read %s with a header of its own',
  async (path) => {
    const preflight = await fetch(server.url + path, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://agent.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'mcp-protocol-version',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('mcp-protocol-version');
  },
);

describe('with CORS_ORIGINS', () => {
  const origin = 'https://agent.example';
  let open: SignInServer;

  beforeAll(async () => {
    open = await SignInServer.start({
      settings: { corsOrigins: [origin], mcpAllowedOrigins: [origin] },
    });
  });
  afterAll(() => open.stop());

  it.each([
    ['GET', '/.well-known/oauth-protected-resource'],
    ['GET', '/.well-known/oauth-protected-resource/mcp'],
    ['GET', '/.well-known/oauth-protected-resource/mcp/'],
    ['GET', '/.well-known/oauth-authorization-server'],
    ['POST', '/oauth/register'],
    ['POST', '/oauth/token'],
    ['POST', '/mcp'],
  ])('an application in a browser may send %s %s', async (method, path) => {
    const preflight = await fetch(open.url + path, {
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': 'content-type,mcp-protocol-version',
      },
    });
    expect([preflight.status, await preflight.text()]).toEqual([204, '']);
    expect(preflight.headers.get('access-control-allow-origin')).toMatch(
      /^(\*|https:\/\/agent.example)$/,
    );
    expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version');
    const answer = await fetch(open.url + path, { method, headers: { Origin: origin } });
    expect(answer.headers.get('access-control-allow-origin')).toMatch(
      /^(\*|https:\/\/agent.example)$/,
    );
  });
});

describe('a request to /mcp without a valid credential', () => {
  const challengeFor = (slash: string) =>
    `resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp${slash}", scope="${SCOPES.join(' ')}"`;

  it.each(['', '/'])('is 401 and names the metadata, at /mcp%s', async (slash) => {
    const answer = await fetch(server.resource + slash, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { code: 'unauthorized' } });
    const challenge = `Bearer realm="latitude", ${challengeFor(slash)}`;
    expect(answer.headers.get('www-authenticate')).toBe(challenge);
  });

  it.each([`lat_${'0'.repeat(36)}`, 'a'.repeat(43)])('says that %s is wrong', async (token) => {
    const answer = await server.mcp(token, rpcRequest('tools/list'));
    expect(answer.status).toBe(401);
    const challenge = `Bearer realm="latitude", error="invalid_token", ${challengeFor('')}`;
    expect(answer.headers.get('www-authenticate')).toBe(challenge);
  });
});

it('answers a key at /mcp/ as at /mcp', async () => {
  const request = { ...rpcRequest('tools/list') };
  const answer = await fetch(`${server.resource}/`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.key.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  });
  expect(await answer.json()).toMatchObject({ error: { code: 'no_session' } });
});

describe('without OAUTH', () => {
  let plain: TestApp;

  beforeAll(async () => {
    plain = await TestApp.start();
  });
  afterAll(() => plain.stop());

  it.each([
    ['GET', '/.well-known/oauth-protected-resource'],
    ['GET', '/.well-known/oauth-protected-resource/mcp'],
    ['GET', '/.well-known/oauth-authorization-server'],
    ['GET', '/.well-known/openid-configuration'],
    ['GET', '/oauth/authorize'],
    ['GET', '/oauth/jwks'],
    ['GET', '/oauth/consent/x'],
    ['POST', '/oauth/consent/x'],
    ['POST', '/oauth/token'],
    ['POST', '/oauth/register'],
    ['POST', '/oauth/revoke'],
  ])('%s %s is 404', async (method, path) => {
    const answer = await fetch(plain.url + path, { method });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
  });

  it('a 401 of /mcp has the realm only', async () => {
    const { headers } = await fetch(`${plain.url}/mcp`, { method: 'POST', body: '{}' });
    expect(headers.get('www-authenticate')).toBe('Bearer realm="latitude"');
  });
});
