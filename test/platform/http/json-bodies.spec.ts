import { randomUUID } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Answer } from '../../../src/testing/api-client.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import { errorOf, expectError, expectInvalid, LEADS } from '../../../src/testing/factories.js';
import { rawRequest, sendUntilAnswered } from '../../../src/testing/raw-http.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { CHUNKED, JSON_HEADER, keyHeaders } from '../../support/raw-headers.js';

/** The default of `BODY_LIMIT_BYTES`. */
const BODY_LIMIT = 262_144;
let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('a body that is not valid JSON', () => {
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

  it.each(UNREADABLE)('is 400 and stores nothing: %s', async (_, body) => {
    const { api } = await app.organization();
    const posted = await api.post(LEADS, body);
    expectError(posted, 400, 'validation_error');
    expect(errorOf(posted).details).not.toHaveLength(0);
    const put = await api.put(`${LEADS}/${randomUUID()}`, body);
    expectError(put, 400, 'validation_error');
    expect(await api.get(LEADS)).toMatchObject({ body: { meta: { total: 0 } } });
  });

  it('names body as the field if the whole body is at fault', async () => {
    expectInvalid(await tenant.api.post(LEADS, '{'), 'body');
    expectInvalid(await tenant.api.post(LEADS, '[]'), 'body');
    expectInvalid(await tenant.api.post(LEADS, ''), 'body');
  });
});

describe('the size of a body', () => {
  const lead = (size: number) => Buffer.from('{"first_name":"A"}'.padEnd(size));
  const TOO_LARGE = { status: 413, code: 'payload_too_large' };

  it('is at most 256 KiB', async () => {
    expect(await tenant.api.post(LEADS, lead(BODY_LIMIT))).toMatchObject({ status: 201 });
    expectEnvelope(await tenant.api.post(LEADS, lead(BODY_LIMIT + 1)), TOO_LARGE);
  });

  it('is counted for chunked bodies', async () => {
    const headers = [...JSON_HEADER, ...CHUNKED];
    expect(await post(lead(BODY_LIMIT), headers)).toMatchObject({ status: 201 });
    expectEnvelope(await post(lead(BODY_LIMIT + 1), headers), TOO_LARGE);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is counted after decompression: %s', async (encoding, pack) => {
    const headers = { 'Content-Encoding': encoding };
    const fits = await tenant.api.post(LEADS, pack(lead(BODY_LIMIT)), { headers });
    expect(fits).toMatchObject({ status: 201 });
    const over = await tenant.api.post(LEADS, pack(lead(BODY_LIMIT + 1)), { headers });
    expectEnvelope(over, TOO_LARGE);
  });

  it('is limited for a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000, ' '));
    expect(bomb.length).toBeLessThan(BODY_LIMIT);
    const headers = { 'Content-Encoding': 'gzip' };
    expectEnvelope(await tenant.api.post(LEADS, bomb, { headers }), TOO_LARGE);
  });

  it('is checked by Content-Length before the body arrives', async () => {
    const answer = await sendUntilAnswered(
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

describe('the content type and encoding of a body', () => {
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
  ])('%s is accepted', async (type) => {
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
    ['that is not compressed', Buffer.from(lead)],
    ['that is cut off', gzipSync(lead).subarray(0, -4)],
    ['that is damaged', gzipSync(lead).fill(0, 12, 16)],
    ['with trailing bytes', Buffer.concat([gzipSync(lead), Buffer.from('x')])],
  ])('gzip %s is 400', async (_, body) => {
    expectInvalid(await post(body, [...JSON_HEADER, 'Content-Encoding', 'gzip']), 'body');
  });
});

/** Posts a lead with the key and additional headers. */
function post(body: string | Uint8Array, headers: readonly string[]): Promise<Answer> {
  const all = [...keyHeaders(tenant), ...headers];
  return rawRequest(app.port, { method: 'POST', path: LEADS, headers: all, body });
}
