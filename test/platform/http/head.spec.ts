import { EventPublisher } from '../../../src/modules/events/event-publisher.js';
import { ANSWER_TYPE } from '../../../src/testing/envelope.js';
import { LEADS } from '../../../src/testing/factories.js';
import { ROUTES, validRequest } from '../../../src/testing/routes.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { FailingModule } from '../../support/modules/failing.module.js';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [FailingModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('HEAD', () => {
  it.each(
    ROUTES.filter(({ method }) => method === 'GET').map((route) => [route.pattern, route] as const),
  )('answers %s with the headers of GET and no body', async (_, route) => {
    const { path } = await validRequest(route, tenant);
    // Otherwise, an event could appear between the two requests.
    await app.app.get(EventPublisher).publish();
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
  ])('answers %s with %i and no body', async (path, status) => {
    const head = await tenant.api.request('HEAD', path);
    expect(head).toMatchObject({ status, body: undefined });
    expect(head.headers.get('content-type')).toBe(ANSWER_TYPE);
    expect(head.headers.get('x-request-id')).not.toBeNull();
  });
});
