import { ERROR_CATALOGUE } from '../../src/errors/error-catalogue.js';
import { expectError } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import { TestServer } from '../../src/testing/test-server.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Minimum number of characters per token in English text and code. */
const CHARACTERS_PER_TOKEN = 3;

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
    for (const path of ['/docs', '/openapi.json', '/llms.txt', '/mcp', '/health/ready']) {
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
    await without.stop();
  });

  it.each(['application/json', '*/*'])(
    'is a 404 with the error envelope for Accept: %s',
    async (type) => {
      const answer = await fetch(app.url, { headers: { Accept: type } });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
    },
  );

  it('does not affect other methods and paths', async () => {
    const headers = { Accept: 'text/html' };
    for (const [method, path] of [
      ['POST', '/'],
      ['GET', '/other'],
    ] as const) {
      const { status } = await fetch(app.url + path, { method, headers });
      expect(status).toBe(404);
    }
    expectError(await app.client().get('/'), 404, 'not_found');
  });
});

describe('GET /llms.txt', () => {
  it('has every operation, field and error code in at most 8,000 tokens', async () => {
    const answer = await fetch(`${app.url}/llms.txt`);
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(text.length / CHARACTERS_PER_TOKEN).toBeLessThan(8_000);

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
});
