import { ERROR_CATALOGUE } from '../../../src/platform/errors/error-catalogue.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import {
  buildLead,
  createLead,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { FailingModule, SECRET, UNEXPECTED } from '../../support/modules/failing.module.js';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [FailingModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('ERROR_CATALOGUE', () => {
  const CONTRACT: readonly [code: string, status: number, retryable: boolean][] = [
    ['unauthorized', 401, false],
    ['insufficient_scope', 403, false],
    ['session_mismatch', 403, false],
    ['validation_error', 400, false],
    ['not_found', 404, false],
    ['lead_not_found', 404, false],
    ['definition_conflicts', 409, false],
    ['too_many_custom_fields', 409, false],
    ['duplicate', 409, false],
    ['compliance_blocked', 422, false],
    ['rate_limit_exceeded', 429, true],
    ['query_failed', 500, true],
    ['create_failed', 500, true],
    ['internal_error', 500, true],
    ['no_session', 400, false],
    ['too_many_sessions', 503, true],
    ['bad_request', 400, false],
    ['origin_not_allowed', 403, false],
    ['payload_too_large', 413, false],
    ['unsupported_media_type', 415, false],
    ['cursor_expired', 410, false],
    ['precondition_failed', 412, false],
    ['idempotency_key_in_use', 409, true],
    ['idempotency_key_reused', 422, false],
    ['webhook_disabled', 409, false],
    ['too_many_webhooks', 409, false],
    ['slot_taken', 409, false],
    ['calendar_too_large', 422, false],
    ['filter_too_broad', 422, false],
    ['resource_inactive', 409, false],
    ['merged', 409, false],
    ['too_many_holds', 409, false],
    ['outside_hours', 422, false],
    ['too_many_keys', 409, false],
    ['first_key_exists', 409, false],
    ['key_not_manageable', 409, false],
    ['overloaded', 503, true],
  ];

  it('has exactly the codes of the contract', () => {
    expect(Object.keys(ERROR_CATALOGUE).sort()).toEqual(CONTRACT.map(([code]) => code).sort());
  });

  it.each(CONTRACT)(
    'answers %s with %i, retryable: %s, in the error envelope',
    async (code, status, retryable) => {
      const answer = await tenant.api.get(`/api/v1/test/codes/${code}`);
      expectEnvelope(answer, { status, code, retryable });
    },
  );
});

describe('the error envelope', () => {
  it('names every failing field of a validation_error in details and message', async () => {
    const answer = await tenant.api.post(LEADS, { first_name: 7, email: 'no', color: 'red' });
    expectInvalid(answer, 'first_name', 'email', 'color');
    expect(Object.keys(errorOf(answer)).sort()).toEqual([
      'code',
      'details',
      'message',
      'request_id',
      'retryable',
    ]);
    for (const detail of errorOf(answer).details!) {
      const text = expect.any(String) as string;
      expect(detail).toEqual({ field: text, message: text });
    }
  });

  it('names the field and the other record of a duplicate in details', async () => {
    const other = await createLead(tenant.api, buildLead());
    const answer = await tenant.api.post(LEADS, { ...buildLead(), email: other.email });
    expectError(answer, 409, 'duplicate');
    expect(errorOf(answer)).toMatchObject({
      retryable: false,
      details: [{ field: 'email', message: expect.any(String) as string, existing_id: other.id }],
    });
  });

  it('never contains an input value', async () => {
    const value = `<b>${SECRET}</b>`;
    const answers = [
      await tenant.api.post(LEADS, { first_name: 'A', email: value, temperature: value }),
      await tenant.api.get(`${LEADS}?limit=${encodeURIComponent(value)}`),
      await tenant.api.get(`${LEADS}/${encodeURIComponent(value)}`),
      await tenant.api.get(`/${encodeURIComponent(value)}`),
    ];
    for (const { body } of answers) expect(JSON.stringify(body)).not.toContain(SECRET);
  });
});

describe('internal_error', () => {
  it.each(Object.keys(UNEXPECTED))('hides the thrown value: %s', async (what) => {
    const answer = await tenant.api.get(`/api/v1/test/unforeseen/${what}`);
    expectEnvelope(answer, { status: 500, code: 'internal_error', retryable: true });
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
    expect(JSON.stringify([...answer.headers])).not.toContain(SECRET);
    expect(answer.headers.get('ratelimit-reset')).toMatch(/^\d{10}$/);
  });

  it('hides the reason of a rejected promise', async () => {
    const answer = await tenant.api.get('/api/v1/test/later');
    expectEnvelope(answer, { status: 500, code: 'internal_error', retryable: true });
  });

  it('closes the connection if a part of the response was sent', async () => {
    await expect(tenant.api.get('/api/v1/test/half')).rejects.toThrow();
    expect(await tenant.api.get('/api/v1/me')).toMatchObject({ status: 200 });
  });
});
