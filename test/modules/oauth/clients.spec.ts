import type { Tenant } from '../../../src/testing/test-server.js';
import { DocumentServer } from '../../support/oauth/document-server.js';
import { SdkClient, SDKS } from '../../support/oauth/sdk-sign-in.js';
import { Browser, REDIRECT_URI, SignInServer } from '../../support/oauth/sign-in-server.js';

let server: SignInServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await SignInServer.start();
  tenant = await server.app.organization();
});
afterAll(() => server.stop());

async function registered(metadata: object): Promise<Record<string, unknown>> {
  const answer = await server.post('/oauth/register', metadata);
  expect(answer.status).toBe(201);
  return (await answer.json()) as Record<string, unknown>;
}

/** Opens the page of a client and returns the browser. */
async function browse(clientId: string, parameters: Record<string, string> = {}) {
  const browser = new Browser(server.url);
  await browser.open(server.authorizationUrl(clientId, parameters).url);
  return browser;
}

describe('a registration', () => {
  it('is of a public client with the grants of the server', async () => {
    const client = await registered({ redirect_uris: [REDIRECT_URI], client_name: 'Test' });
    expect(client).toMatchObject({
      client_id: expect.stringMatching(/^[\w-]{43}$/),
      client_name: 'Test',
      redirect_uris: [REDIRECT_URI],
      application_type: 'web',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    });
    expect(client).not.toHaveProperty('client_secret');
  });

  it.each([
    ['no redirect', {}],
    ['an empty list of redirects', { redirect_uris: [] }],
    ['a redirect that is no URI', { redirect_uris: ['callback'] }],
    ['a redirect over HTTP', { redirect_uris: ['http://evil.example/cb'] }],
    ['a redirect to a script', { redirect_uris: ['javascript:alert(1)'] }],
    ['a redirect with a fragment', { redirect_uris: ['https://client.example/#a'] }],
    ['redirects that are no list', { redirect_uris: 'https://client.example/' }],
    ['a long redirect', { redirect_uris: [`https://client.example/${'a'.repeat(2_000)}`] }],
    ['a long name', { redirect_uris: [REDIRECT_URI], client_name: 'a'.repeat(201) }],
    ['a name of another direction', { redirect_uris: [REDIRECT_URI], client_name: 'a\u202Eb' }],
    ['a name that is no text', { redirect_uris: [REDIRECT_URI], client_name: 1 }],
  ])('with %s is refused', async (_, metadata) => {
    const answer = await server.post('/oauth/register', metadata);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: expect.stringMatching(/^invalid_(redirect_uri|client_metadata)$/),
      error_description: expect.any(String),
    });
  });

  it.each([
    ...['about:blank', 'blob:https://a.example/1', 'data:text/html,a', 'file:///etc/passwd'],
    ...['ftp://a.example/', 'javascript:alert(1)', 'JavaScript:alert(1)', 'mailto:a@a.example'],
    ...['vbscript:a', 'view-source:https://a.example/', 'ws://a.example/', 'wss://a.example/'],
    ...['http://user@localhost/', 'http://user:password@127.0.0.1/', 'http://@localhost/'],
    ...['https://user@a.example/', 'cursor://user@a/', 'http:user@localhost/'],
    ...['https:/user@a.example/', 'http:/\t/user@localhost/'],
  ])('with the redirect %s is refused, as in a metadata document', async (redirect) => {
    const answer = await server.post('/oauth/register', {
      redirect_uris: [REDIRECT_URI, redirect],
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'invalid_redirect_uri' });
    const documents = await DocumentServer.start();
    const document = { client_name: 'Test', redirect_uris: [REDIRECT_URI, redirect] };
    const browser = await browse(documents.serve(`/${crypto.randomUUID()}`, document));
    documents.stop();
    expect(browser.status).toBe(400);
    expect(browser.html).toContain('redirect_uris must');
  });

  it.each([
    ...['http://localhost/', 'http://127.0.0.1:1234/cb', 'http://[::1]/', 'https://a.example/@b'],
    ...['cursor://anysphere.cursor-mcp/oauth/callback', 'claude://login', 'com.example.app:/cb'],
  ])('with the redirect %s is accepted', async (redirect) => {
    await registered({ redirect_uris: [redirect] });
  });

  it('with null as a field is as without the field', async () => {
    const nothing = { client_name: null, grant_types: null, scope: null, logo_uri: null };
    const client = await registered({ redirect_uris: [REDIRECT_URI], ...nothing, contacts: null });
    const { client_id: _, client_id_issued_at: __, ...others } = client;
    const { client_id, client_id_issued_at, ...plain } = await registered({
      redirect_uris: [REDIRECT_URI],
    });
    expect(others).toEqual(plain);
    expect((await browse(String(client.client_id))).html).toContain('no name');
    const refused = await server.post('/oauth/register', { redirect_uris: null });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: 'invalid_redirect_uri' });
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['null', 'null'],
    ['nothing', ''],
  ])('that is %s is refused', async (_, body) => {
    const answer = await fetch(`${server.url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '10.0.0.1' },
      body,
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
  });

  it('is limited to 20 in an hour from one address', async () => {
    const register = () =>
      server.post('/oauth/register', { redirect_uris: [REDIRECT_URI] }, '10.9.9.9');
    const statuses = [];
    for (let count = 0; count < 21; count++) statuses.push((await register()).status);
    expect(statuses).toEqual([...Array<number>(20).fill(201), 429]);
    const refused = await register();
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
    expect(await refused.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: expect.stringContaining('The limit of 20 requests'),
    });
    expect((await server.post('/oauth/register', { redirect_uris: [REDIRECT_URI] })).status).toBe(
      201,
    );
  });

  it('has a larger limit for an address of TRUSTED_ADDRESSES', async () => {
    const settings = { trustedAddresses: ['10.9.9.0/24'] };
    const trusting = await SignInServer.start({ settings });
    const metadata = { redirect_uris: [REDIRECT_URI] };
    for (let count = 0; count < 25; count++) {
      expect((await trusting.post('/oauth/register', metadata, '10.9.9.9')).status).toBe(201);
    }
    await trusting.stop();
  });

  it('is limited in an IPv6 subnet as from one address', async () => {
    const statuses = [];
    for (let count = 0; count < 21; count++) {
      const address = `2001:db8:0:9::${count}`;
      const metadata = { redirect_uris: [REDIRECT_URI] };
      statuses.push((await server.post('/oauth/register', metadata, address)).status);
    }
    expect(statuses).toEqual([...Array<number>(20).fill(201), 429]);
  });

  it('that was deleted is 401 invalid_client, so that applications register again', async () => {
    const tokens = await server.signIn(tenant.key.key);
    await server.app.sql('delete from oauth_clients where id = $1', [tokens.clientId]);
    const refreshed = await server.token({
      grant_type: 'refresh_token',
      ...{ client_id: tokens.clientId, refresh_token: tokens.refresh_token },
    });
    expect(refreshed).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  it('that was never used is deleted after a day', async () => {
    const [unused, recent] = [await server.register(), await server.register()];
    const { clientId: used } = await server.signIn(tenant.key.key);
    await server.app.sql(
      `update oauth_clients set created_at = created_at - interval '25 hours' where id = any($1)`,
      [[unused, used]],
    );
    await (await server.repository()).deleteExpired();
    expect((await browse(unused)).html).toContain('Latitude does not know this application');
    for (const clientId of [recent, used]) {
      expect((await browse(clientId)).html).toContain('API key');
    }
  });
});

describe('a redirect', () => {
  it.each([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:54321/callback'],
    ['http://127.0.0.1:1234/callback', 'http://127.0.0.1:54321/callback'],
    ['http://localhost/callback', 'http://localhost:54321/callback'],
    ['http://[::1]/callback', 'http://[::1]:54321/callback'],
    [
      'cursor://anysphere.cursor-retrieval/oauth/cb',
      'cursor://anysphere.cursor-retrieval/oauth/cb',
    ],
  ])('to %s can be %s', async (registeredUri, redirect_uri) => {
    const clientId = await server.register({ redirect_uris: [registeredUri] });
    const browser = await browse(clientId, { redirect_uri });
    expect(browser.status).toBe(200);
    const location = await browser.submit({ action: 'refuse' });
    expect(location.startsWith(`${redirect_uri}?`)).toBe(true);
  });

  it('with a query that is not encoded is read as a whole', async () => {
    const redirect_uri = 'https://client.example/callback?a=1';
    const clientId = await server.register({ redirect_uris: [redirect_uri] });
    const browser = new Browser(server.url);
    const { url } = server.authorizationUrl(clientId, { redirect_uri });
    await browser.open(url.replace('%3Fa%3D1', '?a=1'));
    const location = await browser.submit({ action: 'refuse' });
    expect(location.startsWith(`${redirect_uri}&`)).toBe(true);
    expect(new URL(location).searchParams.get('state')).toBe('state');
  });

  it.each([
    ['http://127.0.0.1/callback', 'http://localhost:54321/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:54321/other'],
    ['http://127.0.0.1/callback', 'https://127.0.0.1/callback'],
  ])('to %s cannot be %s', async (registeredUri, redirect_uri) => {
    const clientId = await server.register({ redirect_uris: [registeredUri] });
    expect((await browse(clientId, { redirect_uri })).status).toBe(400);
  });
});

describe('a client with a metadata document', () => {
  let documents: DocumentServer;
  let path: string;
  const document = {
    client_name: 'Claude',
    redirect_uris: [REDIRECT_URI, 'http://localhost/callback'],
    token_endpoint_auth_method: 'none',
  };

  beforeAll(async () => {
    documents = await DocumentServer.start();
  });
  beforeEach(() => {
    path = `/${crypto.randomUUID()}/client.json`;
  });
  afterAll(() => {
    documents.stop();
  });

  it('is asked for by the host of the document', async () => {
    const clientId = documents.serve(path, document);
    const { html } = await browse(clientId);
    expect(html).toContain('Connect <strong>app.example</strong> to Latitude?</h1>');
    expect(html).toContain('the name “Claude”');
    expect(html).not.toContain('unverified');
  });

  it('may redirect to this machine with any port', async () => {
    const clientId = documents.serve(path, document);
    const redirect_uri = 'http://localhost:5555/callback';
    expect((await browse(clientId, { redirect_uri })).html).toContain('localhost:5555');
  });

  it.each([
    ['scope', 'leads:read offline_access'],
    ['id_token_signed_response_alg', 'RS256'],
    ['token_endpoint_auth_method', 'private_key_jwt'],
    ['grant_types', ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code']],
    ['response_types', ['code', 'token']],
    ['contacts', ['nobody']],
    ['jwks_uri', 'https://app.example/jwks'],
  ])('ignores an unsupported %s, as in a registration', async (name, value) => {
    const clientId = documents.serve(path, { ...document, [name]: value });
    expect((await browse(clientId)).html).toContain('API key');
  });

  it('ignores fields that are null', async () => {
    const nothing = { client_secret: null, logo_uri: null, grant_types: null, scope: null };
    const clientId = documents.serve(path, { ...document, ...nothing });
    expect((await browse(clientId)).html).toContain('API key');
  });

  it('of the type web may redirect to this machine with any port', async () => {
    const clientId = documents.serve(path, { ...document, application_type: 'web' });
    const redirect_uri = 'http://localhost:5555/callback';
    expect((await browse(clientId, { redirect_uri })).status).toBe(200);
  });

  it.each([
    ['of 2,000 characters', 2_000, 'a', 200],
    ['of 2,001 characters', 2_001, 'a', 400],
    ['with characters of several bytes', 100, '\u{4e2d}', 400],
    ['with a mark of bidirectional text', 100, '\u202e', 400],
  ])('with an id %s is answered', async (_, length, character, status) => {
    const clientId = documents.serve(
      path.padEnd(length - 'https://app.example'.length, character),
      document,
    );
    const browser = await browse(clientId);
    expect(browser.status).toBe(status);
    expect(browser.html).not.toContain('\u202e');
  });

  it.each(SDKS)('signs in with SDK %s without a registration', async (sdk) => {
    const client = new SdkClient(sdk, server.resource);
    client.state.clientMetadataUrl = documents.serve(path, document);
    await expect(client.connect()).rejects.toThrow(/Unauthorized/);
    const url = new URL(client.state.authorizationUrl);
    expect(url.searchParams.get('client_id')).toBe(client.state.clientMetadataUrl);
    const browser = new Browser(server.url);
    await browser.open(url.href);
    await browser.submit({ action: 'continue', key: tenant.key.key });
    await client.finish(await browser.submit({ action: 'grant', scope: browser.scopes }));
    await client.connect();
    expect(await client.tools()).toContain('list_leads');
    await client.close();
  });

  it('is fetched once for several requests', async () => {
    const clientId = documents.serve(path, document);
    const before = documents.requests;
    await server.signIn(tenant.key.key, { clientId });
    expect(documents.requests).toBe(before + 1);
  });

  it.each([
    ['of another client', { ...document, client_id: 'https://other.example/client.json' }],
    ['without a name', { ...document, client_name: undefined }],
    ['without redirects', { ...document, redirect_uris: undefined }],
    ['with a secret', { ...document, client_secret: 'secret' }],
    ['with a secret method', { ...document, token_endpoint_auth_method: 'client_secret_post' }],
    ['with a redirect over HTTP', { ...document, redirect_uris: ['http://evil.example/'] }],
    ['that misleads', { ...document, client_name: 'a\u202Eb' }],
    ['over 5 KiB', { ...document, client_uri: `https://app.example/${'a'.repeat(6_000)}` }],
  ])('is refused with a document %s', async (_, served) => {
    const browser = await browse(documents.serve(path, served));
    expect(browser.status).toBe(400);
    expect(browser.html).toContain('Sign-in failed');
  });
});
