import { ANSWER_TYPE, expectEnvelope } from '../../../../src/testing/envelope.js';
import { expectInvalid, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { ResponsesModule, CSV } from '../../../support/modules/responses.module.js';

/** A response whose body is not parsed. */
interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [ResponsesModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

function open(path: string, { headers, ...init }: RequestInit = {}): Promise<globalThis.Response> {
  return fetch(`${app.url}/api/v1/answers/${path}`, {
    redirect: 'manual',
    ...init,
    headers: { Authorization: `Bearer ${tenant.key.key}`, ...(headers as Record<string, string>) },
  });
}

async function send(path: string, init?: RequestInit): Promise<RawAnswer> {
  const response = await open(path, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const withKey = (key: string) => ({ method: 'POST', headers: { 'Idempotency-Key': key } });

async function countLeads(): Promise<number> {
  const { body } = await tenant.api.get(LEADS);
  return (body as { meta: { total: number } }).meta.total;
}

describe('a StreamableFile', () => {
  it('is sent without the envelope, with its headers and the RateLimit headers', async () => {
    const { status, headers, text } = await send('file');
    expect({ status, text }).toEqual({ status: 200, text: CSV });
    expect(headers.get('content-type')).toMatch(/^text\/csv/);
    expect(headers.get('content-disposition')).toBe('attachment');
    expect(headers.get('content-length')).toBe(String(CSV.length));
    expect(headers.get('etag')).toBeNull();
    expect(headers.get('ratelimit-limit')).not.toBeNull();
  });

  it('has the same headers and no body on HEAD', async () => {
    const { headers, text } = await send('file', { method: 'HEAD' });
    expect(text).toBe('');
    expect(headers.get('content-length')).toBe(String(CSV.length));
  });

  it.each(['GET', 'HEAD'])('causes internal_error on %s if it cannot be opened', async (method) => {
    const { status, headers, text } = await send('missing-file', { method });
    expect(status).toBe(500);
    expect(headers.get('content-type')).toBe(ANSWER_TYPE);
    const answer = { status, headers, body: (text && JSON.parse(text)) as unknown };
    if (method === 'GET') {
      expectEnvelope(answer, { status: 500, code: 'internal_error', retryable: true });
    }
  });

  it('closes the connection if it fails after its first part', async () => {
    await expect(send('broken-file')).rejects.toThrow();
  });
});

describe('the value that a handler returns', () => {
  it('is text without the envelope if the route declares a content type other than JSON', async () => {
    const { headers, text } = await send('text');
    expect(text).toBe(CSV);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  });

  it.each([
    ['plain', '{"data":"Ada"}'],
    ['vendor', '{"data":{"name":"Ada"}}'],
    ['buffer', '{"data":{"type":"Buffer","data":[65,100,97]}}'],
    ['promise', '{"data":{"name":"Ada"}}'],
    ['observable', '{"data":{"name":"Grace"}}'],
    ['nothing', '{"data":null}'],
  ])('is data in the envelope: %s', async (path, text) => {
    expect(await send(path)).toMatchObject({ status: 200, text });
  });

  it('keeps a JSON content type that the route declares', async () => {
    const { headers } = await send('vendor');
    expect(headers.get('content-type')).toBe('application/vnd.acme+json');
  });
});

describe('@HttpCode', () => {
  it.each([
    ['empty', 'POST', 204, null],
    ['reset', 'PUT', 205, '0'],
  ])('sends no body: %s', async (path, method, status, length) => {
    const answer = await send(path, { method });
    expect(answer).toMatchObject({ status, text: '' });
    expect(answer.headers.get('content-length')).toBe(length);
    expect(answer.headers.get('content-type')).toBeNull();
  });

  it('sends any other status with the envelope, and no Location', async () => {
    const answer = await send('accepted', { method: 'POST' });
    expect(answer).toMatchObject({ status: 202, text: '{"data":{"id":1}}' });
    expect(answer.headers.get('location')).toBeNull();
  });
});

describe('@Sse', () => {
  it('sends the events', async () => {
    const { headers, text } = await send('events');
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(headers.get('ratelimit-limit')).not.toBeNull();
    expect(text.trim()).toBe('id: 1\ndata: {"name":"Ada"}\n\nevent: end\nid: 2\ndata: bye');
  });

  it('does not delay the stop of the server', async () => {
    const other = await TestApp.start({ modules: [ResponsesModule] });
    const { key } = await other.organization();
    const response = await fetch(`${other.url}/api/v1/answers/endless`, {
      headers: { Authorization: `Bearer ${key.key}` },
    });
    const cutOff = jest.spyOn(other.app.getHttpServer(), 'closeAllConnections');
    await Promise.all([other.stop(), expect(response.text()).rejects.toThrow()]);
    expect(cutOff).not.toHaveBeenCalled();
  });
});

describe('Idempotency-Key', () => {
  it('replays a response without a body', async () => {
    const before = await countLeads();
    const first = await send('empty', withKey('a'));
    const replay = await send('empty', withKey('a'));
    expect([first, replay]).toMatchObject([
      { status: 204, text: '' },
      { status: 204, text: '' },
    ]);
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
    expect(await countLeads()).toBe(before + 1);
  });

  it('replays null for a handler that returns nothing', async () => {
    for (const replayed of [null, 'true']) {
      const answer = await send('nothing', withKey('b'));
      expect(answer).toMatchObject({ status: 201, text: '{"data":null}' });
      expect(answer.headers.get('idempotency-replayed')).toBe(replayed);
    }
  });

  it.each(['file', 'written'])('is rejected, and nothing written: %s', async (path) => {
    const before = await countLeads();
    const { status, headers, text } = await send(path, withKey('c'));
    expectInvalid({ status, headers, body: JSON.parse(text) as unknown }, 'Idempotency-Key');
    expect(await countLeads()).toBe(before);
    expect(await send(path, { method: 'POST' })).toMatchObject({ status: 201 });
    expect(await countLeads()).toBe(before + 1);
  });
});
