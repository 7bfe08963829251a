import assert from 'node:assert/strict';
import { setConfig } from '@kubb/plugin-client/clients/axios';
import axios from 'axios';
import {
  type CreateLead,
  type LeadsCreate409,
  leadsCreate,
  leadsList,
  tasksCreate,
} from '../generated/kubb/index.ts';
import { API_KEY, BASE_URL, newEmail } from './server.ts';

setConfig({ baseURL: BASE_URL, headers: { Authorization: `Bearer ${API_KEY}` } });
const body: CreateLead = { first_name: 'Ada', email: newEmail() };

const { data: lead } = await leadsCreate(body);
assert.equal(lead.source, 'api');

const listed = await leadsList({ search: body.email! });
assert.deepEqual(
  listed.data.map(({ id }) => id),
  [lead.id],
);

await assert.rejects(leadsCreate(body), (thrown) => {
  assert(axios.isAxiosError<LeadsCreate409>(thrown));
  const { error } = thrown.response!.data;
  assert.equal(error.code, 'duplicate');
  assert.equal(error.details?.[0]?.existing_id, lead.id);
  return true;
});

const task = await tasksCreate({ title: 'Call', contact_id: lead.id, due_date: '2026-03-06' });
assert.equal(task.data.due_date, '2026-03-06T00:00:00.000Z');
