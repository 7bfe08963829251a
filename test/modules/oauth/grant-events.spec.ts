import { mirrorHeaders, statelessRequest } from '../../../src/testing/mcp-client.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { Browser, type SignedIn, SignInServer } from '../../support/oauth/sign-in-server.js';
import { until } from '../../support/servers/product.js';

let server: SignInServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await SignInServer.start();
});
beforeEach(async () => {
  tenant = await server.app.organization();
});
afterAll(() => server.stop());

interface Event {
  readonly type: string;
  readonly record: Record<string, unknown>;
  readonly actor: Record<string, unknown>;
}

/** Waits for the events of a type. */
async function eventsOf(type: string): Promise<Event[]> {
  let found: Event[] = [];
  await until(async () => {
    const { body } = await tenant.api.get(`/api/v1/events?types=${type}`);
    found = body.data;
    return found.length > 0;
  });
  return found;
}

it('a grant is an event with the key, the grant and the client', async () => {
  const { clientId } = await server.signIn(tenant.key.key, { scopes: ['leads:read'] });
  const [event] = await eventsOf('grant.created');
  expect(event).toMatchObject({
    record: {
      key_id: tenant.key.id,
      client_id: clientId,
      client_name: 'Test client',
      scopes: ['leads:read'],
      revoked_at: null,
    },
    actor: { key_id: tenant.key.id, grant_id: event?.record.id, client_id: clientId },
  });
});

it('a refusal after the key was pasted is an event of its organization', async () => {
  const clientId = await server.register();
  const browser = new Browser(server.url);
  await browser.open(server.authorizationUrl(clientId, { scope: 'leads:read' }).url);
  await browser.submit({ action: 'continue', key: tenant.key.key });
  await browser.submit({ action: 'refuse' });
  expect(await eventsOf('grant.refused')).toMatchObject([
    {
      record: { client_id: clientId, scopes: ['leads:read'] },
      actor: { key_id: tenant.key.id, grant_id: null, client_id: clientId },
    },
  ]);
});

it('the end of a grant is one event, also if it is revoked again', async () => {
  const tokens = await server.signIn(tenant.key.key);
  const revoke = ({ clientId, refresh_token }: SignedIn) =>
    fetch(`${server.url}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: clientId, token: refresh_token }),
    });
  await revoke(tokens);
  await revoke(tokens);
  expect(await eventsOf('grant.revoked')).toMatchObject([
    { record: { key_id: tenant.key.id, revoked_at: expect.any(String) }, actor: { key_id: null } },
  ]);
});

it('a change by an application names its key, grant and client', async () => {
  const { access_token, clientId } = await server.signIn(tenant.key.key);
  const call = { name: 'create_lead', arguments: { first_name: 'Ada' } };
  const request = statelessRequest('tools/call', call);
  const answer = await server.mcp(access_token, request, mirrorHeaders('tools/call', call));
  expect(answer.status).toBe(200);
  const [grant] = await eventsOf('grant.created');
  expect(await eventsOf('lead.created')).toMatchObject([
    {
      actor: {
        key_id: tenant.key.id,
        channel: 'ai',
        grant_id: grant?.record.id,
        client_id: clientId,
      },
    },
  ]);
});

it('a change by a key has neither', async () => {
  await tenant.api.post('/api/v1/leads', { first_name: 'Ada' });
  expect(await eventsOf('lead.created')).toMatchObject([
    { actor: { key_id: tenant.key.id, grant_id: null, client_id: null } },
  ]);
});

it('a grant, its change and its revocation are entries of the audit log', async () => {
  const { id, api, key } = await server.app.organization({ scopes: server.app.scopes.every });
  const { clientId } = await server.signIn(key.key, { scopes: ['leads:read'] });
  const { data } = (await api.get('/api/v1/grants')).body as { data: [{ id: string }] };
  const grant = data[0].id;
  await api.put(`/api/v1/grants/${grant}`, { confirmations: 'never' });
  await api.delete(`/api/v1/grants/${grant}`);
  await api.delete(`/api/v1/grants/${grant}`);
  const { body } = await api.get(`/api/v1/audit?record_id=${grant}&after=`);
  const record = { type: 'grant', id: grant };
  const byKey = { kind: 'key', key_id: key.id, key_name: key.name };
  expect(body.data).toMatchObject([
    {
      type: 'grant.created',
      actor: { ...byKey, channel: null, grant_id: grant, client_id: clientId },
      address: expect.any(String) as string,
      record,
    },
    { type: 'grant.updated', actor: { ...byKey, channel: 'api', grant_id: null }, record },
    { type: 'grant.revoked', actor: byKey, record },
  ]);
  expect(body.data).toHaveLength(3);
  expect(
    await server.app.sql('select from audit_entries where organization_id = $1', [id]),
  ).toHaveLength(5);
});

it('sign-ins are counted by their outcome', async () => {
  const clientId = await server.register();
  const browser = new Browser(server.url);
  await browser.open(server.authorizationUrl(clientId, { scope: 'leads:read' }).url);
  await browser.submit({ action: 'continue', key: 'lat_wrong' });
  const body = await (await fetch(`${server.url}/metrics`)).text();
  expect(body).toMatch(/^latitude_sign_ins_total\{outcome="key_refused"\} [1-9]/m);
  expect(body).toMatch(/^latitude_sign_ins_total\{outcome="granted"\} [1-9]/m);
  expect(body).toMatch(/^latitude_sign_ins_total\{outcome="refused"\} \d/m);
});
