import assert from 'node:assert/strict';
import { type CreateLead, leadsCreate, leadsList, tasksCreate } from '../generated/hey-api';
import { client } from '../generated/hey-api/client.gen';
import { API_KEY, BASE_URL, newEmail } from './server.ts';

client.setConfig({ baseUrl: BASE_URL, auth: API_KEY });
const body: CreateLead = { first_name: 'Ada', email: newEmail() };

const created = await leadsCreate({ body });
assert(created.data);
const { data: lead } = created.data;
assert.equal(lead.source, 'api');

const listed = await leadsList({ query: { search: body.email! } });
assert.deepEqual(
  listed.data?.data.map(({ id }) => id),
  [lead.id],
);

const { error } = await leadsCreate({ body });
assert(error);
switch (error.error.code) {
  case 'duplicate':
    assert.equal(error.error.details?.[0]?.existing_id, lead.id);
    break;
  default:
    assert.fail(error.error.code);
}

const task = await tasksCreate({
  body: { title: 'Call', contact_id: lead.id, due_date: '2026-03-06' },
});
assert.equal(task.data?.data.due_date, '2026-03-06T00:00:00.000Z');
