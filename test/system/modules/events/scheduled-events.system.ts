import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { MIGRATIONS } from '../../../../src/platform/data/connection/data-source-options.js';
import { namesOf } from '../../../../src/platform/data/executed-migrations.js';
import { createDatabase, dropDatabase, query } from '../../../../src/testing/databases.js';
import { migrateDatabase } from '../../../support/database/migrate-database.js';
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

describe('a database of the last release', () => {
  const { lastMigration } = JSON.parse(readFileSync('.ci/upgrade/release.json', 'utf8')) as {
    lastMigration: string;
  };
  const organization = randomUUID();
  const lead = randomUUID();
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let app: TestApp;

  /** Writes with the columns that the last release knows. @param due SQL */
  const insertTask = (title: string, due: string, status = 'open', deleted = 'null') =>
    query(
      database,
      `insert into tasks (organization_id, id, title, priority, status, created_by_ai, due_date, deleted_at)
       values ($1, gen_random_uuid(), $2, 'high', $3, false, ${due}, ${deleted})`,
      [organization, title, status],
    );
  const insertAppointment = async () => {
    const id = randomUUID();
    const start = `date_trunc('minute', now() + interval '1 day')`;
    await query(
      database,
      `insert into appointments (organization_id, id, lead_id, start_time, end_time, status, booked_by)
       values ($1, $2, $3, ${start}, ${start} + interval '1 hour', 'scheduled', 'api')`,
      [organization, id, lead],
    );
    return id;
  };
  /** Lets time pass, with all that is stored. */
  const passTime = (time: string) =>
    query(
      database,
      `begin; set local session_replication_role = replica;
       update tasks set due_date = due_date - interval '${time}';
       update appointments set start_time = start_time - interval '${time}', end_time = end_time - interval '${time}';
       update scheduled_events set due_at = due_at - interval '${time}'; commit`,
    );

  beforeAll(async () => {
    database = await createDatabase('empty');
    const last = MIGRATIONS.findIndex((migration) => namesOf([migration]).includes(lastMigration));
    await migrateDatabase(database, MIGRATIONS.slice(0, last + 1));
    await query(database, `insert into organizations (id, name) values ($1, 'o')`, [organization]);
    await query(
      database,
      `insert into leads (organization_id, id, first_name, source, tags, custom_fields, lead_score, sms_opted_out,
         on_dnc_list) values ($1, $2, 'Ada', 'api', '{}', '{}', 0, false, false)`,
      [organization, lead],
    );
  });
  afterAll(async () => {
    await app.stop();
    await dropDatabase(database);
  });

  it('gets the events of what is due later, also of what that release writes beside this one', async () => {
    await insertTask('stored', `now() + interval '1 day'`);
    await insertTask('stored in progress', `now() + interval '1 day'`, 'in_progress');
    await insertTask('overdue before', `now() - interval '1 day'`);
    await insertTask('completed', `now() + interval '1 day'`, 'completed');
    await insertTask('deleted', `now() + interval '1 day'`, 'open', 'now()');
    const stored = await insertAppointment();
    await migrateDatabase(database);
    await insertTask('beside', `now() + interval '1 day'`);
    await insertTask('beside, moved', `now() + interval '9 days'`);
    await query(
      database,
      `update tasks set due_date = now() + interval '1 day' where title = 'beside, moved'`,
    );
    const beside = await insertAppointment();

    app = await TestApp.start({ database });
    const { api } = await app.key(organization, app.scopes.every);
    const crew = { name: 'Crew', remind_before_minutes: [60] };
    const resource = dataOf<{ id: string }>(await api.post('/api/v1/resources', crew), 201);
    const path = `/api/v1/appointments/${stored}`;
    dataOf(await api.put(path, { resource_id: resource.id }));
    dataOf(await api.put(`/api/v1/appointments/${beside}`, { remind_before_minutes: [60] }));
    // The last release moves it.
    await query(
      database,
      `update appointments set start_time = start_time + interval '2 hours', end_time = end_time + interval '2 hours'
       where id = $1`,
      [stored],
    );
    await passTime('23 hours 30 minutes');
    await app.app.get(ScheduledEvents).writeDue();
    const starting = 'types=appointment.starting';
    expect(await readAllEvents(api, 1, starting)).toMatchObject([{ record: { id: beside } }]);
    await passTime('2 hours');
    await app.app.get(ScheduledEvents).writeDue();
    expect(await readAllEvents(api, 2, starting)).toMatchObject([{}, { record: { id: stored } }]);
    const titles = (await readAllEvents(api, 4, OVERDUE)).map(({ record }) => record.title);
    expect(titles.sort()).toEqual(['beside', 'beside, moved', 'stored', 'stored in progress']);
  });
});
