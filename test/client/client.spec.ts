import {
  etagOf,
  LatitudeAbortError,
  LatitudeApiError,
  LatitudeBatchError,
  LatitudeConnectionError,
  LatitudeTimeoutError,
} from '../../src/client/index.js';
import { retryAfterMs, retryDelay } from '../../src/client/retry-policy.js';
import {
  answer,
  clientOf,
  error,
  failureOf,
  REFUSED,
  RESET,
  resultOf,
  sent,
  type Step,
} from '../support/scripted-client.js';

const ID = '01a1fbde-995e-72a3-a032-ab1c988b9794';
const LEAD = { id: ID, first_name: 'Ada' };

beforeEach(() => {
  sent.length = 0;
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a call', () => {
  it('sends the key, JSON, and one random Idempotency-Key for each creation', async () => {
    const client = clientOf([answer(201, { data: LEAD }), answer(201, { data: LEAD })]);
    expect(await resultOf(client.leads.create({ first_name: 'Ada' }))).toEqual(LEAD);
    await resultOf(client.leads.create({ first_name: 'Ada' }));
    const [first, second] = sent;
    expect(first).toMatchObject({
      url: 'http://crm.test/api/v1/leads',
      init: {
        method: 'POST',
        body: '{"first_name":"Ada"}',
        headers: { Authorization: 'Bearer lat_k', 'Content-Type': 'application/json' },
      },
    });
    const keys = [first, second].map((one) => one!.init.headers['Idempotency-Key']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.any(String)]);
    expect(keys[0]).not.toBe(keys[1]);
  });

  it('sends the Idempotency-Key of the caller', async () => {
    const client = clientOf([answer(201, { data: LEAD })]);
    await resultOf(client.leads.create({ first_name: 'Ada' }, { idempotencyKey: 'order-7' }));
    expect(sent[0]!.init.headers['Idempotency-Key']).toBe('order-7');
  });

  it('sends no body and no Content-Type for a GET', async () => {
    await resultOf(clientOf([answer(200, { data: LEAD })]).leads.get(ID));
    expect(sent[0]!.init.body).toBeUndefined();
    expect(sent[0]!.init.headers['Content-Type']).toBeUndefined();
  });

  it('returns the record of an upsert with what was done, and its entity tag', async () => {
    const body = { data: LEAD, meta: { action: 'updated' } };
    const client = clientOf([answer(200, body, { ETag: '"v2"' })]);
    const input = { match_on: ['email' as const], data: { email: 'ada@example.com' } };
    const { action, record } = await resultOf(client.leads.upsert(input));
    expect([action, record, etagOf(record)]).toEqual(['updated', LEAD, '"v2"']);
    expect(sent[0]).toMatchObject({ url: 'http://crm.test/api/v1/leads/upsert' });
    expect(JSON.parse(sent[0]!.init.body as string)).toEqual(input);
    expect(sent[0]!.init.headers['Idempotency-Key']).toMatch(/^[0-9a-f]{32}$/);
  });

  it('rejects if an item of a batch failed, unless told otherwise', async () => {
    const body = {
      data: [
        { index: 0, status: 'created', id: ID },
        { index: 1, status: 'failed', id: null, error: { code: 'duplicate', message: 'Taken.' } },
      ],
      meta: { succeeded: 1, failed: 1 },
    };
    const items = [{ action: 'create' as const, data: { first_name: 'Ada' } }];
    const client = clientOf([
      answer(207, body),
      answer(207, body),
      answer(200, { ...body, meta: { succeeded: 2, failed: 0 } }),
    ]);
    const failure = await failureOf(client.leads.batch(items));
    expect(failure).toBeInstanceOf(LatitudeBatchError);
    expect(failure).toMatchObject({ code: 'items_failed', status: 207, response: body });
    expect(failure.message).toContain('Taken.');
    expect(await resultOf(client.leads.batch(items, { throwOnFailed: false }))).toEqual(body);
    await resultOf(client.tasks.batch([{ action: 'delete', id: ID }], { atomic: true }));
    expect(sent[2]!.url).toBe('http://crm.test/api/v1/tasks/batch');
    expect(JSON.parse(sent[2]!.init.body as string)).toEqual({
      atomic: true,
      items: [{ action: 'delete', id: ID }],
    });
  });

  it('refuses an item of a batch whose entity tag is undefined', async () => {
    const item = { action: 'delete', id: ID, if_match: undefined } as never;
    await expect(clientOf([]).tasks.batch([item])).rejects.toThrow('ifMatch must be an entity tag');
  });

  it('sends only the query parameters that are defined', async () => {
    const meta = { page: 1, limit: 50, total: 0, total_pages: 0 };
    const client = clientOf([answer(200, { data: [], meta })]);
    const page = await resultOf(client.leads.list({ search: 'a&b', status: undefined }));
    expect(page).toEqual({ data: [], meta });
    expect(sent[0]!.url).toBe('http://crm.test/api/v1/leads?search=a%26b');
  });

  it('sends the ETag of a record as If-Match', async () => {
    const client = clientOf([
      answer(200, { data: LEAD }, { ETag: '"v1"' }),
      answer(200, { data: LEAD }),
    ]);
    const lead = await resultOf(client.leads.get(ID));
    expect(etagOf(lead)).toBe('"v1"');
    await resultOf(client.leads.update(ID, { company: 'Navy' }, { ifMatch: etagOf(lead) }));
    expect(sent[1]!.init.headers['If-Match']).toBe('"v1"');
  });

  it('iterates over every page, and yields a record once even if it moves by several pages', async () => {
    const page = (page: number, ids: string[]) => {
      return answer(200, {
        data: ids.map((id) => ({ id })),
        meta: { page, limit: 2, total: 7, total_pages: 4 },
      });
    };
    const client = clientOf([
      page(1, ['a', 'b']),
      page(2, ['b', 'c']),
      page(3, ['a', 'b']),
      page(4, ['d']),
    ]);
    const walk = async () => {
      const ids: string[] = [];
      for await (const { id } of client.leads.all({ limit: 2 })) ids.push(id);
      return ids;
    };
    expect(await resultOf(walk())).toEqual(['a', 'b', 'c', 'd']);
    const pages = sent.map(({ url }) => new URL(url).searchParams.get('page'));
    expect(pages).toEqual(['1', '2', '3', '4']);
  });
});

