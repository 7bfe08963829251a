import { existsSync } from 'node:fs';
import { OPERATORS } from '../../../src/platform/data/filters/operators.js';
import { ERROR_CATALOGUE } from '../../../src/platform/errors/error-catalogue.js';
import { VERSION } from '../../../src/platform/config/version.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import { rawRequest } from '../../../src/testing/raw-http.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { TestServer } from '../../../src/testing/test-server.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Measured with o200k_base, the encoding of GPT-4o and later: 25,060 characters were 7,237 tokens, 3.46 each. */
const CHARACTERS_PER_TOKEN = 3.4;

let app: TestServer;
beforeAll(async () => {
  app = await TestServer.shared();
});
afterAll(() => app.stop());

describe('GET /', () => {
  it('is an HTML page with links for browsers', async () => {
    const answer = await fetch(app.url, { headers: { Accept: BROWSER } });
    const html = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('x-request-id')).toBeTruthy();
    expect(answer.headers.get('content-security-policy')).not.toContain('unsafe');
    for (const path of [
      '/console',
      '/docs',
      '/openapi.json',
      '/llms.txt',
      '/mcp',
      '/health/ready',
    ]) {
      expect(html).toContain(path);
    }
  });

  it('links only to pages that exist', async () => {
    const html = await (await fetch(app.url, { headers: { Accept: 'text/html' } })).text();
    const links = [...html.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path!);
    expect(links.length).toBeGreaterThan(4);
    for (const path of links) expect((await fetch(`${app.url}/${path}`)).status).toBe(200);
  });

  it('does not link to pages that are switched off', async () => {
    const without = await TestApp.start({ settings: { docs: false, metrics: false } });
    const html = await (await fetch(without.url, { headers: { Accept: 'text/html' } })).text();
    expect(html).not.toMatch(/href="(docs|metrics)"/);
    const links = (await (await fetch(without.url)).json()) as object;
    expect(Object.keys(links)).not.toEqual(expect.arrayContaining(['docs']));
    expect(Object.keys(links)).not.toEqual(expect.arrayContaining(['metrics']));
    await without.stop();
  });

  it.each([undefined, '*/*', 'application/json', 'image/png', 'text/html;q=0.5, */*'])(
    'is JSON with links for Accept: %s',
    async (accept) => {
      const answer = await request('GET', accept);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.headers.get('vary')).toBe('Accept');
      expect(answer.headers.get('ratelimit-limit')).toBeNull();
      const { name, version, ...links } = answer.body as unknown as Record<string, string>;
      expect([name, version]).toEqual(['Latitude', VERSION]);
      expect(links).toEqual({
        api: `${app.url}/api/v1`,
        mcp: `${app.url}/mcp`,
        console: `${app.url}/console`,
        docs: `${app.url}/docs`,
        openapi: `${app.url}/openapi.json`,
        llms: `${app.url}/llms.txt`,
        health: `${app.url}/health/ready`,
        liveness: `${app.url}/health/live`,
        metrics: `${app.url}/metrics`,
      });
    },
  );

  it.each(['text/html', 'application/json'])('has no body for HEAD, Accept: %s', async (accept) => {
    const headers = { Accept: accept };
    const get = await fetch(app.url, { headers });
    const head = await fetch(app.url, { method: 'HEAD', headers });
    expect(head.status).toBe(200);
    for (const name of ['content-type', 'content-length', 'vary', 'cache-control']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
    expect(await head.text()).toBe('');
  });

  it.each(['POST', 'PUT', 'DELETE', 'PROPFIND'])('is the only route: %s is 404', async (method) => {
    const answer = await request(method, 'text/html');
    expectEnvelope(answer, { status: 404, code: 'not_found' });
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });

  it.each([
    ['no Host', 400, []],
    ['two Hosts', 400, ['Host', 'a', 'Host', 'b']],
    ['another Expect', 417, ['Host', 'a', 'Expect', 'a miracle']],
  ])('is refused as every route for %s', async (_, status, headers) => {
    const answer = await rawRequest(app.port, { method: 'GET', path: '/', headers });
    expectEnvelope(answer, { status, code: 'bad_request' });
  });

  it('does not put a Host that is no host into links', async () => {
    const headers = ['Host', 'a/b"<script>'];
    const answer = await rawRequest(app.port, { method: 'GET', path: '/', headers });
    expect(answer.body).toMatchObject({
      api: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api/),
    });
  });

  function request(method: string, accept?: string) {
    const headers = ['Host', new URL(app.url).host, ...(accept ? ['Accept', accept] : [])];
    return rawRequest(app.port, { method, path: '/', headers });
  }
});

describe('GET /llms.txt', () => {
  it('has every operation, field and error code in at most 10,000 tokens', async () => {
    const answer = await fetch(`${app.url}/llms.txt`);
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(text.length / CHARACTERS_PER_TOKEN).toBeLessThan(10_000);

    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
      components: { schemas: Record<string, { properties: object }> };
    };
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const method of Object.keys(methods)) {
        expect(text).toContain(`\`${method.toUpperCase()} ${path}\``);
      }
    }
    for (const name of ['CreateLead', 'Lead', 'CreateTask', 'CreateAppointment']) {
      for (const field of Object.keys(document.components.schemas[name]!.properties)) {
        expect(text).toContain(`\`${field}\``);
      }
    }
    for (const code of Object.keys(ERROR_CATALOGUE)) expect(text).toContain(`\`${code}\``);
    for (const wanted of ['Authorization: Bearer', '/mcp', 'LatitudeClient', 'Idempotency-Key']) {
      expect(text).toContain(wanted);
    }
  });

  it('says how to ask questions, and names pages that exist', async () => {
    const text = await (await fetch(`${app.url}/llms.txt`)).text();
    const pages = ['filters', 'counts', 'custom-fields', 'duplicates', 'merge'];
    for (const page of pages) expect(text).toContain(`docs/contract/${page}.md`);
    const named = text.match(/docs\/[\w/-]+\.md/g) ?? [];
    expect(named.filter((page) => !existsSync(page))).toEqual([]);
    for (const operator of OPERATORS) expect(text).toMatch(new RegExp(`\\b${operator}\\b`));
    expect(text).toContain('`by` string: What the records are counted by: status, temperature,');
  });
});
