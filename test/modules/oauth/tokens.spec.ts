import {
  initializeRequest,
  mirrorHeaders,
  rpcRequest,
  sessionHeader,
  statelessRequest,
} from '../../../src/testing/mcp-client.js';
import { ApiError } from '../../../src/platform/errors/api-error.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { type SignedIn, SignInServer, type Tokens } from '../../support/oauth/sign-in-server.js';
import { until } from '../../support/servers/product.js';
import { expectShorter } from '../../support/times.js';

let server: SignInServer;
let tenant: Tenant;
let tokens: SignedIn;

beforeAll(async () => {
  server = await SignInServer.start();
});
beforeEach(async () => {
  tenant = await server.app.organization();
  tokens = await server.signIn(tenant.key.key);
});
afterAll(() => server.stop());

function callTool(token: string, name: string, args: object = {}): Promise<Response> {
  const call = { name, arguments: args };
  return server.mcp(token, statelessRequest('tools/call', call), mirrorHeaders('tools/call', call));
}

async function statusOf(token: string): Promise<number> {
  return (await callTool(token, 'list_leads')).status;
}

function refresh({ clientId, refresh_token }: SignedIn, parameters: Record<string, string> = {}) {
  return server.token({
    ...{ grant_type: 'refresh_token', client_id: clientId, refresh_token },
    ...parameters,
  });
}

const grantOf = async () => {
  const text = 'select id, last_used_at, revoked_at from oauth_grants where key_id = $1';
  const [grant] = await server.app.sql<{ revoked_at: Date | null; last_used_at: Date | null }>(
    text,
    [tenant.key.id],
  );
  return grant!;
};

describe('an access token', () => {
  it('is opaque, is valid for 15 minutes and names its scopes', () => {
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 900 });
    expect(tokens.access_token).toMatch(/^[\w-]{43}$/);
    expect(tokens.scope.split(' ').sort()).toEqual([
      ...['appointments:read', 'appointments:write', 'leads:read', 'leads:write'],
      ...['tasks:read', 'tasks:write'],
    ]);
  });

  it('has the limits of its key, in the same windows', async () => {
    const own = await server.app.organization({ readsPerMinute: 3 });
    const { access_token } = await server.signIn(own.key.key);
    const limits = ({ headers }: Pick<Response, 'headers'>) =>
      ['limit', 'remaining'].map((name) => Number(headers.get(`RateLimit-${name}`)));
    expect(limits(await callTool(access_token, 'list_leads'))).toEqual([3, 2]);
    expect(limits(await own.api.get('/api/v1/leads'))).toEqual([3, 1]);
    expect(limits(await callTool(access_token, 'list_leads'))).toEqual([3, 0]);
  });

  it('is stored as a hash only', async () => {
    const stored = JSON.stringify(await server.app.sql('select * from oauth_artifacts'));
    for (const secret of [tokens.access_token, tokens.refresh_token, tokens.code]) {
      expect(stored).not.toContain(secret);
    }
  });

  it('is 401 at /api', async () => {
    expect(await statusOf(tokens.access_token)).toBe(200);
    for (const path of ['/api/v1/leads', '/api/v1/me', '/api/v1/nothing']) {
      const { status, body, headers } = await server.app.client(tokens.access_token).get(path);
      expect([status, body]).toMatchObject([401, { error: { code: 'unauthorized' } }]);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="latitude"');
    }
  });

  it('is 401 after it has expired', async () => {
    await server.app.sql(
      `update oauth_artifacts set expires_at = now() where kind = 'AccessToken'`,
    );
    await until(async () => (await statusOf(tokens.access_token)) === 401);
  });

  it('is 401 if it was issued for another resource', async () => {
    await server.app.sql(`update oauth_artifacts set payload =
      (payload::jsonb || '{"aud": "https://other.example/mcp"}')::json where kind = 'AccessToken'`);
    await until(async () => (await statusOf(tokens.access_token)) === 401);
  });

  it('counts on the rate limit of its key, as every token of the key', async () => {
    const other = await server.signIn(tenant.key.key);
    const remaining = async ({ access_token }: Tokens) =>
      Number((await callTool(access_token, 'list_leads')).headers.get('ratelimit-remaining'));
    const first = await remaining(tokens);
    expect(await remaining(other)).toBe(first - 1);
    expect((await tenant.api.get('/api/v1/leads')).headers.get('ratelimit-remaining')).toBe(
      String(first - 2),
    );
  });

  it('stores the last use of its grant and of its key', async () => {
    await callTool(tokens.access_token, 'list_leads');
    await until(async () => (await grantOf()).last_used_at !== null);
  });
});

