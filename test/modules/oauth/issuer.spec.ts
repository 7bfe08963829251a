import { createHmac, randomUUID } from 'node:crypto';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import {
  initializeRequest,
  mirrorHeaders,
  rpcRequest,
  statelessRequest,
} from '../../../src/testing/mcp-client.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { IdentityProvider } from '../../support/oauth/identity-provider.js';
import { SdkClient } from '../../support/oauth/sdk-sign-in.js';
import { Browser, SignInServer } from '../../support/oauth/sign-in-server.js';
import { until } from '../../support/servers/product.js';

let provider: IdentityProvider;
let server: SignInServer;
let tenant: Tenant;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  server = await SignInServer.start({ settings: { oauth: false, oauthIssuer: provider.url } });
  tenant = await server.app.organization();
  await tenant.api.post('/api/v1/leads', { first_name: 'Ada' });
});
afterAll(async () => {
  await server.stop();
  await provider.stop();
});

const now = () => Math.floor(Date.now() / 1_000);

/** The claims of a valid token. */
function claims(other: object = {}): Record<string, unknown> {
  return {
    iss: provider.url,
    aud: server.resource,
    sub: 'ada',
    organization_id: tenant.id,
    scope: 'leads:read',
    exp: now() + 60,
    ...other,
  };
}

async function statusOf(token: string, name = 'list_leads', of = server): Promise<number> {
  const call = { name, arguments: {} };
  const request = statelessRequest('tools/call', call);
  return (await of.mcp(token, request, mirrorHeaders('tools/call', call))).status;
}

it('names the issuer in the metadata, and has no endpoints of its own', async () => {
  const metadata = await fetch(`${server.url}/.well-known/oauth-protected-resource/mcp`);
  expect(await metadata.json()).toMatchObject({
    resource: server.resource,
    authorization_servers: [provider.url],
  });
  for (const path of ['/.well-known/oauth-authorization-server', '/oauth/authorize']) {
    expect((await fetch(server.url + path)).status).toBe(404);
  }
  const { headers } = await fetch(server.resource, { method: 'POST', body: '{}' });
  expect(headers.get('www-authenticate')).toContain('resource_metadata=');
});

it('an SDK client that knows only the URL signs in at the provider and lists leads', async () => {
  const client = new SdkClient('v2', server.resource);
  await expect(client.connect()).rejects.toThrow(/Unauthorized/);
  expect(client.state.authorizationUrl.startsWith(provider.url)).toBe(true);
  const browser = new Browser(provider.url);
  await browser.open(client.state.authorizationUrl);
  await browser.submit({ prompt: 'login', login: tenant.id, password: 'any' });
  await client.finish(await browser.submit({ prompt: 'consent' }));
  await client.connect();
  expect(await client.call('list_leads')).toMatchObject({ data: [{ first_name: 'Ada' }] });
  await client.close();
});

