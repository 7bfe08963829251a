import type { Tenant } from '../../../src/testing/test-server.js';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { rpcRequest } from '../../../src/testing/mcp-client.js';
import { OutgoingRequests } from '../../../src/platform/outgoing/outgoing-requests.js';
import { DOCUMENT_ORIGIN, DocumentServer } from '../../support/oauth/document-server.js';
import { SdkClient } from '../../support/oauth/sdk-sign-in.js';
import {
  Browser,
  REDIRECT_URI,
  type SignedIn,
  SignInServer,
} from '../../support/oauth/sign-in-server.js';
import { until } from '../../support/servers/product.js';
import { expectShorter } from '../../support/times.js';

let server: SignInServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await SignInServer.start();
});
beforeEach(async () => {
  tenant = await server.app.organization();
});
afterAll(() => server.stop());

/** Brings a person to the code of an authorization that no client has exchanged. */
async function authorized(clientId: string, parameters: Record<string, string> = {}) {
  const { url, verifier } = server.authorizationUrl(clientId, parameters);
  const browser = new Browser(server.url);
  await browser.open(url);
  await browser.submit({ action: 'continue', key: tenant.key.key });
  const location = await browser.submit({ action: 'grant', scope: browser.scopes });
  const code = new URL(location).searchParams.get('code') ?? '';
  return {
    grant_type: 'authorization_code',
    ...{ client_id: clientId, redirect_uri: REDIRECT_URI, code, code_verifier: verifier },
  };
}

async function isRefused(token: string): Promise<boolean> {
  return (await server.mcp(token, rpcRequest('tools/list'))).status === 401;
}

const LIMITED = {
  error: 'temporarily_unavailable',
  error_description: expect.stringContaining('The limit of 60 requests'),
};

const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } };

/** What the browser gets for a changed authorization request: the page of the server, or the redirect. */
async function refusalOf(parameters: Record<string, string | undefined>, clientId?: string) {
  const { url } = server.authorizationUrl(clientId ?? (await server.register()));
  const changed = new URL(url);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) changed.searchParams.delete(name);
    else changed.searchParams.set(name, value);
  }
  const browser = new Browser(server.url);
  const location = await browser.open(changed.href);
  // Errors of other response types are in the fragment.
  const { search, hash } = new URL(location);
  return { browser, error: new URLSearchParams(search || hash.slice(1)).get('error') };
}

describe('a code', () => {
  it('that is replayed ends the grant and its tokens', async () => {
    const exchange = await authorized(await server.register());
    const { status, body } = await server.token(exchange);
    expect(status).toBe(200);
    expect(await isRefused(body.access_token)).toBe(false);
    expect(await server.token(exchange)).toMatchObject(INVALID_GRANT);
    await until(() => isRefused(body.access_token));
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token };
    expect(await server.token({ ...refresh, client_id: exchange.client_id })).toMatchObject(
      INVALID_GRANT,
    );
  });

  it('that several requests use at once yields at most one pair, which ends', async () => {
    const exchange = await authorized(await server.register());
    const answers = await Promise.all([1, 2, 3, 4].map(() => server.token(exchange)));
    const pairs = answers.filter(({ status }) => status === 200);
    expect(pairs.length).toBeLessThanOrEqual(1);
    for (const { body } of pairs) await until(() => isRefused(body.access_token));
  });

  it('of another client is refused', async () => {
    const exchange = await authorized(await server.register());
    const client_id = await server.register();
    expect(await server.token({ ...exchange, client_id })).toMatchObject(INVALID_GRANT);
  });

  it.each([
    ['another redirect', { redirect_uri: `${REDIRECT_URI}x` }],
    ['another verifier', { code_verifier: 'a'.repeat(43) }],
    ['another code', { code: 'a'.repeat(43) }],
  ])('with %s is refused', async (_, changed) => {
    const exchange = await authorized(await server.register());
    expect(await server.token({ ...exchange, ...changed })).toMatchObject(INVALID_GRANT);
  });

  it('without its verifier is refused', async () => {
    const { code_verifier: _, ...exchange } = await authorized(await server.register());
    expect(await server.token(exchange)).toMatchObject(INVALID_GRANT);
  });

  it('is refused after a minute', async () => {
    const exchange = await authorized(await server.register());
    await server.app.sql(
      `update oauth_artifacts set expires_at = expires_at - interval '1 minute' where kind = 'AuthorizationCode'`,
    );
    expect(await server.token(exchange)).toMatchObject(INVALID_GRANT);
  });

  it('for a key that was revoked meanwhile is refused', async () => {
    const exchange = await authorized(await server.register());
    await server.app.revoke(tenant);
    expect(await server.token(exchange)).toMatchObject(INVALID_GRANT);
  });
});