describe('the end of a key', () => {
  it.each([
    ['revoked', 'update api_keys set revoked_at = now() where id = $1'],
    ['expired', 'update api_keys set expires_at = now() where id = $1'],
    [
      'of a suspended organization',
      `update organizations set suspended = true
       where id = (select organization_id from api_keys where id = $1)`,
    ],
  ])('ends tokens and refresh tokens: %s', async (_, text) => {
    expect(await statusOf(tokens.access_token)).toBe(200);
    await server.app.sql(text, [tenant.key.id]);
    const endedAt = Date.now();
    await until(async () => (await statusOf(tokens.access_token)) === 401);
    expectShorter(Date.now() - endedAt, 1_500);
    expect(await refresh(tokens)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });
});

describe('the scopes of a grant', () => {
  it('are those that the person has chosen', async () => {
    const { access_token, scope } = await server.signIn(tenant.key.key, { scopes: ['leads:read'] });
    expect(scope).toBe('leads:read');
    expect((await callTool(access_token, 'list_leads')).status).toBe(200);
    const refused = await callTool(access_token, 'list_tasks');
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'insufficient_scope',
        message: 'The access token needs the scope tasks:read.',
      },
    });
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer realm="latitude", error="insufficient_scope", scope="leads:read tasks:read", resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp"`,
    );
  });

  it('end with those of the key', async () => {
    await server.app.sql(`update api_keys set scopes = '{leads:read}' where id = $1`, [
      tenant.key.id,
    ]);
    await until(async () => (await callTool(tokens.access_token, 'list_tasks')).status === 403);
    expect((await callTool(tokens.access_token, 'list_leads')).status).toBe(200);
  });

  it.each([
    ['prompts/get', { name: 'plan_my_day' }, /appointments:read and tasks:read/],
    ['resources/read', { uri: `task://${crypto.randomUUID()}` }, /tasks:read/],
  ])('are required together by %s', async (method, params, message) => {
    const { access_token } = await server.signIn(tenant.key.key, { scopes: ['leads:read'] });
    const request = statelessRequest(method, params);
    const answer = await server.mcp(access_token, request, mirrorHeaders(method, params));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringMatching(message) },
    });
  });

  it('of a key without OAuth are an error of the tool, as before', async () => {
    const { key } = await server.app.key(tenant.id, ['leads:read']);
    const answer = await callTool(key.key, 'list_tasks');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ result: { isError: true } });
  });

  it('can be fewer for a refreshed token, and not more', async () => {
    const { body } = await refresh(tokens, { scope: 'leads:read' });
    expect(body.scope).toBe('leads:read');
    expect((await callTool(body.access_token, 'list_tasks')).status).toBe(403);
    const small = await server.signIn(tenant.key.key, { scopes: ['leads:read'] });
    const wider = await refresh(small, { scope: 'leads:read leads:write' });
    expect(wider).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
  });
});

describe('a session', () => {
  async function openSession(token: string): Promise<string> {
    const answer = await server.mcp(token, initializeRequest());
    return answer.headers.get('mcp-session-id')!;
  }

  const ping = (token: string, session: string) =>
    server.mcp(token, rpcRequest('ping'), sessionHeader(session));

  it('continues with a new access token of its grant', async () => {
    const session = await openSession(tokens.access_token);
    const { body } = await refresh(tokens);
    expect((await ping(body.access_token, session)).status).toBe(200);
  });

  describe('whose client has signed in again with the same key', () => {
    let session: string;
    let again: SignedIn;

    beforeEach(async () => {
      session = await openSession(tokens.access_token);
      again = await server.signIn(tenant.key.key, { clientId: tokens.clientId });
    });

    it.each(['POST', 'GET', 'DELETE'])(
      'is 404 to %s, so that it initializes again',
      async (method) => {
        const answer = await fetch(server.resource, {
          method,
          headers: {
            Authorization: `Bearer ${again.access_token}`,
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            ...sessionHeader(session),
          },
          ...(method === 'POST' && { body: JSON.stringify(rpcRequest('ping')) }),
        });
        expect(answer.status).toBe(404);
        expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
        expect((await ping(tokens.access_token, session)).status).toBe(200);
      },
    );

    it('is 404 on another instance, too', async () => {
      const other = await SignInServer.start({ database: server.app.database });
      const { access_token } = await other.signIn(tenant.key.key, { clientId: tokens.clientId });
      const answer = await other.mcp(access_token, rpcRequest('ping'), sessionHeader(session));
      await other.stop();
      expect(answer.status).toBe(404);
    });

    it('is 403 with another key', async () => {
      const key = await server.app.key(tenant.id);
      const other = await server.signIn(key.key.key, { clientId: tokens.clientId });
      const answer = await ping(other.access_token, session);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ error: { code: 'session_mismatch' } });
    });
  });

  it('belongs to its grant, and neither to the key nor to other clients', async () => {
    const session = await openSession(tokens.access_token);
    const other = await server.signIn(tenant.key.key);
    for (const token of [other.access_token, tenant.key.key]) {
      const answer = await ping(token, session);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ error: { code: 'session_mismatch' } });
    }
  });

  it('of a key is not of its grants', async () => {
    const session = await openSession(tenant.key.key);
    expect((await ping(tokens.access_token, session)).status).toBe(403);
  });

  it.each([
    ['the grant is revoked', `update oauth_grants set revoked_at = now() where key_id = $1`],
    ['the key is revoked', `update api_keys set revoked_at = now() where id = $1`],
  ])('ends with its stream within a second when %s', async (_, text) => {
    const session = await openSession(tokens.access_token);
    const stream = await fetch(server.resource, {
      headers: {
        Authorization: `Bearer ${tokens.access_token}`,
        Accept: 'text/event-stream',
        ...sessionHeader(session),
      },
    });
    expect(stream.status).toBe(200);
    await server.app.sql(text, [tenant.key.id]);
    const endedAt = Date.now();
    await stream.text();
    expectShorter(Date.now() - endedAt, 1_500);
    await until(async () => (await ping(tokens.access_token, session)).status === 401);
  });
});

