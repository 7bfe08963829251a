import type { Tenant } from '../../../src/testing/test-server.js';
import { type Sdk, SdkClient, SDKS } from '../../support/oauth/sdk-sign-in.js';
import { Browser, SignInServer } from '../../support/oauth/sign-in-server.js';
import { until } from '../../support/servers/product.js';
import { expectShorter } from '../../support/times.js';

let server: SignInServer;
let tenant: Tenant;
const clients: SdkClient[] = [];

beforeAll(async () => {
  // An SDK client prints that its tokens are no longer valid.
  jest.spyOn(console, 'warn').mockImplementation();
  server = await SignInServer.start();
});
beforeEach(async () => {
  tenant = await server.app.organization();
  await tenant.api.post('/api/v1/leads', { first_name: 'Ada' });
});
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
afterAll(() => server.stop());

/** Signs in on the page, as the person that the client sends there. */
async function answer(url: string, scopes?: readonly string[]): Promise<string> {
  const browser = new Browser(server.url);
  await browser.open(url);
  await browser.submit({ action: 'continue', key: tenant.key.key });
  return browser.submit({ action: 'grant', scope: scopes ?? browser.scopes });
}

/** A client that has signed in, knowing only the URL of /mcp. */
async function signedIn(sdk: Sdk, scopes?: readonly string[]): Promise<SdkClient> {
  const client = new SdkClient(sdk, server.resource);
  clients.push(client);
  await expect(client.connect()).rejects.toThrow(/Unauthorized/);
  await client.finish(await answer(client.state.authorizationUrl, scopes));
  await client.connect();
  return client;
}

describe.each(SDKS)('a client of SDK %s that knows only the URL', (sdk) => {
  it('signs in through the page and lists leads', async () => {
    const client = await signedIn(sdk);
    expect(await client.tools()).toContain('create_lead');
    expect(await client.call('list_leads')).toMatchObject({ data: [{ first_name: 'Ada' }] });
  });

  it('fails within a second after its key is revoked', async () => {
    const client = await signedIn(sdk);
    await client.call('list_leads');
    await server.app.revoke(tenant);
    const revokedAt = Date.now();
    await until(() =>
      client.call('list_leads').then(
        () => false,
        () => true,
      ),
    );
    expectShorter(Date.now() - revokedAt, 2_000);
  });

  it('gets new tokens by itself when the access token has expired', async () => {
    const client = await signedIn(sdk);
    const { access_token: first } = client.state.stored!;
    await server.app.sql(`delete from oauth_artifacts where kind = 'AccessToken'`);
    await until(async () => {
      await client.call('list_leads');
      return client.state.stored?.access_token !== first;
    });
  });

  it('asks for more scopes when a tool needs them', async () => {
    const client = await signedIn(sdk, ['leads:read']);
    expect(await client.tools()).not.toContain('create_lead');
    const first = client.state.authorizationUrl;
    // Version 1 would only refresh the token, which keeps its scopes.
    if (sdk === 'v1') delete client.state.stored?.refresh_token;
    await expect(client.call('create_lead', { first_name: 'Grace' })).rejects.toThrow();
    const { authorizationUrl } = client.state;
    expect(authorizationUrl).not.toBe(first);
    const asked = new URL(authorizationUrl).searchParams.get('scope');
    expect(asked?.split(' ')).toEqual(expect.arrayContaining(['leads:read', 'leads:write']));
    await client.finish(await answer(authorizationUrl));
    await client.connect();
    expect(await client.call('create_lead', { first_name: 'Grace' })).toMatchObject({
      first_name: 'Grace',
    });
  });
});
