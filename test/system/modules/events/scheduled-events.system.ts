import { ScheduledEvents } from '../../../../src/modules/events/scheduled-events.js';
import { dataOf } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { readAllEvents } from '../../../support/events.js';

const OVERDUE = 'types=task.overdue';

let one: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  one = await TestApp.start();
});
beforeEach(async () => {
  tenant = await one.organization();
});
afterAll(() => one.stop());

async function createTasks(count: number): Promise<void> {
  const due_date = '2200-01-01T00:00:00Z';
  const tasks = Array.from({ length: count }, (_, index) => ({ title: `Call ${index}`, due_date }));
  for (let start = 0; start < count; start += 100) {
    const items = tasks.slice(start, start + 100).map((data) => ({ action: 'create', data }));
    dataOf(await tenant.api.post('/api/v1/tasks/batch', { items }));
  }
}

/** Lets all tasks of the organization become overdue at once. */
const becomeOverdue = () =>
  one.sql(
    `with task as (
       update tasks set due_date = date_trunc('milliseconds', now() - interval '1 second')
       where organization_id = $1 returning *)
     insert into scheduled_events (organization_id, record_id, type, due_at)
     select organization_id, id, 'task.overdue', due_date from task`,
    [tenant.id],
  );

it('two instances write each event once', async () => {
  const two = await TestApp.start({ database: one.database });
  await createTasks(1_200);
  await becomeOverdue();
  const writers = [one, two, one, two].map(({ app }) => app.get(ScheduledEvents).writeDue());
  await Promise.all(writers);
  const events = await readAllEvents(tenant.api, 1_200, OVERDUE);
  expect(new Set(events.map(({ record }) => record.id)).size).toBe(1_200);
  await two.stop();
});
