import { OrganizationsRepository } from '../../../src/modules/auth/organizations.repository.js';
import type { ApiClient } from '../../../src/testing/api-client.js';
import { dataOf, expectError, expectInvalid } from '../../../src/testing/factories.js';
import { mirrorHeaders, statelessRequest } from '../../../src/testing/mcp-client.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { TestServer } from '../../../src/testing/test-server.js';
import { until } from '../../support/servers/product.js';

const ORGANIZATION = '/api/v1/organization';
const ME = '/api/v1/me';

/** docs/contract/endpoints.md#organization */
describe('the time zone of an organization', () => {
  let server: TestServer;
  let api: ApiClient;

  beforeAll(async () => {
    server = await TestServer.shared();
  });
  beforeEach(async () => {
    ({ api } = await server.organization({ scopes: ['organization:write', 'leads:read'] }));
  });
  afterAll(() => server.stop());

  const put = (body: object, headers = {}) => api.put(ORGANIZATION, body, { headers });

  it('is UTC, until a key with organization:write changes it', async () => {
    const before = dataOf<object>(await api.get(ORGANIZATION));
    expect(before).toMatchObject({ time_zone: 'UTC' });
    const changed = dataOf<object>(await put({ time_zone: 'Europe/Berlin' }));
    expect(changed).toEqual({ ...before, time_zone: 'Europe/Berlin' });
    expect(dataOf(await api.get(ORGANIZATION))).toEqual(changed);
  });

  it('is told by /me and whoami within a second', async () => {
    await put({ time_zone: 'Asia/Kolkata' });
    const organization = { time_zone: 'Asia/Kolkata' };
    await until(async () => {
      const me = dataOf<{ organization: { time_zone: string } }>(await api.get(ME));
      return me.organization.time_zone === 'Asia/Kolkata';
    });
    const whoami = statelessRequest('tools/call', { name: 'whoami', arguments: {} });
    const headers = mirrorHeaders('tools/call', { name: 'whoami' });
    const { body } = await api.post('/mcp', whoami, { headers });
    expect(body).toMatchObject({ result: { structuredContent: { organization } } });
  });

  it.each(['europe/berlin', 'EUROPE/BERLIN', ' Europe/Berlin '])(
    'is %j with the spelling of PostgreSQL',
    async (time_zone) => {
      expect(dataOf(await put({ time_zone }))).toMatchObject({ time_zone: 'Europe/Berlin' });
    },
  );

  it('keeps its value if it is left out', async () => {
    await put({ time_zone: 'America/Denver' });
    expect(dataOf(await put({}))).toMatchObject({ time_zone: 'America/Denver' });
  });

  it.each(['Mars/Base', '+02:00', 'UTC+3', 'posix/Europe/Berlin', '', 7, null, ['UTC'], '\u0000'])(
    'is not %j',
    async (time_zone) => {
      expectInvalid(await put({ time_zone }), 'time_zone');
    },
  );

  it.each(['name', 'phone_region', 'id'])('is changed without %s', async (field) => {
    expectInvalid(await put({ [field]: 'US' }), field);
  });

  it('changes only with the ETag of the organization as it is, if If-Match is sent', async () => {
    const { headers } = await api.get(ORGANIZATION);
    const match = { 'If-Match': headers.get('etag') ?? '' };
    dataOf(await put({ time_zone: 'Europe/Paris' }, match));
    expectError(await put({ time_zone: 'Europe/Rome' }, match), 412, 'precondition_failed');
    expect(dataOf(await api.get(ORGANIZATION))).toMatchObject({ time_zone: 'Europe/Paris' });
  });

  it('changes with no key of --scopes all', async () => {
    const { api: ordinary } = await server.organization();
    const refused = await ordinary.put(ORGANIZATION, { time_zone: 'UTC' });
    expectError(refused, 403, 'insufficient_scope');
  });
});

describe('a time zone that Node.js knows and PostgreSQL does not', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.stop());

  it('is refused', async () => {
    jest.spyOn(app.app.get(OrganizationsRepository), 'findTimeZone').mockResolvedValue(undefined);
    const { api } = await app.organization({ scopes: ['organization:write'] });
    expectInvalid(await api.put(ORGANIZATION, { time_zone: 'Europe/Berlin' }), 'time_zone');
    jest.restoreAllMocks();
  });
});
