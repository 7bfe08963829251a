import { generateKey } from '../../../src/platform/access/api-key-format.js';
import { createLead, LEADS } from '../../../src/testing/factories.js';
import { sessionHeader, McpHttpClient, rpcRequest } from '../../../src/testing/mcp-client.js';
import { sendUntilClosed } from '../../../src/testing/raw-http.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { captureLog } from '../../support/captured-log.js';
import { FailingModule, SECRET } from '../../support/modules/failing.module.js';
import { until } from '../../support/servers/product.js';

describe('the request log', () => {
  let logging: TestApp;
  const captured = captureLog('info');

  beforeAll(async () => {
    logging = await TestApp.start({ modules: [FailingModule], settings: { logLevel: 'info' } });
  });
  afterAll(async () => {
    await logging.stop();
  });

  const lines = () => captured.map((line) => JSON.parse(line) as Record<string, unknown>);
  const requests = () => lines().filter(({ msg }) => msg === 'request');
  const untilLogged = (count: number) =>
    until(() => Promise.resolve(requests().length >= count), { everyMs: 1 });

  it('has the method, route, status, duration, organization, key and id of each request', async () => {
    const { api, id, key } = await logging.organization();
    const headers = { 'X-Request-Id': 'my-request' };
    const { id: lead } = await createLead(api);
    await api.get(`${LEADS}/${lead}?unknown=1`, { headers });
    await untilLogged(2);
    expect(requests()).toHaveLength(2);
    expect(requests()[1]).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      method: 'GET',
      route: '/api/v1/leads/:id',
      status: 400,
      ms: expect.any(Number) as number,
      organization_id: id,
      key_id: key.id,
      client_address: '127.0.0.1',
      request_id: 'my-request',
      msg: 'request',
    });
  });

  it('has the client address of a trusted proxy only', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7' };
    await logging.client().get(LEADS, { headers });
    await untilLogged(1);
    expect(requests()[0]!.client_address).toBe('127.0.0.1');
    const settings = { logLevel: 'info', trustProxy: ['loopback'] } as const;
    const behindProxy = await TestApp.start({ settings });
    await behindProxy.client().get(LEADS, { headers });
    await untilLogged(2);
    expect(requests()[1]!.client_address).toBe('203.0.113.7');
    await behindProxy.stop();
  });

  it('has the request id and the route of a failed statement, also of tools', async () => {
    const { api, key } = await logging.organization();
    const { id } = await createLead(api);
    const headers = { 'X-Request-Id': 'my-request' };
    const mcp = new McpHttpClient(logging.url, key.key);
    const session = sessionHeader(await mcp.openSession());
    const call = (method: string, params: object) =>
      mcp.post(rpcRequest(method, params), { ...session, ...headers });
    await logging.sql('alter table leads rename to lost');
    await api.get(LEADS, { headers });
    await api.get(`${LEADS}/${id}`, { headers });
    await api.post(LEADS, { first_name: 'Persephone' }, { headers });
    await call('tools/call', { name: 'get_lead', arguments: { id } });
    await call('resources/read', { uri: `lead://${id}` });
    await logging.sql('alter table lost rename to leads');
    const failures = lines().filter(({ sqlstate }) => sqlstate !== undefined);
    expect(failures).toEqual(
      [LEADS, `${LEADS}/:id`, LEADS, '/mcp', '/mcp'].map(
        (route) =>
          expect.objectContaining({
            level: 50,
            // The table, or its row type, does not exist.
            sqlstate: expect.stringMatching(/^42(P01|704)$/) as unknown,
            request_id: 'my-request',
            route,
          }) as unknown,
      ),
    );
    expect(captured.join('')).not.toContain('Persephone');
  });

  it('has no organization, key and path of a request without a valid key to an unknown route', async () => {
    await logging.client(generateKey()).get('/api/v1/persephone-private');
    await untilLogged(1);
    expect(requests()).toMatchObject([
      { route: '/{*path}', status: 401, organization_id: null, key_id: null },
    ]);
  });

  it('has one line for each request, with any outcome', async () => {
    const { api } = await logging.organization();
    await api.get('/nothing');
    await api.post(LEADS, '{');
    await api.request('HEAD', '/api/v1/me');
    await api.request('OPTIONS', '/api/v1/me');
    await api.get('/api/v1/test/unforeseen/error');
    await api.get('/api/v1/test/half').catch(() => undefined);
    await sendUntilClosed(logging.port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n');
    await untilLogged(7);
    expect(requests().map(({ status }) => status)).toEqual([404, 400, 200, 404, 500, null, 400]);
  });

  it('has the stack of an unexpected error but not its message', async () => {
    const { api } = await logging.organization();
    await api.get('/api/v1/test/unforeseen/type-error');
    await untilLogged(1);
    const [unhandled] = lines().filter(({ msg }) => msg === 'unhandled error');
    expect(unhandled).toMatchObject({
      request_id: requests()[0]!.request_id,
      err: { type: 'TypeError', stack: expect.stringContaining('failing.module.ts') as string },
    });
    expect(captured.join('')).not.toContain(SECRET);
  });
});
