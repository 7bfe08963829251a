import { urlOf } from '../../../src/testing/databases.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { rpcRequest } from '../../../src/testing/mcp-client.js';
import { latitude, runCommand } from '../../support/command-line.js';
import { type SignedIn, SignInServer } from '../../support/oauth/sign-in-server.js';
import { until } from '../../support/servers/product.js';

let server: SignInServer;
let tenant: Tenant;
let tokens: SignedIn;
let environment: { DATABASE_URL: string };

beforeAll(async () => {
  server = await SignInServer.start();
  environment = { DATABASE_URL: urlOf(server.app.database) };
  tenant = await server.app.organization();
  tokens = await server.signIn(tenant.key.key, { scopes: ['leads:read'] });
});
afterAll(() => server.stop());

const list = () =>
  latitude<{ id: string }[]>(environment, 'grants', 'list', '--organization', tenant.id);

it('`latitude grants list` shows the client, the key, the scopes and the last use', async () => {
  await server.mcp(tokens.access_token, rpcRequest('tools/list'));
  await until(async () => !JSON.stringify(await list()).includes('"last_used_at":null'));
  expect(await list()).toEqual([
    {
      id: expect.any(String),
      organization_id: tenant.id,
      key_id: tenant.key.id,
      user_id: null,
      client_id: tokens.clientId,
      client_name: 'Test client',
      scopes: ['leads:read'],
      confirmations: 'ask',
      created_at: expect.any(String),
      expires_at: expect.any(String),
      last_used_at: expect.any(String),
      revoked_at: null,
    },
  ]);
});

it('`latitude grants list` shows nothing of another organization', async () => {
  const { id } = await server.app.organization();
  expect(await latitude(environment, 'grants', 'list', '--organization', id)).toEqual([]);
});

it('`latitude grants update` changes whether tools ask the user', async () => {
  const [{ id } = { id: '' }] = await list();
  for (const confirmations of ['never', 'never', 'ask']) {
    const args = ['grants', 'update', id, '--confirmations', confirmations];
    expect(await latitude(environment, ...args)).toMatchObject({ id, confirmations });
  }
});

it('`latitude grants revoke` ends the tokens of a grant', async () => {
  const [{ id } = { id: '' }] = await list();
  expect(await latitude(environment, 'grants', 'revoke', id)).toEqual({
    id,
    revoked_at: expect.any(String),
  });
  await until(
    async () => (await server.mcp(tokens.access_token, rpcRequest('tools/list'))).status === 401,
  );
});

it.each([
  ['an unknown organization', ['list', '--organization', crypto.randomUUID()], /no such organ/],
  ['an unknown grant', ['revoke', crypto.randomUUID()], /no such grant/],
  [
    'a change of an unknown grant',
    ['update', crypto.randomUUID(), '--confirmations', 'ask'],
    /no such grant/,
  ],
  ['an unknown change', ['update', crypto.randomUUID(), '--confirmations', 'x'], /ask, never/],
  ['no change', ['update', crypto.randomUUID()], /--confirmations/],
])('%s is an error', async (_, args, message) => {
  const { code, stderr } = await runCommand(['grants', ...args], environment);
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
});
