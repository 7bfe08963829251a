import { expectError } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { TestServer } from '../../../src/testing/test-server.js';

const FILES = [
  '/docs',
  '/docs/start.js',
  '/docs/reference.css',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
];

describe('GET /docs', () => {
  let app: TestServer;
  beforeAll(async () => {
    app = await TestServer.shared();
  });
  afterAll(() => app.stop());

  it.each(FILES)('serves %s without a key and a rate limit', async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await fetch(app.url + path, { method });
      expect(status).toBe(200);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    }
  });

  it('allows the page only resources of its origin', async () => {
    const { headers } = await fetch(`${app.url}/docs`);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain('unsafe');
  });

  it.each([
    '/docs/',
    '/docs/package.json',
    '/docs/swagger-ui.js',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/swagger-ui.css%00',
  ])('serves no other file: %s', async (path) => {
    expectError(await app.client().get(path), 404, 'not_found');
  });

  it('is a 404 with DOCS=off, which does not affect /openapi.json', async () => {
    const without = await TestApp.start({ settings: { docs: false } });
    for (const path of FILES) expectError(await without.client().get(path), 404, 'not_found');
    expect((await without.client().get('/openapi.json')).status).toBe(200);
    await without.stop();
  });
});