describe('a token', () => {
  it('of the issuer is accepted at /mcp, and not at /api', async () => {
    const token = await provider.sign(claims());
    expect(await statusOf(token)).toBe(200);
    expect((await server.app.client(token).get('/api/v1/leads')).status).toBe(401);
  });

  it('names the caller', async () => {
    const token = await provider.sign(claims());
    const call = { name: 'whoami', arguments: {} };
    const request = statelessRequest('tools/call', call);
    const answer = await server.mcp(token, request, mirrorHeaders('tools/call', call));
    expect(await answer.json()).toMatchObject({
      result: { structuredContent: { organization: { id: tenant.id }, scopes: ['leads:read'] } },
    });
  });

  it.each([
    ['a list of scopes', { scope: ['leads:read'] }],
    ['several audiences', () => ({ aud: ['other', server.resource] })],
    ['the audience with a slash', () => ({ aud: `${server.resource}/` })],
    ['an end 20 seconds ago, because clocks differ', () => ({ exp: now() - 20 })],
  ])('with %s is accepted', async (_, other) => {
    const changed = typeof other === 'function' ? other() : other;
    expect(await statusOf(await provider.sign(claims(changed)))).toBe(200);
  });

  it.each<[string, () => object]>([
    ['of another issuer', () => ({ iss: 'https://evil.example' })],
    ['for another audience', () => ({ aud: 'https://other.example/mcp' })],
    ['without an audience', () => ({ aud: undefined })],
    ['that has expired', () => ({ exp: now() - 60 })],
    ['that never expires', () => ({ exp: undefined })],
    ['that is not valid yet', () => ({ nbf: now() + 120 })],
    ['without an organization', () => ({ organization_id: undefined })],
    ['of an unknown organization', () => ({ organization_id: randomUUID() })],
    ['of an organization that is no id', () => ({ organization_id: 'acme' })],
    ['of several organizations', () => ({ organization_id: [tenant.id] })],
    ['without a subject', () => ({ sub: undefined })],
  ])('%s is 401', async (_, other) => {
    expect(await statusOf(await provider.sign(claims(other())))).toBe(401);
  });

  it('that another key has signed is 401', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const token = await provider.sign(claims());
    const [header = ''] = token.split('.');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
    const forged = new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid });
    expect(await statusOf(await forged.sign(privateKey))).toBe(401);
  });

  it('with another algorithm is 401', async () => {
    const { publicKey } = await generateKeyPair('RS256', { extractable: true });
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const unsigned = `${encode({ alg: 'none' })}.${encode(claims())}`;
    expect(await statusOf(`${unsigned}.`)).toBe(401);
    const symmetric = `${encode({ alg: 'HS256' })}.${encode(claims())}`;
    const secret = await exportSPKI(publicKey);
    const signature = createHmac('sha256', secret).update(symmetric).digest('base64url');
    expect(await statusOf(`${symmetric}.${signature}`)).toBe(401);
  });

  it.each(['a.b.c', '..', 'a'.repeat(43), 'e30.e30.e30'])('that is %s is 401', async (token) => {
    expect(await statusOf(token)).toBe(401);
  });

  it('without a scope is 403 and names it for a step-up', async () => {
    const token = await provider.sign(claims());
    const call = { name: 'list_tasks', arguments: {} };
    const request = statelessRequest('tools/call', call);
    const answer = await server.mcp(token, request, mirrorHeaders('tools/call', call));
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toContain('scope="leads:read tasks:read"');
  });

  it('has no scopes that cannot be granted', async () => {
    const token = await provider.sign(claims({ scope: 'leads:read keys:write webhooks:write' }));
    const headers = mirrorHeaders('tools/list');
    const body = await (await server.mcp(token, statelessRequest('tools/list'), headers)).text();
    expect(body).toContain('list_leads');
    expect(body).not.toContain('webhook');
  });

  it('opens no session, which could outlive it', async () => {
    const answer = await server.mcp(await provider.sign(claims()), initializeRequest());
    expect(answer.status).toBe(200);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
    expect((await server.mcp(await provider.sign(claims()), rpcRequest('tools/list'))).status).toBe(
      200,
    );
  });
});

describe('the keys of the issuer', () => {
  it('are looked up again when another key has signed a token', async () => {
    expect(await statusOf(await provider.sign(claims()))).toBe(200);
    jest
      .spyOn(Date, 'now')
      .mockImplementation(() => performance.timeOrigin + performance.now() + 60_000);
    await provider.restart();
    const token = await provider.sign(claims({ exp: now() + 120 }));
    await until(async () => (await statusOf(token)) === 200);
    jest.mocked(Date.now).mockRestore();
  });

  it('that cannot be read are a 503, which ends when the issuer answers again', async () => {
    const issuer = await IdentityProvider.start();
    const token = await issuer.sign({ ...claims(), iss: issuer.url });
    await issuer.stop();
    const other = await SignInServer.start({
      settings: { oauth: false, oauthIssuer: issuer.url },
      database: server.app.database,
    });
    const aud = other.resource;
    const answer = await other.mcp(token, rpcRequest('tools/list'));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    await issuer.restart();
    const valid = await issuer.sign({ ...claims(), iss: issuer.url, aud });
    expect(await statusOf(valid, 'list_leads', other)).toBe(200);
    await other.stop();
    await issuer.stop();
  });
});

it('the settings name the audience and the claims', async () => {
  const other = await SignInServer.start({
    settings: {
      oauth: false,
      oauthIssuer: provider.url,
      oauthAudience: 'api://crm',
      oauthOrganizationClaim: 'https://crm.example/organization',
      oauthActorClaim: 'email',
      oauthScopesClaim: 'scp',
    },
    database: server.app.database,
  });
  const named = {
    aud: 'api://crm',
    organization_id: undefined,
    'https://crm.example/organization': tenant.id,
    sub: undefined,
    email: 'ada@example.com',
    scope: undefined,
    scp: 'leads:read',
  };
  expect(await statusOf(await provider.sign(claims(named)), 'list_leads', other)).toBe(200);
  expect(await statusOf(await provider.sign(claims()), 'list_leads', other)).toBe(401);
  await other.stop();
});