describe('a refresh token', () => {
  it('yields another pair, which both work', async () => {
    const { status, body } = await refresh(tokens);
    expect(status).toBe(200);
    expect(body.refresh_token).not.toBe(tokens.refresh_token);
    expect(await statusOf(body.access_token)).toBe(200);
    expect((await refresh({ ...tokens, ...body })).status).toBe(200);
  });

  it('yields another pair when it is repeated within 30 seconds', async () => {
    const [first, second] = await Promise.all([refresh(tokens), refresh(tokens)]);
    const third = await refresh(tokens);
    for (const { status, body } of [first, second, third]) {
      expect(status).toBe(200);
      expect(await statusOf(body.access_token)).toBe(200);
    }
  });

  it('ends its grant when it is repeated later', async () => {
    const { body } = await refresh(tokens);
    await server.app.sql(
      `update oauth_artifacts set consumed_at = consumed_at - interval '31 seconds' where kind = 'RefreshToken'`,
    );
    expect(await refresh(tokens)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await grantOf()).revoked_at).not.toBeNull();
    await until(async () => (await statusOf(body.access_token)) === 401);
    expect((await refresh({ ...tokens, ...body })).status).toBe(400);
  });
});

describe('the tokens of a grant', () => {
  const stored = async () => {
    const text = `select count(*)::int from oauth_artifacts join oauth_grants grants on grants.id = grant_id
      where key_id = $1`;
    return (await server.app.sql<{ count: number }>(text, [tenant.key.id]))[0]?.count;
  };

  it.each([
    ['the grant is revoked', 'update oauth_grants set revoked_at = now() where key_id = $1'],
    ['the key is revoked', 'update api_keys set revoked_at = now() where id = $1'],
    ['the grant has expired', 'update oauth_grants set expires_at = now() where key_id = $1'],
  ])('are deleted when %s', async (_, text) => {
    const repository = await server.repository();
    await refresh(tokens);
    await repository.deleteExpired();
    // The code, and two pairs: a refresh token that is used again ends its grant.
    expect(await stored()).toBe(5);
    await server.app.sql(text, [tenant.key.id]);
    await repository.deleteExpired();
    expect(await stored()).toBe(0);
    expect(await refresh(tokens)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });
});

describe('while the database is not available', () => {
  it.each(['/oauth/token', '/oauth/authorize'])('%s is 503 with Retry-After', async (path) => {
    const unavailable = new ApiError('overloaded', { headers: { 'Retry-After': '1' } });
    const repository = await server.repository();
    const find = jest.spyOn(repository, 'findClient').mockRejectedValue(unavailable);
    const { url } = server.authorizationUrl(tokens.clientId);
    const answer =
      path === '/oauth/token'
        ? await fetch(server.url + path, {
            method: 'POST',
            body: new URLSearchParams({ grant_type: 'refresh_token', client_id: tokens.clientId }),
          })
        : await fetch(url);
    find.mockRestore();
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
  });
});

describe('/oauth/revoke', () => {
  const revoke = (token: string, clientId = tokens.clientId) =>
    fetch(`${server.url}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: clientId, token }),
    });

  it.each(['refresh_token', 'access_token'] as const)('ends the grant of the %s', async (name) => {
    expect((await revoke(tokens[name])).status).toBe(200);
    expect((await grantOf()).revoked_at).not.toBeNull();
    await until(async () => (await statusOf(tokens.access_token)) === 401);
    expect((await refresh(tokens)).status).toBe(400);
  });

  it('leaves the tokens of another client alone', async () => {
    await revoke(tokens.refresh_token, await server.register());
    expect((await refresh(tokens)).status).toBe(200);
  });
});
