import type { Answer } from '../../../src/testing/api-client.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import { createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { type RawRequest, rawRequest } from '../../../src/testing/raw-http.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { CHUNKED, JSON_HEADER, keyHeaders } from '../../support/raw-headers.js';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('the :id of a path', () => {
  it('is not case-sensitive', async () => {
    const { id } = await createLead(tenant.api);
    const path = `${LEADS}/${id.toUpperCase()}`;
    expect(dataOf(await tenant.api.get(path)).id).toBe(id);
    expect(dataOf(await tenant.api.put(path, { company: 'X' }))).toMatchObject({
      id,
      company: 'X',
    });
    expect(dataOf<object>(await tenant.api.delete(path))).toEqual({ id, deleted: true });
  });

  const MALFORMED: readonly [string, (id: string) => string][] = [
    ['a word', () => 'x'],
    ['a number', () => '1'],
    ['null', () => 'null'],
    ['a dot, escaped', () => '%2E'],
    ['two dots, escaped', () => '%2e%2e'],
    ['no dashes', (id) => id.replaceAll('-', '')],
    ['braces', (id) => `{${id}}`],
    ['braces, escaped', (id) => `%7B${id}%7D`],
    ['a URN', (id) => `urn:uuid:${id}`],
    ['one character less', (id) => id.slice(0, -1)],
    ['one character more', (id) => `${id}0`],
    ['another letter', (id) => `${id.slice(0, -1)}g`],
    ['a full-width digit', (id) => `${id.slice(0, -1)}%EF%BC%91`],
    ['a space before', (id) => `%20${id}`],
    ['a space after', (id) => `${id}%20`],
    ['a line end after', (id) => `${id}%0A`],
    ['NUL', () => '%00'],
    ['NUL after', (id) => `${id}%00`],
    ['a slash, escaped', (id) => `${id}%2F`],
    ['a broken escape', () => '%'],
    ['an escape of no digits', () => '%zz'],
    ['UTF-8 cut off', () => '%E0%A4%A'],
    ['a byte that is no UTF-8', () => '%FF'],
    ['a broken escape after', (id) => `${id}%`],
    ['an operator', () => '$ne'],
    ['a condition', (id) => `${id}'--`],
    ['8,000 characters', () => 'a'.repeat(8_000)],
  ];

  it.each(MALFORMED)('is 404 if it is %s', async (_, malform) => {
    const { id } = await createLead(tenant.api);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await request({
        method,
        path: `${LEADS}/${malform(id)}`,
        headers: [...keyHeaders(tenant), ...JSON_HEADER, ...CHUNKED],
        body: method === 'PUT' ? '{"company":"X"}' : '',
      });
      expectEnvelope(answer, { status: 404, code: 'not_found' });
    }
    expect(await tenant.api.get(`${LEADS}/${id}`)).toMatchObject({
      status: 200,
      body: { data: { company: null } },
    });
  });
});

function request(raw: RawRequest): Promise<Answer> {
  return rawRequest(app.port, raw);
}