describe('retries', () => {
  it.each<[string, Step]>([
    ['429', error(429, 'rate_limit_exceeded')],
    ['500', error(500, 'internal_error')],
    ['a 502 from a proxy', new Response('<html>', { status: 502 })],
    ['an Idempotency-Key in use', error(409, 'idempotency_key_in_use')],
    ['a refused connection', REFUSED],
    ['a reset connection', RESET],
    ['a truncated answer', new Response('{"data":{"id":', { status: 201 })],
    ['a missing answer', 'silence'],
  ])('follow %s with the same Idempotency-Key', async (_, failure) => {
    const client = clientOf([failure, answer(201, { data: LEAD })]);
    expect(await resultOf(client.leads.create({ first_name: 'Ada' }))).toEqual(LEAD);
    const [first, second] = sent.map(({ init }) => init.headers['Idempotency-Key']);
    expect(second).toBe(first);
  });

  it.each([
    [400, 'validation_error'],
    [401, 'unauthorized'],
    [404, 'not_found'],
    [409, 'duplicate'],
    [422, 'idempotency_key_reused'],
    [409, 'a_code_of_an_extension'],
    [501, 'not_implemented'],
  ])('never follow %d %s', async (status, code) => {
    const failure = await failureOf(clientOf([error(status, code)]).leads.get(ID));
    expect(failure).toBeInstanceOf(LatitudeApiError);
    expect(failure).toMatchObject({ status, code, retryable: false, requestId: 'r' });
  });

  it('end after 3 attempts, or after maxAttempts', async () => {
    const failures = () => Array.from({ length: 5 }, () => error(503, 'overloaded'));
    expect(await failureOf(clientOf(failures()).leads.get(ID))).toMatchObject({ status: 503 });
    expect(sent).toHaveLength(3);
    await failureOf(clientOf(failures(), { maxAttempts: 5 }).leads.get(ID));
    expect(sent).toHaveLength(8);
    await failureOf(clientOf(failures()).leads.get(ID, { maxAttempts: 1 }));
    expect(sent).toHaveLength(9);
  });

  it('wait 0.5 to 1 second, then 1 to 2 seconds', async () => {
    const failures = [500, 500, 500].map((status) => error(status, 'internal_error'));
    await failureOf(clientOf(failures).leads.get(ID));
    const [first = 0, second = 0] = sent.slice(1).map(({ at }, i) => at - sent[i]!.at);
    expect(first).toBeGreaterThanOrEqual(500);
    expect(first).toBeLessThanOrEqual(1_000);
    expect(second).toBeGreaterThanOrEqual(1_000);
    expect(second).toBeLessThanOrEqual(2_000);
  });

  it('wait for Retry-After if it is longer', async () => {
    const busy = error(429, 'rate_limit_exceeded', { 'Retry-After': '45' });
    await resultOf(clientOf([busy, answer(200, { data: LEAD })]).leads.get(ID));
    expect(sent[1]!.at - sent[0]!.at).toBe(45_000);
  });
});

