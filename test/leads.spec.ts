import { TestApp, type Tenant } from './support/harness.js';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('creating a lead (api.md 2.1, 4.3)', () => {
  it('needs only a first name and answers every field', async () => {
    const { status, headers, body } = await tenant.api.post('/api/v1/leads', { first_name: 'Ada' });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/leads/${body.data.id}`);
    expect(body.data).toMatchObject({ first_name: 'Ada', last_name: null, source: 'api', tags: [] });
  });
});
