import { urlOf } from '../../../src/testing/databases.js';
import { createLead, updateLead } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { latitude } from '../../support/command-line.js';
import { readAllEvents, withoutKeyNames } from '../../support/events.js';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});
afterAll(() => app.stop());

it('latitude events --record lists who changed a record, in any organization', async () => {
  const { id } = await createLead(tenant.api);
  await createLead(tenant.api);
  await updateLead(tenant.api, id, { notes: 'Prefers letters.' });
  const events = (await readAllEvents(tenant.api, 3)).filter(({ record }) => record.id === id);
  const listed = await latitude({ DATABASE_URL: urlOf(app.database) }, 'events', '--record', id);
  expect(listed).toEqual(
    withoutKeyNames(events).map((event) => ({ organization_id: tenant.id, ...event })),
  );
});
