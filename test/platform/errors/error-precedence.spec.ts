import { randomUUID } from 'node:crypto';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { sendUntilAnswered } from '../../../src/testing/raw-http.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';

/** The default of `BODY_LIMIT_BYTES`. */
const BODY_LIMIT = 262_144;
let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('the order of checks', () => {
  const wrongType = { headers: { 'Content-Type': 'text/plain' } };
  let limited: TestApp;
  let exhausted: Tenant;
  let reader: Tenant;
  let tooLarge: string;

  beforeAll(async () => {
    limited = await TestApp.start({
      database: app.database,
      settings: { readsPerMinute: 1, writesPerMinute: 1 },
    });
    exhausted = await limited.key(tenant.id, ['leads:read']);
    await exhausted.api.get('/api/v1/me');
    await exhausted.api.post('/api/v1/me', {});
    reader = await app.key(tenant.id, ['leads:read']);
    tooLarge = JSON.stringify({ first_name: 'x'.repeat(BODY_LIMIT) });
  });
  afterAll(() => limited.stop());

  it('401 before 404 for an unknown route', async () => {
    expectError(await app.client().get('/api/v1/nothing'), 401, 'unauthorized');
  });

  it('401 from the headers alone, before a body arrives', async () => {
    const answer = await sendUntilAnswered(
      app.port,
      `POST ${LEADS} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n`,
    );
    expectEnvelope(answer, { status: 401, code: 'unauthorized' });
  });

  it('401 before 413 and 415', async () => {
    expectError(await app.client().post(LEADS, tooLarge), 401, 'unauthorized');
    expectError(await app.client().post(LEADS, '{}', wrongType), 401, 'unauthorized');
  });

  it('429 before 404 for an unknown route', async () => {
    expectError(await exhausted.api.get('/api/v1/nothing'), 429, 'rate_limit_exceeded');
    expectError(await exhausted.api.request('PATCH', LEADS), 429, 'rate_limit_exceeded');
  });

  it('429 before 403', async () => {
    expectError(await exhausted.api.post(LEADS, {}), 429, 'rate_limit_exceeded');
  });

  it('404 for an unknown route before 403', async () => {
    const poor = await app.key(tenant.id, []);
    expectError(await poor.api.request('PATCH', LEADS), 404, 'not_found');
  });

  it('404 for an unknown route before 413 and 415', async () => {
    expectError(await tenant.api.put(LEADS, tooLarge), 404, 'not_found');
    expectError(await tenant.api.put(LEADS, '{}', wrongType), 404, 'not_found');
  });

  it('403 before 413', async () => {
    expectError(await reader.api.post(LEADS, tooLarge), 403, 'insufficient_scope');
  });

  it('403 before 415', async () => {
    expectError(await reader.api.post(LEADS, '{}', wrongType), 403, 'insufficient_scope');
  });

  it('403 before 400 and 404', async () => {
    expectError(await reader.api.post(`${LEADS}?x=1`, '{'), 403, 'insufficient_scope');
    expectError(await reader.api.put(`${LEADS}/x`, {}), 403, 'insufficient_scope');
  });

  it('413 before 415', async () => {
    expectError(await tenant.api.post(LEADS, tooLarge, wrongType), 413, 'payload_too_large');
  });

  it('413 and 415 before 400 on the query', async () => {
    expectError(await tenant.api.post(`${LEADS}?x=1`, tooLarge), 413, 'payload_too_large');
    const answer = await tenant.api.post(`${LEADS}?x=1`, '{}', wrongType);
    expectError(answer, 415, 'unsupported_media_type');
  });

  it('413 and 415 before 404', async () => {
    const path = `${LEADS}/${randomUUID()}`;
    expectError(await tenant.api.put(path, tooLarge), 413, 'payload_too_large');
    expectError(await tenant.api.put(path, '{}', wrongType), 415, 'unsupported_media_type');
  });

  it('one 400 for body and query', async () => {
    const answer = await tenant.api.post(`${LEADS}?x=1&y=2`, { first_name: 1 });
    expectInvalid(answer, 'x', 'y', 'first_name');
  });

  it('at most 100 problems in a 400, with the number of the others', async () => {
    const names = Array.from({ length: 150 }, (_, index) => `field_${index}`);
    const body = Object.fromEntries(names.map((name) => [name, 1]));
    const query = names.slice(0, 60).join('&');
    const answer = await tenant.api.post(`${LEADS}?${query}`, body);
    expectError(answer, 400, 'validation_error');
    expect(errorOf(answer).details).toHaveLength(100);
    expect(errorOf(answer).message).toMatch(/; and 111 more\.$/);
  });

  it.each([
    ['malformed', 'x'],
    ['unknown', randomUUID()],
  ])('400 before 404 for an :id that is %s', async (_, id) => {
    expectInvalid(await tenant.api.put(`${LEADS}/${id}`, { first_name: 1 }), 'first_name');
    expectInvalid(await tenant.api.get(`${LEADS}/${id}?x=1`), 'x');
    expectInvalid(await tenant.api.delete(`${LEADS}/${id}?x=1`), 'x');
  });

  it('404 before 409', async () => {
    const { email } = await createLead(tenant.api, buildLead());
    expectError(await tenant.api.put(`${LEADS}/${randomUUID()}`, { email }), 404, 'not_found');
  });

  it('404 not_found before lead_not_found', async () => {
    const changes = { contact_id: randomUUID() };
    expectError(await tenant.api.put(`/api/v1/tasks/${randomUUID()}`, changes), 404, 'not_found');
  });

  it('400 before lead_not_found', async () => {
    const task = { title: '', contact_id: randomUUID() };
    expectInvalid(await tenant.api.post('/api/v1/tasks', task), 'title');
  });

  it('404 before a 400 that depends on the stored record', async () => {
    const changes = { end_time: '0001-01-01' };
    const path = '/api/v1/appointments';
    expectError(await tenant.api.put(`${path}/${randomUUID()}`, changes), 404, 'not_found');
    const appointment = {
      lead_id: (await createLead(tenant.api)).id,
      start_time: '2026-01-01T10:00Z',
      end_time: '2026-01-01T11:00Z',
    };
    const { id } = dataOf<{ id: string }>(await tenant.api.post(path, appointment), 201);
    expectInvalid(await tenant.api.put(`${path}/${id}`, changes), 'end_time');
  });

  it('400 before 409', async () => {
    const { email } = await createLead(tenant.api, buildLead());
    expectInvalid(await tenant.api.post(LEADS, { first_name: 'A', email, state: 'ABC' }), 'state');
  });
});
