import { randomUUID } from 'node:crypto';
import type { Answer } from '../../../src/testing/api-client.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import { errorOf, expectError, LEADS } from '../../../src/testing/factories.js';
import { type RawRequest, rawRequest } from '../../../src/testing/raw-http.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { keyHeaders } from '../../support/raw-headers.js';

const ID = randomUUID();

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('unknown routes and methods', () => {
  const NEW_PATHS = ['/api', '/api/', '/api/v1', '/api/v2/leads', '/mcp/', '/mcp/x'];
  const OUTSIDE = ['/*', '/x', '/apis', '/mcps', '/API/v1/leads', '//api/v1/leads', '/%61pi'];
  const NEARBY = [`${LEADS}/`, '/api/v1/Leads', '/api/v1//leads', `${LEADS}/x/y`, '/api/v1/lead'];

  it.each([...NEW_PATHS, ...NEARBY])('%s is 401 without a key and 404 with a key', async (path) => {
    expectEnvelope(await app.client().get(path), { status: 401, code: 'unauthorized' });
    const answer = await tenant.api.get(path);
    expectEnvelope(answer, { status: 404, code: 'not_found' });
    expect(answer.headers.get('allow')).toBeNull();
  });

  it.each(OUTSIDE)('%s is 404 with and without a key', async (path) => {
    expectEnvelope(await app.client().get(path), { status: 404, code: 'not_found' });
    expectEnvelope(await tenant.api.get(path), { status: 404, code: 'not_found' });
  });

  it.each([
    ['PATCH', LEADS, 'GET, HEAD, POST'],
    ['DELETE', LEADS, 'GET, HEAD, POST'],
    ['PUT', LEADS, 'GET, HEAD, POST'],
    ['POST', `${LEADS}/${randomUUID()}`, 'DELETE, GET, HEAD, PUT'],
    ['PATCH', `${LEADS}/x`, 'DELETE, GET, HEAD, PUT'],
    ['PATCH', `${LEADS}/%E0%A4%A`, 'DELETE, GET, HEAD, PUT'],
    ['POST', '/api/v1/me', 'GET, HEAD'],
    ['PROPFIND', '/api/v1/me', 'GET, HEAD'],
    ['TRACE', '/api/v1/me', 'GET, HEAD'],
    ['OPTIONS', '/api/v1/me', 'GET, HEAD'],
  ])('%s %s is 404 and Allow names %s', async (method, path, allowed) => {
    const answer = await request({ method, path, headers: keyHeaders(tenant) });
    expectEnvelope(answer, { status: 404, code: 'not_found' });
    expect(answer.headers.get('allow')).toBe(allowed);
  });

  it.each([
    ['GET', `${LEADS}/`, LEADS],
    ['DELETE', `${LEADS}/${ID}/`, `${LEADS}/${ID}`],
    ['POST', `${LEADS}//?x=1`, LEADS],
  ])(
    '%s %s is 404 and suggests the path without the trailing slash',
    async (method, path, right) => {
      const answer = await tenant.api.request(method, path);
      expectError(answer, 404, 'not_found');
      expect(errorOf(answer).message).toBe(
        `There is no ${method} route at this path. Did you mean ${right}?`,
      );
    },
  );

  it('suggests no path that is unknown or too long', async () => {
    for (const path of ['/api/v1/nothing/', '/nothing/', `${LEADS}/${'x'.repeat(300)}/`]) {
      const answer = await tenant.api.get(path);
      expect(errorOf(answer).message).toBe('There is no GET route at this path.');
    }
  });

  it('sends no Allow without a key', async () => {
    const answer = await app.client().request('PATCH', LEADS);
    expectEnvelope(answer, { status: 401, code: 'unauthorized' });
    expect(answer.headers.get('allow')).toBeNull();
  });

  it.each([
    // A proxy refuses an authority that differs from the header Host.
    ['http://a/api/v1/me', 200],
    ['http://a/api/v1/nothing', 404],
    ['*', 404],
  ])('accepts the request target %s: %i', async (path, status) => {
    const headers = keyHeaders(tenant);
    expect(await request({ method: 'GET', path, headers })).toMatchObject({ status });
    expect(await request({ method: 'HEAD', path, headers })).toMatchObject({ status });
  });
});

function request(raw: RawRequest): Promise<Answer> {
  return rawRequest(app.port, raw);
}
