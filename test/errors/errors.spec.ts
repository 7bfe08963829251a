import { randomUUID } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  ConflictException,
  Controller,
  Get,
  HttpException,
  Module,
  Param,
  Res,
} from '@nestjs/common';
import type { Response } from 'express';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { ADMINISTRATION } from '../../src/database/connection/administration.js';
import { AnyKey } from '../../src/auth/access.js';
import { generateKey } from '../../src/auth/api-key-format.js';
import { setLogLevel, setLogOutput } from '../../src/config/logger.js';
import { ApiError } from '../../src/errors/api-error.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/errors/error-catalogue.js';
import type { Answer } from '../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../src/testing/factories.js';
import { TestApp, type Tenant } from '../../src/testing/test-app.js';
import { inSession, McpCaller, rpcRequest } from '../../src/testing/mcp-client.js';
import { ANSWER_TYPE, expectEnvelope } from '../../src/testing/envelope.js';
import { until } from '../support/product.js';
import {
  type RawRequest,
  rawRequest,
  untilAnswered,
  untilClosed,
} from '../../src/testing/raw-http.js';
import { nameOf, ROUTES, SCOPED_ROUTES, send, validRequest } from '../../src/testing/routes.js';

const JSON_HEADER = ['Content-Type', 'application/json'];
const CHUNKED = ['Transfer-Encoding', 'chunked'];
const SECRET = 'hunter2-is-my-password';
const ID = randomUUID();

/** What a module's handler may throw that nobody has foreseen. */
const UNFORESEEN: Readonly<Record<string, unknown>> = {
  error: new Error(SECRET),
  'type-error': new TypeError(SECRET),
  text: SECRET,
  nothing: undefined,
  null: null,
  number: 404,
  'look-alike': { status: 200, statusCode: 200, code: 'not_found', message: SECRET },
  'http-error': Object.assign(new Error(SECRET), { status: 404, statusCode: 404, expose: true }),
  teapot: new HttpException(SECRET, 418),
  unavailable: new HttpException(SECRET, 503),
};

@Controller('api/v1/test')
class FailingController {
  @Get('codes/:code')
  @AnyKey()
  code(@Param('code') code: ErrorCode): never {
    throw new ApiError(code);
  }

  @Get('unforeseen/:what')
  @AnyKey()
  unforeseen(@Param('what') what: string): never {
    throw UNFORESEEN[what];
  }

  @Get('later')
  @AnyKey()
  later(): Promise<never> {
    return new Promise((_, reject) => {
      setImmediate(reject, new Error(SECRET));
    });
  }

  @Get('conflict')
  @AnyKey()
  conflict(): never {
    throw new ConflictException('Somebody was faster.');
  }

  @Get('half')
  @AnyKey()
  half(@Res() response: Response): never {
    response.status(200).write('{"data":');
    throw new Error(SECRET);
  }
}

@Module({ controllers: [FailingController] })
class FailingModule {}

let app: TestApp;
let tenant: Tenant;
let bodyLimit: number;

beforeAll(async () => {
  app = await TestApp.start({ modules: [FailingModule] });
  tenant = await app.organization();
  bodyLimit = app.settings.bodyLimitBytes;
});
afterAll(() => app.stop());

describe('the catalogue', () => {
  const CONTRACT: readonly [code: string, status: number, retryable: boolean][] = [
    ['unauthorized', 401, false],
    ['insufficient_scope', 403, false],
    ['session_mismatch', 403, false],
    ['validation_error', 400, false],
    ['not_found', 404, false],
    ['lead_not_found', 404, false],
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
    ['precondition_failed', 412, false],
    ['idempotency_key_in_use', 409, true],
    ['idempotency_key_reused', 422, false],
    ['overloaded', 503, true],
  ];

  it('has these codes and no others', () => {
    expect(Object.keys(ERROR_CATALOGUE).sort()).toEqual(CONTRACT.map(([code]) => code).sort());
  });

  it.each(CONTRACT)('%s is %i, retryable: %s, in an envelope', async (code, status, retryable) => {
    const answer = await tenant.api.get(`/api/v1/test/codes/${code}`);
    expectEnvelope(answer, { status, code, retryable });
  });
});

