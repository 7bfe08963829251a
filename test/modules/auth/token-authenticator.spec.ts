import { randomUUID } from 'node:crypto';
import { Injectable, Module, ServiceUnavailableException } from '@nestjs/common';
import {
  TokenAuthenticator,
  type TokenIdentity,
} from '../../../src/platform/access/token-authenticator.js';
import { defineExtension } from '../../../src/platform/extension/extension.js';
import type { ApiClient } from '../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  type ErrorBody,
  expectError,
  LEADS,
} from '../../../src/testing/factories.js';
import { McpHttpClient, rpcNotification, rpcRequest } from '../../../src/testing/mcp-client.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { captureLog } from '../../support/captured-log.js';
import { Agent } from '../../support/mcp/agent.js';
import { PROTOCOL_MODES } from '../../support/mcp/mcp-sdk-clients.js';
import { until } from '../../support/servers/product.js';

const PREFIX = 'test.';
const OUTAGE = 'outage';
const BUSY = 'busy';
const TASKS = '/api/v1/tasks';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** Accepts tokens that contain the identity as JSON. */
@Injectable()
class JsonTokens extends TokenAuthenticator {
  authenticate(token: string): TokenIdentity | undefined {
    if (token === OUTAGE) throw new Error('the identity provider is away');
    if (token === BUSY) throw new ServiceUnavailableException();
    if (!token.startsWith(PREFIX)) return undefined;
    const json = Buffer.from(token.slice(PREFIX.length), 'base64url').toString();
    const identity = JSON.parse(json) as TokenIdentity;
    return { ...identity, expiresAt: new Date(identity.expiresAt) };
  }
}

@Module({})
class EmptyModule {}

const extension = defineExtension({
  name: 'acme-tokens',
  module: EmptyModule,
  adds: [{ provide: TokenAuthenticator, useClass: JsonTokens }],
});

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({
    extensions: [extension],
    settings: { readsPerMinute: 20, writesPerMinute: 20 },
  });
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

const inMs = (ms: number) => new Date(Date.now() + ms);

function tokenOf(identity: Partial<TokenIdentity> = {}): string {
  const whole: TokenIdentity = {
    organizationId: tenant.id,
    subject: 'ada',
    scopes: ['leads:read', 'leads:write', 'tasks:write'],
    expiresAt: inMs(60_000),
    ...identity,
  };
  return PREFIX + Buffer.from(JSON.stringify(whole)).toString('base64url');
}

const clientOf = (identity?: Partial<TokenIdentity>): ApiClient => app.client(tokenOf(identity));

describe('a token that a TokenAuthenticator accepts', () => {
  const lines = captureLog('info');

  it('reaches the records of its organization', async () => {
    const { id } = await createLead(clientOf());
    expect(dataOf(await tenant.api.get(`${LEADS}/${id}`))).toMatchObject({ id });
    const other = await app.organization();
    expectError(await other.api.get(`${LEADS}/${id}`), 404, 'not_found');
  });

  it('has its own scopes, without those that Latitude does not know', async () => {
    const api = clientOf({ scopes: ['openid', 'leads:read'] });
    expect(dataOf(await api.get('/api/v1/me'))).toMatchObject({ scopes: ['leads:read'] });
    expectError(await api.post(LEADS, { first_name: 'Ada' }), 403, 'insufficient_scope');
  });

  it('is described by GET /api/v1/me', async () => {
    const expiresAt = inMs(60_000);
    const me = await clientOf({ expiresAt, name: 'Ada L.' }).get('/api/v1/me');
    expect(dataOf(me)).toMatchObject({
      organization: { id: tenant.id },
      key: { name: 'Ada L.' },
      expires_at: expiresAt.toISOString(),
      limits: { reads_per_minute: 20, writes_per_minute: 20 },
    });
    const { key } = dataOf<{ key: { id: string } }>(await clientOf().get('/api/v1/me'));
    expect(key).toEqual({ id: dataOf<{ key: { id: string } }>(me).key.id, name: 'ada' });
  });

  it('shares the rate limits of all tokens of its subject', async () => {
    const remaining = async (identity?: Partial<TokenIdentity>) => {
      const { headers } = await clientOf(identity).get(LEADS);
      return headers.get('RateLimit-Remaining');
    };
    expect(await remaining()).toBe('19');
    expect(await remaining({ expiresAt: inMs(90_000) })).toBe('18');
    expect(await remaining({ subject: 'bob' })).toBe('19');
  });

  it('supports Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const create = () => clientOf().post(LEADS, { first_name: 'Ada' }, { headers });
    expect(dataOf(await create(), 201)).toEqual(dataOf(await create(), 201));
  });

  it('names its user in created_by_user_id', async () => {
    const userId = randomUUID();
    const task = await clientOf({ userId }).post(TASKS, { title: 'Call' });
    expect(dataOf(task, 201)).toMatchObject({ created_by_user_id: userId });
  });

  it('is named by its subject in the log', async () => {
    await clientOf({ subject: 'auth0|7' }).get(LEADS);
    const subjects = () => lines.map((line) => (JSON.parse(line) as { subject?: string }).subject);
    await until(() => Promise.resolve(subjects().includes('auth0|7')), { everyMs: 1 });
  });
});