describe('the timeout of an export', () => {
  it.each([{}, { timeoutMs: undefined }])('is ten minutes with the options %j', async (options) => {
    const start = Date.now();
    const call = clientOf(['silence'], { maxAttempts: 1 }).leads.export({}, options);
    expect(await failureOf(call)).toMatchObject({ code: 'timeout' });
    expect(Date.now() - start).toBe(600_000);
  });
});

describe('retryDelay', () => {
  it.each([
    [1, 0, 500],
    [1, 1, 1_000],
    [2, 0, 1_000],
    [5, 1, 16_000],
    [6, 1, 30_000],
    [60, 0, 15_000],
  ])('attempt %d with random factor %d: %d ms', (attempt, random, ms) => {
    expect(retryDelay(attempt, 0, random)).toBe(ms);
  });

  it('returns the longer of the backoff and Retry-After', () => {
    expect(retryDelay(1, 100_000, 1)).toBe(100_000);
    expect(retryDelay(6, 2_000, 1)).toBe(30_000);
  });
});

describe('retryAfterMs', () => {
  const now = Date.parse('2026-01-05T16:20:00Z');
  it.each([
    ['5', 5_000],
    ['0', 0],
    ['Mon, 05 Jan 2026 16:20:30 GMT', 30_000],
    ['Mon, 05 Jan 2026 16:19:00 GMT', 0],
    ['soon', 0],
    ['', 0],
    [null, 0],
  ])('converts %j to %d ms', (value, ms) => {
    expect(retryAfterMs(value, now)).toBe(ms);
  });
});

describe('after an attempt with an unknown outcome', () => {
  it('a 404 on DELETE is a success', async () => {
    const client = clientOf([RESET, error(404, 'not_found')]);
    expect(await resultOf(client.leads.delete(ID))).toEqual({ id: ID, deleted: true });
    const other = clientOf([error(500, 'internal_error'), error(404, 'not_found')]);
    expect(await resultOf(other.tasks.delete(ID))).toEqual({ id: ID, deleted: true });
  });

  it('a 404 on a cancellation is an error, because a cancelled appointment stays readable', async () => {
    const client = clientOf([RESET, error(404, 'not_found')]);
    const failure = await failureOf(client.appointments.cancel(ID));
    expect(failure).toMatchObject({ status: 404, code: 'not_found', uncertain: false });
  });

  it('a 412 is reported as uncertain', async () => {
    const client = clientOf([RESET, error(412, 'precondition_failed')]);
    const failure = await failureOf(
      client.leads.update(ID, { company: 'Navy' }, { ifMatch: '"1"' }),
    );
    expect(failure).toMatchObject({ code: 'precondition_failed', uncertain: true });
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'insufficient_scope'],
  ])(
    'a %d is reported as uncertain, because the key has changed meanwhile',
    async (status, code) => {
      const failure = await failureOf(clientOf([RESET, error(status, code)]).leads.update(ID, {}));
      expect(failure).toMatchObject({ status, code, uncertain: true });
    },
  );

  it('a 412 is reported as uncertain even after another attempt with a 503', async () => {
    const steps = [RESET, error(503, 'overloaded'), error(412, 'precondition_failed')];
    const failure = await failureOf(clientOf(steps).tasks.update(ID, {}, { ifMatch: '"1"' }));
    expect(failure).toMatchObject({ status: 412, uncertain: true });
  });
});

