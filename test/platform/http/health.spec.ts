import { TestApp } from '../../../src/testing/test-app.js';

const LIVE = '/health/live';
const READY = '/health/ready';

describe('GET /health/live and /health/ready', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ settings: { readsPerMinute: 2 } });
  });
  afterAll(() => app.stop());

  it.each([LIVE, READY])('need no key and have no rate limit: %s', async (path) => {
    const strangers = app.client();
    for (const answer of await Promise.all([1, 2, 3].map(() => strangers.get(path)))) {
      expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-request-id')).not.toBeNull();
      expect([...answer.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    }
  });

  it.each([LIVE, READY])('ignore the query and the key: %s', async (path) => {
    const answer = await app.client('lat_wrong').get(`${path}?probe=1&probe=2`);
    expect(answer.status).toBe(200);
  });

  it.each([LIVE, READY])('answer HEAD and no other method: %s', async (path) => {
    expect((await app.client().request('HEAD', path)).status).toBe(200);
    const posted = await app.client().post(path, {});
    expect(posted.status).toBe(404);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });
});