describe('a refresh token', () => {
  let tokens: SignedIn;

  beforeEach(async () => {
    tokens = await server.signIn(tenant.key.key);
  });

  const refresh = (parameters: Record<string, string> = {}) =>
    server.token({
      grant_type: 'refresh_token',
      ...{ client_id: tokens.clientId, refresh_token: tokens.refresh_token },
      ...parameters,
    });

  it('of another client is refused', async () => {
    expect(await refresh({ client_id: await server.register() })).toMatchObject(INVALID_GRANT);
  });

  it('is no access token, and an access token is no refresh token', async () => {
    expect(await isRefused(tokens.refresh_token)).toBe(true);
    expect(await refresh({ refresh_token: tokens.access_token })).toMatchObject(INVALID_GRANT);
  });

  it('for the resource of another server is refused', async () => {
    expect(await refresh({ resource: 'https://other.example/mcp' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });
  });
});

describe('a redirect', () => {
  it.each([
    `${REDIRECT_URI}/`,
    `${REDIRECT_URI}x`,
    REDIRECT_URI.slice(0, -1),
    REDIRECT_URI.replace('https', 'http'),
    REDIRECT_URI.toUpperCase(),
    `${REDIRECT_URI}?a=b`,
    'https://client.example:8443/callback',
    'https://client.example@evil.example/callback',
    'https://client.example.evil.example/callback',
  ])('to %s shows an error and redirects nowhere', async (redirect_uri) => {
    const { browser, error } = await refusalOf({ redirect_uri });
    expect(error).toBeNull();
    expect(browser.status).toBe(400);
    expect(browser.html).toContain('Sign-in failed');
  });
});

describe('an authorization', () => {
  it.each([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
    ['with a plain challenge', { code_challenge_method: 'plain' }],
    ['with a challenge without a method', { code_challenge_method: undefined }],
    ['with an implicit token', { response_type: 'token' }],
    ['with an id token', { response_type: 'code id_token' }],
    ['for the resource of another server', { resource: 'https://other.example/mcp' }],
    ['for the REST API', { resource: 'http://127.0.0.1/api/v1' }],
    ['with a request object', { request: 'e30.e30.' }],
    ['with a request object at a URL', { request_uri: 'https://evil.example/request' }],
    ['without a page', { prompt: 'none' }],
  ])('%s is refused', async (_, parameters) => {
    const { browser, error } = await refusalOf(parameters);
    expect(error ?? browser.html).toMatch(
      /^(invalid_request|invalid_target|unsupported_response_type|request_not_supported|request_uri_not_supported|consent_required)$|Sign-in failed/,
    );
    expect(browser.scopes).toEqual([]);
    expect(browser.html).not.toContain('name="key"');
  });

  it('of an unknown client shows an error', async () => {
    for (const clientId of ['unknown', '\0', 'a'.repeat(10_000), '"><script>']) {
      const { browser } = await refusalOf({}, clientId);
      expect(browser.status).toBe(400);
      expect(browser.html).not.toContain('<script');
    }
  });

  it('cannot get scopes that the key lacks, or that no tool needs', async () => {
    const { key } = await server.app.key(tenant.id, ['leads:read', 'webhooks:write']);
    const parameters = { scope: 'leads:read leads:write webhooks:write keys:write leads:erase' };
    const { url } = server.authorizationUrl(await server.register(), parameters);
    const browser = new Browser(server.url);
    await browser.open(url);
    expect(browser.html).not.toMatch(/webhooks|keys|erase/);
    await browser.submit({ action: 'continue', key: key.key });
    expect(browser.scopes).toEqual(['leads:read']);
    await browser.submit({
      action: 'grant',
      scope: ['leads:read', 'leads:write', 'webhooks:write'],
    });
    const text = 'select scopes from oauth_grants where key_id = $1';
    expect(await server.app.sql(text, [key.id])).toEqual([{ scopes: ['leads:read'] }]);
  });

  it('is limited to 60 in a minute from one address', async () => {
    const statuses = new Set<number>();
    const { url } = server.authorizationUrl('unknown');
    for (let count = 0; count < 61; count++) {
      const answer = await fetch(url, { headers: { 'X-Forwarded-For': '10.8.8.8' } });
      statuses.add(answer.status);
    }
    expect([...statuses]).toEqual([400, 429]);
    const answerTo = (accept: string) =>
      fetch(url, { headers: { 'X-Forwarded-For': '10.8.8.8', Accept: accept } });
    const page = await answerTo('text/html,application/xhtml+xml,*/*;q=0.8');
    expect(page.status).toBe(429);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await page.text()).toMatch(/Too many requests came from your network. Wait \d+ seconds/);
    const json = await answerTo('application/json');
    expect(json.status).toBe(429);
    expect(await json.json()).toMatchObject(LIMITED);
  });
});