describe('a token that no TokenAuthenticator accepts', () => {
  it.each([
    ['of another issuer', () => 'unknown'],
    ['of an organization that does not exist', () => tokenOf({ organizationId: randomUUID() })],
    ['of an organization whose id is no UUID', () => tokenOf({ organizationId: 'acme' })],
    ['that has expired', () => tokenOf({ expiresAt: inMs(-1) })],
    ['with the prefix of a key', () => 'lat_unknown'],
  ])('%s is 401 and counts against the address', async (_, token) => {
    const answer = await app.client(token()).get(LEADS);
    expectError(answer, 401, 'unauthorized');
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="latitude"');
    expect(answer.headers.get('RateLimit-Limit')).toBe('20');
  });

  it('is refused while the identity provider cannot be asked, with an error that can be retried', async () => {
    const api = app.client(OUTAGE);
    expectError(await api.get(LEADS), 500, 'internal_error');
    expectError(await api.post(LEADS, { first_name: 'Ada' }), 500, 'internal_error');
  });

  it('is answered with the HttpException of the authenticator', async () => {
    // The document of Latitude's routes does not have the code, so the test client would refuse it.
    const headers = { Authorization: `Bearer ${BUSY}` };
    const answers = ['GET', 'POST'].map(async (method) => {
      const answer = await fetch(app.url + LEADS, { method, headers });
      const { error } = (await answer.json()) as { error: ErrorBody };
      return [answer.status, error.code];
    });
    const expected = [503, 'service_unavailable'];
    expect(await Promise.all(answers)).toEqual([expected, expected]);
  });
});

describe('an invalid identity from a TokenAuthenticator', () => {
  it.each([
    ['an empty subject', { subject: '' }],
    ['a user id that is no UUID', { userId: 'ada' }],
  ])('is answered with 500: %s', async (_, identity) => {
    expectError(await clientOf(identity).get(LEADS), 500, 'internal_error');
  });
});

describe('/mcp with a token', () => {
  it.each(PROTOCOL_MODES)('serves clients of the mode %s', async (mode) => {
    const agent = await Agent.connect(app, { key: { key: tokenOf() } }, mode);
    const lead = await agent.succeed<{ id: string }>('create_lead', { first_name: 'Ada' });
    expect(await agent.succeed('get_lead', { id: lead.id })).toMatchObject({ first_name: 'Ada' });
    expect(await agent.succeed('whoami')).toMatchObject({
      key: { name: 'ada' },
      limits: { reads: { remaining: 19 }, writes: { remaining: 19 } },
    });
    expect((await agent.fail('list_tasks')).code).toBe('insufficient_scope');
    await agent.close();
  });

  it('assigns no session id and declares no notifications', async () => {
    const mcp = new McpHttpClient(app.url, tokenOf());
    const opened = await mcp.initialize();
    expect(opened.headers.get('Mcp-Session-Id')).toBeNull();
    expect(opened.body).toMatchObject({
      result: { capabilities: { tools: {}, resources: {}, prompts: {} } },
    });
    expect((await mcp.post(rpcNotification('notifications/initialized'))).status).toBe(202);
    expectError(await mcp.request('GET'), 405, 'method_not_allowed');
  });

  it('refuses subscriptions of a session', async () => {
    const { id } = await createLead(clientOf());
    const mcp = new McpHttpClient(app.url, tokenOf());
    const answer = await mcp.post(rpcRequest('resources/subscribe', { uri: `lead://${id}` }));
    expect(answer.body).toMatchObject({ error: { code: -32601 } });
  });

  it('ends streams when the token expires', async () => {
    const mcp = new McpHttpClient(app.url, tokenOf({ expiresAt: inMs(1_500) }));
    const stream = await mcp.openStatelessStream({ toolsListChanged: true });
    expect((await stream.nextMessage()).message).toMatchObject({ method: ACKNOWLEDGED });
    while (await stream.next());
  });
});
