import type { Answer } from '../../../src/testing/api-client.js';
import { LEADS } from '../../../src/testing/factories.js';
import { type RawRequest, rawRequest } from '../../../src/testing/raw-http.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('X-Request-Id', () => {
  const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const ask = async (id?: string, path = '/api/v1/me') => {
    const { headers } = await tenant.api.get(path, {
      headers: id === undefined ? {} : { 'X-Request-Id': id },
    });
    return headers.get('x-request-id');
  };

  it.each([['a'], ['0'], ['~!#$%&*+-./:;<=>?@[]^_`{|}'], ['x'.repeat(128)]])(
    'keeps the value of the request if it has 1 to 128 visible ASCII characters: %s',
    async (id) => {
      expect(await ask(id)).toBe(id);
      expect(await ask(id, '/api/v1/nothing')).toBe(id);
    },
  );

  it.each([
    ['no header', undefined],
    ['an empty value', ''],
    ['129 characters', 'x'.repeat(129)],
    ['a space inside', 'a b'],
    ['a tab inside', 'a\tb'],
    ['letters beyond ASCII', 'é'],
  ])('replaces %s by a new UUID', async (_, id) => {
    const first = await ask(id);
    expect(first).toMatch(UUID_V4);
    expect(await ask(id)).not.toBe(first);
  });

  it('replaces two headers by a new UUID', async () => {
    const headers = ['Host', 'a', 'X-Request-Id', 'a', 'X-Request-Id', 'b'];
    const answer = await request({ method: 'GET', path: '/', headers });
    expect(answer.headers.get('x-request-id')).toMatch(UUID_V4);
  });

  it('is on successful responses', async () => {
    const answer = await tenant.api.post(LEADS, { first_name: 'A' });
    expect(answer.headers.get('x-request-id')).toMatch(UUID_V4);
  });
});

function request(raw: RawRequest): Promise<Answer> {
  return rawRequest(app.port, raw);
}
