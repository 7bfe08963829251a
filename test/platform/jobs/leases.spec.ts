import { v7 as uuidv7 } from 'uuid';
import { HANDLER_LEASES } from '../../../src/modules/events/event-handlers.repository.js';
import { SystemDatabase } from '../../../src/platform/data/gateway/system-database.js';
import type { BackgroundWork } from '../../../src/platform/jobs/background-work.js';
import { JOB_LEASES, SCHEDULE_LEASES } from '../../../src/platform/jobs/job-queue.repository.js';
import { Leases } from '../../../src/platform/jobs/leases.js';
import { query } from '../../../src/testing/databases.js';
import { TestApp } from '../../../src/testing/test-app.js';

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.stop());

const id = uuidv7();
const LATER = `now() + interval '1 day'`;

/** A leased row of each table. The lease ends later than an extended one, so that no worker takes the row. */
const ROWS = [
  {
    table: JOB_LEASES,
    row: (organization_id: string) => ({ organization_id, id, attempts: 1 }),
    insert: `insert into jobs (organization_id, id, name, payload, record_ids, attempts, is_running, run_at)
      values ($1, '${id}', 'leased', '{}', '{}', 1, true, ${LATER})`,
  },
  {
    table: SCHEDULE_LEASES,
    row: () => ({ name: 'leased' }),
    insert: `insert into job_schedules (name, next_run_at, locked_until) select 'leased', ${LATER}, ${LATER} where $1 <> ''`,
  },
  {
    table: HANDLER_LEASES,
    row: () => ({ name: 'leased', claim: id }),
    insert: `insert into event_handlers (name, position, claim, run_at) select 'leased', 0, '${id}', ${LATER} where $1 <> ''`,
  },
];

it.each(ROWS)('the lease of a row of $table.name is extended while its work runs', async (each) => {
  const { table, row, insert } = each;
  const organization = await app.organization();
  await query(app.database, insert, [organization.id]);
  let extend = (): unknown => undefined;
  const background = { repeat: (_ms: number, work: () => unknown) => (extend = work) };
  const leases = new Leases(app.app.get(SystemDatabase), background as unknown as BackgroundWork);
  leases.onApplicationBootstrap();
  await leases.during(table, row(organization.id), async () => {
    await extend();
  });
  const [lease] = await query<{ is_extended: boolean }>(
    app.database,
    `select ${table.until} < now() + interval '1 minute' as is_extended from ${table.name} where name = 'leased'`,
  );
  expect(lease).toEqual({ is_extended: true });
});
