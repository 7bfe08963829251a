import { LeadPersonService } from '../../../src/modules/leads/lead-person.service.js';
import { createLead, dataOf, expectError, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

interface PersonalData {
  leads: { id: string }[];
  appointments: { id: string }[];
}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: [...app.scopes.ordinary, 'leads:erase'] });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => app.stop());

/** Runs `change` when the leads of the person have been read, and before the records that refer to them. */
function afterLeadsAreRead(change: () => Promise<unknown>): void {
  const person = app.app.get(LeadPersonService);
  const read = person.read.bind(person);
  jest.spyOn(person, 'read').mockImplementationOnce(async (...args) => {
    const leads = await read(...args);
    await change();
    return leads;
  });
}

const read = (id: string) => tenant.api.get(`${LEADS}/${id}/personal-data`);

describe('personal data that is read during a change of the person', () => {
  it('has the records of both leads after a merge', async () => {
    const { api } = tenant;
    const [merged, target] = [await createLead(api), await createLead(api)];
    const times = { start_time: '2030-01-01T10:00:00Z', end_time: '2030-01-01T11:00:00Z' };
    const appointment = dataOf<{ id: string }>(
      await api.post('/api/v1/appointments', { ...times, lead_id: merged.id }),
      201,
    );
    afterLeadsAreRead(async () =>
      dataOf(await api.post(`${LEADS}/${target.id}/merge`, { lead_id: merged.id })),
    );
    const data = dataOf<PersonalData>(await read(merged.id));
    expect(data.leads.map(({ id }) => id).sort()).toEqual([merged.id, target.id].sort());
    expect(data.appointments).toMatchObject([{ id: appointment.id, lead_id: target.id }]);
  });

  it('is not found after an erasure', async () => {
    const { id } = await createLead(tenant.api);
    afterLeadsAreRead(async () => dataOf(await tenant.api.post(`${LEADS}/${id}/erase`, undefined)));
    expectError(await read(id), 404, 'not_found');
  });
});
