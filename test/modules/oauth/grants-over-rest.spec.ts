import { randomUUID } from 'node:crypto';
import { OperatorsService } from '../../../src/modules/auth/operators.service.js';
import { createLead, dataOf, expectError, expectInvalid } from '../../../src/testing/factories.js';
import {
  mirrorHeaders,
  rpcRequest,
  STATELESS_META,
  statelessRequest,
} from '../../../src/testing/mcp-client.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { Browser, type SignedIn, SignInServer } from '../../support/oauth/sign-in-server.js';
import { until } from '../../support/servers/product.js';

const GRANTS = '/api/v1/grants';

interface GrantRecord {
  readonly id: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

let server: SignInServer;
let tenant: Tenant;
let tokens: SignedIn;
let grant: GrantRecord;

beforeAll(async () => {
  server = await SignInServer.start();
});
beforeEach(async () => {
  tenant = await server.app.organization({ scopes: server.app.scopes.every });
  tokens = await server.signIn(tenant.key.key, { scopes: ['leads:read'] });
  [grant] = dataOf<[GrantRecord]>(await tenant.api.get(GRANTS));
});
afterAll(() => server.stop());

const listTools = () => server.mcp(tokens.access_token, rpcRequest('tools/list'));

it('GET /api/v1/grants lists the grants of the organization, with their last use', async () => {
  expect((await listTools()).status).not.toBe(401);
  await until(async () => {
    const { last_used_at } = dataOf<GrantRecord>(await tenant.api.get(`${GRANTS}/${grant.id}`));
    return last_used_at !== null;
  });
  const { body } = await tenant.api.get(GRANTS);
  expect(body).toEqual({
    data: [
      {
        id: grant.id,
        organization_id: tenant.id,
        key_id: tenant.key.id,
        user_id: null,
        client_id: tokens.clientId,
        client_name: 'Test client',
        scopes: ['leads:read'],
        confirmations: 'ask',
        created_at: expect.any(String) as string,
        expires_at: expect.any(String) as string,
        last_used_at: expect.any(String) as string,
        revoked_at: null,
      },
    ],
    meta: { page: 1, limit: 50, total: 1, total_pages: 1 },
  });
});

it('DELETE /api/v1/grants/:id ends the tokens within a second, with an event that names the key', async () => {
  expect((await listTools()).status).not.toBe(401);
  const revoked = dataOf<object>(await tenant.api.delete(`${GRANTS}/${grant.id}`));
  expect(revoked).toEqual({ id: grant.id, revoked_at: expect.any(String) as string });
  await until(async () => (await listTools()).status === 401);
  expect(dataOf<object>(await tenant.api.delete(`${GRANTS}/${grant.id}`))).toEqual(revoked);
  const events = '/api/v1/events?types=grant.revoked';
  let data: object[] = [];
  await until(async () => {
    ({ data } = (await tenant.api.get(events)).body as { data: object[] });
    return data.length > 0;
  });
  expect(data).toMatchObject([
    {
      record: { id: grant.id },
      changed: ['revoked_at'],
      actor: { key_id: tenant.key.id, channel: 'api', request_id: expect.any(String) as string },
    },
  ]);
});

it('PUT /api/v1/grants/:id decides whether tools ask the user, which they do by default', async () => {
  const path = `${GRANTS}/${grant.id}`;
  const { access_token } = await server.signIn(tenant.key.key, { scopes: ['leads:write'] });
  const [, second] = dataOf<GrantRecord[]>(await tenant.api.get(`${GRANTS}?sort_dir=asc`));
  const { id } = await createLead(tenant.api);
  const ask = async () => {
    const call = {
      ...{ name: 'delete_lead', arguments: { id } },
      _meta: {
        ...STATELESS_META,
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      },
    };
    const request = statelessRequest('tools/call', call);
    const answer = await server.mcp(access_token, request, mirrorHeaders('tools/call', call));
    return ((await answer.json()) as { result: { resultType: string } }).result.resultType;
  };
  expect(await ask()).toBe('input_required');
  expect(dataOf(await tenant.api.get(`${GRANTS}/${second!.id}`))).toMatchObject({
    confirmations: 'ask',
  });
  const never = { confirmations: 'never' };
  const changed = dataOf(await tenant.api.put(`${GRANTS}/${second!.id}`, never));
  expect(changed).toMatchObject({ id: second!.id, ...never });
  await until(async () => (await ask()) === 'complete');
  for (const confirmations of [null, 'always', 1]) {
    expectInvalid(await tenant.api.put(path, { confirmations }), 'confirmations');
  }
  expectInvalid(await tenant.api.put(path, {}), 'confirmations');
  const writer = await server.app.key(tenant.id, ['keys:write']);
  expectError(await writer.api.put(path, never), 403, 'insufficient_scope');
  const foreign = await server.app.organization({ scopes: server.app.scopes.every });
  expectError(await foreign.api.put(path, never), 404, 'not_found');
  const given = { headers: { 'If-Match': '"other"' } };
  expectError(await tenant.api.put(path, never, given), 412, 'precondition_failed');
  let data: object[] = [];
  await until(async () => {
    const { body } = await tenant.api.get('/api/v1/events?types=grant.updated');
    ({ data } = body as { data: object[] });
    return data.length > 0;
  });
  expect(data).toMatchObject([
    { record: { id: second!.id, ...never }, changed: ['confirmations'] },
  ]);
});

it('a grant of another organization does not exist', async () => {
  const foreign = await server.app.organization({ scopes: server.app.scopes.every });
  for (const id of [grant.id, randomUUID(), 'none']) {
    expectError(await foreign.api.get(`${GRANTS}/${id}`), 404, 'not_found');
    expectError(await foreign.api.delete(`${GRANTS}/${id}`), 404, 'not_found');
  }
  expect((await foreign.api.get(GRANTS)).body).toMatchObject({ data: [] });
  expect((await listTools()).status).not.toBe(401);
});

it('grants need keys:read and keys:write, and a key ends no grant with scopes that it lacks', async () => {
  const path = `${GRANTS}/${grant.id}`;
  const reader = await server.app.key(tenant.id, ['keys:read', 'leads:read']);
  const writer = await server.app.key(tenant.id, ['keys:write']);
  expectError(await writer.api.get(GRANTS), 403, 'insufficient_scope');
  expectError(await writer.api.get(path), 403, 'insufficient_scope');
  expectError(await reader.api.delete(path), 403, 'insufficient_scope');
  expectError(await writer.api.delete(path), 403, 'insufficient_scope');
  expect((await listTools()).status).not.toBe(401);
});

it.each([
  ['another user', randomUUID()],
  ['no user', undefined],
])('a key with a user ends no grant of a key of %s', async (_, userId) => {
  const user = randomUUID();
  const scopes = server.app.scopes.every;
  const own = await server.app.key(tenant.id, scopes, { userId: user });
  const other = await server.app.key(tenant.id, server.app.scopes.ordinary, { userId });
  await server.signIn(other.key.key, { scopes: ['leads:read'] });
  await server.signIn(own.key.key, { scopes: ['leads:read'] });
  type Grant = GrantRecord & { readonly key_id: string };
  const grants = dataOf<Grant[]>(await tenant.api.get(GRANTS));
  const pathOf = (key: string) => `${GRANTS}/${grants.find(({ key_id }) => key_id === key)!.id}`;
  const foreign = pathOf(other.key.id);
  expectError(await own.api.delete(foreign), 409, 'key_not_manageable');
  const found = dataOf(await own.api.get(foreign));
  expect(found).toMatchObject({ revoked_at: null, user_id: userId ?? null });
  expect((await own.api.delete(pathOf(own.key.id))).status).toBe(200);
  expect((await tenant.api.delete(foreign)).status).toBe(200);
});

it('PUT /api/v1/grants/:id changes a version once, for callers at the same time with the same If-Match', async () => {
  await server.signIn(tenant.key.key);
  const { body } = await tenant.api.get(GRANTS);
  const unused = (body.data as { id: string; last_used_at: string | null }[]).at(-1);
  expect(unused).toMatchObject({ last_used_at: null, confirmations: 'ask' });
  const path = `${GRANTS}/${unused!.id}`;
  const headers = { 'If-Match': (await tenant.api.get(path)).headers.get('etag') ?? '' };
  const put = () => tenant.api.put(path, { confirmations: 'never' }, { headers });
  const answers = await Promise.all([put(), put(), put(), put()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  const changed = answers.find(({ status }) => status === 200);
  expect((await tenant.api.get(path)).headers.get('etag')).toBe(changed!.headers.get('etag'));
});

it('DELETE /api/v1/grants/:id ends only the version that If-Match names', async () => {
  const path = `${GRANTS}/${grant.id}`;
  const other = await tenant.api.delete(path, { headers: { 'If-Match': '"other"' } });
  expectError(other, 412, 'precondition_failed');
  expect((await listTools()).status).not.toBe(401);
});

it('a token never has keys:*, and is 401 at the routes of keys and grants', async () => {
  const wide = await server.signIn(tenant.key.key);
  for (const path of ['/api/v1/keys', GRANTS, '/api/v1/organization', '/api/v1/organizations']) {
    expectError(await server.app.client(wide.access_token).get(path), 401, 'unauthorized');
  }
  const grants = await tenant.api.get(GRANTS);
  expect(JSON.stringify(grants.body)).not.toContain('keys:');
});

it('an operator key is refused on the page, with a clear problem', async () => {
  const { key } = await server.app.app.get(OperatorsService).createKey('Operator', null);
  const browser = new Browser(server.url);
  await browser.open(server.authorizationUrl(tokens.clientId, { scope: 'leads:read' }).url);
  await browser.submit({ action: 'continue', key });
  expect(browser.html).toContain('This is an operator key, which cannot be granted.');
  expect(browser.html).not.toContain(key);
});