describe('after an attempt that had no effect', () => {
  it.each<[string, Step]>([
    ['a refused connection', REFUSED],
    ['an overload', error(503, 'overloaded')],
    ['a limit', error(429, 'rate_limit_exceeded')],
  ])('%s: a 404 and a 412 are reported as certain', async (_, step) => {
    const again = step instanceof Response ? step.clone() : step;
    const gone = await failureOf(clientOf([step, error(404, 'not_found')]).leads.delete(ID));
    expect(gone).toMatchObject({ status: 404, uncertain: false });
    const steps = [again, error(412, 'precondition_failed')];
    const changed = await failureOf(clientOf(steps).leads.update(ID, {}, { ifMatch: '"1"' }));
    expect(changed).toMatchObject({ status: 412, uncertain: false });
  });
});

describe('an error', () => {
  it('has the details and the request id of the answer', async () => {
    const details = [{ field: 'email', message: 'must be an e-mail address' }];
    const body = { error: { code: 'validation_error', message: 'm', retryable: false, details } };
    const failure = await failureOf(
      clientOf([answer(400, body, { 'X-Request-Id': 'abc' })]).leads.create({ first_name: 'A' }),
    );
    expect(failure).toMatchObject({ name: 'LatitudeApiError', details, requestId: 'abc' });
  });

  it('has different classes for a lost connection and a timeout, and a cause', async () => {
    const lost = await failureOf(clientOf([RESET], { maxAttempts: 1 }).leads.get(ID));
    expect(lost).toBeInstanceOf(LatitudeConnectionError);
    expect(lost).not.toBeInstanceOf(LatitudeTimeoutError);
    expect(lost).toMatchObject({ code: 'connection_failed', retryable: true, cause: RESET });
    const late = await failureOf(
      clientOf(['silence'], { maxAttempts: 1, timeoutMs: 50 }).leads.get(ID),
    );
    expect(late).toBeInstanceOf(LatitudeTimeoutError);
    expect(late).toMatchObject({ code: 'timeout', uncertain: false });
  });

  it('is uncertain for a write without an answer', async () => {
    const client = clientOf([RESET], { maxAttempts: 1 });
    const failure = await failureOf(client.leads.create({ first_name: 'Ada' }));
    expect(failure).toMatchObject({ uncertain: true });
  });

  it('names the target of a redirect, which is not followed', async () => {
    const moved = new Response(null, { status: 301, headers: { Location: 'https://x.test/' } });
    const failure = await failureOf(clientOf([moved]).leads.create({ first_name: 'Ada' }));
    expect(failure).toMatchObject({ status: 301, code: 'unexpected_response' });
    expect(failure.message).toContain('https://x.test/');
    expect(sent[0]!.init.redirect).toBe('manual');
  });
});

describe('an abort', () => {
  it('ends an attempt immediately, even if fetch ignores the signal', async () => {
    const abort = new AbortController();
    const call = clientOf(['silence']).leads.get(ID, { signal: abort.signal });
    const reason = new Error('no longer wanted');
    abort.abort(reason);
    await expect(call).rejects.toBeInstanceOf(LatitudeAbortError);
    await expect(call).rejects.toMatchObject({ code: 'aborted', retryable: false, cause: reason });
    expect(sent).toHaveLength(1);
  });

  it('ends the delay before an attempt immediately', async () => {
    const abort = new AbortController();
    const busy = error(429, 'rate_limit_exceeded', { 'Retry-After': '600' });
    const call = clientOf([busy], { signal: abort.signal }).leads.get(ID);
    const settled = Promise.allSettled([call]);
    await jest.advanceTimersByTimeAsync(1_000);
    abort.abort();
    const [result] = await settled;
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'aborted' } });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('before the first attempt sends no request', async () => {
    const call = clientOf([]).leads.get(ID, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ code: 'aborted', uncertain: false });
    expect(sent).toHaveLength(0);
  });

  it('by AbortSignal.timeout is reported as a timeout and not retried', async () => {
    const reason = new DOMException('too late', 'TimeoutError');
    const call = clientOf([]).leads.get(ID, { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBeInstanceOf(LatitudeTimeoutError);
  });
});