it('an answer with the issuer of another server is refused by the client', async () => {
  const client = new SdkClient('v2', server.resource);
  await expect(client.connect()).rejects.toThrow(/Unauthorized/);
  const browser = new Browser(server.url);
  await browser.open(client.state.authorizationUrl);
  await browser.submit({ action: 'continue', key: tenant.key.key });
  const location = new URL(await browser.submit({ action: 'grant', scope: browser.scopes }));
  expect(location.searchParams.get('iss')).toBe(server.url);
  location.searchParams.set('iss', 'https://evil.example');
  await expect(client.finish(location.href)).rejects.toThrow(/issuer/i);
  await client.close();
});

describe('a token in a URL', () => {
  it('is no credential', async () => {
    const { access_token } = await server.signIn(tenant.key.key);
    const url = `${server.resource}?access_token=${access_token}`;
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
  });
});

describe('a metadata document', () => {
  let documents: DocumentServer;

  beforeAll(async () => {
    documents = await DocumentServer.start();
  });
  afterAll(() => {
    documents.stop();
  });

  it.each([
    ['over HTTP', 'http://127.0.0.1:1/client.json'],
    ['at loopback', 'https://127.0.0.1:1/client.json'],
    ['at localhost', 'https://localhost:1/client.json'],
    ['at a link-local address', 'https://169.254.169.254/latest/meta-data'],
    ['at a private address', 'https://10.0.0.1/client.json'],
    ['at loopback of IPv6', 'https://[::1]:1/client.json'],
    ['at loopback as a number', 'https://2130706433:1/client.json'],
    ['with a user', 'https://user@app.example/client.json'],
    ['with dots', 'https://app.example/a/../client.json'],
  ])('%s is refused', async (_, clientId) => {
    const { browser } = await refusalOf({}, clientId);
    expect(browser.status).toBe(400);
    expect(browser.html).toContain('Sign-in failed');
  });

  describe('at an address that is not public', () => {
    /** Counts the connections that are opened to a port of this machine. */
    let port: number;
    let connections = 0;
    const listener = net.createServer((socket) => {
      connections++;
      socket.destroy();
    });

    beforeAll(async () => {
      await once(listener.listen(0, '::'), 'listening');
      ({ port } = listener.address() as AddressInfo);
    });
    beforeEach(() => {
      connections = 0;
    });
    afterAll(() => listener.close());

    it.each([
      '127.0.0.1',
      '127.1',
      '2130706433',
      'localhost',
      'app.localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ])('gets no connection at %s', async (host) => {
      const { browser } = await refusalOf({}, `https://${host}:${port}/client.json`);
      expect(browser.status).toBe(400);
      expect(connections).toBe(0);
    });

    it.each([
      ['127.0.0.1'],
      ['::1'],
      ['::ffff:127.0.0.1'],
      ['10.0.0.1'],
      ['169.254.169.254'],
      ['224.0.0.1'],
      ['fe80::1'],
      ['93.184.215.14', '127.0.0.1'],
    ])('gets no connection and is looked up once if its name has %s', async (...addresses) => {
      const resolved = addresses.map((address) => ({ address, family: net.isIP(address) }));
      const resolve = jest.spyOn(OutgoingRequests.prototype, 'resolve').mockResolvedValue(resolved);
      const { browser } = await refusalOf({}, `https://internal.example:${port}/client.json`);
      expect(resolve).toHaveBeenCalledTimes(1);
      resolve.mockRestore();
      expect(browser.status).toBe(400);
      expect(connections).toBe(0);
    });

    it('is refused after 2.5 seconds if name servers do not reply', async () => {
      const resolve = jest
        .spyOn(OutgoingRequests.prototype, 'resolve')
        .mockReturnValue(new Promise(() => undefined));
      const { browser } = await refusalOf({}, 'https://internal.example/client.json');
      expect(resolve).toHaveBeenCalledTimes(1);
      resolve.mockRestore();
      expect(browser.html).toContain('could not read the description of this application');
    });

    it.each(['logo_uri', 'jwks_uri', 'sector_identifier_uri', 'client_uri', 'policy_uri'])(
      'gets no connection as the %s of a client',
      async (field) => {
        const resolve = jest.spyOn(OutgoingRequests.prototype, 'resolve');
        const metadata = { redirect_uris: [REDIRECT_URI], [field]: `https://127.0.0.1:${port}/` };
        await server.register(metadata);
        const clientId = documents.serve(`/${field}`, { client_name: 'Test', ...metadata });
        const before = documents.requests;
        await refusalOf({}, clientId);
        expect(documents.requests).toBe(before + 1);
        expect(resolve).not.toHaveBeenCalled();
        resolve.mockRestore();
        expect(connections).toBe(0);
      },
    );
  });

  it.each(['token', 'revoke'])(
    'that /oauth/%s must fetch counts as an authorization of the address',
    async (path) => {
      const address = path === 'token' ? '10.8.8.1' : '10.8.8.2';
      const post = (clientId: string) =>
        fetch(`${server.url}/oauth/${path}`, {
          method: 'POST',
          headers: { 'X-Forwarded-For': address },
          body: new URLSearchParams({
            client_id: clientId,
            token: 'a',
            grant_type: 'refresh_token',
          }),
        });
      const document = { client_name: 'Test', redirect_uris: [REDIRECT_URI] };
      const known = documents.serve(`/${crypto.randomUUID()}`, document);
      expect((await refusalOf({}, known)).browser.status).toBe(200);
      const before = documents.requests;
      const statuses = new Set<number>();
      // All are in one minute, however slow the machine is.
      const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
      for (let count = 0; count < 61; count++) {
        await post(known);
        statuses.add((await post(`${DOCUMENT_ORIGIN}/${crypto.randomUUID()}`)).status);
      }
      expect(documents.requests - before).toBe(60);
      expect(statuses.has(429)).toBe(true);
      const refused = await post(`${DOCUMENT_ORIGIN}/${crypto.randomUUID()}`);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await refused.json()).toMatchObject(LIMITED);
      expect((await post(known)).status).not.toBe(429);
      clock.mockRestore();
    },
  );

  describe('from a server that', () => {
    it.each<[string, Parameters<DocumentServer['answer']>[0]]>([
      ['redirects', (_, response) => response.writeHead(302, { Location: '/other' }).end()],
      ['fails', (_, response) => response.writeHead(500).end()],
      ['sends no JSON', (_, response) => response.end('<html>')],
      ['sends 10 MB', (_, response) => response.end(Buffer.alloc(10_000_000, 32))],
      [
        'says that it sends 10 MB',
        (_, response) => response.writeHead(200, { 'Content-Length': 10_000_000 }).write(' '),
      ],
      [
        'never ends',
        (request, response) => {
          const send = () => response.write(Buffer.alloc(100, 32));
          const timer = setInterval(send, 20);
          request.once('close', () => {
            clearInterval(timer);
          });
        },
      ],
      ['never answers', () => undefined],
    ])('%s is refused', async (_, answer) => {
      documents.answer(answer);
      const before = documents.requests;
      const startedAt = Date.now();
      const { browser } = await refusalOf({}, `${DOCUMENT_ORIGIN}/${crypto.randomUUID()}`);
      expect(browser.status).toBe(400);
      expect(browser.html).toContain('could not read the description of this application');
      expect(documents.requests).toBe(before + 1);
      expectShorter(Date.now() - startedAt, 10_000);
    });
  });
});