describe('the envelope', () => {
  it('names every failing field in details and message of a validation_error', async () => {
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

  it('names the field and the other record in details of a duplicate', async () => {
    const other = await createLead(tenant.api, buildLead());
    const answer = await tenant.api.post(LEADS, { ...buildLead(), email: other.email });
    expectError(answer, 409, 'duplicate');
    expect(errorOf(answer)).toMatchObject({
      retryable: false,
      details: [{ field: 'email', message: expect.any(String) as string, existing_id: other.id }],
    });
  });

  it('never repeats a value', async () => {
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

describe('X-Request-Id', () => {
  const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const ask = async (id?: string, path = '/api/v1/me') => {
    const { headers } = await tenant.api.get(path, {
      headers: id === undefined ? {} : { 'X-Request-Id': id },
    });
    return headers.get('x-request-id');
  };

  it.each([['a'], ['0'], ['~!#$%&*+-./:;<=>?@[]^_`{|}'], ['x'.repeat(128)]])(
    "keeps a caller's own of 1 to 128 visible ASCII characters: %s",
    async (id) => {
      expect(await ask(id)).toBe(id);
      expect(await ask(id, '/api/v1/nothing')).toBe(id);
    },
  );

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['129 characters', 'x'.repeat(129)],
    ['a space inside', 'a b'],
    ['a tab inside', 'a\tb'],
    ['letters beyond ASCII', 'é'],
  ])('replaces %s by a new UUID', async (_, id) => {
    const first = await ask(id);
    expect(first).toMatch(UUID_V4);
    expect(await ask(id)).not.toBe(first);
  });

  it('replaces two of them', async () => {
    const headers = ['Host', 'a', 'X-Request-Id', 'a', 'X-Request-Id', 'b'];
    const answer = await request({ method: 'GET', path: '/', headers });
    expect(answer.headers.get('x-request-id')).toMatch(UUID_V4);
  });

  it('is on answers that succeed as well', async () => {
    const answer = await tenant.api.post(LEADS, { first_name: 'A' });
    expect(answer.headers.get('x-request-id')).toMatch(UUID_V4);
  });
});

describe('unknown routes and methods', () => {
  const NEW_PATHS = ['/api', '/api/', '/api/v1', '/api/v2/leads', '/mcp/', '/mcp/x'];
  const OUTSIDE = ['/', '/*', '/x', '/apis', '/mcps', '/API/v1/leads', '//api/v1/leads', '/%61pi'];
  const NEARBY = [`${LEADS}/`, '/api/v1/Leads', '/api/v1//leads', `${LEADS}/x/y`, '/api/v1/lead'];

  it.each([...NEW_PATHS, ...NEARBY])('%s needs a key and is 404 behind it', async (path) => {
    expectEnvelope(await app.client().get(path), { status: 401, code: 'unauthorized' });
    const answer = await tenant.api.get(path);
    expectEnvelope(answer, { status: 404, code: 'not_found' });
    expect(answer.headers.get('allow')).toBeNull();
  });

  it.each(OUTSIDE)('%s is 404 with a key and without', async (path) => {
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
    const answer = await request({ method, path, headers: withKey() });
    expectEnvelope(answer, { status: 404, code: 'not_found' });
    expect(answer.headers.get('allow')).toBe(allowed);
  });

  it.each([
    ['GET', `${LEADS}/`, LEADS],
    ['DELETE', `${LEADS}/${ID}/`, `${LEADS}/${ID}`],
    ['POST', `${LEADS}//?x=1`, LEADS],
  ])('%s %s is 404 and tells the path without the slash', async (method, path, right) => {
    const answer = await tenant.api.request(method, path);
    expectError(answer, 404, 'not_found');
    expect(errorOf(answer).message).toBe(
      `There is no ${method} route at this path. Did you mean ${right}?`,
    );
  });

  it('tells no other path where that is unknown too, or too long', async () => {
    for (const path of ['/api/v1/nothing/', '/nothing/', `${LEADS}/${'x'.repeat(300)}/`]) {
      const answer = await tenant.api.get(path);
      expect(errorOf(answer).message).toBe('There is no GET route at this path.');
    }
  });

  it('tells Allow to nobody without a key', async () => {
    const answer = await app.client().request('PATCH', LEADS);
    expectEnvelope(answer, { status: 401, code: 'unauthorized' });
    expect(answer.headers.get('allow')).toBeNull();
  });

  it.each([
    ['http://elsewhere.example/api/v1/me', 200],
    ['http://elsewhere.example/api/v1/nothing', 404],
    ['*', 404],
  ])('takes the path %s as it is: %i', async (path, status) => {
    const headers = withKey();
    expect(await request({ method: 'GET', path, headers })).toMatchObject({ status });
    expect(await request({ method: 'HEAD', path, headers })).toMatchObject({ status });
  });
});

describe('which error wins', () => {
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
    tooLarge = JSON.stringify({ first_name: 'x'.repeat(bodyLimit) });
  });
  afterAll(() => limited.stop());

  it('401 before the route is looked for', async () => {
    expectError(await app.client().get('/api/v1/nothing'), 401, 'unauthorized');
  });

  it('401 from the headers alone, before a body arrives', async () => {
    const answer = await untilAnswered(
      app.port,
      `POST ${LEADS} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n`,
    );
    expectEnvelope(answer, { status: 401, code: 'unauthorized' });
  });

  it('401 before 413 and 415', async () => {
    expectError(await app.client().post(LEADS, tooLarge), 401, 'unauthorized');
    expectError(await app.client().post(LEADS, '{}', wrongType), 401, 'unauthorized');
  });

  it('429 before an unknown route', async () => {
    expectError(await exhausted.api.get('/api/v1/nothing'), 429, 'rate_limit_exceeded');
    expectError(await exhausted.api.request('PATCH', LEADS), 429, 'rate_limit_exceeded');
  });

  it('429 before 403', async () => {
    expectError(await exhausted.api.post(LEADS, {}), 429, 'rate_limit_exceeded');
  });

  it('an unknown route before 403', async () => {
    const poor = await app.key(tenant.id, []);
    expectError(await poor.api.request('PATCH', LEADS), 404, 'not_found');
  });

  it('an unknown route before 413 and 415', async () => {
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

  it('400 on body and query together in one details', async () => {
    const answer = await tenant.api.post(`${LEADS}?x=1&y=2`, { first_name: 1 });
    expectInvalid(answer, 'x', 'y', 'first_name');
  });

  it('at most 100 problems, and how many there are beyond them', async () => {
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

  it('404 before the 400 that needs what is stored', async () => {
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

describe('HEAD', () => {
  it.each(
    ROUTES.filter(({ method }) => method === 'GET').map((route) => [route.pattern, route] as const),
  )('answers %s as GET does, without a body', async (_, route) => {
    const { path } = await validRequest(route, tenant);
    const get = await tenant.api.get(path);
    const head = await tenant.api.request('HEAD', path);
    expect(head).toMatchObject({ status: 200, body: undefined });
    for (const name of ['content-type', 'content-length', 'ratelimit-limit']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });

  it.each([
    ['/api/v1/nothing', 404],
    [`${LEADS}/x`, 404],
    [`${LEADS}?limit=0`, 400],
    ['/api/v1/test/codes/internal_error', 500],
  ])('refuses %s with %i, without a body', async (path, status) => {
    const head = await tenant.api.request('HEAD', path);
    expect(head).toMatchObject({ status, body: undefined });
    expect(head.headers.get('content-type')).toBe(ANSWER_TYPE);
    expect(head.headers.get('x-request-id')).not.toBeNull();
  });
});

describe('an :id', () => {
  it('in upper case is the same record', async () => {
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

  it.each(MALFORMED)('of %s names no resource: 404', async (_, malform) => {
    const { id } = await createLead(tenant.api);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await request({
        method,
        path: `${LEADS}/${malform(id)}`,
        headers: [...withKey(), ...JSON_HEADER, ...CHUNKED],
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

describe('bodies that cannot be read (notes: JSON body)', () => {
  const nested = (depth: number) =>
    `{"custom_fields":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
  const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const keys = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1])));

  const UNREADABLE: readonly [string, string | Uint8Array][] = [
    ['empty', ''],
    ['white space', ' \n'],
    ['null', 'null'],
    ['true', 'true'],
    ['an array', '[]'],
    ['an array of a lead', '[{"first_name":"A"}]'],
    ['a string', '"s"'],
    ['a number', '1'],
    ['cut off', '{'],
    ['cut off in a string', '{"first_name":"A'],
    ['a trailing comma', '{"first_name":"A",}'],
    ['single quotes', "{'first_name':'A'}"],
    ['no quotes', '{first_name:"A"}'],
    ['NaN', '{"first_name":NaN}'],
    ['Infinity', '{"first_name":-Infinity}'],
    ['undefined', '{"first_name":undefined}'],
    ['a hexadecimal number', '{"first_name":0x1}'],
    ['a leading zero', '{"first_name":01}'],
    ['a comment', '{"first_name":"A"/* x */}'],
    ['a line comment', '{"first_name":"A"} // x'],
    ['two documents', '{"first_name":"A"}{"first_name":"B"}'],
    ['lines of documents', '{"first_name":"A"}\n{"first_name":"B"}'],
    ['a repeated key', '{"first_name":"A","first_name":"B"}'],
    ['a repeated key, escaped', String.raw`{"first_name":"A","first\u005fname":"B"}`],
    ['a repeated key inside', '{"first_name":"A","custom_fields":{"a":1,"a":2}}'],
    ['invalid UTF-8', Buffer.from('{"first_name":"\xff"}', 'latin1')],
    ['overlong UTF-8', Buffer.from('{"first_name":"\xc0\xaf"}', 'latin1')],
    ['a surrogate in UTF-8', Buffer.from('{"first_name":"\xed\xa0\x80"}', 'latin1')],
    ['Latin-1', Buffer.from('{"first_name":"é"}', 'latin1')],
    ['UTF-16', Buffer.from('{"first_name":"A"}', 'utf16le')],
    ['UTF-16 with a byte order mark', Buffer.from('\ufeff{"first_name":"A"}', 'utf16le')],
    ['a byte order mark', '\ufeff{"first_name":"A"}'],
    ['a raw line end in a string', '{"first_name":"A\nB"}'],
    ['a raw NUL in a string', '{"first_name":"A\0B"}'],
    ['NUL, escaped', String.raw`{"first_name":"A\u0000B"}`],
    ['NUL in a key', String.raw`{"first_name":"A","custom_fields":{"\u0000":1}}`],
    ['a lone surrogate', String.raw`{"first_name":"\ud800"}`],
    ['surrogates in the wrong order', String.raw`{"first_name":"\udc00\ud800"}`],
    ['a number that overflows', '{"first_name":"A","custom_fields":{"a":1e400}}'],
    ['an integer of 23 digits', '{"first_name":"A","custom_fields":{"a":12345678901234567890123}}'],
    ['33 levels', nested(32)],
    ['5,000 levels', nested(5_000)],
    ['20,000 levels', nested(20_000)],
    ['100,000 arrays', arrays(100_000)],
    ['100,000 open brackets', '['.repeat(100_000)],
    ['1,001 keys', keys(1_001)],
    ['form data', 'first_name=A'],
    ['XML', '<lead><first_name>A</first_name></lead>'],
  ];

  it.each(UNREADABLE)('%s → 400, and nothing is stored', async (_, body) => {
    const { api } = await app.organization();
    const posted = await api.post(LEADS, body);
    expectError(posted, 400, 'validation_error');
    expect(errorOf(posted).details).not.toHaveLength(0);
    const put = await api.put(`${LEADS}/${randomUUID()}`, body);
    expectError(put, 400, 'validation_error');
    expect(await api.get(LEADS)).toMatchObject({ body: { meta: { total: 0 } } });
  });

  it('names the body where no field is to blame', async () => {
    expectInvalid(await tenant.api.post(LEADS, '{'), 'body');
    expectInvalid(await tenant.api.post(LEADS, '[]'), 'body');
    expectInvalid(await tenant.api.post(LEADS, ''), 'body');
  });
});

describe('the size of a body', () => {
  const lead = (size: number) => Buffer.from('{"first_name":"A"}'.padEnd(size));
  const TOO_LARGE = { status: 413, code: 'payload_too_large' };

  it('is at most 256 KiB', async () => {
    expect(bodyLimit).toBe(262_144);
    expect(await tenant.api.post(LEADS, lead(bodyLimit))).toMatchObject({ status: 201 });
    expectEnvelope(await tenant.api.post(LEADS, lead(bodyLimit + 1)), TOO_LARGE);
  });

  it('counts in chunks, whose sum nobody has announced', async () => {
    const headers = [...JSON_HEADER, ...CHUNKED];
    expect(await post(lead(bodyLimit), headers)).toMatchObject({ status: 201 });
    expectEnvelope(await post(lead(bodyLimit + 1), headers), TOO_LARGE);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('counts as it unpacks: %s', async (encoding, pack) => {
    const headers = { 'Content-Encoding': encoding };
    const fits = await tenant.api.post(LEADS, pack(lead(bodyLimit)), { headers });
    expect(fits).toMatchObject({ status: 201 });
    const over = await tenant.api.post(LEADS, pack(lead(bodyLimit + 1)), { headers });
    expectEnvelope(over, TOO_LARGE);
  });

  it('stops a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000, ' '));
    expect(bomb.length).toBeLessThan(bodyLimit);
    const headers = { 'Content-Encoding': 'gzip' };
    expectEnvelope(await tenant.api.post(LEADS, bomb, { headers }), TOO_LARGE);
  });

  it('is judged by its announcement, before it arrives', async () => {
    const answer = await untilAnswered(
      app.port,
      `POST ${LEADS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 9999999999\r\n\r\n`,
    );
    expectEnvelope(answer, TOO_LARGE);
  });

  it('follows BODY_LIMIT_BYTES', async () => {
    const small = await TestApp.start({
      database: app.database,
      settings: { bodyLimitBytes: 1_024 },
    });
    const { api } = await small.key(tenant.id);
    expect(await api.post(LEADS, lead(1_024))).toMatchObject({ status: 201 });
    expectEnvelope(await api.post(LEADS, lead(1_025)), TOO_LARGE);
    await small.stop();
  });
});

describe('the type of a body (notes: HTTP)', () => {
  const lead = '{"first_name":"A"}';
  const contentType = (type?: string) => (type === undefined ? [] : ['Content-Type', type]);

  it.each([
    ['application/json'],
    ['APPLICATION/JSON'],
    ['application/json; charset=utf-8'],
    ['application/json;charset=UTF-8'],
    ['application/json; charset=utf8'],
    ['application/json; charset="utf-8"'],
    ['application/json; profile=x; charset=utf-8'],
  ])('%s is read', async (type) => {
    expect(await post(lead, contentType(type))).toMatchObject({ status: 201 });
  });

  it.each([
    ['no type', undefined],
    ['an empty type', ''],
    ['text/plain', 'text/plain'],
    ['text/json', 'text/json'],
    ['form data', 'application/x-www-form-urlencoded'],
    ['multipart', 'multipart/form-data; boundary=x'],
    ['XML', 'application/xml'],
    ['a longer name', 'application/jsonx'],
    ['another JSON', 'application/vnd.api+json'],
    ['lines of JSON', 'application/x-ndjson'],
    ['any type', '*/*'],
    ['half a type', 'json'],
    ['two types', 'application/json, text/plain'],
    ['another charset', 'application/json; charset=iso-8859-1'],
    ['UTF-16', 'application/json; charset=utf-16'],
    ['an unknown charset', 'application/json; charset=x'],
    ['an empty charset', 'application/json; charset='],
    ['two charsets', 'application/json; charset=utf-8; charset=utf-16'],
  ])('%s is 415', async (_, type) => {
    const answer = await post(lead, contentType(type));
    expectEnvelope(answer, { status: 415, code: 'unsupported_media_type' });
  });

  it.each(['compress', 'zstd', 'x', 'gzip, gzip', 'gzip, identity'])(
    'Content-Encoding %s is 415',
    async (encoding) => {
      const answer = await post(lead, [...JSON_HEADER, 'Content-Encoding', encoding]);
      expectEnvelope(answer, { status: 415, code: 'unsupported_media_type' });
    },
  );

  it.each([
    ['that is none', Buffer.from(lead)],
    ['that is cut off', gzipSync(lead).subarray(0, -4)],
    ['that is damaged', gzipSync(lead).fill(0, 12, 16)],
    ['with more behind it', Buffer.concat([gzipSync(lead), Buffer.from('x')])],
  ])('gzip %s is 400', async (_, body) => {
    expectInvalid(await post(body, [...JSON_HEADER, 'Content-Encoding', 'gzip']), 'body');
  });
});

describe('internal_error', () => {
  it.each(Object.keys(UNFORESEEN))('hides what was thrown: %s', async (what) => {
    const answer = await tenant.api.get(`/api/v1/test/unforeseen/${what}`);
    expectEnvelope(answer, { status: 500, code: 'internal_error', retryable: true });
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
    expect(JSON.stringify([...answer.headers])).not.toContain(SECRET);
    expect(answer.headers.get('ratelimit-reset')).toMatch(/^\d{10}$/);
  });

  it('hides what a promise was rejected with', async () => {
    const answer = await tenant.api.get('/api/v1/test/later');
    expectEnvelope(answer, { status: 500, code: 'internal_error', retryable: true });
  });

  it("is not what a module's own HttpException becomes where the catalogue has its status", async () => {
    const answer = await tenant.api.get('/api/v1/test/conflict');
    expectEnvelope(answer, { status: 409, code: 'duplicate' });
  });

  it('breaks the connection where half of an answer was sent', async () => {
    await expect(tenant.api.get('/api/v1/test/half')).rejects.toThrow();
    expect(await tenant.api.get('/api/v1/me')).toMatchObject({ status: 200 });
  });
});

describe('a database that fails', () => {
  let broken: TestApp;
  let owner: Tenant;

  beforeAll(async () => {
    broken = await TestApp.start();
    owner = await broken.organization();
  });
  afterAll(() => broken.stop());

  const DRIVER_TEXT = /relation|permission|denied|terminat|administrator|sqlstate|leads|pg_|stack/i;

  function expectFailure(answer: Answer, code: 'query_failed' | 'create_failed'): void {
    expectEnvelope(answer, { status: 500, code, retryable: true });
    expect(errorOf(answer).message).not.toMatch(DRIVER_TEXT);
  }

  it.each(SCOPED_ROUTES.map((route) => [nameOf(route), route] as const))(
    '%s says so, and works again afterwards',
    async (_, route) => {
      const valid = await validRequest(route, owner);
      await broken.sql('revoke all on all tables in schema public from latitude_app');
      const failed = await send(owner.api, route, valid);
      await broken.sql(
        'grant select, insert, update, delete on all tables in schema public to latitude_app',
      );
      expectFailure(failed, route.method === 'GET' ? 'query_failed' : 'create_failed');
      expect((await send(owner.api, route, valid)).status).toBeLessThan(300);
    },
  );

  it('loses a table that statements were prepared for, and gets it back', async () => {
    const { id } = await createLead(owner.api);
    await broken.sql('alter table leads rename to gone');
    const failed = await callAll(id);
    await broken.sql('alter table gone rename to leads');
    expectFailures(failed);
    expectSuccesses(await callAll(id));
  });

  it('loses the connections under running statements, and finds new ones', async () => {
    const { id } = await createLead(owner.api);
    const administration = broken.app.get<DataSource>(getDataSourceToken(ADMINISTRATION));
    const lock = administration.createQueryRunner();
    await lock.startTransaction();
    await lock.query('lock table leads in access exclusive mode');
    let isAnswered = false;
    const answers = callAll(id).finally(() => (isAnswered = true));
    // Again and again, because who waits too long for a lock waits again on another connection.
    await until(async () => {
      await broken.sql(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`);
      return isAnswered;
    });
    expectFailures(await answers);
    await lock.rollbackTransaction();
    await lock.release();
    expectSuccesses(await callAll(id));
  });

  it('loses every idle connection, and recovers by itself', async () => {
    await Promise.all(Array.from({ length: 20 }, () => owner.api.get(LEADS)));
    await broken.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await until(async () => {
      const answer = await owner.api.get(LEADS);
      if (answer.status !== 200) expectFailure(answer, 'query_failed');
      return answer.status === 200;
    });
    const { id } = await createLead(owner.api);
    expectSuccesses(await callAll(id));
  });

  it('cannot look up a key: failed as what was asked, never 401, and the limits are told', async () => {
    const unseen = await broken.key(owner.id);
    await broken.sql('alter table api_keys rename to gone');
    const answers = [
      await unseen.api.get(LEADS),
      await unseen.api.post(LEADS, { first_name: 'A' }),
      await broken.client(generateKey()).get('/api/v1/nothing'),
    ];
    const badKey = await broken.client('lat_x').get(LEADS);
    await broken.sql('alter table gone rename to api_keys');
    const codes = ['query_failed', 'create_failed', 'query_failed'] as const;
    for (const [index, answer] of answers.entries()) {
      expectFailure(answer, codes[index]!);
      expect(answer.headers.get('ratelimit-reset')).toMatch(/^\d{10}$/);
    }
    expectError(badKey, 401, 'unauthorized');
    expect(await unseen.api.get(LEADS)).toMatchObject({ status: 200 });
  });

  /** A list, a create, an update and a delete of a lead, all at once. */
  function callAll(id: string): Promise<Answer[]> {
    return Promise.all([
      owner.api.get(LEADS),
      owner.api.post(LEADS, { first_name: 'A' }),
      owner.api.put(`${LEADS}/${id}`, { company: 'B' }),
      owner.api.delete(`${LEADS}/${id}`),
    ]);
  }

  function expectFailures([list, ...writes]: Answer[]): void {
    expectFailure(list!, 'query_failed');
    for (const write of writes) expectFailure(write, 'create_failed');
  }

  function expectSuccesses([list, create, update, remove]: Answer[]): void {
    expect([list!.status, create!.status, remove!.status]).toEqual([200, 201, 200]);
    // The update may have come after the delete.
    expect([200, 404]).toContain(update!.status);
  }
});

describe('the log, a line a request', () => {
  let logging: TestApp;
  let lines: Record<string, unknown>[];
  let text: string;

  beforeAll(async () => {
    logging = await TestApp.start({ modules: [FailingModule], settings: { logLevel: 'info' } });
  });
  beforeEach(() => {
    lines = [];
    text = '';
    setLogOutput({
      write: (line) => {
        text += line;
        lines.push(JSON.parse(line) as Record<string, unknown>);
      },
    });
  });
  afterAll(async () => {
    setLogLevel('silent');
    await logging.stop();
  });

  const requests = () => lines.filter(({ msg }) => msg === 'request');
  const untilLogged = (count: number) =>
    until(() => Promise.resolve(requests().length >= count), { everyMs: 1 });

  it('has the method, route, status, time, organization, key and id of each request', async () => {
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

  it('has the address that a trusted proxy names, and of no other one', async () => {
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

  it('names the request and its route where a statement failed, and who called a tool', async () => {
    const { api, key } = await logging.organization();
    const { id } = await createLead(api);
    const headers = { 'X-Request-Id': 'my-request' };
    const mcp = new McpCaller(logging.url, key.key);
    const session = inSession(await mcp.open());
    const call = (method: string, params: object) =>
      mcp.post(rpcRequest(method, params), { ...session, ...headers });
    await logging.sql('alter table leads rename to lost');
    await api.get(LEADS, { headers });
    await api.get(`${LEADS}/${id}`, { headers });
    await api.post(LEADS, { first_name: 'Persephone' }, { headers });
    await call('tools/call', { name: 'get_lead', arguments: { id } });
    await call('resources/read', { uri: `lead://${id}` });
    await logging.sql('alter table lost rename to leads');
    const failures = lines.filter(({ sqlstate }) => sqlstate !== undefined);
    expect(failures).toEqual(
      [LEADS, `${LEADS}/:id`, LEADS, '/mcp', '/mcp'].map(
        (route) =>
          expect.objectContaining({
            level: 50,
            sqlstate: '42P01',
            request_id: 'my-request',
            route,
          }) as unknown,
      ),
    );
    expect(text).not.toContain('Persephone');
  });

  it('knows neither organization nor key of a stranger, nor the path that nothing answers', async () => {
    await logging.client(generateKey()).get('/api/v1/persephone-private');
    await untilLogged(1);
    expect(requests()).toMatchObject([
      { route: '/{*path}', status: 401, organization_id: null, key_id: null },
    ]);
  });

  it('has one line a request, whatever its end', async () => {
    const { api } = await logging.organization();
    await api.get('/nothing');
    await api.post(LEADS, '{');
    await api.request('HEAD', '/api/v1/me');
    await api.request('OPTIONS', '/api/v1/me');
    await api.get('/api/v1/test/unforeseen/error');
    await api.get('/api/v1/test/half').catch(() => undefined);
    await untilClosed(logging.port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n');
    await untilLogged(7);
    expect(requests().map(({ status }) => status)).toEqual([404, 400, 200, 404, 500, null, 400]);
  });

  it('tells where an unforeseen error arose, and not what it says', async () => {
    const { api } = await logging.organization();
    await api.get('/api/v1/test/unforeseen/type-error');
    await untilLogged(1);
    const [unhandled] = lines.filter(({ msg }) => msg === 'unhandled error');
    expect(unhandled).toMatchObject({
      request_id: requests()[0]!.request_id,
      err: { type: 'TypeError', stack: expect.stringContaining('errors.spec.ts') as string },
    });
    expect(text).not.toContain(SECRET);
  });
});

/** Posts a lead with these headers beside the key's. */
function post(body: string | Uint8Array, headers: readonly string[]): Promise<Answer> {
  return request({ method: 'POST', path: LEADS, headers: [...withKey(), ...headers], body });
}

function withKey(): string[] {
  return ['Host', 'a', 'Authorization', `Bearer ${tenant.key.key}`];
}

function request(raw: RawRequest): Promise<Answer> {
  return rawRequest(app.port, raw);
}
