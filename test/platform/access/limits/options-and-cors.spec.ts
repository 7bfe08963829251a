import { generateKey } from '../../../../src/platform/access/api-key-format.js';
import { expectError, LEADS } from '../../../../src/testing/factories.js';
import type { TestApp } from '../../../../src/testing/test-app.js';
import { instancesOnOneDatabase, limitsOf } from '../../../support/rate-limits.js';

const ME = '/api/v1/me';

const start = instancesOnOneDatabase();

describe('OPTIONS', () => {
  it('is a 404 with rate limit headers, is not counted and needs no key', async () => {
    const app = await start({ readsPerMinute: 5, writesPerMinute: 5 });
    const { api } = await app.organization();
    for (const path of [ME, LEADS, '/api/v1/nothing', '/', '/mcp']) {
      for (const caller of [api, app.client(), app.client(generateKey())]) {
        const answer = await caller.request('OPTIONS', path);
        expectError(answer, 404, 'not_found');
        expect(limitsOf(answer)).toMatchObject({ limit: 5, remaining: 5 });
      }
    }
    expect(limitsOf(await api.get(ME))).toMatchObject({ remaining: 4 });
    expect(limitsOf(await api.request('OPTIONS', ME))).toMatchObject({ remaining: 4 });
  });

  describe('with CORS', () => {
    const ORIGIN = 'https://app.example';
    const preflight = {
      headers: {
        Origin: ORIGIN,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization, content-type',
      },
    };
    let app: TestApp;

    beforeAll(async () => {
      app = await start({ readsPerMinute: 5, corsOrigins: [ORIGIN] });
    });

    it('answers a preflight without a key and does not count it', async () => {
      for (let i = 0; i < 10; i++) {
        const { status, headers } = await app.client().request('OPTIONS', LEADS, preflight);
        expect(status).toBe(204);
        expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
        expect(headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST,PUT,PATCH,DELETE');
        expect(headers.get('access-control-allow-headers')).toContain('authorization');
        expect(headers.get('x-request-id')).not.toBeNull();
      }
      expect(limitsOf(await app.client().get('/unknown'))).toMatchObject({ remaining: 4 });
    });

    it('sends the rate limit headers on a preflight', async () => {
      expect(limitsOf(await app.client().request('OPTIONS', LEADS, preflight)).limit).toBe(5);
    });

    it('exposes the rate limit headers to the configured origin only, also on errors', async () => {
      for (const [origin, allowed] of [
        [ORIGIN, ORIGIN],
        ['https://evil.example', null],
        ['null', null],
      ] as const) {
        const { headers } = await app.client().get(ME, { headers: { Origin: origin } });
        expect(headers.get('access-control-allow-origin')).toBe(allowed);
        expect(headers.get('vary')).toContain('Origin');
        if (allowed) {
          expect(headers.get('access-control-expose-headers')).toContain('RateLimit-Reset');
        }
      }
    });

    it('sends no CORS headers if CORS is not configured', async () => {
      const { headers } = await (await start()).client().get(ME, { headers: { Origin: ORIGIN } });
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    });
  });
});
