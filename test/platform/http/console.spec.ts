import { readdirSync } from 'node:fs';
import { expectError } from '../../../src/testing/factories.js';
import { rawRequest } from '../../../src/testing/raw-http.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { TestServer } from '../../../src/testing/test-server.js';

const ASSETS = readdirSync('dist/console/assets').map((name) => `/console/assets/${name}`);

const VIEWS = [
  ['/console', 'console/'],
  ['/console/', './'],
  ['/console/leads', './'],
  ['/console/leads/', '../'],
  ['/console/leads/01a1fbde-995e-72a3-a032-ab1c988b9794', '../'],
  ['/console/no/such/view', '../../'],
  ['/console/assets', './'],
] as const;

describe('GET /console', () => {
  let app: TestServer;
  beforeAll(async () => {
    app = await TestServer.shared();
  });
  afterAll(() => app.stop());

  it.each(VIEWS)('answers %s with the page, whose addresses are relative', async (path, root) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await fetch(app.url + path, { method });
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('cache-control')).toBe('no-cache');
      expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    }
    const html = await (await fetch(app.url + path)).text();
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*\/assets\/[^"]+)"/g)];
    expect(addresses).toHaveLength(2);
    for (const [, address] of addresses) {
      expect(address).toMatch(new RegExp(`^${root.replaceAll('.', '\\.')}assets/main-`));
      const { pathname } = new URL(address!, app.url + path);
      expect(ASSETS).toContain(pathname);
    }
  });

  it.each(ASSETS)('serves %s for a year, compressed to those who accept it', async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await fetch(app.url + path, { method });
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('content-encoding')).toBe('gzip');
      expect(headers.get('vary')).toContain('Accept-Encoding');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    const plain = await fetch(app.url + path, { headers: { 'Accept-Encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(await (await fetch(app.url + path)).text());
  });

  it('answers a known entity tag with 304', async () => {
    for (const path of ['/console', ASSETS[0]!]) {
      const plain = { headers: { 'Accept-Encoding': 'identity' } };
      const etag = (await fetch(app.url + path, plain)).headers.get('etag')!;
      // fetch would add `Cache-Control: no-cache`.
      const headers = ['Host', new URL(app.url).host, 'If-None-Match', etag];
      const answer = await rawRequest(app.port, { method: 'GET', path, headers });
      expect([answer.status, answer.body]).toEqual([304, undefined]);
    }
  });

  it('forbids inline code, other origins, frames and text that becomes HTML', async () => {
    for (const [method, path] of [
      ['GET', '/console'],
      ['GET', '/console/leads'],
      ['GET', ASSETS[0]!],
      ['GET', '/console/assets/none.js'],
      ['POST', '/console'],
      ['DELETE', '/console/leads'],
    ] as const) {
      const { headers } = await fetch(app.url + path, { method });
      expect(headers.get('content-security-policy')?.split('; ').sort()).toEqual([
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        'img-src data:',
        "require-trusted-types-for 'script'",
        "script-src 'self'",
        "style-src 'self'",
        "trusted-types 'none'",
      ]);
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it.each([
    '/console/assets/',
    '/console/assets/main.js',
    '/console/assets/../index.html.map',
    '/console/assets/%2e%2e/index.html',
    '/console/assets/..%2findex.html',
    '/console/assets/../../../package.json',
    `${ASSETS[0]}/`,
    '/consoles',
    '/CONSOLE',
  ])('serves no other file: %s', async (path) => {
    const headers = ['Host', new URL(app.url).host];
    const { status, body } = await rawRequest(app.port, { method: 'GET', path, headers });
    expect([status, body.error?.code]).toEqual([404, 'not_found']);
  });

  it.each(['POST', 'PUT', 'DELETE'])(
    'allows only GET and HEAD: %s is 404 with the header Allow',
    async (method) => {
      for (const path of ['/console', '/console/', '/console/leads']) {
        const answer = await fetch(app.url + path, { method });
        expect(answer.status).toBe(404);
        expect(answer.headers.get('allow')).toBe('GET, HEAD');
      }
    },
  );

  it('is a 404 with CONSOLE=off, and / does not link to it', async () => {
    const without = await TestApp.start({ settings: { console: false } });
    for (const [path] of VIEWS) expectError(await without.client().get(path), 404, 'not_found');
    expect(await (await fetch(without.url)).text()).not.toContain('/console');
    await without.stop();
  });
});
