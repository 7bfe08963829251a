import { FOR_FILLING } from '../lib/data.mjs';

/** Number of users to whom tasks are assigned in equal parts. */
const USERS = 10;
const USER = `('00000000-0000-4000-8000-' || lpad((n % ${USERS})::text, 12, '0'))::uuid`;
export const FIRST_USER = '00000000-0000-4000-8000-000000000000';

/** The leads of an organization with a number and an irregular number of days each. */
const NUMBERED = `(select *, n * 7919 % 90 * interval '1 day' as later
  from (select *, row_number() over (order by id) as n from leads where organization_id = $1) leads
) numbered`;

/** Appointments have the ids of their leads, so that they are the same on every run. */
const APPOINTMENTS = `
  insert into appointments (organization_id, id, lead_id, start_time, end_time, type, location,
    status, booked_by, created_at, updated_at)
  select organization_id, id, id, created_at + later, created_at + later + interval '1 hour',
    'Estimate', '12 Market Street',
    (array['scheduled', 'confirmed', 'completed', 'cancelled', 'no_show'])[n % 5 + 1],
    'api', created_at, updated_at
  from ${NUMBERED}`;

const TASKS = `
  insert into tasks (organization_id, id, title, description, priority, status, due_date,
    contact_id, assigned_to_user_id, created_by_ai, created_at, updated_at)
  select organization_id, id, 'Call ' || first_name, 'Ask whether the offer arrived.',
    (array['low', 'medium', 'high', 'urgent'])[n % 4 + 1],
    (array['open', 'in_progress', 'completed', 'cancelled'])[n / 4 % 4 + 1],
    case when n / ${USERS} % 5 > 0 then created_at + later end,
    id, ${USER}, false, created_at, updated_at
  from ${NUMBERED}`;

/** Adds an appointment and a task for each lead of these organizations. */
export async function addRecords(client, connect, connection, organizations) {
  const write = async (statement) => {
    const writer = await connect(connection);
    await writer.query(FOR_FILLING);
    for (const { id } of organizations) await writer.query(statement, [id]);
  };
  await Promise.all([APPOINTMENTS, TASKS].map(write));
  await client.query('vacuum analyze');
}
